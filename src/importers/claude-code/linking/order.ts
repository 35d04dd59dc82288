/**
 * The order in which entries are handed on, the leaf that is live, and what a summary stands for.
 */
import { objectIn, stringIn } from "../json.js";
import type { Line } from "../reading/line.js";
import type { Entry } from "./entries.js";
import { above, compactionOf } from "./parents.js";
import { childrenOf } from "./places.js";

/** What must stand before an entry: its parent, or the caller of its side chain. */
const leader = (entry: Entry): Entry | null => entry.parent ?? entry.caller;

/** Parents and callers before those that hang under them, and otherwise as in the file. */
export function inOrder(entries: readonly Entry[]): Entry[] {
  const done = new Set<Entry>();
  for (const entry of entries) {
    const way = new Set<Entry>();
    for (let up: Entry | null = entry; up !== null && !done.has(up) && !way.has(up); up = leader(up)) way.add(up);
    for (const next of [...way].reverse()) done.add(next);
  }
  return [...done];
}

/**
 * The leaf that the transcript shows last: the format has no mark for a rewind, so the last line that became a node
 * says which branch is live, and the newest entry under it is where that branch ends.
 */
export function liveHead(entries: readonly Entry[]): Entry | null {
  const children = childrenOf(entries.filter((entry) => entry.side === null));
  const lastLineOf = (entry: Entry): number => Math.max(...entry.lines.map((line) => line.at));
  let head: Entry | null = null;
  for (const entry of entries) {
    if (entry.side === null && (head === null || lastLineOf(entry) > lastLineOf(head))) head = entry;
  }
  for (let under = head; under !== null; under = children.get(under)?.at(-1) ?? null) head = under;
  return head;
}

/** The first entry that a compaction kept in sight, if it says which. */
function firstKept(boundary: Line | null, entries: ReadonlyMap<string, Entry>): Entry | undefined {
  const segment = boundary === null ? undefined : objectIn(compactionOf(boundary)?.preservedSegment);
  const uuid = stringIn(segment?.headUuid);
  return uuid === undefined ? undefined : entries.get(uuid);
}

/** Tells each summary what it stands for: the path above it, less its boundary and what the compaction kept. */
export function coverPaths(entries: readonly Entry[]): void {
  const byUuid = new Map(entries.flatMap((entry) => entry.lines.map((line) => [line.uuid, entry])));
  for (const entry of entries) {
    if (entry.kind !== "summary") continue;
    const up = above(entry.lines[0] as Line);
    const boundary = up?.raw.subtype === "compact_boundary" ? up : null;
    const path: Entry[] = [];
    for (let one = entry.parent; one !== null; one = one.parent) path.push(one);
    path.reverse();
    const kept = firstKept(boundary, byUuid);
    const end = kept === undefined ? -1 : path.indexOf(kept);
    entry.covers = path.slice(0, end === -1 ? undefined : end).filter((one) => !boundary || one.lines[0] !== boundary);
  }
}
