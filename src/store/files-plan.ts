/**
 * Planning what a move does to the files: look at the disk, read the own rows of both sides, plan each path, and check
 * that every byte that the plan needs is there and undamaged. Nothing is written.
 */
import type { LogRow } from "../core/backend.js";
import type { NodeKey } from "../core/change.js";
import { forkOf } from "../core/dag.js";
import { RetconError } from "../core/errors.js";
import type { Sight } from "../core/files.js";
import type { FileState, RestoreOptions } from "../core/model.js";
import { byPath } from "../core/own-rows.js";
import { blobsToMerge, type PathHistory, type PathPlan, planPath, policiesOf } from "../core/plan.js";
import { contentMissing, sameState } from "../core/states.js";
import { emptiedDirectories, settleTree } from "../core/tree.js";
import { findBlob } from "./blobs.js";
import type { Environment } from "./environment.js";
import { rowsBelow } from "./side.js";
import type { State } from "./state.js";
import { type Look, look } from "./sync.js";
import type { Workspace } from "./workspace.js";

/** A plan for the files with what it was made from. */
export interface FilesPlan {
  seen: Look;
  plans: PathPlan[];
  /** Bytes that are not in the store yet: what the disk held, what merges made. */
  fresh: Map<string, Uint8Array>;
}

/** Between which heads, and the operation that is taken back, if it is one. */
export interface FilesMove {
  from: NodeKey | null;
  to: NodeKey | null;
  of?: number;
}

/** Plans a move of the files. @throws `blob_missing`, `workspace_changed` */
export async function planFiles(
  env: Environment,
  workspace: Workspace,
  state: State,
  move: FilesMove,
  options: RestoreOptions,
): Promise<FilesPlan> {
  const fresh = new Map<string, Uint8Array>();
  const seen = await look(env, workspace, (blob, bytes) => void fresh.set(blob, bytes));
  const disk = new Map(seen.observation.differences.map((difference) => [difference.path, difference.after]));
  const stateOf = (path: string): FileState => disk.get(path) ?? workspace.state(path);
  const histories = await historiesOf(env, workspace, state, move, stateOf);
  const missing = histories.flatMap(missingIn);
  const contents = await contentsFor(env, histories, fresh, missing);
  const policies = policiesOf(options);
  const lost = new Map(missing.map((blob) => [blob.path, blob]));
  const alone = histories.map((history) => {
    const gone = lost.get(history.path);
    if (gone === undefined) return planPath(history, policies, contents);
    return {
      path: history.path,
      before: history.disk,
      after: history.disk,
      outcome: "failed" as const,
      reason: `blob_${gone.reason}`,
    };
  });
  const sights = await workspace.files.look(emptiedDirectories(alone));
  const children = new Map(sights.map((sight: Sight) => [sight.path, sight.children ?? []]));
  const plans = settleTree(alone, { state: stateOf, children: (path) => children.get(path) ?? [] }, policies);
  const checked = await checkBlobs(env, plans, fresh, missing);
  if (missing.length > 0 && options.onFileError !== "continue") {
    const names = missing.map((blob) => blob.path).join(", ");
    throw new RetconError("blob_missing", `stored content is missing or damaged: ${names}`, { blobs: missing });
  }
  return { seen, plans: checked, fresh };
}

interface Missing {
  blob: string;
  path: string;
  reason: string;
}

/** A path whose recorded content should be stored and is not. */
function missingIn({ path, back, forth }: PathHistory): Missing[] {
  const states = [...back, ...forth].flatMap((row) => [row.before, row.after]);
  const gone = states.some((state) => state.kind === "unknown" && state.reason === contentMissing);
  return gone ? [{ blob: "", path, reason: "missing" }] : [];
}

