/**
 * Puts in place what a turn's edits presuppose, before the turn begins: it was there, so it is nobody's change.
 */
import { extendedFor } from "./edits.js";
import type { Folder } from "./folder.js";
import type { PlannedCall, ReplayStep } from "./plan.js";

/** The calls of a turn that are to be enacted, by path. */
function callsByPath(steps: readonly ReplayStep[]): Map<string, PlannedCall[]> {
  const byPath = new Map<string, PlannedCall[]>();
  for (const call of steps.flatMap((step) => step.calls)) {
    if (call.outcome !== "succeeded" || call.effect === undefined || "problem" in call.place) continue;
    byPath.set(call.place.path, [...(byPath.get(call.place.path) ?? []), call]);
  }
  return byPath;
}

/** The edits before the first call that says itself what the file was: together they must fit. */
function blindEdits(calls: readonly PlannedCall[]) {
  const end = calls.findIndex((call) => call.effect?.kind !== "edit" || call.before !== undefined);
  return calls
    .slice(0, end === -1 ? undefined : end)
    .flatMap(({ effect, pieces }) => (effect?.kind === "edit" ? [{ edits: effect.edits, pieces }] : []));
}

/** What a file should be when its first call of a turn is made; undefined if there is nothing to put in place. */
function presupposed(disk: string | null, calls: readonly PlannedCall[]): string | undefined {
  const first = calls[0];
  if (first?.before !== undefined) return first.before ?? undefined;
  const blind = blindEdits(calls);
  if (blind.length === 0) return undefined;
  const text = extendedFor(disk, blind) ?? extendedFor(disk, blind.slice(0, 1));
  return text === "" && disk === null ? undefined : text;
}

/** Seeds the files of a turn; returns how many were written. A path that is blocked is left to its call to report. */
export async function seedFor(steps: readonly ReplayStep[], folder: Folder): Promise<number> {
  let seeded = 0;
  for (const [path, calls] of callsByPath(steps)) {
    const disk = await folder.read(path);
    if ("problem" in disk) continue;
    const text = presupposed(disk.text, calls);
    if (text === undefined || text === disk.text) continue;
    const problem = await folder.write(path, text);
    if (problem === undefined) seeded += 1;
  }
  return seeded;
}
