/**
 * The public surface: what users of the package hold in their hands. The files beside this one implement it.
 *
 * A `Store` opens conversations, a `Conversation` reads and moves them, a `Turn` is where an agent writes. Every method
 * that touches the store is async and can throw `closed`; writes can throw `read_only` and `storage_full` as well.
 */
import type {
  Branch,
  ConversationRecord,
  Edge,
  FileChange,
  FileState,
  Json,
  Message,
  MoveResult,
  NewMessage,
  Node,
  NodeSummary,
  Operation,
  Page,
  RestoreOptions,
  RewindOptions,
  RewindPoint,
  RewindPreview,
  RewindResult,
  RunRecord,
  StoreChange,
  TurnReport,
  Usage,
} from "../core/model.js";

/** Where the library says what it does; silent unless one is given. */
export interface Logger {
  debug(message: string, data?: object): void;
  warn(message: string, data?: object): void;
}

/** How a store is opened. */
export interface StoreOptions {
  /** SQLite database file, made if absent with mode 0600; ":memory:" for none. */
  file: string;
  /** The tenant; "default" if left out. */
  scope?: string;
  /** SQLite's synchronous setting; left out: full for operations on files, normal for appends. */
  durability?: "normal" | "full";
  readOnly?: boolean;
  logger?: Logger;
  /** The clock, for tests. */
  now?: () => Date;
}

/** A folder as a workspace. Coverage options belong to the folder: others for the same root are refused. */
export interface WorkspaceOptions {
  root: string;
  /** Further patterns to leave out, in .gitignore syntax. */
  ignore?: string[];
  /** Ignored but precious files to cover all the same, in .gitignore syntax. */
  include?: string[];
  /** Larger files are not captured, and reported; default 64 MiB. */
  maxFileBytes?: number;
  /** Default true; false sweeps at every turn boundary. */
  watch?: boolean;
}

/** What an append carries beside its messages. */
export interface AppendOptions {
  requestId?: string;
  expectedHead?: string | null;
}

/** One node of a conversation that is imported: its place by id, its time, its message. */
export interface ImportedNode {
  id: string;
  parentId: string | null;
  /** The node that holds the call which started this side chain; only on a side chain's first node. */
  callerId?: string;
  createdAt: string;
  message: Message;
  /** Ids of the nodes that a summary stands for. */
  covers?: string[];
}

/** A conversation from elsewhere. Parents stand before their children. Importing it again adds only what is new. */
export interface ImportInput {
  id: string;
  title?: string;
  metadata?: Json;
  nodes: ImportedNode[];
  /** The leaf that the source showed last; nodes that it does not reach are imported as rewound. */
  headId: string | null;
}

/** Conversations of one scope in one database. */
export interface Store {
  /** The same database for another tenant. */
  scope(name: string): Store;
  /** @throws `id_exists`, `bad_input`, `workspace_refused` */
  createConversation(input?: {
    id?: string;
    title?: string;
    workspace?: string | WorkspaceOptions;
    metadata?: Json;
  }): Promise<Conversation>;
  /** Opens by id or by a unique prefix of one. @throws `not_found`, `ambiguous_id` */
  conversation(id: string): Promise<Conversation>;
  /** Newest first; `search` looks into titles and ids. */
  conversations(query?: { search?: string; limit?: number; cursor?: string }): Promise<Page<ConversationRecord>>;
  /** Creates or extends a conversation from another system's nodes. @throws `bad_input`, `run_active` */
  importConversation(input: ImportInput): Promise<{ conversation: Conversation; added: number }>;
  /** @throws `not_found`, `run_active`, `busy` */
  deleteConversation(id: string): Promise<void>;
  /** Hears of every commit of this scope after it happened, from other processes too. Returns the way to stop. */
  on(event: "change", listener: (change: StoreChange) => void): () => void;
  close(): Promise<void>;
}

/** One conversation: a DAG, its branches and, if it has one, its workspace. */
export interface Conversation {
  readonly id: string;
  record(): Promise<ConversationRecord>;
  /** Stores the user's message, reserves the conversation, notes the files. @throws `run_active`, `busy`, `head_moved` */
  beginTurn(
    message: string | NewMessage,
    options?: { id?: string; requestId?: string; expectedHead?: string | null; leaseMs?: number },
  ): Promise<Turn>;
  /** Appends outside a turn: system nodes, notes. @throws `run_active`, `head_moved`, `id_exists` */
  append(message: NewMessage | NewMessage[], options?: AppendOptions): Promise<Node[]>;
  /** From root to head. `limit` keeps the newest; `before` ends just before a node. */
  history(options?: { branch?: string; limit?: number; before?: string; includeRewound?: boolean }): Promise<Node[]>;
  /** What the model should see: summaries in place of what they cover, calls and results paired. */
  context(options?: { branch?: string }): Promise<Message[]>;
  /** By id or a unique prefix of one. @throws `ambiguous_id` */
  node(id: string): Promise<Node | undefined>;
  /** Siblings in the order in which they were made; `null` asks for the roots. */
  children(id: string | null): Promise<Node[]>;
  graph(): Promise<{ nodes: NodeSummary[]; edges: Edge[]; branches: Branch[] }>;

