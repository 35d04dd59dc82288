/**
 * A backend on the bench: one conversation, one workspace, and short ways to say a change.
 *
 * Everything is written through the port and read back through it, so the same rules can be asked of any backend.
 */
import { createHash } from "node:crypto";
import { expect, onTestFinished } from "vitest";
import type { Backend, CommitOutcome } from "../../src/core/backend.js";
import type { Change, Commit, Holder, Intent, NodeKey, RunFields, RunStart } from "../../src/core/change.js";
import { keyOf } from "../../src/core/dag.js";
import type { PackedBlob, StatSeen, WorkspaceIdentity } from "../../src/core/files.js";
import type { FileState, OperationKind } from "../../src/core/model.js";

/** A backend that was opened, and, where the database outlives a connection, the way to a second one on it. */
export interface Opened {
  backend: Backend;
  another?: () => Promise<Backend>;
}

/** Opens a backend on an empty database. */
export type Open = () => Promise<Opened>;

type Of<K extends Change["kind"]> = Extract<Change, { kind: K }>;
type Committed = Extract<CommitOutcome, { ok: true }>;

export const holder: Holder = {
  machine: "machine",
  boot: "boot",
  namespace: "pid:[1]",
  pid: 7,
  startedAt: "99",
  instance: "store",
};

export const identity: WorkspaceIdentity = { root: "/project", machine: "machine", device: 5, inode: 6 };
export const options = { ignore: ["*.log"], include: [], maxFileBytes: 1024, watch: false };
export const absent: FileState = { kind: "absent" };
export const stat: StatSeen = { size: 3, mtimeMs: 1000.25, ctimeMs: 1001.5, ino: 44, mode: 0o100644 };

/** Content as a packed blob; equal contents are equal blobs. */
export function blobOf(content: string | Buffer): PackedBlob {
  const data = Buffer.from(content);
  return { blob: createHash("sha256").update(data).digest("hex"), size: data.length, encoding: "raw", data };
}

/** The state of a file with this content. */
export const fileOf = (text: string, mode = 0o644): FileState => {
  const { blob, size } = blobOf(text);
  return { kind: "file", blob, mode, size };
};

/** A new segment with its placeholder. */
export function segment(number = -1, parent: NodeKey | null = null, more: Partial<Of<"segment">> = {}): Change {
  return { kind: "segment", segment: number, parent, caller: null, depth: 0, mark: null, ...more };
}

/** A node; its text is its id unless one is given. */
export function node(key: NodeKey, id: string, more: Partial<Of<"node">> = {}): Change {
  const body = JSON.stringify({ content: `text of ${id}` });
  return {
    kind: "node",
    key,
    id,
    run: null,
    role: "user",
    synthetic: false,
    createdAtMs: 10,
    body,
    blobs: [],
    ...more,
  };
}

/** A branch on its way from one head to another; `undefined` stands for no branch at all. */
export function branch(name: string, from: NodeKey | null | undefined, to: NodeKey | null | undefined): Change {
  const head = (key: NodeKey | null | undefined) => (key === undefined ? null : { head: key });
  return { kind: "branch", name, from: head(from), to: head(to) };
}

export const fields: RunFields = {
  status: "running",
  endedAtMs: null,
  left: null,
  lastKey: null,
  usage: null,
  error: null,
  report: null,
};

export const ended: RunFields = { ...fields, status: "completed", endedAtMs: 90, left: 4, lastKey: null };

/** A run that starts at a node. */
export function runStart(key: NodeKey, more: Partial<RunStart> = {}, run = -1, state = fields): Change {
  const start: RunStart = {
    firstKey: key,
    userKey: key,
    workspace: null,
    holder,
    leaseMs: 30_000,
    startedAtMs: 50,
    found: null,
    rowsOf: null,
    ...more,
  };
  return { kind: "run-start", run, start, fields: state };
}

export class Bench {
  readonly backend: Backend;
  readonly another: Opened["another"];
  /** The conversation "chat" and the workspace that every bench begins with. */
  conversation = 0;
  workspace = 0;
  private sequence = 0;

  private constructor({ backend, another }: Opened) {
    this.backend = backend;
    this.another = another;
  }

  static async open(open: Open): Promise<Bench> {
    const opened = await open();
    onTestFinished(() => opened.backend.close());
    const bench = new Bench(opened);
    bench.workspace = (await bench.backend.workspace({ identity, options }))?.key ?? 0;
    bench.conversation = await bench.create("chat", { workspace: bench.workspace });
    return bench;
  }

