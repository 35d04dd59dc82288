/**
 * The one way in which a head moves and the files follow.
 *
 *     decide (refuse, or say what moves)  ─►  plan the files  ─►  intent commit  ─►  edits  ─►  settle commit
 *
 * `decide` is asked anew whenever the workspace was synced by somebody between the look and the commit; what the
 * conversation was must not have changed, or the call fails with `head_moved`. Without files to edit there is one commit.
 */
import { randomBytes } from "node:crypto";
import type { Change, Head, Intent, MoveSummary, NodeKey, Owner } from "../core/change.js";
import { RetconError } from "../core/errors.js";
import type { EditOutcome } from "../core/files.js";
import type { FileReport, Json, MoveResult, OperationKind, RestoreOptions } from "../core/model.js";
import { policiesOf } from "../core/plan.js";
import { readBlob } from "./blobs.js";
import { busy, type Chat, headMoved } from "./chat.js";
import { editsOf, type FilesMove, type FilesPlan, planFiles, refuseConflicts } from "./files-plan.js";
import { rollBack, settleCommit, settleIntents } from "./recover.js";
import { corrected, fileErrors, reports, writtenPaths } from "./report.js";
import { firstResult, type Request, requestChange } from "./requests.js";
import { settleDead } from "./runs.js";
import { markChanges, type State } from "./state.js";
import { captureCommit, liveRuns, syncChanges } from "./sync.js";
import type { Workspace } from "./workspace.js";

const attempts = 20;

/** What a verb decided from the conversation as it is: where heads go and what else is committed with it. */
export interface Decision {
  kind: OperationKind;
  branches: { name: string; from: Head | null; to: Head | null }[];
  active: { from: string; to: string };
  /** The branch that the result speaks of, and the id of its head afterwards. */
  branch: string;
  headId: string | null;
  head: { from: NodeKey | null; to: NodeKey | null };
  mode: MoveSummary["mode"];
  /** Between which heads the files move; null where they stay. */
  files: FilesMove | null;
  of?: number;
  /** Further changes of the same commit. */
  also: Change[];
  owner: Owner;
  /** What the result says beside the files. */
  notes: MoveResult["errors"];
}

/** Claims the conversation for a move of this process. @throws `busy` at once when another one is under way */
async function claimed<T>(chat: Chat, work: () => Promise<T>): Promise<T> {
  if (chat.moving) throw busy("move", "this process");
  chat.moving = true;
  try {
    return await work();
  } finally {
    chat.moving = false;
  }
}

/** A verb that moves: what it decides, what it checks of the plan, what it returns. */
export interface Verb<D extends Decision, R extends MoveResult> {
  decide(state: State): Promise<D>;
  check?(plan: FilesPlan | null, decision: D): void;
  result(moved: MoveResult, decision: D): R;
}

/** Decides, plans and carries out a move; the same request again returns what the first call returned. */
export async function executeMove<D extends Decision, R extends MoveResult>(
  chat: Chat,
  options: RestoreOptions,
  request: Request,
  verb: Verb<D, R>,
): Promise<R> {
  const first = await firstResult<R>(chat, request);
  if (first !== undefined) return first.result;
  policiesOf(options);
  return claimed(chat, async () => {
    await settleDead(chat);
    const before = await chat.read();
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      abortIfAsked(options);
      const state = await chat.read();
      const decision = await verb.decide(state);
      if (state.row.version !== before.row.version) throw headMoved();
      const workspace = decision.files === null ? null : await chat.workspace();
      const toCommit = (moved: MoveResult) => requestChange(request, verb.result(moved, decision) as unknown as Json);
      const move: Move = {
        chat,
        workspace,
        state,
        decision,
        options,
        toCommit,
        check: (plan) => verb.check?.(plan, decision),
      };
      const run = () => carryOut(move);
      const moved = workspace === null ? await run() : await inWorkspace(workspace, run);
      if (moved === undefined) continue;
      chat.feed.wake();
      return verb.result(moved, decision);
    }
    throw busy("sync", "other processes");
  });
}

