/**
 * What the paths of a plan mean to one another: a file needs its folder, a folder that goes must be empty.
 *
 * A folder that others still use stays. A folder that a restored file needs and that somebody removed is made again. A
 * file whose folder has become something else cannot be restored, which is a conflict like any other.
 */
import type { FileState } from "./model.js";
import type { PathPlan, Policies } from "./plan.js";
import { parentPath } from "./states.js";

/** What is on the disk around the planned paths. */
export interface Surroundings {
  state(path: string): FileState;
  /** Names in a directory as it is on disk, ignored ones included. */
  children(path: string): readonly string[];
}

const changes = (plan: PathPlan) => plan.outcome !== "unchanged" && !leaves(plan);
const leaves = (plan: PathPlan) => plan.outcome === "kept" || plan.outcome === "conflict" || plan.outcome === "skipped";

/** Directories that a plan removes or turns into something else, whose children must be known. */
export function emptiedDirectories(plans: readonly PathPlan[]): string[] {
  return plans
    .filter((plan) => changes(plan) && plan.before.kind === "directory" && plan.after.kind !== "directory")
    .map((plan) => plan.path);
}

/** Settles the plans against one another, adds the folders they need, and sorts them by path. */
export function settleTree(plans: readonly PathPlan[], around: Surroundings, policies: Policies): PathPlan[] {
  const byPath = new Map(plans.map((plan) => [plan.path, plan]));
  const shallowFirst = [...byPath.keys()].sort((a, b) => a.split("/").length - b.split("/").length);
  for (const path of shallowFirst) needParents(path, byPath, around, policies);
  for (const path of emptiedDirectories([...byPath.values()]).sort((a, b) => b.length - a.length)) {
    keepOccupied(path, byPath, around, policies);
  }
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

function leave(plan: PathPlan, outcome: "kept" | "conflict", reason: string): PathPlan {
  return { path: plan.path, before: plan.before, after: plan.before, outcome, reason };
}

const blocked = (plan: PathPlan, policies: Policies, reason: string): PathPlan =>
  leave(plan, policies.edits === "keep" || policies.conflict(plan.path) !== "refuse" ? "kept" : "conflict", reason);

function needParents(path: string, byPath: Map<string, PathPlan>, around: Surroundings, policies: Policies): void {
  const plan = byPath.get(path) as PathPlan;
  if (!changes(plan) || plan.after.kind === "absent") return;
  const needed: PathPlan[] = [];
  for (let parent = parentPath(path); parent !== null; parent = parentPath(parent)) {
    const planned = byPath.get(parent);
    const state = planned?.after ?? around.state(parent);
    if (state.kind === "directory") continue;
    if (planned !== undefined && planned.before.kind === "directory") {
      needed.push(leave(planned, "kept", "not_empty"));
    } else if (state.kind === "absent") {
      const after: FileState = { kind: "directory", mode: 0o755 };
      needed.push({ path: parent, before: around.state(parent), after, outcome: "created" });
    } else {
      byPath.set(path, blocked(plan, policies, "parent_replaced"));
      return;
    }
  }
  for (const parent of needed) byPath.set(parent.path, parent);
}

function keepOccupied(path: string, byPath: Map<string, PathPlan>, around: Surroundings, policies: Policies): void {
  const plan = byPath.get(path) as PathPlan;
  const stays = around.children(path).some((name) => {
    const child = byPath.get(`${path}/${name}`);
    return child === undefined || child.after.kind !== "absent";
  });
  if (!stays) return;
  const isRemoval = plan.after.kind === "absent";
  byPath.set(path, isRemoval ? leave(plan, "kept", "not_empty") : blocked(plan, policies, "not_empty"));
}

/** The plans a person is shown: a folder that only came or went with what is listed below it is left out. */
export function shownPlans<P extends { path: string; outcome: string; after?: FileState; before?: FileState }>(
  plans: readonly P[],
): P[] {
  const listed = new Set(plans.map((plan) => plan.path));
  const implied = new Set<string>();
  for (const path of listed) {
    for (let parent = parentPath(path); parent !== null; parent = parentPath(parent)) implied.add(parent);
  }
  const isFolder = (plan: P) => [plan.before, plan.after].every((s) => s?.kind === "directory" || s?.kind === "absent");
  const quiet = new Set(["created", "deleted", "unchanged"]);
  return plans.filter((plan) => !(implied.has(plan.path) && isFolder(plan) && quiet.has(plan.outcome)));
}
