/**
 * A live turn: the agent's hand on the conversation, and the eyes on its files.
 *
 *     beginTurn: sync ─ user node, run ──┬── append … during … checkpoint ──┬── end: sync ─ run ends
 *                      found             │        heartbeats                │        left
 */
import type { LogRow, NodeRow, RunRow } from "../core/backend.js";
import type { Change, RunReport } from "../core/change.js";
import { type ErrorCode, RetconError } from "../core/errors.js";
import { runId } from "../core/ids.js";
import type { FileChange, NewMessage, Node, TurnReport, Usage } from "../core/model.js";
import { sameState } from "../core/states.js";
import { appendMessages, type Tip, type Writer } from "./append.js";
import { fileChanges, unknownIn } from "./changes.js";
import type { Chat, HeldTurn } from "./chat.js";
import { Lease } from "./lease.js";
import { coherentEnd, endChanges, runLost, syncFor } from "./runs.js";
import { activeHead, toNodes } from "./state.js";
import type { AppendOptions, OpenNode } from "./surface.js";
import { captureCommit } from "./sync.js";
import type { Workspace } from "./workspace.js";

type Outcome = { status?: "completed" | "failed" | "cancelled"; usage?: Usage; error?: string };

/** The one implementation of `Turn`. */
export class LiveTurn implements HeldTurn {
  readonly userNodeId: string;
  readonly runId: string;
  readonly run: number;
  private readonly chat: Chat;
  private readonly lease: Lease;
  private readonly opened = new Set<PendingNode>();
  private readonly writer: Writer;
  private appending: Promise<unknown> = Promise.resolve();

  constructor(chat: Chat, run: number, userNodeId: string, leaseMs: number, tip?: Tip) {
    this.chat = chat;
    this.run = run;
    this.runId = runId(run);
    this.userNodeId = userNodeId;
    this.lease = new Lease(chat, run, leaseMs);
    this.writer = {
      run,
      tip,
      guards: [{ kind: "running", run }],
      stale: async (change: Change) => (change.kind === "running" ? runLost(chat, run) : undefined),
    };
  }

  get signal(): AbortSignal {
    return this.lease.signal;
  }

  append(message: NewMessage | NewMessage[], options: AppendOptions = {}): Promise<Node[]> {
    // One after the other, in the order in which they were asked for.
    const appended = this.appending.then(() => appendMessages(this.chat, message, options, this.writer));
    this.appending = appended.catch(() => undefined);
    return appended;
  }

  async open(message: NewMessage): Promise<OpenNode> {
    const node = new PendingNode(message, message.id ?? this.chat.env.newId(), async (whole) => {
      this.opened.delete(node);
      const [sealed] = await this.append(whole);
      return sealed as Node;
    });
    this.opened.add(node);
    return node;
  }

  async willChange(path: string): Promise<void> {
    if (typeof path !== "string") throw new TypeError("path must be a string");
    const workspace = await this.requireWorkspace();
    await syncFor(this.chat, workspace);
    await workspace.exclusive(() => this.announce(workspace, path));
  }

  async during<T>(toolCallId: string, work: () => Promise<T>): Promise<T> {
    if (typeof toolCallId !== "string" || toolCallId === "") throw new TypeError("toolCallId must be a string");
    const workspace = await this.chat.workspace();
    if (workspace === null) return work();
    await this.window(workspace, toolCallId, true);
    try {
      return await work();
    } finally {
      // A tool call that succeeded is not failed by its capture; the turn's end captures again, and reports.
      await syncFor(this.chat, workspace).catch(asValue("workspace_changed", "busy"));
      await this.window(workspace, toolCallId, false);
    }
  }

  async checkpoint(): Promise<FileChange[]> {
    const workspace = await this.chat.workspace();
    if (workspace === null) return [];
    await this.requireLive();
    await syncFor(this.chat, workspace);
    return fileChanges(this.chat.env, await this.rows());
  }

  async end(outcome: Outcome = {}): Promise<TurnReport> {
    const { chat } = this;
    await this.requireLive();
    for (const node of [...this.opened]) await node.seal();
    await this.appending;
    const { notCaptured: excluded, left } = await this.lastSync();
    const rows = left === null ? [] : await this.rows();
    const changes = await fileChanges(chat.env, rows);
    const named = new Set(excluded.map(({ path }) => path));
    const notCaptured = [...excluded, ...unknownIn(rows).filter(({ path }) => !named.has(path))];
    const report = {
      filesChanged: changes.length,
      added: changes.reduce((sum, change) => sum + change.added, 0),
      removed: changes.reduce((sum, change) => sum + change.removed, 0),
      notCaptured: notCaptured.length,
    };
    const dropped = await this.settle(outcome, left, report);
    this.release();
    chat.feed.wake();
    return { changes, notCaptured, dropped: await toNodes(chat.env, await chat.read(), dropped) };
  }

