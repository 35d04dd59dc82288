/**
 * The tables, in drizzle's words; `migrations/sqlite` is generated from this file and reviewed.
 *
 * Payload tables are ordinary rowid tables with integer keys; text ids live in one index beside them. A node's key is
 * `segment * 2^22 + offset` (see core/dag.ts). Only heads, marks, leases, the index and unsettled intents are updated;
 * nodes, blobs, log rows and operations are only added.
 */
import { sql } from "drizzle-orm";
import { blob, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

export const conversations = sqliteTable(
  "conversations",
  {
    key: integer("key").primaryKey({ autoIncrement: true }),
    scope: text("scope").notNull(),
    id: text("id").notNull(),
    title: text("title"),
    metadata: text("metadata").notNull(),
    workspace: integer("workspace"),
    activeBranch: text("active_branch").notNull(),
    rewindCount: integer("rewind_count").notNull(),
    createdAtMs: integer("created_at_ms").notNull(),
  },
  (table) => [
    uniqueIndex("conversations_by_id").on(table.scope, table.id),
    index("conversations_by_workspace").on(table.workspace),
  ],
);

export const segments = sqliteTable(
  "segments",
  {
    segment: integer("segment").primaryKey({ autoIncrement: true }),
    conversation: integer("conversation").notNull(),
    parent: integer("parent"),
    caller: integer("caller"),
    depth: integer("depth").notNull(),
    mark: integer("mark"),
  },
  (table) => [index("segments_by_conversation").on(table.conversation)],
);

export const nodes = sqliteTable(
  "nodes",
  {
    key: integer("key").primaryKey(),
    conversation: integer("conversation").notNull(),
    id: text("id").notNull(),
    run: integer("run"),
    role: text("role").notNull(),
    synthetic: integer("synthetic").notNull(),
    createdAtMs: integer("created_at_ms").notNull(),
    position: integer("position"),
    operation: integer("operation").notNull(),
    body: text("body").notNull(),
  },
  (table) => [uniqueIndex("nodes_by_id").on(table.conversation, table.id)],
);

export const nodeBlobs = sqliteTable(
  "node_blobs",
  {
    key: integer("key").primaryKey(),
    node: integer("node").notNull(),
    blob: integer("blob").notNull(),
  },
  (table) => [index("node_blobs_by_node").on(table.node), index("node_blobs_by_blob").on(table.blob)],
);

export const links = sqliteTable(
  "links",
  {
    key: integer("key").primaryKey(),
    conversation: integer("conversation").notNull(),
    link: text("link").notNull(),
    from: integer("from_node").notNull(),
    to: integer("to_node").notNull(),
  },
  (table) => [index("links_by_conversation").on(table.conversation)],
);

export const branches = sqliteTable(
  "branches",
  {
    key: integer("key").primaryKey(),
    conversation: integer("conversation").notNull(),
    name: text("name").notNull(),
    head: integer("head"),
    createdAtMs: integer("created_at_ms").notNull(),
  },
  (table) => [uniqueIndex("branches_by_name").on(table.conversation, table.name)],
);

export const runs = sqliteTable(
  "runs",
  {
    run: integer("run").primaryKey({ autoIncrement: true }),
    conversation: integer("conversation").notNull(),
    workspace: integer("workspace"),
    firstKey: integer("first_key").notNull(),
    userKey: integer("user_key").notNull(),
    lastKey: integer("last_key"),
    status: text("status").notNull(),
    holder: text("holder").notNull(),
    leaseMs: integer("lease_ms").notNull(),
    startedAtMs: integer("started_at_ms").notNull(),
    heartbeatAtMs: integer("heartbeat_at_ms").notNull(),
    endedAtMs: integer("ended_at_ms"),
    found: integer("found"),
    left: integer("left"),
    usage: text("usage"),
    error: text("error"),
    report: text("report"),
    cancelRequested: text("cancel_requested"),
    rowsOf: integer("rows_of"),
  },
  (table) => [
    uniqueIndex("runs_one_live").on(table.conversation).where(sql`status = 'running'`),
    index("runs_live_in_workspace").on(table.workspace).where(sql`status = 'running'`),
    index("runs_by_conversation").on(table.conversation),
    index("runs_by_first_key").on(table.firstKey),
  ],
);

export const windows = sqliteTable(
  "windows",
  {
    key: integer("key").primaryKey(),
    run: integer("run").notNull(),
    toolCallId: text("tool_call_id").notNull(),
    opened: integer("opened").notNull(),
    closed: integer("closed"),
  },
  (table) => [index("windows_by_run").on(table.run)],
);

export const announcements = sqliteTable(
  "announcements",
  {
    key: integer("key").primaryKey(),
    run: integer("run").notNull(),
    path: integer("path").notNull(),
  },
  (table) => [uniqueIndex("announcements_by_run").on(table.run, table.path)],
);

export const operations = sqliteTable(
  "operations",
  {
    number: integer("number").primaryKey(),
    conversation: integer("conversation"),
    workspace: integer("workspace"),
    kind: text("kind").notNull(),
    author: text("author").notNull(),
    atMs: integer("at_ms").notNull(),
    summary: text("summary").notNull(),
  },
  (table) => [
    index("operations_by_conversation").on(table.conversation),
    index("operations_that_move")
      .on(table.conversation)
      .where(sql`kind in ('rewind', 'switch', 'resume', 'undo', 'redo', 'turn')`),
  ],
);

export const requests = sqliteTable(
  "requests",
  {
    key: integer("key").primaryKey(),
    conversation: integer("conversation").notNull(),
    id: text("id").notNull(),
    fingerprint: text("fingerprint").notNull(),
    result: text("result").notNull(),
    operation: integer("operation").notNull(),
  },
  (table) => [uniqueIndex("requests_by_id").on(table.conversation, table.id)],
);

export const workspaces = sqliteTable(
  "workspaces",
  {
    key: integer("key").primaryKey({ autoIncrement: true }),
    root: text("root").notNull(),
    machine: text("machine").notNull(),
    device: text("device").notNull(),
    inode: text("inode").notNull(),
    options: text("options").notNull(),
    sequence: integer("sequence").notNull(),
    syncedAtMs: integer("synced_at_ms"),
    rules: text("rules"),
    logNumber: integer("log_number").notNull(),
  },
  (table) => [uniqueIndex("workspaces_by_identity").on(table.root, table.machine, table.device, table.inode)],
);

export const paths = sqliteTable(
  "paths",
  {
    key: integer("key").primaryKey(),
    workspace: integer("workspace").notNull(),
    path: text("path").notNull(),
    kind: text("kind").notNull(),
    blob: integer("blob"),
    mode: integer("mode"),
    detail: text("detail"),
    stat: text("stat"),
    announced: integer("announced").notNull(),
    sequence: integer("sequence").notNull(),
  },
  (table) => [
    uniqueIndex("paths_by_path").on(table.workspace, table.path),
    index("paths_by_sequence").on(table.workspace, table.sequence),
    index("paths_by_blob").on(table.blob),
  ],
);

export const logRows = sqliteTable(
  "log_rows",
  {
    number: integer("number").primaryKey(),
    workspace: integer("workspace").notNull(),
    path: integer("path").notNull(),
    beforeKind: text("before_kind").notNull(),
    beforeBlob: integer("before_blob"),
    beforeMode: integer("before_mode"),
    beforeDetail: text("before_detail"),
    afterKind: text("after_kind").notNull(),
    afterBlob: integer("after_blob"),
    afterMode: integer("after_mode"),
    afterDetail: text("after_detail"),
    owner: text("owner").notNull(),
    run: integer("run"),
    toolCallId: text("tool_call_id"),
    operation: integer("operation").notNull(),
  },
  (table) => [
    index("log_rows_by_path").on(table.path),
    index("log_rows_by_run").on(table.run),
    index("log_rows_by_operation").on(table.operation),
    index("log_rows_by_before").on(table.beforeBlob),
    index("log_rows_by_after").on(table.afterBlob),
  ],
);

export const logShares = sqliteTable(
  "log_shares",
  {
    key: integer("key").primaryKey(),
    row: integer("row").notNull(),
    run: integer("run").notNull(),
  },
  (table) => [index("log_shares_by_row").on(table.row), index("log_shares_by_run").on(table.run)],
);

export const blobs = sqliteTable(
  "blobs",
  {
    key: integer("key").primaryKey({ autoIncrement: true }),
    hash: blob("hash", { mode: "buffer" }).notNull(),
    size: integer("size").notNull(),
    encoding: text("encoding").notNull(),
    data: blob("data", { mode: "buffer" }).notNull(),
  },
  (table) => [uniqueIndex("blobs_by_hash").on(table.hash)],
);

export const intents = sqliteTable(
  "intents",
  {
    key: integer("key").primaryKey(),
    workspace: integer("workspace").notNull(),
    conversation: integer("conversation").notNull(),
    token: text("token").notNull(),
    startedAtMs: integer("started_at_ms").notNull(),
    intent: text("intent").notNull(),
  },
  (table) => [
    uniqueIndex("intents_one_a_workspace").on(table.workspace),
    uniqueIndex("intents_one_a_conversation").on(table.conversation),
  ],
);
