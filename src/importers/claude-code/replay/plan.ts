/**
 * What a replay will do, found out beforehand from the transcript alone: which call changes which file inside the
 * folder, and what that file was right before.
 *
 *     before the call   1. what its result tells of the original file
 *                       2. what the conversation saw of the file last, if the edit fits it
 *                       3. else unknown: what is on disk then, extended by the old text where the edit does not fit
 */
import type { ImportedNode } from "../../../store/surface.js";
import type { Entry } from "../linking/entries.js";
import type { Transcript } from "../transcript.js";
import { type FileCall, fileCallsIn, filesSeenIn, resultsOf } from "./calls.js";
import { applyEdits } from "./edits.js";
import { Knowledge } from "./knowledge.js";
import { type MappedPath, mapPath } from "./paths.js";

/** A file call with its place in the folder and what was there before it. */
export interface PlannedCall extends FileCall {
  place: MappedPath;
  /** Null for absent, undefined for unknown. */
  before: string | null | undefined;
}

/** A node to play, with the calls that it holds. */
export interface ReplayStep {
  node: ImportedNode;
  calls: PlannedCall[];
}

/** The entry whose knowledge an entry shares: its own, or for a side chain the one on the main path that called it. */
function anchorOf(entry: Entry): Entry {
  let anchor = entry;
  while (anchor.side !== null) {
    const up: Entry | null = anchor.parent ?? anchor.caller;
    if (up === null) return anchor;
    anchor = up;
  }
  return anchor;
}

function beforeOf(call: FileCall, path: string, known: Knowledge): string | null | undefined {
  const { effect, original } = call;
  if (effect === undefined) return undefined;
  if (effect.kind === "write") return original !== undefined ? original : known.text(path);
  const candidates = [original, known.text(path)];
  return candidates.find((text) => text !== undefined && applyEdits(text, effect.edits) !== undefined);
}

function planned(call: FileCall, home: string | undefined, known: Knowledge): PlannedCall {
  const place = mapPath(call.path, home, call.cwd);
  if ("problem" in place || call.outcome !== "succeeded") return { ...call, place, before: undefined };
  const before = beforeOf(call, place.path, known);
  const pieces = [...known.pieces(place.path), ...call.pieces];
  if (call.effect !== undefined) known.change(place.path, before, call.effect);
  return { ...call, place, before, pieces };
}

/** Steps with the nodes of a turn together: two terminals on one session write their turns into one another. */
function byTurns(steps: readonly ReplayStep[], entries: readonly Entry[]): ReplayStep[] {
  const startOf = new Map<Entry, number>();
  const ranked = steps.map((step, index) => {
    const entry = entries[index] as Entry;
    const leader = entry.kind === "prompt" ? null : (entry.parent ?? entry.caller);
    // A side chain without a caller has no turn to be played in, and comes last.
    const own = leader === null && entry.side !== null ? entries.length + index : index;
    const start = (leader === null ? undefined : startOf.get(leader)) ?? own;
    startOf.set(entry, start);
    return { step, start, index };
  });
  return ranked.sort((a, b) => a.start - b.start || a.index - b.index).map(({ step }) => step);
}

/** Plans the replay of every node of a transcript, turn by turn, parents first. */
export function planReplay(transcript: Transcript): ReplayStep[] {
  const { entries, nodes, home } = transcript;
  const results = resultsOf(entries);
  const knownAt = new Map<Entry, Knowledge>();
  const steps = entries.map((entry, index): ReplayStep => {
    const anchor = anchorOf(entry);
    const above = anchor === entry ? entry.parent : anchor;
    const known =
      (anchor === entry ? undefined : knownAt.get(anchor)) ?? new Knowledge(above ? knownAt.get(above) : undefined);
    knownAt.set(anchor, known);
    for (const seen of filesSeenIn(entry, results)) {
      const place = mapPath(seen.path, home, seen.cwd);
      if ("path" in place) known.see(place.path, seen.content, seen.isWhole);
    }
    const calls = fileCallsIn(entry, results).map((call) => planned(call, home, known));
    return { node: nodes[index] as ImportedNode, calls };
  });
  return byTurns(steps, entries);
}
