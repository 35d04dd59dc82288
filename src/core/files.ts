/**
 * The port to a workspace folder: what the store asks of the file system, and nothing else.
 *
 *     observe(index) ─► Observation          reading only: what differs from the index, content handed to `keep`
 *     accept(observation)                     the store committed it: hints up to it may be forgotten
 *     look(paths)                             the state of single paths now
 *     apply(edits)                            each edit atomic, checked just before, repeatable
 *
 * An observation writes nothing anywhere, so a call that is refused after it leaves all as it was. Two processes may
 * observe at once; the guard on the workspace's sequence lets only one of the two commits through.
 * Paths are relative to the root, with "/" between components, and are compared byte-wise.
 */
import type { FileState } from "./model.js";

/** Stat of a path when its state was last seen; times are milliseconds since the epoch with fractions. */
export interface StatSeen {
  size: number;
  mtimeMs: number;
  ctimeMs: number;
  ino: number;
  mode: number;
}

/** One path of the index. An absent path keeps its entry; `announced` paths are covered whatever the rules say. */
export interface IndexEntry {
  path: string;
  state: FileState;
  stat: StatSeen | null;
  announced: boolean;
}

/** The whole index of a workspace as last committed. */
export type Index = ReadonlyMap<string, IndexEntry>;

/** What a workspace covers: set when it is first opened, the same for every conversation on it. */
export interface CoverageOptions {
  ignore: string[];
  include: string[];
  maxFileBytes: number;
}

/** What is kept of a workspace as it was first opened: its coverage, and whether changes in it are watched for. */
export interface WorkspaceSettings extends CoverageOptions {
  watch: boolean;
}

/** How a folder is told from another one that took its place. */
export interface WorkspaceIdentity {
  root: string;
  machine: string;
  device: number;
  inode: number;
}

/** The rules in force during an observation, complete enough to ask later whether they covered a path. */
export interface CoverageRules {
  options: CoverageOptions;
  sources: { directory: string; text: string }[];
  tracked: string[];
}

/** One difference between the index and the disk. `before` is what the index held, or what first sight makes of it. */
export interface Difference {
  path: string;
  before: FileState;
  after: FileState;
  stat: StatSeen | null;
}

/** What a look at the whole workspace found. */
export interface Observation {
  differences: Difference[];
  /** Same state, newer stat: entries to refresh so that the next look need not read them. */
  restats: { path: string; stat: StatSeen }[];
  rules: CoverageRules;
  /** Whether the rules differ from those that were passed in. */
  rulesChanged: boolean;
  notCaptured: { path: string; reason: string }[];
  startedAtMs: number;
}

/** How to look. `keep` receives the bytes of every file whose content the index does not hold already. */
export interface ObserveRequest {
  index: Index;
  /** The rules of the previous sync; null for the first capture, whose entries are no differences but first states. */
  rules: CoverageRules | null;
  /** When the previous sync started, in milliseconds since the epoch; what changed since then is read again. */
  previousMs: number | null;
  keep(blob: string, bytes: Uint8Array): void | Promise<void>;
  signal?: AbortSignal;
  onProgress?(seen: number): void;
}

/** One path as it is now; `bytes` for a regular file, `children` (names) for a directory. */
export interface Sight {
  path: string;
  state: FileState;
  stat: StatSeen | null;
  bytes?: Uint8Array;
  children?: string[];
}

/** One step of a restore: the path goes from `before` to `after`. */
export interface Edit {
  path: string;
  before: FileState;
  after: FileState;
}

/** A list of edits to make. */
export interface ApplyRequest {
  edits: Edit[];
  /** Names the operation; temporary files carry it, so that recovery finds and removes them. */
  token: string;
  read(blob: string): Promise<Uint8Array>;
  /** Stop at the first edit that cannot be made; otherwise go on and report it. */
  stopOnError: boolean;
  /** True when finishing what a dead process began: leftovers of its temporaries are removed first. */
  recovering: boolean;
  signal?: AbortSignal;
  onProgress?(progress: { done: number; total: number; bytes: number }): void;
}

/**
 * What became of an edit. `done`: the path is `after` now. `kept`: a directory that still holds others' files, left.
 * `changed`: the path was neither `before` nor `after`, left as it is. `failed`: the file system refused.
 * `untried`: an earlier edit failed first.
 */
export interface EditOutcome {
  path: string;
  result: "done" | "kept" | "changed" | "failed" | "untried";
  state: FileState;
  stat: StatSeen | null;
  reason?: string;
}

/** The files of one workspace. Throws `workspace_changed` when the folder is gone or another one took its place. */
export interface WorkspaceFiles {
  readonly identity: WorkspaceIdentity;
  observe(request: ObserveRequest): Promise<Observation>;
  accept(observation: Observation): void;
  look(paths: readonly string[]): Promise<Sight[]>;
  apply(request: ApplyRequest): Promise<EditOutcome[]>;
  close(): Promise<void>;
}

/** Opens the files of a folder. Throws `workspace_refused` for a home or file-system root, or a folder that is not one. */
export type OpenFiles = (root: string, options: WorkspaceSettings) => Promise<WorkspaceFiles>;

/** Bytes as they are stored: `encoding` says how `data` becomes the content again. */
export interface PackedBlob {
  blob: string;
  size: number;
  encoding: "raw" | "deflate";
  data: Uint8Array;
}

/** The result of merging three contents. */
export type MergeResult = { clean: true; bytes: Uint8Array } | { clean: false; reason: string };

/** Pure functions on content that the core and the store are given, so that they need no package of their own. */
export interface ContentTools {
  /** The full SHA-256 in lower-case hex. */
  hash(bytes: Uint8Array): string;
  pack(blob: string, bytes: Uint8Array): PackedBlob;
  /** The content, or undefined when it does not match its hash. */
  unpack(packed: PackedBlob): Uint8Array | undefined;
  merge(base: Uint8Array, theirs: Uint8Array, ours: Uint8Array): MergeResult;
  countLines(before: Uint8Array, after: Uint8Array): { binary: boolean; added: number; removed: number };
  /** A unified diff by git's conventions; bytes are null where a side is not a file. */
  patch(change: Edit, before: Uint8Array | null, after: Uint8Array | null): string;
}
