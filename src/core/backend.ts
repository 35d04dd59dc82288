/**
 * The port to a database: fourteen members, and no rule of the product behind any of them.
 *
 * Reads answer with rows as they are stored; `commit` writes a list of changes in one short transaction or, when one
 * of them was stale, nothing. A backend that runs the published contract suite is a backend.
 */
import type { Change, Commit, Holder, Intent, NodeKey, Owner, RunReport } from "./change.js";
import type { CoverageRules, IndexEntry, PackedBlob, WorkspaceIdentity, WorkspaceSettings } from "./files.js";
import type { FileState, Json, OperationKind, Role, RunStatus, Usage } from "./model.js";

/** A conversation as stored. `version` is the number of its newest operation. */
export interface ConversationRow {
  key: number;
  id: string;
  scope: string;
  title: string | null;
  metadata: Json;
  workspace: number | null;
  activeBranch: string;
  rewindCount: number;
  version: number;
  createdAtMs: number;
  updatedAtMs: number;
}

/** A branch as stored. */
export interface BranchRow {
  name: string;
  head: NodeKey | null;
  createdAtMs: number;
}

/** A segment: a run of nodes without a fork between them. `mark`: the offset from which its nodes are rewound. */
export interface SegmentRow {
  segment: number;
  parent: NodeKey | null;
  caller: NodeKey | null;
  depth: number;
  mark: number | null;
  /** The offset of its last node. */
  last: number;
}

/** A node as stored; `body` is the message without its role, as JSON. `position`: the log's number when it was sealed. */
export interface NodeRow {
  key: NodeKey;
  id: string;
  run: number | null;
  role: Role;
  synthetic: boolean;
  createdAtMs: number;
  position: number | null;
  operation: number;
  body: string;
}

/** A run as stored. */
export interface RunRow {
  run: number;
  conversation: number;
  workspace: number | null;
  firstKey: NodeKey;
  userKey: NodeKey;
  lastKey: NodeKey | null;
  status: RunStatus;
  holder: Holder;
  leaseMs: number;
  startedAtMs: number;
  heartbeatAtMs: number;
  endedAtMs: number | null;
  found: number | null;
  left: number | null;
  usage: Usage | null;
  error: string | null;
  report: RunReport | null;
  cancelRequested: string | null;
  rowsOf: number | null;
  windows: { toolCallId: string; opened: number; closed: number | null }[];
  announced: string[];
}

/** An operation as stored, with what a request id returned, if it had one. */
export interface OperationRow {
  number: number;
  conversation: number | null;
  kind: OperationKind;
  author: string;
  atMs: number;
  summary: Json;
  request: { id: string; fingerprint: string; result: Json } | null;
}

/** A workspace as stored. `sequence` counts syncs and restores; `logNumber` is the number of its newest log row. */
export interface WorkspaceRow {
  key: number;
  identity: WorkspaceIdentity;
  options: WorkspaceSettings;
  sequence: number;
  syncedAtMs: number | null;
  rules: CoverageRules | null;
  logNumber: number;
}

/** A row of a workspace's log as stored. */
export interface LogRow {
  number: number;
  path: string;
  before: FileState;
  after: FileState;
  owner: Owner;
  operation: number;
}

/** An unsettled operation as stored. */
export interface IntentRow extends Intent {
  conversation: number;
  startedAtMs: number;
}

/** A stretch of one segment, both ends included. */
export interface KeyRange {
  from: NodeKey;
  to: NodeKey;
}

/** Which conversations to read; a listing is by version, newest first, and goes on `before` one. */
export type ConversationQuery =
  | { scope: string; id: string }
  | { scope: string; prefix: string; limit: number }
  | { scope: string; search?: string; limit: number; before?: number }
  | { key: number };

/** Which nodes to read: whole ranges as given (or the newest `limit` of them), by key in its order, by id or its start in that of ids. */
export type NodeQuery =
  | { ranges: KeyRange[]; limit?: number }
  | { keys: NodeKey[] }
  | { ids: string[] }
  | { prefix: string; limit: number };

/** Which runs to read, in order of their numbers. */
export type RunQuery =
  | { conversation: number }
  | { liveInConversation: number }
  | { liveInWorkspace: number }
  | { liveAnywhere: true }
  | { startedIn: KeyRange[] }
  | { runs: number[] };

/** Which operations to read, newest first unless `after` is given. */
export type OperationQuery =
  | { conversation: number; limit: number; kinds?: OperationKind[] }
  | { conversation: number; request: string }
  | { after: number; limit: number }
  | { newest: number };

/** Which rows of a workspace's log to read, in order of their numbers. */
export type LogQuery = { runs: number[] } | { operation: number } | { path: string; after: number; limit?: number };

/** Which entries of a workspace's index to read: those that changed after a sequence, or one path's. */
export type IndexQuery = { after: number } | { path: string };

/** Which unsettled operations to read. */
export type IntentQuery = { workspace: number } | { conversation: number } | { all: true };

/** What a commit answers: the numbers it gave, or the change that was stale. */
export type CommitOutcome =
  | {
      ok: true;
      number: number;
      conversation: number;
      segments: Map<number, number>;
      runs: Map<number, number>;
      logNumber: number;
      sequence: number;
    }
  | { ok: false; stale: Change };

/** What the store asks of a database. Every member can throw `closed`; writes `read_only` and `storage_full`. */
export interface Backend {
  conversations(query: ConversationQuery): Promise<ConversationRow[]>;
  /** The segments of a conversation by number, its branches by name, its links as they were made. */
  structure(conversation: number): Promise<{
    segments: SegmentRow[];
    branches: BranchRow[];
    links: { link: "covers" | "merges"; from: NodeKey; to: NodeKey }[];
  }>;
  nodes(conversation: number, query: NodeQuery): Promise<NodeRow[]>;
  runs(query: RunQuery): Promise<RunRow[]>;
  operations(query: OperationQuery): Promise<OperationRow[]>;
  intents(query: IntentQuery): Promise<IntentRow[]>;
  /** By key, or by identity, made with these options if it is not there. */
  workspace(
    query: { key: number } | { identity: WorkspaceIdentity; options: WorkspaceSettings },
  ): Promise<WorkspaceRow | undefined>;
  index(workspace: number, query: IndexQuery): Promise<IndexEntry[]>;
  log(workspace: number, query: LogQuery): Promise<LogRow[]>;
  /** `within` leaves out what neither a node of the conversation nor the workspace's index or log names. */
  blobs(ids: string[], within?: { conversation: number; workspace: number | null }): Promise<PackedBlob[]>;
  /** Stores those that are not there; never overwrites. */
  putBlobs(blobs: PackedBlob[]): Promise<void>;
  commit(commit: Commit): Promise<CommitOutcome>;
  /** Rises when anybody, in any process, has committed. */
  generation(): Promise<number>;
  close(): Promise<void>;
}
