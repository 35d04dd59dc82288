/**
 * A sync: look at the workspace, decide whose each difference is, commit index and log in one go.
 *
 * A look writes nothing. The commit holds only if nobody synced or restored meanwhile (the guard on the sequence);
 * otherwise the look is repeated, and what was hashed once is not hashed again. Every sync first settles what a dead
 * process left: its unsettled operation and its run.
 */
import type { RunRow, WorkspaceRow } from "../core/backend.js";
import type { Change, Commit } from "../core/change.js";
import { RetconError } from "../core/errors.js";
import type { Difference, Observation, PackedBlob } from "../core/files.js";
import { ownerOf, type Presence } from "../core/whose.js";
import type { Environment } from "./environment.js";
import { settleIntents } from "./recover.js";
import type { Workspace } from "./workspace.js";

const author = "retcon";
const attempts = 50;
const batchBytes = 4 * 1024 * 1024;

/** What a sync leaves its caller with. */
export interface Synced {
  logNumber: number;
  notCaptured: { path: string; reason: string }[];
}

/** What a look found, with the rows it was compared to. */
export interface Look {
  row: WorkspaceRow;
  observation: Observation;
}

/** Looks at the workspace as it is, giving contents that the index does not hold to `keep`. Writes nothing. */
export async function look(
  env: Environment,
  workspace: Workspace,
  keep: (blob: string, bytes: Uint8Array) => void | Promise<void>,
): Promise<Look> {
  const row = await workspace.refresh(env);
  const { rules, syncedAtMs } = row;
  const observation = await workspace.files.observe({ index: workspace.index, rules, previousMs: syncedAtMs, keep });
  return { row, observation };
}

/** The changes that bring index and log to what was seen. A first capture fills the index and adds no rows. */
export function syncChanges({ row, observation }: Look, presence: Presence): Change[] {
  const { differences, restats, rules, rulesChanged, startedAtMs } = observation;
  const first = row.rules === null;
  return [
    { kind: "sync", from: row.sequence, startedAtMs, rules: first || rulesChanged ? rules : null },
    ...differences.map(({ path, after, stat }): Change => ({ kind: "path", path, to: after, stat })),
    ...restats.map(({ path, stat }): Change => ({ kind: "restat", path, stat })),
    ...(first ? [] : differences.map((difference) => logChange(difference, presence))),
  ];
}

function logChange(difference: Difference, presence: Presence): Change {
  const { path, before, after } = difference;
  return { kind: "log", path, before, after, owner: ownerOf(difference, presence) };
}

/** Whether an observation holds anything to commit. */
function isNews({ row, observation }: Look): boolean {
  const { differences, restats, rulesChanged } = observation;
  return row.rules === null || rulesChanged || differences.length > 0 || restats.length > 0;
}

/** Stores contents as they come, some megabytes at a time. */
function blobStore(env: Environment): {
  keep(blob: string, bytes: Uint8Array): Promise<void>;
  flush(): Promise<void>;
} {
  let packed: PackedBlob[] = [];
  let size = 0;
  const flush = async () => {
    const batch = packed;
    [packed, size] = [[], 0];
    await env.backend.putBlobs(batch);
  };
  return {
    flush,
    async keep(blob, bytes) {
      packed.push(env.tools.pack(blob, bytes));
      size += bytes.length;
      if (size > batchBytes) await flush();
    },
  };
}

/** What a sync can be asked to do in the same commit. */
export interface SyncRequest {
  /** A dead run that is being settled: differences up to its last sign of life are its own. */
  dead?: Presence["dead"];
}

/** Brings index and log to the disk. Call it inside `workspace.exclusive`. @throws `busy`, `workspace_changed` */
export async function sync(env: Environment, workspace: Workspace, request: SyncRequest = {}): Promise<Synced> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    await settleIntents(env, workspace);
    const blobs = blobStore(env);
    const seen = await look(env, workspace, blobs.keep);
    await blobs.flush();
    const { observation, row } = seen;
    if (!isNews(seen)) {
      workspace.files.accept(observation);
      return { logNumber: row.logNumber, notCaptured: observation.notCaptured };
    }
    const live = await liveRuns(env, workspace, request.dead?.run);
    env.probe("sync:commit");
    const outcome = await env.backend.commit(
      captureCommit(env, workspace, syncChanges(seen, { live, dead: request.dead })),
    );
    env.probe("sync:committed");
    if (outcome.ok) {
      workspace.files.accept(observation);
      return { logNumber: outcome.logNumber || row.logNumber, notCaptured: observation.notCaptured };
    }
  }
  const operation = "sync";
  throw new RetconError("busy", "other processes kept syncing this workspace", { operation });
}

/** The runs that live on a workspace, but for one that is being settled. */
export async function liveRuns(env: Environment, workspace: Workspace, but?: RunRow): Promise<RunRow[]> {
  const live = await env.backend.runs({ liveInWorkspace: workspace.key });
  return live.filter((run) => run.run !== but?.run);
}

/** A commit about a workspace alone. */
export function captureCommit(env: Environment, workspace: Workspace, changes: Change[]): Commit {
  return {
    conversation: null,
    workspace: workspace.key,
    operation: { kind: "capture", author, atMs: env.now().getTime(), summary: null, about: "store" },
    changes,
  };
}
