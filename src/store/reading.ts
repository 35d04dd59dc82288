/**
 * Reading a conversation: its history, its context, its DAG, its points.
 */
import type { NodeRow } from "../core/backend.js";
import type { NodeKey, RunReport } from "../core/change.js";
import { contextOf } from "../core/context.js";
import { callerOf, childrenOf, inRanges, isRewound, keyOf, parentOf, pathOf } from "../core/dag.js";
import { RetconError } from "../core/errors.js";
import type { Branch, Edge, Message, Node, NodeSummary, RewindPoint } from "../core/model.js";
import { messageOf, startsTurn, textOf } from "../core/turns.js";
import type { Chat } from "./chat.js";
import { findNode, headIds, pathRows, requireBranch, requireNode, type State, toBranch, toNodes } from "./state.js";

const previewLength = 80;

/** Options of `history`. */
export interface HistoryOptions {
  branch?: string;
  limit?: number;
  before?: string;
  includeRewound?: boolean;
}

/** @throws a TypeError for a limit that is no count */
export function checkLimit(limit: number | undefined): void {
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 0))
    throw new TypeError("limit must be a whole number");
}

/** The nodes of a branch from root to head, or the newest of them. */
export async function history(chat: Chat, { branch, limit, before, includeRewound }: HistoryOptions): Promise<Node[]> {
  checkLimit(limit);
  const state = await chat.read();
  let head = requireBranch(state, branch).head;
  if (before !== undefined) {
    const node = await requireNode(chat.env, chat.key, before);
    if (!inRanges(pathOf(state.segments, head), node.key)) {
      const data = { nodeId: node.id, branch: branch ?? state.row.activeBranch };
      throw new RetconError("not_on_branch", `node ${node.id} is not on branch ${data.branch}`, data);
    }
    head = parentOf(state.segments, node.key);
  }
  if (includeRewound) {
    const rows = (await allRows(chat, state)).filter((row) => callerOf(state.segments, row.key) === null);
    const path = pathOf(state.segments, head);
    const shown = rows.filter((row) => inRanges(path, row.key) || isRewound(state.segments, row.key));
    return toNodes(chat.env, state, limit === undefined ? shown : shown.slice(Math.max(0, shown.length - limit)));
  }
  return toNodes(chat.env, state, await pathRows(chat.env, state, head, limit));
}

/** Every node of the conversation in the order in which they were made. */
async function allRows(chat: Chat, state: State): Promise<NodeRow[]> {
  const ranges = [...state.segments.values()].map((row) => ({
    from: keyOf(row.segment, 0),
    to: keyOf(row.segment, row.last),
  }));
  const rows = await chat.env.backend.nodes(chat.key, { ranges });
  return rows.sort((a, b) => a.operation - b.operation || a.key - b.key);
}

/** What the model should see of a branch. */
export async function context(chat: Chat, branch?: string): Promise<Message[]> {
  const state = await chat.read();
  return contextOf(await pathRows(chat.env, state, requireBranch(state, branch).head), state.links);
}

/** A node by id or unique prefix. */
export async function node(chat: Chat, id: string): Promise<Node | undefined> {
  if (typeof id !== "string") throw new TypeError("a node id must be a string");
  const row = await findNode(chat.env, chat.key, id);
  if (row === undefined) return undefined;
  return (await toNodes(chat.env, await chat.read(), [row]))[0];
}

/** The children of a node in the order in which they were made. */
export async function children(chat: Chat, id: string | null): Promise<Node[]> {
  const parent = id === null ? null : (await requireNode(chat.env, chat.key, id)).key;
  const state = await chat.read();
  const keys = childrenOf(state.segments, parent);
  const rows = new Map((await chat.env.backend.nodes(chat.key, { keys })).map((row) => [row.key, row]));
  return toNodes(
    chat.env,
    state,
    keys.flatMap((key) => rows.get(key) ?? []),
  );
}

/** The whole DAG without contents. */
export async function graph(chat: Chat): Promise<{ nodes: NodeSummary[]; edges: Edge[]; branches: Branch[] }> {
  const state = await chat.read();
  const rows = await allRows(chat, state);
  const ids = new Map(rows.map((row) => [row.key, row.id]));
  const idOf = (key: NodeKey | null) => (key === null ? null : (ids.get(key) ?? null));
  const nodes = rows.map((row): NodeSummary => {
    const parent = parentOf(state.segments, row.key);
    return {
      id: row.id,
      parentId: idOf(parent),
      callerId: parent === null ? idOf(callerOf(state.segments, row.key)) : null,
      role: row.role,
      synthetic: row.synthetic,
      rewound: isRewound(state.segments, row.key),
      createdAt: new Date(row.createdAtMs).toISOString(),
      preview: textOf(messageOf(row)).slice(0, previewLength),
    };
  });
  const edges = nodes.flatMap((n): Edge[] => [
    ...(n.parentId === null ? [] : [{ kind: "parent" as const, from: n.id, to: n.parentId }]),
    ...(n.callerId === null ? [] : [{ kind: "caller" as const, from: n.id, to: n.callerId }]),
  ]);
  const links = state.links.map(
    ({ link, from, to }): Edge => ({ kind: link, from: ids.get(from) ?? "", to: ids.get(to) ?? "" }),
  );
  const heads = await headIds(chat.env, state);
  const branches = [...state.branches.values()].map((branch) => toBranch(state, branch, heads));
  return { nodes, edges: [...edges, ...links], branches };
}

/** The turns of a branch that one can rewind to, newest first, with what each did to the files. */
export async function rewindPoints(chat: Chat, options: { branch?: string; limit?: number }): Promise<RewindPoint[]> {
  checkLimit(options.limit);
  const state = await chat.read();
  const turns = (await pathRows(chat.env, state, requireBranch(state, options.branch).head)).filter(startsTurn);
  const reportsOf = new Map<NodeKey, RunReport[]>();
  for (const { userKey, report } of await chat.env.backend.runs({ conversation: chat.key })) {
    if (report !== null) reportsOf.set(userKey, [...(reportsOf.get(userKey) ?? []), report]);
  }
  const shown = turns.map((row, i) => ({ row, ordinal: i + 1 })).reverse();
  return shown.slice(0, options.limit).map(({ row, ordinal }) => {
    const reports = reportsOf.get(row.key) ?? [];
    const sum = (of: "filesChanged" | "added" | "removed" | "notCaptured") =>
      reports.reduce((all, report) => all + report[of], 0);
    return {
      nodeId: row.id,
      ordinal,
      text: textOf(messageOf(row)),
      createdAt: new Date(row.createdAtMs).toISOString(),
      filesChanged: sum("filesChanged"),
      added: sum("added"),
      removed: sum("removed"),
      notCaptured: sum("notCaptured"),
    };
  });
}
