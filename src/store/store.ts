/**
 * The store: conversations of a scope in one database, and what all scopes of it share.
 */

import type { ConversationRow } from "../core/backend.js";
import type { Change, Commit } from "../core/change.js";
import { RetconError } from "../core/errors.js";
import { checkId, checkName } from "../core/ids.js";
import type { ConversationRecord, Json, OperationKind, Page, StoreChange } from "../core/model.js";
import { busy, Chat, type HeldTurn } from "./chat.js";
import { StoredConversation } from "./conversation.js";
import type { Environment } from "./environment.js";
import { Feed } from "./feed.js";
import { forkChanges } from "./fork.js";
import { releaseHolder } from "./holder.js";
import { importInto, importNew, prepare } from "./import.js";
import { settleIntents } from "./recover.js";
import { isDead, settleDead, syncFor } from "./runs.js";
import type { Conversation, ImportInput, Store, WorkspaceOptions } from "./surface.js";
import { type Workspace, Workspaces } from "./workspace.js";

const author = "retcon";
const defaultLimit = 50;
const mainBranch = "main";

/** What the scopes of one open database share. */
class Shared {
  readonly env: Environment;
  readonly feed: Feed;
  readonly workspaces: Workspaces;
  private readonly chats = new Map<number, Chat>();
  private closed = false;

  constructor(env: Environment) {
    this.env = env;
    this.feed = new Feed(env);
    this.workspaces = new Workspaces(env);
  }

  chat(row: ConversationRow): Chat {
    let chat = this.chats.get(row.key);
    if (chat === undefined) {
      const { key, id, scope, workspace: workspaceKey } = row;
      const { env, feed, workspaces } = this;
      const sibling = (other: number) => this.chatOf(other);
      chat = new Chat({ env, key, id, scope, feed, workspaceKey, workspaces, sibling });
      this.chats.set(key, chat);
    }
    return chat;
  }

  async chatOf(key: number): Promise<Chat> {
    const [row] = await this.env.backend.conversations({ key });
    if (row !== undefined) return this.chat(row);
    throw new RetconError("not_found", "the conversation was deleted", { what: "conversation", id: String(key) });
  }

  forget(key: number): void {
    this.chats.delete(key);
  }

  requireOpen(): void {
    if (this.closed) throw new RetconError("closed", "the store is closed", { what: "store" });
  }

  /** Finishes what dead processes left: operations on files first, then runs. */
  async recover(): Promise<void> {
    const { env } = this;
    for (const intent of await env.backend.intents({ all: true })) {
      if (env.isAlive(intent.holder) !== false) continue;
      const workspace = await this.workspaces.openKey(intent.workspace).catch(unlessGone);
      if (workspace !== undefined) await workspace.exclusive(() => settleIntents(env, workspace)).catch(unlessGone);
    }
    for (const run of await env.backend.runs({ liveAnywhere: true })) {
      const chat = await this.chatOf(run.conversation);
      if (isDead(chat, run)) await settleDead(chat);
    }
  }

  /** Ends what is live and lets go of everything, whatever of it fails; the first failure is thrown at the end. */
  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    const failures: unknown[] = [];
    const turns = [...this.chats.values()].flatMap((chat) => [...chat.turns.values()]);
    const steps = [
      ...turns.map((turn) => () => endTurn(turn)),
      () => this.feed.close(),
      () => this.workspaces.close(),
      async () => releaseHolder(this.env.holder),
      () => this.env.backend.close(),
    ];
    for (const step of steps) await step().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }
}

/** A run that cannot be ended now is left to the next opening, which finds that nobody holds it any more. */
async function endTurn(turn: HeldTurn): Promise<void> {
  try {
    await turn.end({ status: "cancelled", error: "the store was closed" });
  } catch (error) {
    if (!(error instanceof RetconError)) throw error;
  } finally {
    turn.release();
  }
}

/** A folder that is not there now keeps its operation until it is back; the call that needs it says so. */
function unlessGone(error: unknown): undefined {
  const gone = error instanceof RetconError && (error.code === "workspace_changed" || error.code === "busy");
  if (!gone) throw error;
}

/** The one implementation of `Store`. */
class ScopedStore implements Store {
  private readonly shared: Shared;
  private readonly name: string;

  constructor(shared: Shared, name: string) {
    this.shared = shared;
    this.name = name;
  }

  scope(name: string): Store {
    return new ScopedStore(this.shared, checkName("scope", name));
  }

  async createConversation(
    input: { id?: string; title?: string; workspace?: string | WorkspaceOptions; metadata?: Json } = {},
  ): Promise<Conversation> {
    this.shared.requireOpen();
    const { env, workspaces } = this.shared;
    const { title = null, metadata = null, workspace: folder } = input;
    const id = input.id === undefined ? env.newId() : checkId("id", input.id);
    const workspace = folder === undefined ? null : await workspaces.open(folder);
    const chat = await this.make(id, "create", [
      this.creation(id, { title, metadata, workspace: workspace?.key ?? null }),
    ]);
    if (workspace !== null) this.firstCapture(chat, workspace);
    return this.handle(chat);
  }

  async conversation(id: string): Promise<Conversation> {
    this.shared.requireOpen();
    if (typeof id !== "string") throw new TypeError("id must be a string");
    return this.handle(this.shared.chat(await this.find(id)));
  }