async function historiesOf(
  env: Environment,
  workspace: Workspace,
  state: State,
  move: FilesMove,
  stateOf: (path: string) => FileState,
): Promise<PathHistory[]> {
  const fork = forkOf(state.segments, move.from, move.to);
  const back = byPath(await rowsBelow(env, state, fork, move.from));
  const forth = byPath(await rowsBelow(env, state, fork, move.to));
  const undone = await movedRows(env, state, move);
  const paths = [...new Set([...back.keys(), ...forth.keys(), ...undone.keys()])].sort();
  return Promise.all(
    paths.map(async (path): Promise<PathHistory> => {
      const own = { back: back.get(path) ?? [], forth: forth.get(path) ?? [] };
      const row = undone.get(path);
      const undo =
        row === undefined ? await leftAlone(env, workspace, path, own, move) : { left: row.after, found: row.before };
      return { path, disk: stateOf(path), ...own, undo };
    }),
  );
}

async function movedRows(env: Environment, state: State, move: FilesMove): Promise<Map<string, LogRow>> {
  if (move.of === undefined || state.row.workspace === null) return new Map();
  const rows = await env.backend.log(state.row.workspace, { operation: move.of });
  // What the same commit found of others is theirs, and not the operation's to take back.
  return new Map(rows.filter((row) => row.owner.kind === "move").map((row) => [row.path, row]));
}

/** What the operation found where it wrote nothing, which is what it left: the state before the first row since. */
async function leftAlone(
  env: Environment,
  workspace: Workspace,
  path: string,
  { back, forth }: Pick<PathHistory, "back" | "forth">,
  { of }: FilesMove,
): Promise<PathHistory["undo"]> {
  // A restore of files alone wrote own rows, which the plan takes back as such.
  if (of === undefined || [...back, ...forth].some((row) => row.operation === of)) return undefined;
  const rows = await env.backend.log(workspace.key, { path, after: 0 });
  const state = rows.find((row) => row.operation > of)?.before ?? workspace.state(path);
  return { left: state, found: state };
}

async function contentsFor(
  env: Environment,
  histories: readonly PathHistory[],
  fresh: Map<string, Uint8Array>,
  missing: Missing[],
) {
  const stored = new Map<string, Uint8Array>();
  for (const history of histories) {
    for (const blob of blobsToMerge([history])) {
      if (fresh.has(blob) || stored.has(blob)) continue;
      const found = await findBlob(env, blob);
      if (typeof found === "string") missing.push({ blob, path: history.path, reason: found });
      else stored.set(blob, found);
    }
  }
  return {
    merge: env.tools.merge,
    hash: env.tools.hash,
    made: (blob: string, bytes: Uint8Array) => void fresh.set(blob, bytes),
    bytes(blob: string): Uint8Array {
      const bytes = fresh.get(blob) ?? stored.get(blob);
      if (bytes === undefined) throw new TypeError(`blob ${blob} was not read for the merge`);
      return bytes;
    },
  };
}

/** Looks at every blob that the plan would write; a path whose blob is gone is planned as failed. */
async function checkBlobs(
  env: Environment,
  plans: PathPlan[],
  fresh: ReadonlyMap<string, Uint8Array>,
  missing: Missing[],
): Promise<PathPlan[]> {
  const checked: PathPlan[] = [];
  for (const plan of plans) {
    const { after, before, path } = plan;
    const writes = after.kind === "file" && !sameState(before, after) && !fresh.has(after.blob);
    const found = writes ? await findBlob(env, after.blob) : undefined;
    if (typeof found === "string" && after.kind === "file") {
      missing.push({ blob: after.blob, path, reason: found });
      checked.push({ path, before, after: before, outcome: "failed", reason: `blob_${found}` });
    } else checked.push(plan);
  }
  return checked;
}

/** The edits that a plan asks for. */
export function editsOf(plans: readonly PathPlan[]): { path: string; before: FileState; after: FileState }[] {
  return plans
    .filter((plan) => !sameState(plan.before, plan.after) && plan.before.kind !== "unknown")
    .map(({ path, before, after }) => ({ path, before, after }));
}

/** The paths that are in conflict. @throws `file_conflict` when there are any */
export function refuseConflicts(plans: readonly PathPlan[]): void {
  const paths = plans
    .filter((plan) => plan.outcome === "conflict")
    .map((plan) => ({ path: plan.path, reason: plan.reason ?? "conflict" }));
  if (paths.length === 0) return;
  const names = paths.map(({ path, reason }) => `${path} (${reason})`).join(", ");
  throw new RetconError("file_conflict", `files are in conflict: ${names}`, { paths });
}
