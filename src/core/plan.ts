/**
 * One planner for every move of the files, from what a head H implies to what a head T implies.
 *
 *        fork ──●──●── H      1. take back the own rows of this side, newest first
 *           └──●──●── T       2. put on the own rows of this side, oldest first
 *
 * Each row is a step `base → ours`. Rows that continue one another collapse into one step. Where the disk is what a step
 * starts from, the step is exact, byte for byte; where somebody else changed the path, the step is merged into what is
 * there. Everybody else's edits stay by themselves, and a path without own rows is never touched.
 */
import type { LogRow } from "./backend.js";
import { RetconError } from "./errors.js";
import type { FileOutcome, FileState, Policy, RestoreOptions } from "./model.js";
import { type Contents, mergeStates, sameState } from "./states.js";

/** What the planner knows of a path: the disk as just seen and the own rows of both sides. */
export interface PathHistory {
  path: string;
  disk: FileState;
  /** Own rows of H's side, in the order of the log. */
  back: LogRow[];
  /** Own rows of T's side, in the order of the log. */
  forth: LogRow[];
  /** What the operation that is taken back left and found here. */
  undo?: { left: FileState; found: FileState };
}

/** What is to happen to a path. `merged` bytes are in the contents. */
export interface PathPlan {
  path: string;
  before: FileState;
  after: FileState;
  outcome: FileOutcome;
  reason?: string;
}

/** One step: from the state it starts from to the state it wants. */
interface Step {
  base: FileState;
  ours: FileState;
}

/** The steps of a path in the order in which they are taken, with rows that continue one another as one. */
export function stepsOf(history: Pick<PathHistory, "back" | "forth">): Step[] {
  const steps: Step[] = [
    ...[...history.back].reverse().map((row) => ({ base: row.after, ours: row.before })),
    ...history.forth.map((row) => ({ base: row.before, ours: row.after })),
  ];
  const collapsed: Step[] = [];
  for (const step of steps) {
    const last = collapsed.at(-1);
    if (last !== undefined && sameState(last.ours, step.base)) last.ours = step.ours;
    else collapsed.push({ ...step });
  }
  return collapsed.filter((step) => !sameState(step.base, step.ours));
}

/** Blobs that merging these paths may need: of paths whose steps are not exact. */
export function blobsToMerge(histories: readonly PathHistory[]): Set<string> {
  const blobs = new Set<string>();
  for (const history of histories) {
    const steps = stepsOf(history);
    let current: FileState | undefined = history.disk;
    for (const { base, ours } of steps) {
      if (current !== undefined && sameState(current, base)) {
        current = ours;
        continue;
      }
      for (const state of [current, base, ours]) if (state?.kind === "file") blobs.add(state.blob);
      current = undefined;
    }
  }
  return blobs;
}

/** The policies of a move, as the planner asks for them. */
export interface Policies {
  edits: "merge" | "keep" | "overwrite" | "refuse";
  conflict(path: string): Policy;
}

/** The policies that options ask for, with their defaults. */
export function policiesOf(options: RestoreOptions): Policies {
  const { onUserEdits = "merge", onConflict = "refuse", onFileError = "rollback" } = options;
  checkOneOf("onUserEdits", onUserEdits, ["merge", "keep", "overwrite", "refuse"]);
  checkOneOf("onFileError", onFileError, ["rollback", "continue"]);
  const asked =
    typeof onConflict === "string" ? [onConflict] : [onConflict.default, ...Object.values(onConflict.paths)];
  for (const policy of asked) checkOneOf("onConflict", policy, ["refuse", "keep", "overwrite"]);
  const conflict = (path: string): Policy =>
    typeof onConflict === "string"
      ? onConflict
      : Object.hasOwn(onConflict.paths, path)
        ? (onConflict.paths[path] as Policy)
        : onConflict.default;
  return { edits: onUserEdits, conflict };
}

function checkOneOf(field: string, value: string, allowed: readonly string[]): void {
  if (allowed.includes(value)) return;
  const reason = `it is one of ${allowed.join(", ")}`;
  throw new RetconError("bad_input", `${field} ${JSON.stringify(value)} is unknown: ${reason}`, { field, reason });
}

/** Plans one path by itself; what its neighbours make of it is decided in tree.ts. */
export function planPath(history: PathHistory, policies: Policies, contents: Contents): PathPlan {
  const { path, disk, undo } = history;
  const settled = (after: FileState, outcome: FileOutcome, reason?: string): PathPlan => ({
    path,
    before: disk,
    after,
    outcome,
    ...(reason === undefined ? {} : { reason }),
  });
  const rows = [...history.back, ...history.forth];
  const shared = rows.find((row) => row.owner.kind === "shared");
  if (shared?.owner.kind === "shared") {
    return settled(disk, "kept", `shared by runs ${shared.owner.runs.map((run) => `r${run}`).join(", ")}`);
  }
  const unknown = [disk, ...rows.flatMap((row) => [row.before, row.after])].find((state) => state.kind === "unknown");
  if (unknown?.kind === "unknown") return settled(disk, "skipped", `not_captured: ${unknown.reason}`);
  if (undo?.found.kind === "unknown") return settled(disk, "skipped", `not_captured: ${undo.found.reason}`);
  if (undo !== undefined && sameState(disk, undo.left)) {
    return settled(undo.found, outcomeOf(disk, undo.found));
  }
  let current = disk;
  let merged = false;
  for (const { base, ours } of stepsOf(history)) {
    const next = takeStep(current, base, ours, path, policies, contents);
    if (next.state === undefined) return settled(disk, next.outcome, next.reason);
    merged ||= next.merged;
    current = next.state;
  }
  return settled(current, merged && !sameState(disk, current) ? "merged" : outcomeOf(disk, current));
}

type Taken = { state: FileState; merged: boolean } | { state: undefined; outcome: "kept" | "conflict"; reason: string };

function takeStep(
  current: FileState,
  base: FileState,
  ours: FileState,
  path: string,
  policies: Policies,
  contents: Contents,
): Taken {
  if (sameState(current, base) || sameState(current, ours)) return { state: ours, merged: false };
  if (policies.edits === "overwrite") return { state: ours, merged: false };
  if (policies.edits === "keep") return { state: undefined, outcome: "kept", reason: "edited_by_others" };
  if (policies.edits === "refuse") return { state: undefined, outcome: "conflict", reason: "edited_by_others" };
  const merge = mergeStates(base, current, ours, contents);
  if (merge.clean) return { state: merge.state, merged: true };
  const policy = policies.conflict(path);
  if (policy === "overwrite") return { state: ours, merged: false };
  return { state: undefined, outcome: policy === "keep" ? "kept" : "conflict", reason: merge.reason };
}

/** What a plain change from one state to another is called. */
function outcomeOf(before: FileState, after: FileState): FileOutcome {
  if (sameState(before, after)) return "unchanged";
  if (before.kind === "absent") return "created";
  return after.kind === "absent" ? "deleted" : "restored";
}
