/**
 * Whose a change is, as a table: which runs live, what they announced, which windows are open.
 */
import { describe, expect, test } from "vitest";
import type { RunRow } from "../../src/core/backend.js";
import type { StatSeen } from "../../src/core/files.js";
import { ownerOf } from "../../src/core/whose.js";
import { absent, runRow } from "./rows.js";

type Window = RunRow["windows"][number];
const open = (opened: number, toolCallId = "call"): Window => ({ toolCallId, opened, closed: null });
const closed = (opened: number, at: number): Window => ({ toolCallId: "call", opened, closed: at });
const [one, two] = [(more: Partial<RunRow> = {}) => runRow(1, more), (more: Partial<RunRow> = {}) => runRow(2, more)];

const difference = (stat: StatSeen | null = null) => ({ path: "a", before: absent, after: absent, stat });
const changedAt = (mtimeMs: number, ctimeMs = mtimeMs): StatSeen => ({ size: 0, mtimeMs, ctimeMs, ino: 1, mode: 0 });
const [shared, outside] = [{ kind: "shared", runs: [1, 2] }, { kind: "outside" }];

describe("with live runs", () => {
  const table: [string, RunRow[], object][] = [
    ["none lives: outside", [], outside],
    ["the only one", [one()], { kind: "run", run: 1 }],
    [
      "the only one, in its only open window",
      [one({ windows: [open(3)] })],
      { kind: "run", run: 1, toolCallId: "call" },
    ],
    ["the only one, in two windows at once", [one({ windows: [open(3), open(3, "b")] })], { kind: "run", run: 1 }],
    ["the only one, after its window", [one({ windows: [closed(1, 2)] })], { kind: "run", run: 1 }],
    ["two without windows share", [one(), two()], shared],
    ["the one that announced the path", [one(), two({ announced: ["b", "a"] })], { kind: "run", run: 2 }],
    ["two that announced it share", [one({ announced: ["a"] }), two({ announced: ["a"] })], shared],
    [
      "the one whose window is open, the other's closed before",
      [one({ windows: [open(5)] }), two({ windows: [closed(2, 4)] })],
      { kind: "run", run: 1, toolCallId: "call" },
    ],
    [
      "one whose window overlaps a closed one shares",
      [one({ windows: [open(5)] }), two({ windows: [closed(4, 6)] })],
      shared,
    ],
    ["both windows open: shared", [one({ windows: [open(5)] }), two({ windows: [open(6)] })], shared],
    ["a run that never had a window counts as one", [one({ windows: [open(5)] }), two()], shared],
    ["all windows closed: shared", [one({ windows: [closed(1, 2)] }), two({ windows: [closed(3, 4)] })], shared],
    [
      "an announced path beats an open window",
      [one({ windows: [open(5)] }), two({ announced: ["a"] })],
      { kind: "run", run: 2 },
    ],
  ];
  test.each(table)("[W13] %s", (_what, live, owner) => expect(ownerOf(difference(), { live })).toEqual(owner));
});

describe("with a dead run", () => {
  const dead = { run: one(), lastSignMs: 1000 };
  const table: [string, StatSeen | null, RunRow[], object][] = [
    ["changed before its last sign of life: its own", changedAt(999), [], { kind: "run", run: 1 }],
    ["changed in the millisecond of the sign: its own", changedAt(1000.7), [], { kind: "run", run: 1 }],
    ["changed later: outside", changedAt(1001), [], outside],
    ["moved here later, with an old time: outside", changedAt(10, 2000), [], outside],
    ["changed later, while another lives: the other's", changedAt(2000), [two()], { kind: "run", run: 2 }],
    ["changed before, while another lives: shared", changedAt(999), [two()], shared],
    ["gone, so that no time tells: shared with those that live", null, [two()], shared],
    ["gone, and it alone", null, [], { kind: "shared", runs: [1] }],
  ];
  test.each(table)("[T2] %s", (_what, stat, live, owner) => {
    expect(ownerOf(difference(stat), { live, dead })).toEqual(owner);
  });
});
