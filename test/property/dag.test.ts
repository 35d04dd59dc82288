/**
 * The arithmetic of keys and segments against a drawing with parent pointers: paths, forks, children, leaves, marks.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  callerOf,
  childrenOf,
  depthOf,
  forkOf,
  inRanges,
  isRewound,
  leavesBelow,
  lengthOf,
  marksFor,
  parentOf,
  pathBelow,
  pathOf,
  segmentsOf,
} from "../../src/core/dag.js";
import { type Drawn, drawings } from "./naive-dag.js";
import { runs } from "./runs.js";

const keys = (nodes: readonly Drawn[]) => nodes.map((node) => node.key);
const keysOf = (ranges: readonly { from: number; to: number }[]) =>
  ranges.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, i) => from + i));
const sorted = (list: readonly number[]) => [...list].sort((a, b) => a - b);
const options = runs(400);

test("[N2] parent, depth, caller, path and children follow from the key", () => {
  fc.assert(
    fc.property(drawings, ({ drawing, a }) => {
      const { segments } = drawing;
      for (const node of drawing.nodes) {
        expect(parentOf(segments, node.key)).toBe(node.parent?.key ?? null);
        expect(callerOf(segments, node.key)).toBe(drawing.caller(node)?.key ?? null);
        expect(depthOf(segments, node.key)).toBe(drawing.path(node).length - 1);
        expect(childrenOf(segments, node.key)).toEqual(keys(drawing.children(node)));
      }
      const path = pathOf(segments, a.key);
      expect(keysOf(path)).toEqual(keys(drawing.path(a)));
      expect(lengthOf(path)).toBe(drawing.path(a).length);
      for (const { key } of drawing.nodes) expect(inRanges(path, key)).toBe(keysOf(path).includes(key));
      expect(childrenOf(segments, null)).toEqual(keys(drawing.children(null)));
      expect(pathOf(segments, null)).toEqual([]);
    }),
    options,
  );
});

test("[N2] the fork of two heads is the deepest node that both paths hold, and each side is what lies below it", () => {
  fc.assert(
    fc.property(drawings, ({ drawing, a, b }) => {
      const { segments } = drawing;
      const [left, right] = [drawing.path(a), drawing.path(b)];
      const shared = left.filter((node) => right.includes(node));
      const fork = shared.at(-1)?.key ?? null;
      expect(forkOf(segments, a.key, b.key)).toBe(fork);
      expect(keysOf(pathBelow(segments, fork, a.key))).toEqual(keys(left.slice(shared.length)));
      expect(keysOf(pathBelow(segments, fork, b.key))).toEqual(keys(right.slice(shared.length)));
      expect(forkOf(segments, a.key, null)).toBe(null);
      for (const above of left) {
        expect(keysOf(pathBelow(segments, above.key, a.key))).toEqual(keys(left.slice(left.indexOf(above) + 1)));
      }
      if (!left.includes(b)) expect(() => pathBelow(segments, b.key, a.key)).toThrow(TypeError);
    }),
    options,
  );
});

test("[R10] C7 the leaves below a node are the ends of every path through it", () => {
  fc.assert(
    fc.property(drawings, ({ drawing }) => {
      for (const node of drawing.nodes) {
        expect(sorted(leavesBelow(drawing.segments, node.key))).toEqual(sorted(keys(drawing.leaves(node))));
      }
    }),
    options,
  );
});

test("[N4] C6 C8 C19 a node is rewound exactly when no head reaches it, a side chain with the node that called it", () => {
  fc.assert(
    fc.property(drawings, ({ drawing, heads }) => {
      const marks = marksFor(
        drawing.segments,
        heads.map((head) => head?.key ?? null),
      );
      const marked = segmentsOf(drawing.rows.map((row) => ({ ...row, mark: marks.get(row.segment) ?? null })));
      for (const node of drawing.nodes) {
        expect(isRewound(marked, node.key)).toBe(drawing.isRewound(node, heads));
      }
      expect([...marks.keys()].sort()).toEqual(drawing.rows.map((row) => row.segment).sort());
    }),
    options,
  );
});
