/**
 * Placeholders become numbers: a plan numbers new segments and runs -1, -2, … and the commit gives them real ones.
 *
 * A placeholder inside a node key is its segment. Everything in a list that can mention a key or a run is resolved here,
 * so that no backend needs to know which changes those are.
 */
import type { Change, NodeKey, Owner } from "./change.js";
import { keyOf, offsetOf, segmentOf } from "./dag.js";

/** What a commit has allocated so far. */
export interface Allocated {
  segments: ReadonlyMap<number, number>;
  runs: ReadonlyMap<number, number>;
}

function given(map: ReadonlyMap<number, number>, placeholder: number): number {
  const number = map.get(placeholder);
  if (number === undefined) throw new TypeError(`placeholder ${placeholder} is used before it is allocated`);
  return number;
}

/** The key that a key with a placeholder segment stands for. */
export function resolveKey<K extends NodeKey | null>(allocated: Allocated, key: K): K {
  if (key === null || key >= 0) return key;
  return keyOf(given(allocated.segments, segmentOf(key)), offsetOf(key)) as K;
}

function resolveRun<R extends number | null>(allocated: Allocated, run: R): R {
  if (run === null || run >= 0) return run;
  return given(allocated.runs, run) as R;
}

function resolveOwner(allocated: Allocated, owner: Owner): Owner {
  switch (owner.kind) {
    case "run":
      return { ...owner, run: resolveRun(allocated, owner.run) };
    default:
      return owner;
  }
}

/** The change with every placeholder that has been allocated resolved. The one it allocates itself stays. */
export function resolve(allocated: Allocated, change: Change): Change {
  const key = <K extends NodeKey | null>(k: K) => resolveKey(allocated, k);
  switch (change.kind) {
    case "segment":
      return { ...change, parent: key(change.parent), caller: key(change.caller) };
    case "node":
      return { ...change, key: key(change.key), run: resolveRun(allocated, change.run) };
    case "link":
      return { ...change, from: key(change.from), to: key(change.to) };
    case "branch":
      return { ...change, to: change.to === null ? null : { head: key(change.to.head) } };
    case "run-start": {
      const { start, fields } = change;
      return {
        ...change,
        start: { ...start, firstKey: key(start.firstKey), userKey: key(start.userKey) },
        fields: { ...fields, lastKey: key(fields.lastKey) },
      };
    }
    case "run-end":
      return { ...change, to: { ...change.to, lastKey: key(change.to.lastKey) } };
    case "log":
      return { ...change, owner: resolveOwner(allocated, change.owner) };
    default:
      return change;
  }
}
