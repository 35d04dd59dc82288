/**
 * The words of the product as types: what a person or an agent hands in, and what the store hands back.
 *
 *     conversation ── branches (name → head)
 *          │
 *          └─ nodes:  u1 ── a1 ── u2 ── a2        a turn = a person's user node and all that answers it
 *                            └─── u2' ── a2'      a fork: two nodes with one parent
 *
 * Times are ISO 8601 strings in UTC, sizes are bytes, durations are milliseconds and end in `Ms`.
 */

/** Anything that JSON can hold. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Who speaks in a message. */
export type Role = "system" | "user" | "assistant" | "tool" | "summary";

/** Every role, in the order in which the documentation lists them. */
export const roles: readonly Role[] = ["system", "user", "assistant", "tool", "summary"];

/** One piece of a message. File data given as bytes is stored as a blob and comes back as its id, `sha256:<hex>`. */
export type Part =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string; providerData?: Json }
  | { type: "tool-call"; toolCallId: string; toolName: string; input: Json }
  | { type: "tool-result"; toolCallId: string; toolName: string; output: Json; isError?: boolean }
  | { type: "file"; mediaType: string; filename?: string; data: Uint8Array | string }
  | { type: "data"; name: string; data: Json };

/** Tokens and cost as a provider reported them; further figures are kept as given. */
export interface Usage {
  inputTokens?: number;
  outputTokens?: number;
  [figure: string]: Json | undefined;
}

/** What a node holds, free of its place: the shape that models and SDKs use. */
export interface Message {
  role: Role;
  content: string | Part[];
  synthetic?: boolean;
  externalId?: string;
  usage?: Usage;
  metadata?: Json;
}

/** A message to be stored, and, if wanted, where it hangs: `parentId`, or `callerId` (the node that holds the call). */
export interface NewMessage extends Message {
  id?: string;
  parentId?: string;
  callerId?: string;
}

/** One stored entry; immutable once sealed. `rewound` is a mark, not content. */
export interface Node {
  id: string;
  conversationId: string;
  parentId: string | null;
  callerId: string | null;
  runId: string | null;
  depth: number;
  createdAt: string;
  rewound: boolean;
  message: Message;
}

/** A node without its content, for drawing the DAG. */
export interface NodeSummary {
  id: string;
  parentId: string | null;
  callerId: string | null;
  role: Role;
  synthetic: boolean;
  rewound: boolean;
  createdAt: string;
  preview: string;
}

/** An arrow of the DAG; `covers`, `caller` and `merges` are links, only `parent` makes a branch's path. */
export interface Edge {
  kind: "parent" | "covers" | "caller" | "merges";
  from: string;
  to: string;
}

/** A named pointer; `headId` is null for an empty branch. */
export interface Branch {
  name: string;
  headId: string | null;
  active: boolean;
  createdAt: string;
}

/** What the store says of a conversation. `version` rises with each commit. */
export interface ConversationRecord {
  id: string;
  scope: string;
  title: string | null;
  metadata: Json;
  workspace: string | null;
  activeBranch: string;
  headId: string | null;
  version: number;
  rewindCount: number;
  createdAt: string;
  updatedAt: string;
}

/** How a run stands; `abandoned` means that its process died. */
export type RunStatus = "running" | "completed" | "failed" | "cancelled" | "abandoned";

/** One execution of an agent inside a turn. */
export interface RunRecord {
  id: string;
  userNodeId: string;
  status: RunStatus;
  startedAt: string;
  heartbeatAt: string;
  endedAt: string | null;
  cancelRequested: string | null;
  usage: Usage | null;
  error: string | null;
}

/** What a path was. `unknown` is not `absent`: a state that was never captured is never applied. */
export type FileState =
  | { kind: "absent" }
  | { kind: "directory"; mode: number }
  | { kind: "file"; blob: string; mode: number; size: number }
  | { kind: "symlink"; target: string }
  | { kind: "unknown"; reason: string };

/** How one path differs between two states. `added` and `removed` count lines and are 0 for binary content. */
export interface FileChange {
  path: string;
  kind: "added" | "modified" | "deleted" | "type-changed" | "mode-changed";
  before: FileState;
  after: FileState;
  binary: boolean;
  added: number;
  removed: number;
}

/** What happened, or would happen, to a path in a move. */
export type FileOutcome =
  | "restored"
  | "created"
  | "deleted"
  | "merged"
  | "unchanged"
  | "kept"
  | "conflict"
  | "skipped"
  | "failed";

/** A path with its outcome; `reason` says why for everything that is not plainly done. */
export interface FileReport {
  path: string;
  outcome: FileOutcome;
  reason?: string;
}

/** What rewind, switch, resume, undo and redo return. */
export interface MoveResult {
  conversationId: string;
  operationId: string | null;
  version: number;
  newHeadId: string | null;
  branch: string;
  restoredPaths: string[];
  files: FileReport[];
  errors: { path?: string; code: string; message: string }[];
}

/** What a rewind returns; nulls where nothing was removed. */
export interface RewindResult extends MoveResult {
  userText: string | null;
  userMessage: Message | null;
  turnsReverted: number;
  nodesRewound: string[];
}

/**
 * What a rewind would return, from the same planner. With mode `files` the new head is the one that is there: the node
 * that the restore adds below it does not exist yet.
 */
export interface RewindPreview extends Omit<RewindResult, "operationId" | "version"> {
  planId: string;
}

/** A person's user node that one can rewind to. `ordinal` counts from 1, oldest first. */
export interface RewindPoint {
  nodeId: string;
  ordinal: number;
  text: string;
  createdAt: string;
  filesChanged: number;
  added: number;
  removed: number;
  notCaptured: number;
}

/** What to do where a merge is not clean. */
export type Policy = "refuse" | "keep" | "overwrite";

/** Options of every move that touches files. */
export interface RestoreOptions {
  onUserEdits?: "merge" | "keep" | "overwrite" | "refuse";
  onConflict?: Policy | { default: Policy; paths: Record<string, Policy> };
  onFileError?: "rollback" | "continue";
  requestId?: string;
  expectedHead?: string | null;
  signal?: AbortSignal;
  onProgress?: (progress: { done: number; total: number; bytes: number }) => void;
}

/** Options of a rewind. */
export interface RewindOptions extends RestoreOptions {
  mode?: "both" | "conversation" | "files";
  branch?: string;
  expectedText?: string;
  planId?: string;
  cancelRun?: boolean;
  timeoutMs?: number;
  /** Refuses to take back posts in another thread. No post is recorded yet: a node without posts passes. */
  threadScope?: { platform: string; chatId: string; threadId?: string };
}

/** One committed list of changes, as history shows it. */
export interface Operation {
  id: string;
  kind: OperationKind;
  author: string;
  at: string;
  summary: Json;
}

/** What an operation did. The six kinds of move can be taken back by `undo`, except `undo` itself, which `redo` does. */
export type OperationKind =
  | "create"
  | "append"
  | "turn"
  | "end"
  | "abandon"
  | "cancel"
  | "branch"
  | "rewind"
  | "switch"
  | "resume"
  | "undo"
  | "redo"
  | "capture"
  | "rollback"
  | "import"
  | "delete";

/** What a turn's end reports. */
export interface TurnReport {
  changes: FileChange[];
  notCaptured: { path: string; reason: string }[];
  dropped: Node[];
}

/** What a listener hears after a commit, from other processes too. */
export interface StoreChange {
  conversationId: string | null;
  version: number;
  kind: OperationKind;
  at: string;
}

/** A page of a listing; pass `nextCursor` back to go on. */
export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}
