/**
 * Rewind and its preview: what is refused, what moves, what comes back.
 */
import type { BranchRow, NodeRow } from "../core/backend.js";
import type { Change, NodeKey } from "../core/change.js";
import { inRanges, isRewound, keyOf, marksFor, offsetOf, parentOf, pathBelow, pathOf, segmentOf } from "../core/dag.js";
import { RetconError } from "../core/errors.js";
import type { Json, Message, RewindOptions, RewindPreview, RewindResult } from "../core/model.js";
import { messageOf, startsTurn, textOf } from "../core/turns.js";
import { checkExpected } from "./append.js";
import { type Chat, headMoved } from "./chat.js";
import { type FilesPlan, planFiles } from "./files-plan.js";
import { type Decision, executeMove, idOf, resultOf } from "./move.js";
import { chainBelow, checkMessage, nodeChange } from "./place.js";
import { settleIntents } from "./recover.js";
import { reports } from "./report.js";
import { firstResult, type Request, requestChange, requestOf } from "./requests.js";
import { cancelRun, settleDead } from "./runs.js";
import { requireBranch, requireNode, type State } from "./state.js";
import type { Target } from "./target.js";

/** What a rewind takes away, beside what every move does. */
interface Removed {
  user: NodeRow;
  turns: number;
  nodes: string[];
}

/** A decision with what it removes. */
interface RewindDecision extends Decision {
  removed: Removed;
}

/** The start of a turn on the branch that a rewind is about. */
async function requireTurn(
  chat: Chat,
  state: State,
  userNodeId: string,
  options: RewindOptions,
): Promise<{ user: NodeRow; branch: BranchRow }> {
  const user = await requireNode(chat.env, chat.key, userNodeId);
  if (!startsTurn(user)) {
    const data = { nodeId: user.id, role: user.role, synthetic: user.synthetic };
    const what = user.synthetic
      ? `a synthetic ${user.role}`
      : user.role === "assistant"
        ? "an assistant"
        : `a ${user.role}`;
    throw new RetconError("not_a_turn", `node ${user.id} is ${what} node, not the start of a turn`, data);
  }
  const branch = requireBranch(state, options.branch);
  if (inRanges(pathOf(state.segments, branch.head), user.key)) return { user, branch };
  if (isRewound(state.segments, user.key)) {
    throw new RetconError("already_rewound", `node ${user.id} is rewound already`, { nodeId: user.id });
  }
  const data = { nodeId: user.id, branch: branch.name };
  throw new RetconError("not_on_branch", `node ${user.id} is not on branch ${branch.name}`, data);
}

async function requireExpected(
  chat: Chat,
  state: State,
  { user, branch }: { user: NodeRow; branch: BranchRow },
  { expectedHead, expectedText }: RewindOptions,
): Promise<void> {
  await checkExpected(chat, state, expectedHead, branch.head);
  const text = textOf(messageOf(user));
  if (expectedText !== undefined && text !== expectedText) throw headMoved(expectedText, text, "text");
}

/** Refuses, or says what a rewind moves. The order of the refusals is the order of SPEC R1. */
async function decideRewind(
  chat: Chat,
  state: State,
  userNodeId: string,
  options: RewindOptions,
): Promise<RewindDecision> {
  const { mode = "both" } = options;
  const turn = await requireTurn(chat, state, userNodeId, options);
  await chat.requireIdle();
  await requireExpected(chat, state, turn, options);
  const { user, branch } = turn;
  const above = parentOf(state.segments, user.key);
  const target = mode === "files" ? branch.head : above;
  const removed =
    mode === "files" ? { user, turns: 0, nodes: [] } : await removedBy(chat, state, branch.name, above, user);
  const isActive = branch.name === state.row.activeBranch;
  return {
    kind: "rewind",
    branches: mode === "files" ? [] : [{ name: branch.name, from: { head: branch.head }, to: { head: target } }],
    active: { from: state.row.activeBranch, to: state.row.activeBranch },
    branch: branch.name,
    headId: await idOf(chat, target),
    head: { from: branch.head, to: target },
    mode: isActive ? mode : "conversation",
    files: mode === "conversation" || !isActive || chat.workspaceKey === null ? null : { from: branch.head, to: above },
    also: [countRewind(state)],
    owner: { kind: "move" },
    notes:
      isActive || mode === "conversation"
        ? []
        : [{ code: "files_not_moved", message: `branch ${branch.name} is not active: its files were left` }],
    removed,
    ...(mode === "files" && isActive ? await filesOnly(chat, state, branch.name, user) : {}),
  };
}