/** A move that is being carried out. */
interface Move {
  chat: Chat;
  workspace: Workspace | null;
  state: State;
  decision: Decision;
  options: RestoreOptions;
  /** The changes that keep the result under its request id. */
  toCommit(moved: MoveResult): Change[];
  check(plan: FilesPlan | null): void;
}

async function inWorkspace<T>(workspace: Workspace, work: () => Promise<T>): Promise<T> {
  if (workspace.moving) throw busy("move", "this process");
  workspace.moving = true;
  try {
    return await workspace.exclusive(work);
  } finally {
    workspace.moving = false;
  }
}

/** One attempt; undefined when somebody else synced the workspace meanwhile. */
async function carryOut(move: Move): Promise<MoveResult | undefined> {
  const { chat, workspace, state, decision, options } = move;
  const { env } = chat;
  if (workspace !== null) await settleIntents(env, workspace);
  const files = decision.files;
  const plan = workspace === null || files === null ? null : await planFiles(env, workspace, state, files, options);
  move.check(plan);
  if (plan !== null) refuseConflicts(plan.plans);
  abortIfAsked(options);
  const edits = plan === null ? [] : editsOf(plan.plans);
  const synced = workspace === null || plan === null ? [] : await syncedChanges(chat, workspace, plan);
  if (workspace === null || plan === null || edits.length === 0) return commitAtOnce(move, plan, synced);
  const token = randomBytes(6).toString("hex");
  const result = resultOf(chat, decision, reports(plan.plans));
  const settling = [...movingChanges(state, decision), ...move.toCommit(result)];
  const settle = chat.commit(decision.kind, settling, summaryOf(decision));
  const intent: Intent = { workspace: workspace.key, holder: env.holder, token, edits, owner: decision.owner, settle };
  const changes: Change[] = [...guardsOf(state), ...synced, { kind: "intent", from: null, to: intent }];
  env.probe("move:intent");
  const opened = await env.backend.commit({ ...captureCommit(env, workspace, changes), conversation: chat.key });
  env.probe("move:intended");
  if (!opened.ok) return stale(chat, opened.stale);
  workspace.files.accept(plan.seen.observation);
  return finish(move, workspace, intent, result);
}

/** A move assumes all that was read of the conversation: every head, the active branch, that nothing is under way. */
const guardsOf = ({ row }: State): Change[] => [{ kind: "idle" }, { kind: "version", at: row.version }];

/** Without edits to make, the whole move is one commit. */
async function commitAtOnce(move: Move, plan: FilesPlan | null, synced: Change[]): Promise<MoveResult | undefined> {
  const { chat, workspace, state, decision } = move;
  const { env } = chat;
  const result = resultOf(chat, decision, reports(plan?.plans ?? []));
  const changes = [...guardsOf(state), ...synced, ...movingChanges(state, decision), ...move.toCommit(result)];
  env.probe("move:commit");
  const outcome = await env.backend.commit(chat.commit(decision.kind, changes, summaryOf(decision)));
  env.probe("move:committed");
  if (!outcome.ok) return stale(chat, outcome.stale);
  if (plan !== null) workspace?.files.accept(plan.seen.observation);
  return at(result, outcome.number);
}

const at = (result: MoveResult, version: number): MoveResult => ({ ...result, operationId: String(version), version });

function abortIfAsked({ signal }: RestoreOptions): void {
  if (!signal?.aborted) return;
  throw new RetconError("aborted", "the call was given up by its signal", {}, { cause: signal.reason });
}

