/**
 * Appending outside a turn: system nodes, notes, side chains of what is already there.
 */
import type { Change, NodeKey } from "../core/change.js";
import { callerOf, inRanges, offsetOf, pathOf, segmentCapacity } from "../core/dag.js";
import { RetconError } from "../core/errors.js";
import { runId } from "../core/ids.js";
import type { Message, NewMessage, Node } from "../core/model.js";
import { bodyOf, messageOf } from "../core/turns.js";
import { type Chat, headMoved } from "./chat.js";
import { type Checked, chainBelow, checkMessage, nodeChange, storeBlobs } from "./place.js";
import { firstResult, type Request, requestChange, requestOf } from "./requests.js";
import { settleDead } from "./runs.js";
import { activeHead, requireBranch, requireNode, type State, toNodes } from "./state.js";
import type { AppendOptions } from "./surface.js";

const attempts = 20;

/** The writer of an append: a live run, or nobody in particular. */
export interface Writer {
  run: number | null;
  guards: Change[];
  /** The error when a guard or the head was stale; undefined to try again. */
  stale(change: Change): Promise<Error | undefined>;
  /** Where a live run last wrote: while it is live nobody else moves the head, so it need not be read again. */
  tip?: Tip | undefined;
}

/** The newest node of a live run's branch. */
export interface Tip {
  key: NodeKey;
  id: string;
  depth: number;
  branch: string;
}

/** Appends messages below the head, or where the first of them says. @throws `head_moved`, `id_exists`, `not_found` */
export async function appendMessages(
  chat: Chat,
  given: NewMessage | NewMessage[],
  options: AppendOptions,
  writer: Writer,
): Promise<Node[]> {
  const checked = (Array.isArray(given) ? given : [given]).map((message) => checkMessage(chat.env, message));
  const request = requestOf(chat, options.requestId, "append", given);
  const first = await firstResult<string[]>(chat, request);
  if (first !== undefined) return nodesOf(chat, first.result);
  if (checked.length === 0) return [];
  await storeBlobs(chat.env, checked);
  const atTip = await appendAtTip(chat, checked, options, writer, request);
  if (atTip !== undefined) return atTip;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const state = await chat.read();
    await checkExpected(chat, state, options.expectedHead);
    const adding = await addingChanges(chat, state, checked, writer.run);
    const changes: Change[] = [{ kind: "version", at: state.row.version }, ...adding];
    const kept = requestChange(
      request,
      checked.map((message) => message.id),
    );
    const outcome = await chat.env.backend.commit(chat.commit("append", [...writer.guards, ...changes, ...kept]));
    if (outcome.ok) {
      chat.feed.wake();
      return nodesOf(
        chat,
        checked.map((message) => message.id),
      );
    }
    const again = await firstResult<string[]>(chat, request);
    if (again !== undefined) return nodesOf(chat, again.result);
    await refuseTaken(chat, checked);
    const error = await writer.stale(outcome.stale);
    if (error !== undefined) throw error;
  }
  throw headMoved();
}

/** The short way of a live run: below the node that it wrote last, without a read. Undefined where that is not so. */
async function appendAtTip(
  chat: Chat,
  checked: readonly Checked[],
  { expectedHead }: AppendOptions,
  writer: Writer,
  request: Request,
): Promise<Node[] | undefined> {
  const { tip, run } = writer;
  const placed = checked.some((message) => message.parentId !== undefined || message.callerId !== undefined);
  if (tip === undefined || run === null || placed || offsetOf(tip.key) + checked.length >= segmentCapacity) return;
  if (expectedHead !== undefined && expectedHead !== tip.id) throw headMoved(expectedHead, tip.id);
  const now = chat.env.now();
  const last = tip.key + checked.length;
  const changes: Change[] = [
    ...writer.guards,
    ...checked.map((message, i) => nodeChange(message, tip.key + 1 + i, run, now.getTime())),
    { kind: "branch", name: tip.branch, from: { head: tip.key }, to: { head: last } },
    ...requestChange(
      request,
      checked.map((message) => message.id),
    ),
  ];
  const outcome = await chat.env.backend.commit(chat.commit("append", changes));
  writer.tip = undefined;
  if (!outcome.ok) return;
  chat.feed.wake();
  writer.tip = { ...tip, key: last, id: (checked.at(-1) as Checked).id, depth: tip.depth + checked.length };
  return checked.map((message, i) => ({
    id: message.id,
    conversationId: chat.id,
    parentId: checked[i - 1]?.id ?? tip.id,
    callerId: null,
    runId: runId(run),
    depth: tip.depth + 1 + i,
    createdAt: now.toISOString(),
    rewound: false,
    message: messageOf(storedForm(message)),
  }));
}

