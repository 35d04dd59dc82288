/**
 * Makes one file call of a transcript again, inside a live turn.
 *
 * What the transcript shows to have changed since the last call of the same turn (a formatter's work, a shell's) is
 * written first, outside the call's window: it is the turn's, but not the call's.
 */
import type { Turn } from "../../../store/surface.js";
import { applyEdits, extendedFor } from "./edits.js";
import type { Folder } from "./folder.js";
import type { PlannedCall } from "./plan.js";

const unanswered = "the transcript does not hold its result, so it may not have happened";

/** Why a call cannot be enacted, as far as the call itself says. */
export function obstacleOf(call: PlannedCall): string | undefined {
  if (call.outcome === "unanswered") return unanswered;
  if (call.effect === undefined) return "its input is not what the tool takes";
  return "problem" in call.place ? call.place.problem : undefined;
}

/** The file before and after a call; undefined if the call cannot be made to fit what is there. */
function changeOf(call: PlannedCall, disk: string | null): { before: string | null; after: string } | undefined {
  const { effect, pieces } = call;
  if (effect === undefined) return undefined;
  if (effect.kind === "write") return { before: call.before ?? disk, after: effect.content };
  const { edits } = effect;
  const fits = applyEdits(disk, edits) !== undefined;
  const before = call.before ?? (fits ? disk : extendedFor(disk, [{ edits, pieces }]));
  const after = before === undefined ? undefined : applyEdits(before, edits);
  return before === undefined || after === undefined ? undefined : { before, after };
}

/** Enacts a call; returns the reason if it cannot. */
export async function enact(call: PlannedCall, turn: Turn, folder: Folder): Promise<string | undefined> {
  const obstacle = obstacleOf(call);
  if (obstacle !== undefined || "problem" in call.place) return obstacle;
  const { path } = call.place;
  const disk = await folder.read(path);
  if ("problem" in disk) return disk.problem;
  const change = changeOf(call, disk.text);
  if (change === undefined) return "the text that it replaces is not in the file";
  const { before, after } = change;
  await turn.willChange(path);
  if (before !== null && before !== disk.text) {
    const problem = await folder.write(path, before);
    if (problem !== undefined) return problem;
  }
  return turn.during(call.callId, () => folder.write(path, after));
}
