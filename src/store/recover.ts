/**
 * The end of an operation on files: settling it, rolling it back, and finishing what a dead process began.
 *
 *     intent commit ─► edits ─► settle commit          the normal life
 *                  └─ dead ─► edits again ─► settle     recovery: every edit is repeatable
 *                              └─ impossible ─► edits undone ─► rollback commit
 *
 * An edit whose path is neither what was planned on nor what was wanted was saved by somebody meanwhile; it is left as it
 * is and listed. An intent is touched only once its holder is dead, and on its own machine only.
 */
import type { IntentRow } from "../core/backend.js";
import type { Change, Commit, Intent } from "../core/change.js";
import { RetconError } from "../core/errors.js";
import type { Edit, EditOutcome } from "../core/files.js";
import type { Json, MoveResult } from "../core/model.js";
import { sameState } from "../core/states.js";
import { readBlob } from "./blobs.js";
import type { Environment } from "./environment.js";
import { holderName } from "./holder.js";
import { corrected, leftPaths } from "./report.js";
import type { Workspace } from "./workspace.js";

const author = "retcon";

/** The index entries and log rows that follow from what became of the edits. */
function rowChanges(intent: Intent, outcomes: readonly EditOutcome[]): Change[] {
  const edits = new Map(intent.edits.map((edit) => [edit.path, edit]));
  return outcomes.flatMap((outcome): Change[] => {
    if (outcome.result !== "done") return [];
    const edit = edits.get(outcome.path) as Edit;
    const { path, before, after } = edit;
    return [entryAfter(edit, outcome), { kind: "log", path, before, after, owner: intent.owner }];
  });
}

/** The index holds what the edit made. Where somebody has saved the path since, the next sync finds that as theirs. */
function entryAfter({ path, after }: Edit, { state, stat }: EditOutcome): Change {
  return { kind: "path", path, to: after, stat: sameState(state, after) ? stat : null };
}

/** What is committed of a move, corrected by what became of its edits; what was left stands in the history. */
function settling({ settle }: Intent, outcomes: readonly EditOutcome[]): Commit {
  const left = leftPaths(outcomes);
  const { operation } = settle;
  if (left.length === 0 || operation === null) return settle;
  const changes = settle.changes.map((change): Change => {
    if (change.kind !== "request") return change;
    return { ...change, result: corrected(change.result as unknown as MoveResult, outcomes) as unknown as Json };
  });
  return { ...settle, operation: { ...operation, summary: { ...(operation.summary as object), left } }, changes };
}

/** The commit that settles an intent: the intent goes, the index and log follow the edits, the move happens. */
export async function settleCommit(
  env: Environment,
  workspace: Workspace,
  intent: Intent,
  outcomes: readonly EditOutcome[],
): Promise<Commit> {
  const row = await workspace.refresh(env);
  const settle = settling(intent, outcomes);
  const [allocating, rest] = split(settle.changes);
  return {
    ...settle,
    changes: [
      { kind: "intent", from: intent.token, to: null },
      { kind: "sync", from: row.sequence, startedAtMs: row.syncedAtMs ?? 0, rules: null },
      ...allocating,
      ...rowChanges(intent, outcomes),
      ...rest,
    ],
  };
}

/** A run or segment that the move starts must be there before rows name it. */
function split(changes: readonly Change[]): [Change[], Change[]] {
  const allocates = (change: Change) => change.kind === "segment" || change.kind === "run-start";
  return [changes.filter(allocates), changes.filter((change) => !allocates(change))];
}

/** Takes back the edits that were made and commits that nothing happened. Returns what could not be taken back. */
export async function rollBack(
  env: Environment,
  workspace: Workspace,
  intent: Intent,
  outcomes: readonly EditOutcome[],
): Promise<EditOutcome[]> {
  const became = new Map(outcomes.map((outcome) => [outcome.path, outcome]));
  const edits = intent.edits
    .filter((edit) => isMade(edit, became.get(edit.path)))
    .map((edit) => ({ path: edit.path, before: edit.after, after: edit.before }));
  env.probe("rollback:apply");
  const undone = await workspace.files.apply({
    edits,
    token: intent.token,
    read: (blob) => readBlob(env, blob),
    stopOnError: false,
    // A change of kind that stopped between its two steps left what only a recovery takes for its own.
    recovering: true,
  });
  const row = await workspace.refresh(env);
  const changes: Change[] = [
    { kind: "intent", from: intent.token, to: null },
    { kind: "sync", from: row.sequence, startedAtMs: row.syncedAtMs ?? 0, rules: null },
    ...undone.flatMap((outcome, i): Change[] =>
      outcome.result === "done" ? [entryAfter(edits[i] as Edit, outcome)] : [],
    ),
  ];
  const atMs = env.now().getTime();
  const summary = { token: intent.token, paths: undone.map(({ path, result }) => ({ path, result })) };
  const operation = { kind: "rollback" as const, author, atMs, summary, about: "store" as const };
  const outcome = await env.backend.commit({ conversation: null, workspace: workspace.key, operation, changes });
  if (!outcome.ok) throw unsettled(intent);
  return undone.filter((edit) => edit.result !== "done" && edit.result !== "kept");
}

/** Whether an edit changed the disk: it was made, flushed or not, or one from or to a folder stopped between its steps. */
function isMade({ before, after }: Edit, outcome: EditOutcome | undefined): boolean {
  if (outcome?.result !== "failed" && outcome?.result !== "untried") return outcome?.result === "done";
  const { state } = outcome;
  if (sameState(state, after)) return true;
  const hasSteps = before.kind === "directory" || after.kind === "directory";
  return hasSteps && (state.kind === "absent" || state.kind === "directory") && !sameState(state, before);
}

function unsettled(intent: Intent): RetconError {
  const holder = holderName(intent.holder);
  const operation = intent.settle.operation?.kind ?? "move";
  return new RetconError("busy", `a ${operation} by ${holder} has not settled on this workspace`, {
    operation,
    holder,
  });
}

/** Whether nobody carries an intent out any more: its process is dead, or it is one of this store that did not settle. */
export function isOrphan(env: Environment, { holder }: IntentRow): boolean {
  return holder.instance === env.holder.instance || env.isAlive(holder) === false;
}

/**
 * Finishes the operations of dead processes. Call it inside `workspace.exclusive`.
 * @throws `busy` when a live process, or one elsewhere, holds one
 */
export async function settleIntents(env: Environment, workspace: Workspace): Promise<void> {
  for (const intent of await env.backend.intents({ workspace: workspace.key })) {
    if (!isOrphan(env, intent)) throw unsettled(intent);
    await recover(env, workspace, intent);
  }
}

async function recover(env: Environment, workspace: Workspace, intent: IntentRow): Promise<void> {
  await workspace.refresh(env);
  env.probe("recover:apply");
  const outcomes = await workspace.files.apply({
    edits: intent.edits,
    token: intent.token,
    read: (blob) => readBlob(env, blob),
    // One that was saved by somebody is left, and does not keep the others from being made.
    stopOnError: false,
    recovering: true,
  });
  if (outcomes.some((outcome) => outcome.result === "failed")) {
    await rollBack(env, workspace, intent, outcomes);
    return;
  }
  env.probe("recover:settle");
  const commit = await settleCommit(env, workspace, intent, outcomes);
  const outcome = await env.backend.commit({ ...commit, conversation: intent.conversation });
  // Stale means that another process recovered it first, which is as good.
  if (!outcome.ok && (await env.backend.intents({ workspace: workspace.key })).length > 0) throw unsettled(intent);
}
