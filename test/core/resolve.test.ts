/**
 * Placeholders in every kind of change that can hold one.
 */
import { expect, test } from "vitest";
import type { Change } from "../../src/core/change.js";
import { keyOf } from "../../src/core/dag.js";
import { resolve, resolveKey } from "../../src/core/resolve.js";
import { fields, runStart, segment } from "../contract/bench.js";
import { absent } from "./rows.js";

const allocated = { segments: new Map([[-1, 7]]), runs: new Map([[-2, 9]]) };
const [given, real] = [keyOf(-1, 3), keyOf(7, 3)];

test("[B1] a key, a head and a run are replaced wherever they stand", () => {
  const pairs: [Change, object][] = [
    [segment(-5, given, { caller: given }), { segment: -5, parent: real, caller: real }],
    [
      { kind: "link", link: "covers", from: given, to: keyOf(2, 0) },
      { from: real, to: keyOf(2, 0) },
    ],
    [
      { kind: "branch", name: "b", from: { head: 4 }, to: { head: given } },
      { from: { head: 4 }, to: { head: real } },
    ],
    [{ kind: "branch", name: "b", from: null, to: { head: null } }, { to: { head: null } }],
    [{ kind: "branch", name: "b", from: { head: 4 }, to: null }, { to: null }],
    [
      runStart(given, {}, -3, { ...fields, lastKey: given }),
      { run: -3, start: { firstKey: real, userKey: real }, fields: { lastKey: real } },
    ],
    [{ kind: "run-end", run: 1, from: "running", to: { ...fields, lastKey: given } }, { to: { lastKey: real } }],
    [
      { kind: "log", path: "a", before: absent, after: absent, owner: { kind: "run", run: -2, toolCallId: "c" } },
      { owner: { kind: "run", run: 9, toolCallId: "c" } },
    ],
    [
      { kind: "log", path: "a", before: absent, after: absent, owner: { kind: "shared", runs: [1, 2] } },
      { owner: { kind: "shared", runs: [1, 2] } },
    ],
  ];
  for (const [change, expected] of pairs) expect(resolve(allocated, change)).toMatchObject(expected);
});

test("[B1] real numbers and null stay, and an unknown placeholder is a caller's bug", () => {
  expect([resolveKey(allocated, null), resolveKey(allocated, real)]).toEqual([null, real]);
  expect(() => resolveKey(allocated, keyOf(-4, 0))).toThrow(TypeError);
  const idle: Change = { kind: "idle" };
  expect(resolve(allocated, idle)).toBe(idle);
});