function countRewind({ row }: State): Change {
  return { kind: "conversation", from: { rewindCount: row.rewindCount }, to: { rewindCount: row.rewindCount + 1 } };
}

/** A restore of files alone adds a synthetic node that tells the model, and that owns what the restore writes. */
async function filesOnly(chat: Chat, state: State, branch: string, user: NodeRow): Promise<Partial<Decision>> {
  const head = requireBranch(state, branch).head as NodeKey;
  const text = `The files were restored to what they were before the message ${user.id}.`;
  const checked = checkMessage(chat.env, { role: "user", synthetic: true, content: text });
  const { keys, opens } = chainBelow(state.segments, head, 1);
  const key = keys[0] as NodeKey;
  const nowMs = chat.env.now().getTime();
  const start = {
    firstKey: key,
    userKey: key,
    workspace: chat.workspaceKey,
    holder: chat.env.holder,
    leaseMs: 0,
    startedAtMs: nowMs,
    found: null,
    rowsOf: null,
  };
  const fields = {
    status: "completed" as const,
    endedAtMs: nowMs,
    left: null,
    lastKey: key,
    usage: null,
    error: null,
    report: null,
  };
  return {
    branches: [{ name: branch, from: { head }, to: { head: key } }],
    headId: checked.id,
    head: { from: head, to: key },
    also: [
      countRewind(state),
      ...opens,
      { kind: "run-start", run: -1, start, fields },
      nodeChange(checked, key, -1, nowMs),
    ],
    owner: { kind: "run", run: -1 },
  };
}

/** The turns that go and the nodes that are marked, those of side chains included. */
async function removedBy(
  chat: Chat,
  state: State,
  branch: string,
  above: NodeKey | null,
  user: NodeRow,
): Promise<Removed> {
  const heads = [...state.branches.values()].map((b) => (b.name === branch ? above : b.head));
  const marks = marksFor(state.segments, heads);
  const ranges = [...marks].flatMap(([number, mark]) => {
    const row = state.segments.get(number);
    if (row === undefined || mark === null || mark === row.mark) return [];
    const last = row.mark === null ? row.last : row.mark - 1;
    return [{ from: keyOf(number, mark), to: keyOf(number, last) }];
  });
  const marked = await chat.env.backend.nodes(chat.key, { ranges });
  const below = pathBelow(state.segments, above, requireBranch(state, branch).head);
  const path = await chat.env.backend.nodes(chat.key, { ranges: below });
  marked.sort(
    (a, b) => a.operation - b.operation || segmentOf(a.key) - segmentOf(b.key) || offsetOf(a.key) - offsetOf(b.key),
  );
  return { user, turns: path.filter(startsTurn).length, nodes: marked.map((row) => row.id) };
}

/** Carries out a rewind. */
export async function rewind(
  chat: Chat,
  target: Target,
  options: RewindOptions,
  cancel: (run: number, reason: string) => void,
): Promise<RewindResult> {
  checkOptions(options);
  const { signal: _signal, onProgress: _onProgress, cancelRun: cancels, timeoutMs, ...asked } = options;
  const request = requestOf(chat, options.requestId, target.verb, { target: target.asked, ...asked });
  if ((await firstResult(chat, request)) === undefined) {
    await settleDead(chat);
    const state = await chat.read();
    const found = await target.find(state);
    if (found === undefined) return nothingRemoved(chat, state, options, request);
    if (cancels) {
      // What would be refused all the same is refused before the run is asked to stop (law 7).
      await requireExpected(chat, state, await requireTurn(chat, state, found, options), options);
      await cancelRun(chat, { reason: "rewind", timeoutMs }, cancel);
    }
  }
  return executeMove(chat, options, request, {
    async decide(state) {
      const found = await target.find(state);
      if (found === undefined) throw headMoved();
      return decideRewind(chat, state, found, options);
    },
    check: (plan, decision) => checkPlanId(chat, plan, decision, options),
    result: (moved, decision) => ({ ...moved, ...removedPart(decision.removed, options) }),
  });
}

