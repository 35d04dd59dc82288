/**
 * Conversations that come whole: imported from another system, or copied by a fork.
 *
 * Both place a list of nodes, parents first. The first child of a tip goes on in its parent's segment, every other child
 * opens one of its own, so that the DAG comes out as if it had been written turn by turn.
 */
import type { NodeRow, RunRow, SegmentRow } from "../core/backend.js";
import type { Change, NodeKey } from "../core/change.js";
import { depthOf, keyOf, marksFor, offsetOf, type Segments, segmentCapacity, segmentOf } from "../core/dag.js";
import { RetconError } from "../core/errors.js";

/** A node to be placed: who it is, what it hangs from, and the change that adds it once its key is known. */
export interface Placing {
  id: string;
  parentId: string | null;
  callerId?: string;
  change(key: NodeKey): Change;
}

/** Keys for nodes that are added to a DAG, and the segments that they open. */
export interface Placed {
  changes: Change[];
  keys: Map<string, NodeKey>;
  /** The segments with the new ones, as marks see them. New ones have negative numbers. */
  segments: Segments;
}

/** Places nodes into a DAG. `known` are the keys of nodes that are there. @throws `bad_input` for a parent that is not */
export function place(segments: Segments, known: ReadonlyMap<string, NodeKey>, nodes: readonly Placing[]): Placed {
  const all = new Map<number, SegmentRow>([...segments].map(([number, row]) => [number, { ...row }]));
  const keys = new Map(known);
  const added: Change[] = [];
  let next = -1;
  const keyAt = (id: string, field: string): NodeKey => {
    const key = keys.get(id);
    if (key !== undefined) return key;
    const reason = `no node ${id} comes before it`;
    throw new RetconError("bad_input", `${field} ${id} is unknown: ${reason}`, { field, reason });
  };
  const open = (parent: NodeKey | null, caller: NodeKey | null): NodeKey => {
    const depth = parent === null ? 0 : depthOf(all, parent) + 1;
    all.set(next, { segment: next, parent, caller, depth, mark: null, last: 0 });
    next -= 1;
    return keyOf(next + 1, 0);
  };
  for (const node of nodes) {
    const parent = node.parentId === null ? null : keyAt(node.parentId, "parentId");
    const caller = parent === null && node.callerId !== undefined ? keyAt(node.callerId, "callerId") : null;
    const row = parent === null ? undefined : all.get(segmentOf(parent));
    const goesOn =
      parent !== null && row !== undefined && offsetOf(parent) === row.last && row.last + 1 < segmentCapacity;
    const key = goesOn ? parent + 1 : open(parent, caller);
    if (goesOn) row.last += 1;
    keys.set(node.id, key);
    added.push(node.change(key));
  }
  return { changes: added, keys, segments: all };
}

/** The changes that open the new segments, each with the mark that follows from where the heads are. */
export function openingChanges({ segments }: Placed, heads: readonly (NodeKey | null)[]): Change[] {
  const numbered = renumbered(segments);
  const marks = marksFor(numbered.segments, heads.map(numbered.key));
  return [...segments.values()]
    .filter((row) => row.segment < 0)
    .sort((a, b) => b.segment - a.segment)
    .map(({ segment, parent, caller, depth }): Change => {
      const mark = marks.get(numbered.number(segment)) ?? null;
      return { kind: "segment", segment, parent, caller, depth, mark };
    });
}

/** The marks of segments that were there already and change by what was added. */
export function remarkChanges({ segments }: Placed, heads: readonly (NodeKey | null)[]): Change[] {
  const numbered = renumbered(segments);
  const marks = marksFor(numbered.segments, heads.map(numbered.key));
  return [...segments.values()].flatMap((row): Change[] => {
    const to = marks.get(row.segment) ?? null;
    if (row.segment < 0 || to === row.mark) return [];
    return [{ kind: "mark", segment: row.segment, from: row.mark, to }];
  });
}

/** Placeholders count down; marks need numbers that rise in the order in which segments are made. */
function renumbered(segments: Segments) {
  const top = Math.max(0, ...segments.keys());
  const number = (segment: number) => (segment < 0 ? top - segment : segment);
  const key = <K extends NodeKey | null>(k: K): K =>
    (k === null ? null : keyOf(number(segmentOf(k)), offsetOf(k))) as K;
  const rows = [...segments.values()].map((row) => {
    return { ...row, segment: number(row.segment), parent: key(row.parent), caller: key(row.caller) };
  });
  return { segments: new Map(rows.map((row) => [row.segment, row])), number, key };
}

/** A run as its copy in another conversation: the same figures, the same rows of the log. */
export function copiedRun(
  run: RunRow,
  placeholder: number,
  keyOfNode: (key: NodeKey) => NodeKey | undefined,
  cutAt: { key: NodeKey; position: number | null },
): Change[] {
  const [firstKey, userKey] = [keyOfNode(run.firstKey), keyOfNode(run.userKey)];
  if (firstKey === undefined || userKey === undefined) return [];
  const { workspace, holder, leaseMs, startedAtMs, found, left, usage, error, report, endedAtMs, status } = run;
  const start = { firstKey, userKey, workspace, holder, leaseMs, startedAtMs, found, rowsOf: run.rowsOf ?? run.run };
  const lastKey = run.lastKey === null ? undefined : keyOfNode(run.lastKey);
  // A run that the copy leaves in the middle ends, for the copy, where the last copied node was sealed.
  const end = lastKey === undefined ? { lastKey: cutAt.key, left: cutAt.position } : { lastKey, left };
  const fields = { status, endedAtMs, usage, error, report, ...end };
  return [{ kind: "run-start", run: placeholder, start, fields }];
}

/** A stored node as it is placed again elsewhere. */
export function copiedNode(row: NodeRow, run: number | null): (key: NodeKey) => Change {
  const { id, role, synthetic, createdAtMs, body, position } = row;
  return (key) => ({ kind: "node", key, id, run, role, synthetic, createdAtMs, body, blobs: [], position });
}