function storedForm({ message }: Checked): { role: Message["role"]; synthetic: boolean; body: string } {
  return { role: message.role, synthetic: message.synthetic ?? false, body: bodyOf(message) };
}

/** @throws `head_moved` when the active head is not what the caller expected */
export async function checkExpected(
  chat: Chat,
  state: State,
  expected: string | null | undefined,
  head: NodeKey | null = activeHead(state),
): Promise<void> {
  if (expected === undefined) return;
  const [row] = head === null ? [] : await chat.env.backend.nodes(chat.key, { keys: [head] });
  if ((row?.id ?? null) !== expected) throw headMoved(expected, row?.id ?? null);
}

/** @throws `id_exists` when an id is taken in this conversation */
export async function refuseTaken(chat: Chat, checked: readonly Checked[]): Promise<void> {
  const [row] = await chat.env.backend.nodes(chat.key, { ids: checked.map((message) => message.id) });
  if (row !== undefined) throw new RetconError("id_exists", `node ${row.id} exists already`, { id: row.id });
}

async function nodesOf(chat: Chat, ids: string[]): Promise<Node[]> {
  const rows = await chat.env.backend.nodes(chat.key, { ids });
  const byId = new Map((await toNodes(chat.env, await chat.read(), rows)).map((node) => [node.id, node]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

async function addingChanges(chat: Chat, state: State, checked: Checked[], run: number | null): Promise<Change[]> {
  const [first, ...rest] = checked as [Checked, ...Checked[]];
  const misplaced = rest.find((message) => message.parentId !== undefined || message.callerId !== undefined);
  if (misplaced !== undefined) {
    const reason = "only the first message of an append says where it hangs";
    throw new RetconError("bad_input", `message ${misplaced.id}: ${reason}`, { field: "parentId", reason });
  }
  const createdAtMs = chat.env.now().getTime();
  const { parent, caller, branch } = await placeOf(chat, state, first);
  const { keys, opens } = chainBelow(state.segments, parent, checked.length, caller);
  const nodes = checked.map((message, i) => nodeChange(message, keys[i] as NodeKey, run, createdAtMs));
  const move: Change[] =
    branch === null
      ? []
      : [{ kind: "branch", name: branch, from: { head: parent }, to: { head: keys.at(-1) as NodeKey } }];
  return [...opens, ...nodes, ...move];
}

/** Where a message hangs: below the active head, or in a side chain. */
async function placeOf(
  chat: Chat,
  state: State,
  { callerId, parentId }: Checked,
): Promise<{ parent: NodeKey | null; caller: NodeKey | null; branch: string | null }> {
  if (callerId !== undefined) {
    const caller = await requireNode(chat.env, chat.key, callerId);
    if (parentId === undefined) return { parent: null, caller: caller.key, branch: null };
  }
  const branch = requireBranch(state);
  if (parentId === undefined) return { parent: branch.head, caller: null, branch: branch.name };
  const parent = await requireNode(chat.env, chat.key, parentId);
  if (callerOf(state.segments, parent.key) !== null) return { parent: parent.key, caller: null, branch: null };
  if (parent.key === branch.head) return { parent: parent.key, caller: null, branch: branch.name };
  const onPath = inRanges(pathOf(state.segments, branch.head), parent.key);
  const reason = onPath ? "it is not the head" : "it is not on the active branch";
  throw new RetconError("not_on_branch", `cannot append below ${parent.id}: ${reason}; make a branch there first`, {
    nodeId: parent.id,
    branch: branch.name,
  });
}

/** Appends outside a turn. @throws `run_active`, `busy` */
export async function appendOutside(
  chat: Chat,
  given: NewMessage | NewMessage[],
  options: AppendOptions = {},
): Promise<Node[]> {
  await settleDead(chat);
  return appendMessages(chat, given, options, {
    run: null,
    guards: [{ kind: "idle" }],
    async stale() {
      await chat.requireIdle();
      return undefined;
    },
  });
}
