/**
 * The SQLite backend: one file, WAL, statements prepared once, one short transaction a commit.
 *
 * better-sqlite3 is synchronous; the port is not, so that other backends can be. A commit that belongs to files is
 * synced to disk before it returns (`synchronous = FULL`), since a restore relies on it.
 */
import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import Sqlite from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import type { Backend } from "../../core/backend.js";
import { RetconError } from "../../core/errors.js";
import { blobWriter, workspaceAdder } from "./blobs.js";
import { commits } from "./commit.js";
import { guarded } from "./failures.js";
import { migrate, refuseUnopened } from "./migrate.js";
import { conversationReads } from "./read/conversations.js";
import { logReads } from "./read/log.js";
import { nodeReads } from "./read/nodes.js";
import { operationReads } from "./read/operations.js";
import { runReads } from "./read/runs.js";
import { workspaceReads } from "./read/workspaces.js";
import * as schema from "./schema.js";

/** How a SQLite backend is opened. `onStatement` sees the text of every statement, for tests. */
export interface SqliteOptions {
  file: string;
  durability?: "normal" | "full";
  readOnly?: boolean;
  onStatement?: (sql: string) => void;
}

const memory = ":memory:";

function makePrivate(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function requireThere(file: string): void {
  if (existsSync(file)) return;
  throw new RetconError("not_found", `there is no database at ${file}`, { what: "file", id: file });
}

function connect({ file, readOnly = false, onStatement }: SqliteOptions): Sqlite.Database {
  const database = guarded(file, () => {
    if (file !== memory) {
      if (readOnly) requireThere(file);
      else makePrivate(file);
      refuseUnopened(file);
    }
    const verbose = onStatement === undefined ? {} : { verbose: (text: unknown) => onStatement(String(text)) };
    return new Sqlite(file, { readonly: readOnly, fileMustExist: readOnly, timeout: 30_000, ...verbose });
  });
  try {
    guarded(file, () => {
      if (!readOnly && database.prepare("select count(*) from sqlite_schema").pluck().get() === 0) {
        database.pragma("auto_vacuum = INCREMENTAL");
      }
      migrate(database, file);
      if (!readOnly) database.pragma("journal_mode = WAL");
    });
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

/** Opens a database file, made if absent. @throws `database_newer`, `database_foreign`, `corrupt`, `bad_input`, `not_found` */
export async function openSqlite(options: SqliteOptions): Promise<Backend> {
  const database = connect(options);
  const db = drizzle(database, { schema });
  const { file, durability } = options;
  let synchronous = "";
  const sync = (level: string) => {
    if (level !== synchronous && !options.readOnly) database.pragma(`synchronous = ${level}`);
    synchronous = level;
  };
  const on = <T>(work: () => T): T => {
    if (!database.open) throw new RetconError("closed", "the store is closed", { what: "store" });
    return guarded(file, work);
  };
  const transaction = <T>(work: () => T): T => database.transaction(work).immediate();
  const [conversations, nodes, runs, log] = [conversationReads(db), nodeReads(db), runReads(db), logReads(db)];
  const [operations, workspaces] = [operationReads(db), workspaceReads(db)];
  const [write, putBlobs, addWorkspace] = [commits(db, transaction), blobWriter(db, transaction), workspaceAdder(db)];
  let [own, seen] = [0, -1];
  return {
    conversations: async (query) => on(() => conversations.conversations(query)),
    structure: async (conversation) => on(() => conversations.structure(conversation)),
    nodes: async (conversation, query) => on(() => nodes(conversation, query)),
    runs: async (query) => on(() => runs(query)),
    operations: async (query) => on(() => operations.operations(query)),
    intents: async (query) => on(() => operations.intents(query)),
    workspace: async (query) =>
      on(() =>
        "key" in query ? workspaces.byKey(query.key) : addWorkspace(query.identity, query.options, workspaces),
      ),
    index: async (workspace, query) => on(() => workspaces.index(workspace, query)),
    log: async (workspace, query) => on(() => log(workspace, query)),
    blobs: async (ids, within) => on(() => workspaces.blobs(ids, within)),
    putBlobs: async (blobs) => on(() => putBlobs(blobs)),
    commit: async (commit) =>
      on(() => {
        sync(durability ?? (commit.workspace === null ? "normal" : "full"));
        const outcome = write(commit);
        if (outcome.ok) own += 1;
        return outcome;
      }),
    generation: async () =>
      on(() => {
        // data_version changes when another connection commits; commits of our own are counted here.
        const version = database.pragma("data_version", { simple: true }) as number;
        if (version !== seen) [own, seen] = [own + 1, version];
        return own;
      }),
    close: async () => {
      if (database.open) guarded(file, () => database.close());
    },
  };
}
