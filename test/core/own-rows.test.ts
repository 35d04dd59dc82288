/**
 * Which rows lie on one side of a fork, drawn with positions of the log.
 *
 *     run 1: found 10   node 0 @10   node 1 @12   node 2 @14   left 16
 *     run 2: found 16   node 3 @16   node 4 @18                left 20
 */
import { describe, expect, test } from "vitest";
import type { NodeRow, RunRow } from "../../src/core/backend.js";
import { keyOf } from "../../src/core/dag.js";
import { byPath, ownRows, positionOf, spansOf } from "../../src/core/own-rows.js";
import { logRow, nodeRow, runRow } from "./rows.js";

const key = (offset: number) => keyOf(1, offset);
const node = (offset: number, position: number, run: number): NodeRow =>
  nodeRow(key(offset), { role: "assistant", content: "" }, { position, run });
const nodes = [node(0, 10, 1), node(1, 12, 1), node(2, 14, 1), node(3, 16, 2), node(4, 18, 2)] as const;
const one = runRow(1, { status: "completed", firstKey: key(0), userKey: key(0), lastKey: key(2), found: 10, left: 16 });
const two = runRow(2, { status: "completed", firstKey: key(3), userKey: key(3), lastKey: key(4), found: 16, left: 20 });
const range = (from: number, to: number) => ({ from: key(from), to: key(to) });
const spans = (fork: NodeRow | undefined, from: number, to: number, runs: RunRow[]) =>
  spansOf({ ranges: [range(from, to)], fork, runs, ends: [nodes[to] as NodeRow] });

describe("positions", () => {
  test("[L5] a run's last node stands for what the run left, any other for the log when it was sealed", () => {
    expect(nodes.map((row) => positionOf(row, row.run === 1 ? one : two))).toEqual([10, 12, 16, 16, 20]);
    expect(positionOf(nodes[2], undefined)).toBe(14);
    expect(positionOf(nodes[2], { ...one, left: null })).toBe(14);
  });
});

describe("spans", () => {
  test("[L5] whole runs own all that they found and left", () => {
    expect(spans(undefined, 0, 4, [one, two])).toEqual([
      { run: 1, above: 10, upTo: 16 },
      { run: 2, above: 16, upTo: 20 },
    ]);
  });

  test("[L5] a fork inside a run leaves each side its part", () => {
    expect(spans(nodes[1], 2, 4, [one, two])).toEqual([
      { run: 1, above: 12, upTo: 16 },
      { run: 2, above: 16, upTo: 20 },
    ]);
    expect(spans(undefined, 0, 1, [one])).toEqual([{ run: 1, above: 10, upTo: 12 }]);
  });

  test("[L5] a head inside a run owns up to where it was sealed", () => {
    expect(spans(nodes[2], 3, 3, [two])).toEqual([]);
    expect(spans(undefined, 0, 3, [one, two])).toEqual([{ run: 1, above: 10, upTo: 16 }]);
  });

  test("[L5] a fork at a run's last node gives its other side nothing of it", () => {
    expect(spans(nodes[2], 3, 4, [one, two])).toEqual([{ run: 2, above: 16, upTo: 20 }]);
  });

  test("[L5] a live run owns without end", () => {
    expect(spans(nodes[2], 3, 4, [{ ...two, lastKey: null, left: null }])).toEqual([{ run: 2, above: 16, upTo: null }]);
  });

  test("[N5] a run that a fork copied owns the rows of the one it was copied from", () => {
    expect(spans(undefined, 0, 4, [{ ...one, run: 8, rowsOf: 1 }])).toEqual([{ run: 1, above: 10, upTo: 16 }]);
  });
});

describe("rows", () => {
  const run = (number: number, of: number) => logRow(number, { kind: "run", run: of });
  const numbers = (rows: { number: number }[]) => rows.map((row) => row.number);

  test("[W13] are those of the runs named, within their spans, shared ones too", () => {
    const rows = [
      run(10, 1),
      run(11, 1),
      run(12, 2),
      logRow(13, { kind: "outside" }),
      logRow(14, { kind: "move" }),
      logRow(15, { kind: "shared", runs: [1, 2] }),
      logRow(16, { kind: "shared", runs: [2, 3] }),
      run(17, 1),
    ];
    expect(numbers(ownRows(rows, [{ run: 1, above: 10, upTo: 16 }]))).toEqual([11, 15]);
    expect(numbers(ownRows(rows, [{ run: 1, above: 10, upTo: null }]))).toEqual([11, 15, 17]);
    expect(ownRows(rows, [])).toEqual([]);
  });

  test("[O1] are told apart by path and keep their order", () => {
    const rows = [logRow(1, { kind: "move" }, "a"), logRow(2, { kind: "move" }, "b"), logRow(3, { kind: "move" }, "a")];
    expect([...byPath(rows)].map(([path, own]) => [path, numbers(own)])).toEqual([
      ["a", [1, 3]],
      ["b", [2]],
    ]);
  });
});
