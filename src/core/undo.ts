/**
 * Undo and redo, derived from the operations; no list of them is kept.
 *
 *     rewind A   turn   switch B   undo(B)   undo(A)   redo
 *                                  takes B    takes A   brings A again
 *
 * Every undo and redo is an operation of its own and names the one it answers. A new turn clears what could be redone,
 * and nothing else; turns themselves are not undone.
 */
import type { OperationRow } from "./backend.js";
import type { MoveSummary } from "./change.js";
import type { OperationKind } from "./model.js";

/** The kinds of operation that the derivation looks at. */
export const movingKinds: OperationKind[] = ["rewind", "switch", "resume", "undo", "redo", "turn"];

/** A move as undo and redo see it. */
export interface Move {
  number: number;
  kind: OperationKind;
  summary: MoveSummary;
}

/** What can be undone and redone, the next one last. */
export function undoStacks(operations: readonly OperationRow[]): { undo: Move[]; redo: Move[] } {
  const [undo, redo]: [Move[], Move[]] = [[], []];
  for (const { number, kind, summary } of [...operations].sort((a, b) => a.number - b.number)) {
    const move = { number, kind, summary: summary as unknown as MoveSummary };
    if (kind === "turn") redo.length = 0;
    else if (kind === "undo") {
      undo.pop();
      redo.push(move);
    } else {
      if (kind === "redo") redo.pop();
      undo.push(move);
    }
  }
  return { undo, redo };
}
