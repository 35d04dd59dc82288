/**
 * What a person is told of the files: the plan, corrected by what became of each edit.
 *
 * A result is made when the move is decided, and kept with the intent; whoever settles the move, this process or one that
 * recovers it, corrects it once the edits are made.
 */
import type { EditOutcome } from "../core/files.js";
import type { FileReport, MoveResult } from "../core/model.js";
import type { PathPlan } from "../core/plan.js";
import { shownPlans } from "../core/tree.js";

const wrote = new Set(["restored", "created", "deleted", "merged"]);

/** The paths that a move wrote, of those that it reports. */
export const writtenPaths = (files: readonly FileReport[]): string[] =>
  files.filter((file) => wrote.has(file.outcome)).map((file) => file.path);

/** What a plan says of each path that a person is shown. */
export function reports(plans: readonly PathPlan[]): FileReport[] {
  return shownPlans(plans).map(({ path, outcome, reason }) => {
    return { path, outcome, ...(reason === undefined ? {} : { reason }) };
  });
}

/** The errors of a result: one for each path that failed. */
export function fileErrors(files: readonly FileReport[]): MoveResult["errors"] {
  return files
    .filter((file) => file.outcome === "failed")
    .map(({ path, reason = "failed" }) => ({ path, code: "restore_failed", message: `${path}: ${reason}` }));
}

/** The edits that were not made, each with the reason. */
export function leftPaths(outcomes: readonly EditOutcome[]): { path: string; reason: string }[] {
  return outcomes
    .filter((outcome) => outcome.result !== "done")
    .map(({ path, result, reason }) => ({ path, reason: reason ?? result }));
}

/** A planned result as it became. */
export function corrected<R extends MoveResult>(planned: R, outcomes: readonly EditOutcome[]): R {
  const became = new Map(outcomes.map((outcome) => [outcome.path, outcome]));
  const unmade = (file: FileReport): FileReport | undefined => {
    const edit = became.get(file.path);
    if (edit === undefined || edit.result === "done") return undefined;
    const { path } = file;
    if (edit.result === "kept") return { path, outcome: "kept", reason: edit.reason ?? "not_empty" };
    return { path, outcome: "failed", reason: edit.reason ?? edit.result };
  };
  const failures = fileErrors(planned.files.flatMap((file) => unmade(file) ?? []));
  const files = planned.files.map((file) => unmade(file) ?? file);
  return { ...planned, files, restoredPaths: writtenPaths(files), errors: [...planned.errors, ...failures] };
}