function removedPart({ user, turns, nodes }: Removed, { mode = "both" }: RewindOptions) {
  const message: Message = messageOf(user);
  if (mode === "files") return { userText: null, userMessage: null, turnsReverted: 0, nodesRewound: [] };
  return { userText: textOf(message), userMessage: message, turnsReverted: turns, nodesRewound: nodes };
}

function planIdOf(chat: Chat, plan: FilesPlan | null, { head, mode, branch, removed }: RewindDecision): string {
  const files = (plan?.plans ?? []).map(({ path, before, after, outcome }) => [path, before, after, outcome]);
  const text = JSON.stringify([removed.user.id, mode, branch, mode === "files" ? head.from : head, files]);
  return chat.env.tools.hash(new TextEncoder().encode(text)).slice(0, 32);
}

function checkPlanId(chat: Chat, plan: FilesPlan | null, decision: RewindDecision, { planId }: RewindOptions): void {
  if (planId === undefined) return;
  const actual = planIdOf(chat, plan, decision);
  if (planId === actual) return;
  throw new RetconError("plan_stale", "files or conversation changed since the preview", { planId, actual });
}

/** What a rewind would do; writes nothing. */
export async function previewRewind(chat: Chat, userNodeId: string, options: RewindOptions): Promise<RewindPreview> {
  checkOptions(options);
  await settleDead(chat);
  const state = await chat.read();
  const decision = await decideRewind(chat, state, userNodeId, options);
  const move = decision.files;
  const workspace = move === null ? null : await chat.workspace();
  const plan =
    workspace === null || move === null
      ? null
      : await workspace.exclusive(async () => {
          await settleIntents(chat.env, workspace);
          return planFiles(chat.env, workspace, state, move, options);
        });
  const { operationId: _none, version: _zero, ...result } = resultOf(chat, decision, reports(plan?.plans ?? []));
  // The node that a restore of files alone adds is not there yet: the preview names the head that it would hang from.
  if (decision.mode === "files") result.newHeadId = await idOf(chat, decision.head.from);
  return { ...result, planId: planIdOf(chat, plan, decision), ...removedPart(decision.removed, options) };
}

/** The result of a rewind that removed nothing. Under a request id it is kept, without raising the version. */
async function nothingRemoved(
  chat: Chat,
  state: State,
  options: RewindOptions,
  request: Request,
): Promise<RewindResult> {
  const { name: branch, head } = requireBranch(state, options.branch);
  await checkExpected(chat, state, options.expectedHead, head);
  const result: RewindResult = {
    conversationId: chat.id,
    operationId: null,
    version: state.row.version,
    newHeadId: await idOf(chat, head),
    branch,
    restoredPaths: [],
    files: [],
    errors: [],
    userText: null,
    userMessage: null,
    turnsReverted: 0,
    nodesRewound: [],
  };
  const kept = requestChange(request, result as unknown as Json);
  if (kept.length === 0) return result;
  const { operation, ...commit } = chat.commit("rewind", [{ kind: "version", at: state.row.version }, ...kept]);
  const outcome = await chat.env.backend.commit({
    ...commit,
    operation: operation && { ...operation, about: "store" },
  });
  if (!outcome.ok) throw headMoved();
  return result;
}

const modes = new Set([undefined, "both", "conversation", "files"]);

function checkOptions(options: RewindOptions): void {
  if (!modes.has(options.mode)) {
    const reason = "a mode is both, conversation or files";
    throw new RetconError("bad_input", `mode ${JSON.stringify(options.mode)} is unknown: ${reason}`, {
      field: "mode",
      reason,
    });
  }
}
