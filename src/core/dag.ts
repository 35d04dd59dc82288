/**
 * The arithmetic of the DAG: keys, paths, forks and marks, from segments alone.
 *
 * A segment is a stretch of nodes without a fork between them. A node's key is `segment * 2^22 + offset`, so parent and
 * order follow from the key, a path is a few key ranges, and only a fork needs a row:
 *
 *     segment 1:   u1 ─ a1 ─ u2 ─ a2          keys 1·C+0 … 1·C+3
 *     segment 2:         └─ u2' ─ a2'         parent = key of a1; keys 2·C+0, 2·C+1
 *     path of a2' = [1·C+0 … 1·C+1], [2·C+0 … 2·C+1]
 *
 * What the branches reach of a segment is always a stretch from its start, since every path through a segment begins
 * there. So the mark of a whole segment is one number: the offset from which its nodes are rewound (law 4).
 * A side chain's first segment has a `caller` instead of a parent, and shares the fate of the node that called it.
 */

import type { KeyRange, SegmentRow } from "./backend.js";
import type { NodeKey } from "./change.js";

/** How many nodes a segment can hold; the next one starts a segment of its own. */
export const segmentCapacity = 2 ** 22;

/** The key of the node at an offset of a segment. */
export const keyOf = (segment: number, offset: number): NodeKey => segment * segmentCapacity + offset;

/** The segment that a key lies in; negative ones are placeholders that a commit resolves. */
export const segmentOf = (key: NodeKey): number => Math.floor(key / segmentCapacity);

/** The offset of a key in its segment. */
export const offsetOf = (key: NodeKey): number => key - segmentOf(key) * segmentCapacity;

/** The segments of one conversation, by number. */
export type Segments = ReadonlyMap<number, SegmentRow>;

/** Indexes segment rows by number. */
export function segmentsOf(rows: readonly SegmentRow[]): Segments {
  return new Map(rows.map((row) => [row.segment, row]));
}

function segment(segments: Segments, key: NodeKey): SegmentRow {
  const row = segments.get(segmentOf(key));
  if (row === undefined) throw new TypeError(`no segment ${segmentOf(key)} among those given`);
  return row;
}

/** The parent of a node, or null for a root or the first node of a side chain. */
export function parentOf(segments: Segments, key: NodeKey): NodeKey | null {
  return offsetOf(key) > 0 ? key - 1 : segment(segments, key).parent;
}

/** The node that called the side chain a node belongs to, or null for a node of the conversation itself. */
export function callerOf(segments: Segments, key: NodeKey): NodeKey | null {
  for (let row = segment(segments, key); ; row = segment(segments, row.parent)) {
    if (row.parent === null) return row.caller;
  }
}

/** How many nodes stand above a node on its path. */
export function depthOf(segments: Segments, key: NodeKey): number {
  return segment(segments, key).depth + offsetOf(key);
}

/** Whether a node is marked as rewound. */
export function isRewound(segments: Segments, key: NodeKey): boolean {
  const { mark } = segment(segments, key);
  return mark !== null && offsetOf(key) >= mark;
}

/** The path from the root to a node, as ranges in that order. */
export function pathOf(segments: Segments, head: NodeKey | null): KeyRange[] {
  const ranges: KeyRange[] = [];
  for (let key = head; key !== null; ) {
    const row = segment(segments, key);
    ranges.push({ from: keyOf(row.segment, 0), to: key });
    key = row.parent;
  }
  return ranges.reverse();
}

/** Whether a key lies in one of the ranges. */
export function inRanges(ranges: readonly KeyRange[], key: NodeKey): boolean {
  return ranges.some((range) => key >= range.from && key <= range.to);
}

/** The number of nodes in the ranges. */
export function lengthOf(ranges: readonly KeyRange[]): number {
  return ranges.reduce((sum, range) => sum + range.to - range.from + 1, 0);
}