  /** Commits the end, decided anew when a node was appended meanwhile; returns the nodes that it drops. */
  private async settle(outcome: Outcome, left: number | null, report: RunReport): Promise<NodeRow[]> {
    const { chat, run } = this;
    const { status = "completed", usage = null, error = null } = outcome;
    for (;;) {
      const row = await this.requireLive();
      const state = await chat.read();
      const end = await coherentEnd(chat, state, row);
      const dropped = status === "completed" ? [] : end.dropped;
      const lastKey = dropped.length === 0 ? (activeHead(state) ?? row.userKey) : end.lastKey;
      const fields = { status, endedAtMs: chat.env.now().getTime(), left, usage, error, report };
      const changes = endChanges(state, row, fields, lastKey);
      const ended = await chat.env.backend.commit(chat.commit("end", changes, { run }));
      if (ended.ok) return dropped;
    }
  }

  cancel(reason: string): void {
    this.lease.abort(reason);
  }

  release(): void {
    this.lease.stop();
    this.chat.turns.delete(this.run);
  }

  private async requireLive(): Promise<RunRow> {
    const [row] = await this.chat.env.backend.runs({ runs: [this.run] });
    if (row === undefined || row.status !== "running") throw await runLost(this.chat, this.run);
    return row;
  }

  private async requireWorkspace(): Promise<Workspace> {
    await this.requireLive();
    const workspace = await this.chat.workspace();
    if (workspace !== null) return workspace;
    throw new RetconError("not_supported", "this conversation has no workspace", {
      what: "willChange without a workspace",
    });
  }

  private async rows(): Promise<LogRow[]> {
    const workspace = this.chat.workspaceKey;
    return workspace === null ? [] : this.chat.env.backend.log(workspace, { runs: [this.run] });
  }

  /** A folder that vanished does not keep the run from ending; the report says so. */
  private async lastSync(): Promise<{ left: number | null; notCaptured: TurnReport["notCaptured"] }> {
    const workspace = await this.chat.workspace().catch(asValue("workspace_changed"));
    if (workspace === null) return { left: null, notCaptured: [] };
    const synced =
      workspace instanceof RetconError
        ? workspace
        : await syncFor(this.chat, workspace).catch(asValue("workspace_changed"));
    if (synced instanceof RetconError) return { left: null, notCaptured: [{ path: ".", reason: synced.message }] };
    return { left: synced.logNumber, notCaptured: synced.notCaptured };
  }

  private async window(workspace: Workspace, toolCallId: string, open: boolean): Promise<void> {
    if (open) await syncFor(this.chat, workspace);
    const { backend } = this.chat.env;
    const changes: Change[] = [
      { kind: "running", run: this.run },
      { kind: "window", run: this.run, toolCallId, open },
    ];
    const commit = { ...captureCommit(this.chat.env, workspace, changes), operation: null };
    const outcome = await backend.commit(commit);
    if (!outcome.ok) throw await runLost(this.chat, this.run);
  }

  /** What is first seen here is nobody's, and counts as before the run. */
  private async announce(workspace: Workspace, given: string): Promise<void> {
    const { env } = this.chat;
    for (;;) {
      const row = await workspace.refresh(env);
      const [sight] = await workspace.files.look([given]);
      if (sight === undefined) return;
      const { path, state, stat, bytes } = sight;
      if (bytes !== undefined && state.kind === "file") await env.backend.putBlobs([env.tools.pack(state.blob, bytes)]);
      const entry = workspace.index.get(path);
      const before = entry?.state ?? { kind: "unknown", reason: "not_covered_before" };
      const fresh: Change[] =
        sameState(before, state) || (before.kind === "unknown" && state.kind === "unknown")
          ? []
          : [
              { kind: "path", path, to: state, stat },
              { kind: "log", path, before, after: state, owner: { kind: "outside" } },
            ];
      const named: Change[] =
        entry === undefined && fresh.length === 0 ? [{ kind: "path", path, to: state, stat: null }] : [];
      const outcome = await env.backend.commit(
        captureCommit(env, workspace, [
          { kind: "running", run: this.run },
          { kind: "sync", from: row.sequence, startedAtMs: row.syncedAtMs ?? 0, rules: null },
          ...fresh,
          ...named,
          { kind: "announce", run: this.run, path },
        ]),
      );
      if (outcome.ok) return;
      if (outcome.stale.kind !== "sync") throw await runLost(this.chat, this.run);
    }
  }
}

/** A failure of one of these codes as a value; every other one is thrown on. */
function asValue(...codes: ErrorCode[]): (error: unknown) => RetconError {
  return (error) => {
    if (error instanceof RetconError && codes.includes(error.code)) return error;
    throw error;
  };
}

/** A node whose text still arrives; it is stored when it is sealed. */
class PendingNode implements OpenNode {
  readonly id: string;
  private readonly message: NewMessage;
  private readonly store: (message: NewMessage) => Promise<Node>;
  private text = "";
  private sealed: Promise<Node> | undefined;

  constructor(message: NewMessage, id: string, store: (message: NewMessage) => Promise<Node>) {
    this.message = message;
    this.id = id;
    this.store = store;
  }

  write(delta: string): void {
    if (typeof delta !== "string") throw new TypeError("delta must be a string");
    if (this.sealed !== undefined) throw new TypeError("the node is sealed");
    this.text += delta;
  }

  seal(): Promise<Node> {
    this.sealed ??= this.store({ ...this.message, id: this.id, content: this.content() });
    return this.sealed;
  }

  private content(): NewMessage["content"] {
    const { content } = this.message;
    if (typeof content === "string") return content + this.text;
    return this.text === "" ? content : [...content, { type: "text", text: this.text }];
  }
}