  async create(id: string, more: Partial<Of<"create">> = {}, atMs = 1): Promise<number> {
    const made: Change = {
      kind: "create",
      scope: "default",
      id,
      title: null,
      metadata: null,
      workspace: null,
      branch: "main",
      createdAtMs: atMs,
      ...more,
    };
    return (await this.done([made], { conversation: null, kind: "create", atMs })).conversation;
  }

  commit(changes: Change[], over: Over = {}): Promise<CommitOutcome> {
    const { kind = "append", atMs = 100, summary = null, about = "conversation", operation = true } = over;
    return this.backend.commit({
      conversation: over.conversation === undefined ? this.conversation : over.conversation,
      workspace: over.workspace === undefined ? this.workspace : over.workspace,
      operation: operation ? { kind, author: "tester", atMs, summary, about } : null,
      changes,
    });
  }

  /** Commits, and the commit must go through. */
  async done(changes: Change[], over: Over = {}): Promise<Committed> {
    const outcome = await this.commit(changes, over);
    if (!outcome.ok) throw new TypeError(`stale: ${JSON.stringify(outcome.stale)}`);
    return outcome;
  }

  /** Commits, and the commit must be stale. Returns the change that it names. */
  async stale(changes: Change[], over: Over = {}): Promise<Change> {
    const outcome = await this.commit(changes, over);
    expect(outcome.ok, JSON.stringify(changes)).toBe(false);
    return (outcome as Extract<CommitOutcome, { ok: false }>).stale;
  }

  /** Puts blobs and syncs paths to states, each with a row of the log. Returns the log's number. */
  async sync(states: Record<string, FileState>, owner: Of<"log">["owner"] = { kind: "outside" }): Promise<number> {
    const entries = new Map((await this.backend.index(this.workspace, { after: -1 })).map((one) => [one.path, one]));
    const changes = Object.entries(states).flatMap(([path, to]): Change[] => [
      { kind: "path", path, to, stat },
      { kind: "log", path, before: entries.get(path)?.state ?? absent, after: to, owner },
    ]);
    return (await this.done([this.step(), ...changes], { conversation: null, kind: "capture", about: "store" }))
      .logNumber;
  }

  /** The next step of the workspace's sequence. */
  step(): Change {
    this.sequence += 1;
    return { kind: "sync", from: this.sequence - 1, startedAtMs: 500 + this.sequence, rules: null };
  }

  store(...texts: string[]): Promise<void> {
    return this.backend.putBlobs(texts.map((text) => blobOf(text)));
  }

  /** Nodes in a new segment of their own, "main" on the last. Returns the segment's number. */
  async chain(...ids: string[]): Promise<number> {
    const nodes = ids.map((id, i) => node(keyOf(-1, i), id));
    const { segments } = await this.done([segment(), ...nodes, branch("main", null, keyOf(-1, ids.length - 1))]);
    return segments.get(-1) as number;
  }

  /** An intent on the workspace, as a move commits it. */
  intent(token: string, over: Partial<Intent> = {}): Intent {
    const settle: Commit = {
      conversation: this.conversation,
      workspace: this.workspace,
      operation: { kind: "rewind", author: "tester", atMs: 77, summary: null, about: "conversation" },
      changes: [],
    };
    const edits = [{ path: "a", before: absent, after: fileOf("one") }];
    return { workspace: this.workspace, holder, token, edits, owner: { kind: "move" }, settle, ...over };
  }

  /** All that the port can tell of this bench, so that "nothing was written" can be said of all of it. */
  async everything(): Promise<unknown> {
    const { backend, conversation, workspace } = this;
    return {
      conversations: await backend.conversations({ scope: "default", limit: 1000 }),
      structure: await backend.structure(conversation),
      nodes: await backend.nodes(conversation, { ranges: [{ from: 0, to: keyOf(1000, 0) }] }),
      runs: await backend.runs({ conversation }),
      operations: await backend.operations({ newest: 1000 }),
      intents: await backend.intents({ all: true }),
      workspace: await backend.workspace({ key: workspace }),
      index: await backend.index(workspace, { after: -1 }),
      log: await backend.log(workspace, { path: "a", after: -1 }),
    };
  }
}

/** What a commit says beside its changes. */
export interface Over {
  conversation?: number | null;
  workspace?: number | null;
  kind?: OperationKind;
  atMs?: number;
  summary?: null | string | number;
  about?: "conversation" | "store";
  /** False for a commit that is no operation. */
  operation?: boolean;
}