  async conversations(
    query: { search?: string; limit?: number; cursor?: string } = {},
  ): Promise<Page<ConversationRecord>> {
    this.shared.requireOpen();
    const { search, limit = defaultLimit, cursor } = query;
    if (!(Number.isSafeInteger(limit) && limit > 0)) throw new TypeError("limit must be a positive whole number");
    const { backend } = this.shared.env;
    const before = cursor === undefined ? undefined : fromCursor(cursor);
    const rows = await backend.conversations({ scope: this.name, search, limit: limit + 1, before });
    const items = await Promise.all(rows.slice(0, limit).map((row) => this.handle(this.shared.chat(row)).record()));
    const last = rows[limit - 1];
    return { items, nextCursor: rows.length > limit && last !== undefined ? toCursor(last) : null };
  }

  async importConversation(input: ImportInput): Promise<{ conversation: Conversation; added: number }> {
    this.shared.requireOpen();
    const { env } = this.shared;
    const prepared = prepare(env, input);
    const [row] = await env.backend.conversations({ scope: this.name, id: input.id });
    if (row !== undefined) {
      const chat = this.shared.chat(row);
      return { conversation: this.handle(chat), added: await importInto(chat, input, prepared) };
    }
    const { title = null, metadata = null } = input;
    const changes = await importNew(env, mainBranch, input, prepared);
    const creation = this.creation(input.id, { title, metadata, workspace: null });
    const chat = await this.make(input.id, "import", [creation, ...changes], { nodes: prepared.length });
    return { conversation: this.handle(chat), added: prepared.length };
  }

  async deleteConversation(id: string): Promise<void> {
    this.shared.requireOpen();
    const row = await this.find(id);
    const chat = this.shared.chat(row);
    await settleDead(chat);
    await chat.requireIdle();
    const atMs = this.shared.env.now().getTime();
    const summary = { scope: this.name, id: row.id };
    const outcome = await this.shared.env.backend.commit({
      conversation: row.key,
      workspace: row.workspace,
      operation: { kind: "delete", author, atMs, summary, about: "store" },
      changes: [{ kind: "idle" }, { kind: "delete" }],
    });
    if (!outcome.ok) {
      await chat.requireIdle();
      throw busy("change");
    }
    this.shared.forget(row.key);
    this.shared.feed.wake();
  }

  on(event: "change", listener: (change: StoreChange) => void): () => void {
    this.shared.requireOpen();
    if (event !== "change") throw new TypeError(`there is no event ${JSON.stringify(event)}`);
    return this.shared.feed.on(this.name, listener);
  }

  close(): Promise<void> {
    return this.shared.close();
  }

  private handle(chat: Chat): Conversation {
    return new StoredConversation(chat, async (at) => {
      const id = this.shared.env.newId();
      const copy = await forkChanges(chat, id, at);
      return this.handle(await this.make(id, "create", copy.changes, { forkedFrom: chat.id, at: copy.at }));
    });
  }

  private creation(id: string, fields: { title: string | null; metadata: Json; workspace: number | null }): Change {
    const createdAtMs = this.shared.env.now().getTime();
    return { kind: "create", scope: this.name, id, ...fields, branch: mainBranch, createdAtMs };
  }

  private async make(id: string, kind: OperationKind, changes: Change[], summary: Json = null): Promise<Chat> {
    const { env, feed } = this.shared;
    const operation = { kind, author, atMs: env.now().getTime(), summary, about: "conversation" as const };
    const commit: Commit = { conversation: null, workspace: null, operation, changes };
    const outcome = await env.backend.commit(commit);
    if (!outcome.ok) throw new RetconError("id_exists", `conversation ${id} exists already`, { id });
    feed.wake();
    return this.shared.chatOf(outcome.conversation);
  }

  /** The first capture runs in the background; the first turn waits for it and hears of its failure. */
  private firstCapture(chat: Chat, workspace: Workspace): void {
    syncFor(chat, workspace).catch((error: unknown) => {
      this.shared.env.logger.warn("the first capture failed; the first turn will try again", { error });
    });
  }

  private async find(id: string): Promise<ConversationRow> {
    const { backend } = this.shared.env;
    const [exact] = await backend.conversations({ scope: this.name, id });
    if (exact !== undefined) return exact;
    const rows = id === "" ? [] : await backend.conversations({ scope: this.name, prefix: id, limit: 5 });
    const [only, ...others] = rows;
    if (only === undefined) throw new RetconError("not_found", `no conversation ${id}`, { what: "conversation", id });
    if (others.length === 0) return only;
    const matches = rows.map((row) => row.id);
    throw new RetconError("ambiguous_id", `${id} is the start of several ids: ${matches.join(", ")}`, { id, matches });
  }
}

function toCursor({ version }: ConversationRow): string {
  return Buffer.from(String(version)).toString("base64url");
}

function fromCursor(cursor: string): number {
  const version = Buffer.from(cursor, "base64url").toString();
  if (/^\d{1,15}$/.test(version)) return Number(version);
  const reason = "a cursor is the nextCursor of a page";
  throw new RetconError("bad_input", `this is not a cursor: ${reason}`, { field: "cursor", reason });
}

/** Makes a store of an environment and finishes what dead processes left in it. */
export async function createStore(env: Environment, options: { scope: string; readOnly: boolean }): Promise<Store> {
  const shared = new Shared(env);
  if (!options.readOnly) await shared.recover();
  return new ScopedStore(shared, checkName("scope", options.scope));
}