/** Makes the edits and settles, or takes the edits back. */
async function finish(move: Move, workspace: Workspace, intent: Intent, planned: MoveResult): Promise<MoveResult> {
  const { chat, options } = move;
  const { env } = chat;
  const outcomes = await applyOrTakeBack(chat, workspace, intent, options);
  const failed = outcomes.filter((outcome) => outcome.result === "failed" || outcome.result === "changed");
  if (failed.length > 0 && options.onFileError !== "continue") {
    throw await takenBack(chat, workspace, intent, outcomes, failed);
  }
  const commit = await settleCommit(env, workspace, intent, outcomes);
  env.probe("move:settle");
  const settled = await env.backend.commit(commit);
  env.probe("move:settled");
  if (settled.ok) return at(corrected(planned, outcomes), settled.number);
  await rollBack(env, workspace, intent, outcomes);
  throw headMoved();
}

/** Makes the edits. Where that breaks off, as when the folder is gone, whatever was made is taken back first. */
async function applyOrTakeBack(
  chat: Chat,
  workspace: Workspace,
  intent: Intent,
  { onFileError, onProgress }: RestoreOptions,
): Promise<EditOutcome[]> {
  const { edits, token } = intent;
  const read = (blob: string) => readBlob(chat.env, blob);
  const stopOnError = onFileError !== "continue";
  try {
    return await workspace.files.apply({ edits, token, read, stopOnError, recovering: false, onProgress });
  } catch (error) {
    const perhaps = edits.map(({ path, after }): EditOutcome => ({ path, result: "done", state: after, stat: null }));
    await rollBack(chat.env, workspace, intent, perhaps);
    throw error;
  }
}

async function takenBack(
  chat: Chat,
  workspace: Workspace,
  intent: Intent,
  outcomes: readonly EditOutcome[],
  failed: readonly EditOutcome[],
): Promise<RetconError> {
  const left = await rollBack(chat.env, workspace, intent, outcomes);
  const paths = [...failed, ...left].map(({ path, result, reason }) => ({ path, reason: reason ?? result }));
  const names = paths.map(({ path, reason }) => `${path} (${reason})`).join(", ");
  return new RetconError("restore_failed", `files could not be restored: ${names}`, {
    paths,
    rolledBack: left.length === 0,
  });
}

function movingChanges(state: State, decision: Decision): Change[] {
  const { branches, active } = decision;
  const moves = branches.map((branch): Change => ({ ...branch, kind: "branch" }));
  const switches: Change[] = active.from === active.to ? [] : [{ kind: "active", ...active }];
  return [...decision.also, ...moves, ...switches, ...markChanges(state, branches)];
}

async function syncedChanges(chat: Chat, workspace: Workspace, plan: FilesPlan): Promise<Change[]> {
  const { env } = chat;
  await env.backend.putBlobs([...plan.fresh].map(([blob, bytes]) => env.tools.pack(blob, bytes)));
  return syncChanges(plan.seen, { live: await liveRuns(env, workspace) });
}

/** Undefined asks for another attempt; anything but a sync in between is the end. */
async function stale(chat: Chat, change: Change): Promise<undefined> {
  if (change.kind === "sync") return undefined;
  if (change.kind === "idle" || change.kind === "intent") {
    await chat.requireIdle();
    return undefined;
  }
  if (change.kind === "request") {
    throw new RetconError("request_reused", `request ${change.id} is in use`, { requestId: change.id });
  }
  throw headMoved();
}

function summaryOf(decision: Decision): Json {
  const { branches, active, head, mode, of } = decision;
  return { branches, active, head, mode, ...(of === undefined ? {} : { of }) } as unknown as Json;
}

/** The part of a result that every move has; its version is known once it is committed. */
export function resultOf(chat: Chat, decision: Decision, files: FileReport[]): MoveResult {
  return {
    conversationId: chat.id,
    operationId: null,
    version: 0,
    newHeadId: decision.headId,
    branch: decision.branch,
    restoredPaths: writtenPaths(files),
    files,
    errors: [...decision.notes, ...fileErrors(files)],
  };
}

/** The id of a node by key. */
export async function idOf(chat: Chat, key: NodeKey | null): Promise<string | null> {
  if (key === null) return null;
  const [row] = await chat.env.backend.nodes(chat.key, { keys: [key] });
  return row?.id ?? null;
}
