/**
 * A conversation as users hold it: every verb, each one call into the file that owns it.
 */
import type {
  Branch,
  ConversationRecord,
  FileChange,
  FileState,
  Message,
  MoveResult,
  NewMessage,
  Node,
  Operation,
  RestoreOptions,
  RewindOptions,
  RewindPoint,
  RewindPreview,
  RewindResult,
  RunRecord,
} from "../core/model.js";
import { appendOutside } from "./append.js";
import { type BeginOptions, beginTurn } from "./begin.js";
import { blobOf } from "./blobs.js";
import { createBranch, deleteBranch, listBranches, renameBranch } from "./branches.js";
import { changesOf, diffOf, fileAt } from "./changes.js";
import type { Chat } from "./chat.js";
import { idOf } from "./move.js";
import { resume, switchBranch, undoOrRedo } from "./moves.js";
import * as reading from "./reading.js";
import { resultAt } from "./requests.js";
import { previewRewind, rewind } from "./rewind.js";
import { cancelRun, runRecord } from "./runs.js";
import { activeHead, toRecord } from "./state.js";
import type { AppendOptions, Conversation, Turn } from "./surface.js";
import { type Target, toLength, toTurn, turnsBack } from "./target.js";

/** The one implementation of `Conversation`. */
export class StoredConversation implements Conversation {
  readonly id: string;
  private readonly chat: Chat;
  private readonly copy: (at?: string) => Promise<Conversation>;

  constructor(chat: Chat, copy: (at?: string) => Promise<Conversation>) {
    this.id = chat.id;
    this.chat = chat;
    this.copy = copy;
  }

  async record(): Promise<ConversationRecord> {
    const { chat } = this;
    const state = await chat.read();
    const row = chat.workspaceKey === null ? undefined : await chat.env.backend.workspace({ key: chat.workspaceKey });
    return toRecord(state.row, await idOf(chat, activeHead(state)), row?.identity.root ?? null);
  }

  beginTurn(message: string | NewMessage, options?: BeginOptions): Promise<Turn> {
    return beginTurn(this.chat, message, options);
  }

  append(message: NewMessage | NewMessage[], options?: AppendOptions): Promise<Node[]> {
    return appendOutside(this.chat, message, options);
  }

  history(options: reading.HistoryOptions = {}): Promise<Node[]> {
    return reading.history(this.chat, options);
  }

  context(options: { branch?: string } = {}): Promise<Message[]> {
    return reading.context(this.chat, options.branch);
  }

  node(id: string): Promise<Node | undefined> {
    return reading.node(this.chat, id);
  }

  children(id: string | null): Promise<Node[]> {
    return reading.children(this.chat, id);
  }

  graph(): ReturnType<Conversation["graph"]> {
    return reading.graph(this.chat);
  }

  branches(): Promise<Branch[]> {
    return listBranches(this.chat);
  }

  createBranch(name: string, options: { at?: string | null; switch?: boolean } = {}): Promise<Branch> {
    return createBranch(this.chat, name, options);
  }

  switchBranch(name: string, options: RestoreOptions = {}): Promise<MoveResult> {
    return switchBranch(this.chat, name, options);
  }

  renameBranch(name: string, to: string): Promise<Branch> {
    return renameBranch(this.chat, name, to);
  }

  resume(nodeId: string, options: RestoreOptions & { name?: string } = {}): Promise<MoveResult> {
    return resume(this.chat, nodeId, options);
  }

  deleteBranch(name: string): Promise<void> {
    return deleteBranch(this.chat, name);
  }

  fork(options: { at?: string } = {}): Promise<Conversation> {
    return this.copy(options.at);
  }

  rewindPoints(options: { branch?: string; limit?: number } = {}): Promise<RewindPoint[]> {
    return reading.rewindPoints(this.chat, options);
  }

  previewRewind(userNodeId: string, options: RewindOptions = {}): Promise<RewindPreview> {
    return previewRewind(this.chat, userNodeId, options);
  }

  async rewindTo(userNodeId: string, options: RewindOptions = {}): Promise<RewindResult> {
    return this.rewind(toTurn(userNodeId), options);
  }

  async rewindTurns(count: number, options: RewindOptions = {}): Promise<RewindResult> {
    return this.rewind(turnsBack(this.chat, count, options.branch), options);
  }

  async rewindToLength(length: number, options: RewindOptions = {}): Promise<RewindResult> {
    return this.rewind(toLength(this.chat, length, options.branch), options);
  }

  undo(options: RestoreOptions = {}): Promise<MoveResult> {
    return undoOrRedo(this.chat, "undo", options);
  }

  redo(options: RestoreOptions = {}): Promise<MoveResult> {
    return undoOrRedo(this.chat, "redo", options);
  }

  async result(requestId: string): Promise<unknown | undefined> {
    if (typeof requestId !== "string") throw new TypeError("requestId must be a string");
    await this.chat.read();
    const query = { conversation: this.chat.key, request: requestId };
    const [row] = await this.chat.env.backend.operations(query);
    if (row?.request == null) return undefined;
    return resultAt(row.request.result, row.number);
  }

  async operations(options: { limit?: number } = {}): Promise<Operation[]> {
    reading.checkLimit(options.limit);
    await this.chat.read();
    const rows = await this.chat.env.backend.operations({ conversation: this.chat.key, limit: options.limit ?? -1 });
    return rows.map(({ number, kind, author, atMs, summary }) => {
      return { id: String(number), kind, author, at: new Date(atMs).toISOString(), summary };
    });
  }

  changes(nodeId: string): Promise<FileChange[]> {
    return changesOf(this.chat, nodeId);
  }

  diff(nodeId: string, options: { path?: string } = {}): Promise<string> {
    return diffOf(this.chat, nodeId, options.path);
  }

  fileAt(nodeId: string, path: string): Promise<FileState> {
    return fileAt(this.chat, nodeId, path);
  }

  blob(id: string): Promise<Uint8Array> {
    return blobOf(this.chat, id);
  }

  cancelRun(options: { reason?: string; timeoutMs?: number } = {}): Promise<RunRecord | undefined> {
    return cancelRun(this.chat, options, (run, reason) => this.chat.turns.get(run)?.cancel(reason));
  }

  async runs(): Promise<RunRecord[]> {
    await this.chat.read();
    const rows = await this.chat.env.backend.runs({ conversation: this.chat.key });
    // A restore of files alone keeps its rows under a run without a lease, which no agent ever held.
    const held = rows.filter((row) => row.leaseMs > 0);
    return Promise.all(held.map((row) => runRecord(this.chat, row)));
  }

  private rewind(target: Target, options: RewindOptions): Promise<RewindResult> {
    return rewind(this.chat, target, options, (run, reason) => this.chat.turns.get(run)?.cancel(reason));
  }
}
