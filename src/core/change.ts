/**
 * Every write is a list of changes, and a change carries what it expects as well as what it wants.
 *
 *     { kind: "branch", name: "main", from: { head: 7 }, to: { head: 9 } }
 *
 * The backend applies each as a conditional write; if one does not match, nothing of the list is written and the
 * commit answers with the change that was stale. So a check and the write it protects are the same write. Because the
 * old value is there, a change can be inverted (`invert`) and explained.
 *
 * Negative segment and run numbers stand for ones that the commit allocates; see resolve.ts.
 */
import type { ErrorCode } from "./errors.js";
import type { CoverageRules, Edit, StatSeen } from "./files.js";
import type { FileState, Json, OperationKind, Role, RunStatus, Usage } from "./model.js";

/** Where a node stands: its segment and its offset in it, as one integer. See dag.ts. */
export type NodeKey = number;

/** Where a branch points; null for an empty branch. */
export interface Head {
  head: NodeKey | null;
}

/** The part of a conversation's row that changes. */
export interface ConversationFields {
  title: string | null;
  metadata: Json;
  rewindCount: number;
}

/** Which process holds a run or an unsettled operation. Enough to tell on its own machine whether it still lives. */
export interface Holder {
  machine: string;
  boot: string;
  namespace: string;
  pid: number;
  startedAt: string;
  /** The store inside that process: one that was closed holds nothing any more. */
  instance: string;
}

/** The changing part of a run. `found` and `left` are numbers of the workspace's log. */
export interface RunFields {
  status: RunStatus;
  endedAtMs: number | null;
  left: number | null;
  lastKey: NodeKey | null;
  usage: Usage | null;
  error: string | null;
  report: RunReport | null;
}

/** What a run did to the files, in figures; kept so that rewind points need not read the log. */
export interface RunReport {
  filesChanged: number;
  added: number;
  removed: number;
  notCaptured: number;
}

/** A run as it starts. */
export interface RunStart {
  firstKey: NodeKey;
  userKey: NodeKey;
  workspace: number | null;
  holder: Holder;
  leaseMs: number;
  startedAtMs: number;
  found: number | null;
  /** The run whose log rows are this one's: set on a run that was copied by a fork. */
  rowsOf: number | null;
}

/** Whose a row of the log is. A `move` row was written by a restore; an `outside` row by nobody the store knows. */
export type Owner =
  | { kind: "run"; run: number; toolCallId?: string }
  | { kind: "shared"; runs: number[] }
  | { kind: "outside" }
  | { kind: "move" };

/** What a move did, kept with its operation so that undo and redo can plan the way back afresh. */
export interface MoveSummary {
  branches: { name: string; from: Head | null; to: Head | null }[];
  active: { from: string; to: string };
  /** The heads between which the files moved. */
  head: { from: NodeKey | null; to: NodeKey | null };
  mode: "both" | "conversation" | "files";
  /** The operation that this one takes back or brings again. */
  of?: number;
  /** Paths that were not written after all, with the reason: saved by somebody meanwhile, or not to be written. */
  left?: { path: string; reason: string }[];
}

/** A move that has begun on the files and has not settled: what it will commit, and what it does to the disk. */
export interface Intent {
  workspace: number;
  holder: Holder;
  token: string;
  edits: Edit[];
  /** Whose the restore's rows are: the move's, or those of the run that a restore of files alone starts. */
  owner: Owner;
  /** What is committed once the edits are made; the rows of the log and the index come from what became of them. */
  settle: Commit;
}

