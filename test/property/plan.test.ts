/**
 * The planner on one path, without a disk: rows that continue one another are one step, from the oldest state to the
 * newest, byte for byte and without a merge.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { LogRow } from "../../src/core/backend.js";
import type { FileState } from "../../src/core/model.js";
import { blobsToMerge, planPath, policiesOf, stepsOf } from "../../src/core/plan.js";
import { sameState } from "../../src/core/states.js";
import { runs } from "./runs.js";

const mode = fc.constantFrom(0o644, 0o755, 0o600);
const state: fc.Arbitrary<FileState> = fc.oneof(
  fc.constant<FileState>({ kind: "absent" }),
  fc.record({ kind: fc.constant("directory" as const), mode }),
  fc.record({ kind: fc.constant("symlink" as const), target: fc.constantFrom("a", "../b") }),
  fc.record({
    kind: fc.constant("file" as const),
    blob: fc.constantFrom("b1", "b2", "b3"),
    mode,
    size: fc.constant(3),
  }),
);
const chain = fc.array(state, { minLength: 1, maxLength: 6 });

/** Rows that lead through the states, numbered upwards. */
const rowsOf = (states: readonly FileState[], from: number): LogRow[] =>
  states.slice(1).map((after, i) => ({
    number: from + i,
    path: "p",
    before: states[i] as FileState,
    after,
    owner: { kind: "run", run: 1 },
    operation: 1,
  }));

const contents = {
  merge: () => ({ clean: false as const, reason: "merged" }),
  hash: () => "merged",
  bytes: () => new Uint8Array(),
  made: () => undefined,
};

test("[R12] F72 F77 F78 F79 rows of both sides that continue one another give the newest state of the other side exactly", () => {
  fc.assert(
    fc.property(state, chain, chain, (fork, left, right) => {
      const [back, forth] = [rowsOf([fork, ...left], 1), rowsOf([fork, ...right], 100)];
      const disk = left.at(-1) as FileState;
      const plan = planPath({ path: "p", disk, back, forth }, policiesOf({}), contents);
      expect(plan.before).toEqual(disk);
      expect(sameState(plan.after, right.at(-1) as FileState)).toBe(true);
      expect(plan.outcome).not.toBe("merged");
      expect(plan.outcome === "unchanged").toBe(sameState(plan.after, disk));
      expect([...blobsToMerge([{ path: "p", disk, back, forth }])]).toEqual([]);
    }),
    runs(500),
  );
});

test("[R12] F79 contiguous rows collapse into one step from the newest after to the oldest before", () => {
  fc.assert(
    fc.property(state, chain, (first, states) => {
      const steps = stepsOf({ back: rowsOf([first, ...states], 1), forth: [] });
      const last = states.at(-1) as FileState;
      if (sameState(first, last)) expect(steps).toEqual([]);
      else expect(steps).toEqual([{ base: last, ours: first }]);
    }),
    runs(500),
  );
});