/** The deepest node that two paths share, or null. */
export function forkOf(segments: Segments, a: NodeKey | null, b: NodeKey | null): NodeKey | null {
  const [left, right] = [pathOf(segments, a), pathOf(segments, b)];
  let fork: NodeKey | null = null;
  for (let i = 0; i < Math.min(left.length, right.length); i += 1) {
    const [l, r] = [left[i] as KeyRange, right[i] as KeyRange];
    if (l.from !== r.from) break;
    fork = Math.min(l.to, r.to);
    if (l.to !== r.to) break;
  }
  return fork;
}

/** The part of a head's path that lies below a node of it; the whole path below null. */
export function pathBelow(segments: Segments, above: NodeKey | null, head: NodeKey | null): KeyRange[] {
  const path = pathOf(segments, head);
  if (above === null) return path;
  const at = path.findIndex((range) => inRanges([range], above));
  if (at < 0) throw new TypeError("the node is not on the path");
  const [first, ...rest] = path.slice(at) as [KeyRange, ...KeyRange[]];
  return above < first.to ? [{ from: above + 1, to: first.to }, ...rest] : rest;
}

/** The children of a node in the order in which they were made; null asks for the roots. */
export function childrenOf(segments: Segments, parent: NodeKey | null): NodeKey[] {
  const forks = [...segments.values()]
    .filter((row) => row.parent === parent && (parent !== null || row.caller === null))
    .map((row) => keyOf(row.segment, 0))
    .sort((a, b) => a - b);
  if (parent === null || offsetOf(parent) >= segment(segments, parent).last) return forks;
  return [parent + 1, ...forks];
}

/** Every leaf below a node, itself if it has no children. */
export function leavesBelow(segments: Segments, key: NodeKey): NodeKey[] {
  const reached = new Map<number, number>([[segmentOf(key), offsetOf(key)]]);
  const parents = new Set<NodeKey>();
  for (const row of inOrder(segments)) {
    if (row.parent === null) continue;
    const from = reached.get(segmentOf(row.parent));
    if (from === undefined || offsetOf(row.parent) < from) continue;
    reached.set(row.segment, 0);
    parents.add(row.parent);
  }
  return [...reached.keys()]
    .map((number) => keyOf(number, segment(segments, keyOf(number, 0)).last))
    .filter((tip) => !parents.has(tip));
}

/** Segments with parents and callers before what hangs from them; numbers are given in that order. */
function inOrder(segments: Segments): SegmentRow[] {
  return [...segments.values()].sort((a, b) => a.segment - b.segment);
}

/** The marks that follow from where the heads are: for each segment the offset from which it is rewound, or null. */
export function marksFor(segments: Segments, heads: readonly (NodeKey | null)[]): Map<number, number | null> {
  const reach = new Map<number, number>();
  const reachTo = (key: NodeKey) =>
    reach.set(segmentOf(key), Math.max(reach.get(segmentOf(key)) ?? 0, offsetOf(key) + 1));
  for (const head of heads) if (head !== null) reachTo(head);
  const ordered = inOrder(segments);
  for (const row of [...ordered].reverse()) {
    if (row.parent !== null && (reach.get(row.segment) ?? 0) > 0) reachTo(row.parent);
  }
  const marks = new Map<number, number | null>();
  for (const row of ordered) {
    const root = callerOf(segments, keyOf(row.segment, 0));
    if (root === null) {
      const reached = reach.get(row.segment) ?? 0;
      marks.set(row.segment, reached > row.last ? null : reached);
    } else {
      const mark = marks.get(segmentOf(root));
      marks.set(row.segment, mark != null && offsetOf(root) >= mark ? 0 : null);
    }
  }
  return marks;
}

/** Where the next node below a head goes: on in its segment, or into a new one (numbered -1). */
export function placeBelow(
  segments: Segments,
  head: NodeKey | null,
): { key: NodeKey; opens: { parent: NodeKey | null; depth: number } | null } {
  if (head !== null) {
    const row = segment(segments, head);
    const isTip = offsetOf(head) === row.last;
    if (isTip && row.last + 1 < segmentCapacity) return { key: head + 1, opens: null };
  }
  const depth = head === null ? 0 : depthOf(segments, head) + 1;
  return { key: keyOf(-1, 0), opens: { parent: head, depth } };
}
