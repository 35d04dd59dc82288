/**
 * A conversation as it was read at one moment: what a plan is made from, and what its guards must still find.
 */
import type { BranchRow, ConversationRow, NodeRow, RunRow } from "../core/backend.js";
import type { Change, Head, NodeKey } from "../core/change.js";
import type { Link } from "../core/context.js";
import { callerOf, depthOf, isRewound, marksFor, parentOf, pathOf, type Segments, segmentsOf } from "../core/dag.js";
import { RetconError } from "../core/errors.js";
import { runId } from "../core/ids.js";
import type { Branch, ConversationRecord, Node, RunRecord } from "../core/model.js";
import { messageOf } from "../core/turns.js";
import type { Environment } from "./environment.js";

/** What was read. */
export interface State {
  row: ConversationRow;
  segments: Segments;
  branches: ReadonlyMap<string, BranchRow>;
  links: Link[];
}

/** Reads a conversation. @throws `not_found` once it was deleted */
export async function readState(env: Environment, key: number, id: string): Promise<State> {
  const [row] = await env.backend.conversations({ key });
  if (row === undefined) throw new RetconError("not_found", `no conversation ${id}`, { what: "conversation", id });
  const { segments, branches, links } = await env.backend.structure(key);
  return {
    row,
    segments: segmentsOf(segments),
    branches: new Map(branches.map((branch) => [branch.name, branch])),
    links,
  };
}

/** The branch of a name, the active one if none is given. @throws `not_found` */
export function requireBranch(state: State, name: string = state.row.activeBranch): BranchRow {
  const branch = state.branches.get(name);
  if (branch !== undefined) return branch;
  throw new RetconError("not_found", `no branch ${name}`, { what: "branch", id: name });
}

/** The head of the active branch. */
export const activeHead = (state: State): NodeKey | null => requireBranch(state).head;

/**
 * The marks that change when branches move, come or go. A head on a node that the same commit adds (its key is a
 * placeholder's) hangs below the head that it replaces, so what was there is reached as before.
 */
export function markChanges(state: State, moved: readonly { name: string; to: Head | null }[]): Change[] {
  const { segments } = state;
  const heads = new Map([...state.branches.values()].map((branch) => [branch.name, branch.head]));
  for (const { name, to } of moved) {
    if (to === null) heads.delete(name);
    else if (to.head === null || to.head >= 0) heads.set(name, to.head);
  }
  const changes: Change[] = [];
  for (const [number, to] of marksFor(segments, [...heads.values()])) {
    const from = state.segments.get(number)?.mark;
    if (from !== undefined && from !== to) changes.push({ kind: "mark", segment: number, from, to });
  }
  return changes;
}

/** Rows as nodes; parents and callers that are not among the rows are read. */
export async function toNodes(env: Environment, state: State, rows: readonly NodeRow[]): Promise<Node[]> {
  const ids = new Map(rows.map((row) => [row.key, row.id]));
  const around = rows.flatMap((row) => [parentOf(state.segments, row.key), callerOf(state.segments, row.key)]);
  const missing = [...new Set(around)].filter((key): key is NodeKey => key !== null && !ids.has(key));
  if (missing.length > 0) {
    for (const row of await env.backend.nodes(state.row.key, { keys: missing })) ids.set(row.key, row.id);
  }
  const idOf = (key: NodeKey | null) => (key === null ? null : (ids.get(key) ?? null));
  return rows.map((row) => ({
    id: row.id,
    conversationId: state.row.id,
    parentId: idOf(parentOf(state.segments, row.key)),
    callerId: idOf(callerOf(state.segments, row.key)),
    runId: row.run === null ? null : runId(row.run),
    depth: depthOf(state.segments, row.key),
    createdAt: new Date(row.createdAtMs).toISOString(),
    rewound: isRewound(state.segments, row.key),
    message: messageOf(row),
  }));
}

/** A node by id or by a unique prefix of one. @throws `ambiguous_id` */
export async function findNode(env: Environment, conversation: number, id: string): Promise<NodeRow | undefined> {
  const [exact] = await env.backend.nodes(conversation, { ids: [id] });
  if (exact !== undefined || id === "") return exact;
  const rows = await env.backend.nodes(conversation, { prefix: id, limit: 5 });
  if (rows.length <= 1) return rows[0];
  const matches = rows.map((row) => row.id);
  throw new RetconError("ambiguous_id", `${id} is the start of several ids: ${matches.join(", ")}`, { id, matches });
}

/** The same, and it must be there. @throws `not_found`, `ambiguous_id` */
export async function requireNode(env: Environment, conversation: number, id: string): Promise<NodeRow> {
  if (typeof id !== "string") throw new TypeError("a node id must be a string");
  const row = await findNode(env, conversation, id);
  if (row !== undefined) return row;
  throw new RetconError("not_found", `no node ${id} in this conversation`, { what: "node", id });
}

/** The rows of a branch's path, root first; the newest `limit` of them if given. */
export async function pathRows(
  env: Environment,
  state: State,
  head: NodeKey | null,
  limit?: number,
): Promise<NodeRow[]> {
  const ranges = pathOf(state.segments, head);
  return env.backend.nodes(state.row.key, limit === undefined ? { ranges } : { ranges, limit });
}

/** Ids of the heads of branches, by key. */
export async function headIds(env: Environment, state: State): Promise<Map<NodeKey, string>> {
  const keys = [
    ...new Set([...state.branches.values()].flatMap((branch) => (branch.head === null ? [] : [branch.head]))),
  ];
  const rows = keys.length === 0 ? [] : await env.backend.nodes(state.row.key, { keys });
  return new Map(rows.map((row) => [row.key, row.id]));
}

/** A branch as users see it. */
export function toBranch(state: State, branch: BranchRow, ids: ReadonlyMap<NodeKey, string>): Branch {
  return {
    name: branch.name,
    headId: branch.head === null ? null : (ids.get(branch.head) ?? null),
    active: branch.name === state.row.activeBranch,
    createdAt: new Date(branch.createdAtMs).toISOString(),
  };
}

/** A run as users see it. */
export function toRunRecord(run: RunRow, userNodeId: string): RunRecord {
  return {
    id: runId(run.run),
    userNodeId,
    status: run.status,
    startedAt: new Date(run.startedAtMs).toISOString(),
    heartbeatAt: new Date(run.heartbeatAtMs).toISOString(),
    endedAt: run.endedAtMs === null ? null : new Date(run.endedAtMs).toISOString(),
    cancelRequested: run.cancelRequested,
    usage: run.usage,
    error: run.error,
  };
}

/** A conversation's row as users see it. */
export function toRecord(row: ConversationRow, headId: string | null, workspace: string | null): ConversationRecord {
  const { id, scope, title, metadata, activeBranch, version, rewindCount } = row;
  return {
    id,
    scope,
    title,
    metadata,
    workspace,
    activeBranch,
    headId,
    version,
    rewindCount,
    createdAt: new Date(row.createdAtMs).toISOString(),
    updatedAt: new Date(row.updatedAtMs).toISOString(),
  };
}