/** One conditional write. */
export type Change =
  | {
      kind: "create";
      scope: string;
      id: string;
      title: string | null;
      metadata: Json;
      workspace: number | null;
      branch: string;
      createdAtMs: number;
    }
  | { kind: "delete" }
  | { kind: "conversation"; from: Partial<ConversationFields>; to: Partial<ConversationFields> }
  | { kind: "request"; id: string; fingerprint: string; result: Json }
  | {
      kind: "segment";
      segment: number;
      parent: NodeKey | null;
      caller: NodeKey | null;
      depth: number;
      mark: number | null;
    }
  | {
      kind: "node";
      key: NodeKey;
      id: string;
      run: number | null;
      role: Role;
      synthetic: boolean;
      createdAtMs: number;
      /** The message without its role, as JSON. */
      body: string;
      blobs: string[];
      /** Given where a node is copied with its place in the log; otherwise the log's number now. */
      position?: number | null;
    }
  | { kind: "link"; link: "covers" | "merges"; from: NodeKey; to: NodeKey }
  | { kind: "branch"; name: string; from: Head | null; to: Head | null }
  | { kind: "active"; from: string; to: string }
  | { kind: "mark"; segment: number; from: number | null; to: number | null }
  | { kind: "run-start"; run: number; start: RunStart; fields: RunFields }
  | { kind: "run-end"; run: number; from: "running"; to: RunFields }
  | { kind: "run-cancel"; run: number; reason: string }
  | { kind: "heartbeat"; run: number; atMs: number }
  | { kind: "running"; run: number }
  | { kind: "idle" }
  | { kind: "version"; at: number }
  | { kind: "window"; run: number; toolCallId: string; open: boolean }
  | { kind: "announce"; run: number; path: string }
  | { kind: "sync"; from: number; startedAtMs: number; rules: CoverageRules | null }
  | { kind: "path"; path: string; to: FileState; stat: StatSeen | null }
  | { kind: "restat"; path: string; stat: StatSeen }
  | { kind: "log"; path: string; before: FileState; after: FileState; owner: Owner }
  | { kind: "intent"; from: string | null; to: Intent | null };

/** A list of changes that is written whole or not at all. */
export interface Commit {
  conversation: number | null;
  workspace: number | null;
  /** What the list is in the history; null for a renewal of a lease, which is no operation. */
  operation: {
    kind: OperationKind;
    author: string;
    atMs: number;
    summary: Json;
    /** An operation of the store or a workspace raises no conversation's version. */
    about: "conversation" | "store";
  } | null;
  changes: Change[];
}

/** The code with which a call fails when a change of this kind was stale. */
export const staleCode: { readonly [K in Change["kind"]]: ErrorCode } = {
  create: "id_exists",
  delete: "not_found",
  conversation: "head_moved",
  request: "request_reused",
  segment: "head_moved",
  node: "head_moved",
  link: "head_moved",
  branch: "head_moved",
  active: "head_moved",
  mark: "head_moved",
  "run-start": "run_active",
  "run-end": "run_lost",
  "run-cancel": "run_lost",
  heartbeat: "run_lost",
  running: "run_lost",
  idle: "busy",
  version: "head_moved",
  window: "run_lost",
  announce: "run_lost",
  sync: "busy",
  path: "busy",
  restat: "busy",
  log: "busy",
  intent: "busy",
};

/** Why a kind of change has no inverse; a kind that is not listed has one. */
export const irreversible: { readonly [K in Change["kind"]]?: string } = {
  create: "A conversation goes only by being deleted.",
  delete: "What is deleted is gone; that is what the word means.",
  request: "What a request returned is returned again.",
  segment: "Content never goes away; a segment that no branch reaches is marked instead.",
  node: "Content never changes; undo moves heads.",
  link: "A link is content.",
  "run-start": "A run that started has started; it ends by run-end.",
  "run-end": "What ended does not run again.",
  "run-cancel": "A request to stop cannot be unheard.",
  heartbeat: "Time does not go back.",
  window: "A window that was open was open.",
  announce: "A path that was named stays covered.",
  sync: "The sequence of syncs only rises.",
  restat: "The index follows the disk, not the history.",
  path: "The index follows the disk, not the history.",
  log: "The log only grows; a restore adds rows.",
  intent: "An intent is settled or rolled back by its own commit.",
};

/** The change that takes this one back, or undefined where `irreversible` says why there is none. */
export function invert(change: Change): Change | undefined {
  switch (change.kind) {
    case "conversation":
      return { ...change, from: change.to, to: change.from };
    case "branch":
      return { ...change, from: change.to, to: change.from };
    case "active":
      return { ...change, from: change.to, to: change.from };
    case "mark":
      return { ...change, from: change.to, to: change.from };
    case "running":
    case "idle":
    case "version":
      return change;
    default:
      return undefined;
  }
}
