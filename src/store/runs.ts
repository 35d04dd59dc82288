/**
 * Runs: their lease, their end when a process dies, and the request to stop.
 *
 * A run is live while its row says `running`; every write of a turn requires that in its commit, which fences off a run
 * that was taken from its process. A dead run is settled by whoever comes next: what it had changed up to its last sign
 * of life becomes its own, its head goes back to what can stand, and it is recorded as abandoned.
 */
import type { NodeRow, RunRow } from "../core/backend.js";
import type { Change, NodeKey, RunFields } from "../core/change.js";
import { pathBelow } from "../core/dag.js";
import { isRetconError, RetconError } from "../core/errors.js";
import { runId } from "../core/ids.js";
import type { RunRecord, RunStatus } from "../core/model.js";
import { coherentLength, messageOf } from "../core/turns.js";
import type { Chat } from "./chat.js";
import { isOrphan, settleIntents } from "./recover.js";
import { markChanges, requireBranch, type State, toRunRecord } from "./state.js";
import { type Synced, type SyncRequest, sync } from "./sync.js";
import type { Workspace } from "./workspace.js";

const pollMs = 25;
const longestWaitMs = 30_000;
const defaultCancelMs = 30_000;

/** Whether a run's process is gone: known on this machine, by its lease elsewhere. */
export function isDead(chat: Chat, run: RunRow): boolean {
  const alive = chat.env.isAlive(run.holder);
  if (alive !== undefined) return !alive;
  return run.heartbeatAtMs + run.leaseMs < chat.env.now().getTime();
}

/**
 * Settles what dead processes left on the conversation and its workspace: first an operation on the files, then runs,
 * so that neither stands in the way any longer. Every verb that writes begins with this.
 */
export async function settleDead(chat: Chat): Promise<void> {
  await settleDeadIntents(chat);
  const { backend } = chat.env;
  const mine = await backend.runs({ liveInConversation: chat.key });
  const beside = chat.workspaceKey === null ? [] : await backend.runs({ liveInWorkspace: chat.workspaceKey });
  const others = beside.filter((run) => run.conversation !== chat.key);
  for (const run of [...mine, ...others]) {
    if (isDead(chat, run)) await abandon(await chat.sibling(run.conversation), run);
  }
}

async function settleDeadIntents(chat: Chat): Promise<void> {
  const { env, workspaceKey } = chat;
  if (workspaceKey === null) return;
  const intents = await env.backend.intents({ workspace: workspaceKey });
  if (!intents.some((intent) => isOrphan(env, intent))) return;
  const workspace = await chat.workspace();
  if (workspace !== null && !workspace.moving) await workspace.exclusive(() => settleIntents(env, workspace));
}

/** A sync on behalf of a conversation, after what dead runs left was settled. Waits while another restores. */
export async function syncFor(chat: Chat, workspace: Workspace, request?: SyncRequest): Promise<Synced> {
  await settleDead(chat);
  for (const deadline = Date.now() + longestWaitMs; ; ) {
    const synced = await workspace
      .exclusive(() => sync(chat.env, workspace, request))
      .catch((error: unknown) => {
        if (!isRetconError(error, "busy") || Date.now() > deadline) throw error;
      });
    if (synced !== undefined) return synced;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
    await settleDead(chat);
  }
}

/** What of a run can stand when it ends badly: the head it keeps and the nodes it drops. */
export async function coherentEnd(
  chat: Chat,
  state: State,
  run: RunRow,
): Promise<{ lastKey: NodeKey; dropped: NodeRow[] }> {
  const { head } = requireBranch(state);
  const path = await chat.env.backend.nodes(chat.key, { ranges: pathBelow(state.segments, run.userKey, head) });
  const kept = coherentLength(path.map(messageOf));
  return { lastKey: path[kept - 1]?.key ?? run.userKey, dropped: path.slice(kept) };
}

/** The changes that end a run and move its branch to the node that it keeps. */
export function endChanges(state: State, run: RunRow, fields: Omit<RunFields, "lastKey">, lastKey: NodeKey): Change[] {
  const branch = requireBranch(state);
  const move = { name: branch.name, from: { head: branch.head }, to: { head: lastKey } };
  return [
    { kind: "run-end", run: run.run, from: "running", to: { ...fields, lastKey } },
    { ...move, kind: "branch" },
    ...markChanges(state, [move]),
  ];
}

async function abandon(chat: Chat, run: RunRow): Promise<void> {
  const { env } = chat;
  const state = await chat.read();
  const { lastKey, dropped } = await coherentEnd(chat, state, run);
  const [last] = await env.backend.nodes(chat.key, { keys: [dropped.at(-1)?.key ?? lastKey] });
  const lastSignMs = Math.max(run.heartbeatAtMs, last?.createdAtMs ?? 0);
  const left = await leftBy(chat, { run, lastSignMs });
  const fields = {
    status: "abandoned" as const,
    endedAtMs: env.now().getTime(),
    left,
    usage: null,
    error: "the process ended before the run did",
    report: null,
  };
  const changes = endChanges(state, run, fields, lastKey);
  // Stale means that another process settled it first, which is as good.
  await env.backend.commit(chat.commit("abandon", changes, { run: run.run }));
  chat.feed.wake();
}

/** The log's number after what a dead run left was captured; null without a workspace, or where the folder is gone. */
async function leftBy(chat: Chat, dead: SyncRequest["dead"]): Promise<number | null> {
  try {
    const workspace = await chat.workspace();
    if (workspace === null) return null;
    const { logNumber } = await workspace.exclusive(() => sync(chat.env, workspace, { dead }));
    return logNumber;
  } catch (error) {
    // The run ends all the same, and nothing is said of its files.
    if (isRetconError(error, "workspace_changed")) return null;
    throw error;
  }
}

/** The record of a run with its user node's id. */
export async function runRecord(chat: Chat, run: RunRow): Promise<RunRecord> {
  const [user] = await chat.env.backend.nodes(chat.key, { keys: [run.userKey] });
  return toRunRecord(run, user?.id ?? "");
}

/** Asks the live run to stop and waits until it has. @throws `cancel_timeout` */
export async function cancelRun(
  chat: Chat,
  options: { reason?: string; timeoutMs?: number },
  signal: (run: number, reason: string) => void,
): Promise<RunRecord | undefined> {
  const { reason = "cancelled", timeoutMs = defaultCancelMs } = options;
  await chat.read();
  await settleDead(chat);
  const [run] = await chat.env.backend.runs({ liveInConversation: chat.key });
  if (run === undefined) return undefined;
  await chat.env.backend.commit(
    chat.commit("cancel", [{ kind: "run-cancel", run: run.run, reason }], { run: run.run }),
  );
  chat.feed.wake();
  signal(run.run, reason);
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const [now] = await chat.env.backend.runs({ runs: [run.run] });
    if (now === undefined || now.status !== "running") return now && runRecord(chat, now);
    if (Date.now() >= deadline) {
      const data = { runId: runId(run.run), timeoutMs };
      throw new RetconError("cancel_timeout", `run ${runId(run.run)} did not end within ${timeoutMs} ms`, data);
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
    if (now !== undefined && isDead(chat, now)) await settleDead(chat);
  }
}

/** The error for a write of a run that is no longer live. */
export async function runLost(chat: Chat, run: number): Promise<RetconError<"run_lost">> {
  const [row] = await chat.env.backend.runs({ runs: [run] });
  const status: RunStatus | undefined = row?.status;
  const data = { runId: runId(run), ...(status === undefined ? {} : { status }) };
  return new RetconError("run_lost", `run ${runId(run)} is ${status ?? "gone"}; it can no longer write`, data);
}
