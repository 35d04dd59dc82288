/**
 * What can be undone and redone, derived from lines of operations: `R` rewind, `S` switch, `M` resume, `u` undo, `r`
 * redo, `T` turn. A stack is written as the numbers of its operations, the next one last.
 */
import { expect, test } from "vitest";
import type { OperationKind } from "../../src/core/model.js";
import { undoStacks } from "../../src/core/undo.js";
import { operationRow } from "./rows.js";

const kinds: Record<string, OperationKind> = {
  R: "rewind",
  S: "switch",
  M: "resume",
  u: "undo",
  r: "redo",
  T: "turn",
};

const stacks = (line: string): string => {
  const { undo, redo } = undoStacks([...line].map((letter, i) => operationRow(i + 1, kinds[letter] as OperationKind)));
  const list = (moves: { number: number }[]) => moves.map((move) => move.number).join(" ");
  return `undo ${list(undo)} | redo ${list(redo)}`;
};

test.each([
  ["", "undo  | redo "],
  ["T", "undo  | redo "],
  ["R", "undo 1 | redo "],
  ["RSM", "undo 1 2 3 | redo "],
  ["Ru", "undo  | redo 2"],
  ["RSuu", "undo  | redo 3 4"],
  ["RSuur", "undo 5 | redo 3"],
  ["RSuurr", "undo 5 6 | redo "],
  ["RTu", "undo  | redo 3"],
  ["RuT", "undo  | redo "],
  ["RSuT", "undo 1 | redo "],
  ["RuR", "undo 3 | redo 2"],
  ["Rur", "undo 3 | redo "],
  ["Ruru", "undo  | redo 4"],
])("[O6] after %s: %s", (line, expected) => expect(stacks(line)).toBe(expected));

test("[O6] the order of the rows does not matter", () => {
  const rows = [operationRow(3, "undo"), operationRow(1, "rewind"), operationRow(2, "switch")];
  expect(undoStacks(rows).undo.map((move) => move.number)).toEqual([1]);
});