  branches(): Promise<Branch[]>;
  /** At the active head if `at` is left out; `null` makes an empty branch. @throws `branch_exists` */
  createBranch(name: string, options?: { at?: string | null; switch?: boolean }): Promise<Branch>;
  /** Makes a branch the active one; the files follow. */
  switchBranch(name: string, options?: RestoreOptions): Promise<MoveResult>;
  renameBranch(name: string, to: string): Promise<Branch>;
  /**
   * Puts a branch on the newest leaf under any node, rewound ones too; the files follow. The branch is the one named, which
   * moves if it exists, else one that is on the leaf already, else a new one.
   */
  resume(nodeId: string, options?: RestoreOptions & { name?: string }): Promise<MoveResult>;
  /** @throws `branch_active` */
  deleteBranch(name: string): Promise<void>;
  /** A new conversation with a copy of the path; neither changes the other afterwards. */
  fork(options?: { at?: string }): Promise<Conversation>;

  /** Newest first, never a rewound one. */
  rewindPoints(options?: { branch?: string; limit?: number }): Promise<RewindPoint[]>;
  /** What `rewindTo` would do; writes nothing. */
  previewRewind(userNodeId: string, options?: RewindOptions): Promise<RewindPreview>;
  rewindTo(userNodeId: string, options?: RewindOptions): Promise<RewindResult>;
  /** Counts from the newest turn and clamps to the oldest. */
  rewindTurns(count: number, options?: RewindOptions): Promise<RewindResult>;
  /** Cuts `history()` to a length, snapped down to a turn's start; at or past the end it removes nothing. */
  rewindToLength(length: number, options?: RewindOptions): Promise<RewindResult>;
  /** Takes back the newest rewind, switch or resume that is not undone yet. @throws `nothing_to_undo` */
  undo(options?: RestoreOptions): Promise<MoveResult>;
  /** @throws `nothing_to_undo` */
  redo(options?: RestoreOptions): Promise<MoveResult>;
  /** What a write with this request id returned. */
  result(requestId: string): Promise<unknown | undefined>;
  /** Newest first. */
  operations(options?: { limit?: number }): Promise<Operation[]>;

  /** What the turn of a user node, or a single other node, did to the files. */
  changes(nodeId: string): Promise<FileChange[]>;
  /** The same as a unified diff by git's conventions. */
  diff(nodeId: string, options?: { path?: string }): Promise<string>;
  /** What a path was when a node was sealed. */
  fileAt(nodeId: string, path: string): Promise<FileState>;
  /**
   * The bytes of a blob that a part of a node or a file state of this conversation names, as `sha256:<hex>` or `<hex>`.
   * @throws `not_found`, `blob_missing` when it is damaged
   */
  blob(id: string): Promise<Uint8Array>;
  /** Asks the live run to stop and waits for its end; undefined if there is none. @throws `cancel_timeout` */
  cancelRun(options?: { reason?: string; timeoutMs?: number }): Promise<RunRecord | undefined>;
  runs(): Promise<RunRecord[]>;
}

/** A live turn: the agent's hand on the conversation. Every method throws `run_lost` once the run is no longer live. */
export interface Turn {
  readonly userNodeId: string;
  readonly runId: string;
  /** Aborted when somebody asks the run to stop. */
  readonly signal: AbortSignal;
  append(message: NewMessage | NewMessage[], options?: AppendOptions): Promise<Node[]>;
  /** Opens a node that is written piece by piece. */
  open(message: NewMessage): Promise<OpenNode>;
  /** Captures a path before a tool writes to it; covers ignored files too. @throws `path_outside` */
  willChange(path: string): Promise<void>;
  /** What changes while `work` runs is that call's, by name. */
  during<T>(toolCallId: string, work: () => Promise<T>): Promise<T>;
  /** Captures in mid-turn and returns what this turn has changed so far. */
  checkpoint(): Promise<FileChange[]>;
  end(outcome?: { status?: "completed" | "failed" | "cancelled"; usage?: Usage; error?: string }): Promise<TurnReport>;
}

/** A node while its text still arrives. It joins the conversation when it is sealed, or when its turn ends. */
export interface OpenNode {
  readonly id: string;
  write(delta: string): void;
  seal(): Promise<Node>;
}
