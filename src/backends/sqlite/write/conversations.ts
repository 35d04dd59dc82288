/**
 * Writes of conversations, their branches and requests.
 */
import { and, eq, sql } from "drizzle-orm";
import * as t from "../schema.js";
import { type Db, is, once, p } from "../statement.js";
import type { Writers } from "./writing.js";

/** How each change of a conversation is written. */
export function conversationWriters(db: Db) {
  const c = t.conversations;
  const create = once(() =>
    db
      .insert(c)
      .values({
        scope: p("scope"),
        id: p("id"),
        title: p("title"),
        metadata: p("metadata"),
        workspace: p("workspace"),
        activeBranch: p("branch"),
        rewindCount: 0,
        createdAtMs: p("createdAtMs"),
      })
      .onConflictDoNothing()
      .prepare(),
  );
  const fields = once(() =>
    db
      .select()
      .from(c)
      .where(eq(c.key, p("key")))
      .prepare(),
  );
  const updateFields = once(() =>
    db
      .update(c)
      .set({ title: sql`${p("title")}`, metadata: sql`${p("metadata")}`, rewindCount: sql`${p("rewindCount")}` })
      .where(eq(c.key, p("key")))
      .prepare(),
  );
  const active = once(() =>
    db
      .update(c)
      .set({ activeBranch: sql`${p("to")}` })
      .where(and(eq(c.key, p("key")), eq(c.activeBranch, p("from"))))
      .prepare(),
  );
  const request = once(() =>
    db
      .insert(t.requests)
      .values({
        conversation: p("conversation"),
        id: p("id"),
        fingerprint: p("fingerprint"),
        result: p("result"),
        operation: p("operation"),
      })
      .onConflictDoNothing()
      .prepare(),
  );
  const b = t.branches;
  const addBranch = once(() =>
    db
      .insert(b)
      .values({ conversation: p("conversation"), name: p("name"), head: p("to"), createdAtMs: p("at") })
      .onConflictDoNothing()
      .prepare(),
  );
  const at = and(eq(b.conversation, p("conversation")), eq(b.name, p("name")), is(b.head, "from"));
  const moveBranch = once(() =>
    db
      .update(b)
      .set({ head: sql`${p("to")}` })
      .where(at)
      .prepare(),
  );
  const dropBranch = once(() => db.delete(b).where(at).prepare());
  return {
    create(change, at) {
      const { scope, id, title, workspace, branch, createdAtMs } = change;
      const made = create().run({
        scope,
        id,
        title,
        metadata: JSON.stringify(change.metadata),
        workspace,
        branch,
        createdAtMs,
      });
      at.conversation = Number(made.lastInsertRowid);
      if (made.changes !== 1) return false;
      return addBranch().run({ conversation: at.conversation, name: branch, to: null, at: createdAtMs }).changes === 1;
    },
    delete: (_change, at) => deleteConversation(db, at.conversation),
    conversation({ from, to }, at) {
      const row = fields().get({ key: at.conversation });
      if (row === undefined) return false;
      const stored = { title: row.title, metadata: JSON.parse(row.metadata), rewindCount: row.rewindCount };
      if (JSON.stringify({ ...stored, ...from }) !== JSON.stringify(stored)) return false;
      const next = { ...stored, ...to };
      updateFields().run({ ...next, metadata: JSON.stringify(next.metadata), key: at.conversation });
      return true;
    },
    request({ id, fingerprint, result }, at) {
      const values = {
        conversation: at.conversation,
        id,
        fingerprint,
        result: JSON.stringify(result),
        operation: at.number,
      };
      return request().run(values).changes === 1;
    },
    branch({ name, from, to }, at) {
      const values = { conversation: at.conversation, name, from: from?.head ?? null, to: to?.head ?? null };
      if (from === null) return addBranch().run({ ...values, at: at.atMs }).changes === 1;
      return (to === null ? dropBranch() : moveBranch()).run(values).changes === 1;
    },
    active: ({ from, to }, at) => active().run({ key: at.conversation, from, to }).changes === 1,
  } satisfies Partial<Writers>;
}

/** Rows of the conversation itself; log rows stay, since positions of others may precede them. */
function deleteConversation(db: Db, conversation: number): boolean {
  const mine = sql`(select key from nodes where conversation = ${conversation})`;
  const myRuns = sql`(select run from runs where conversation = ${conversation})`;
  db.run(sql`delete from node_blobs where node in ${mine}`);
  db.run(sql`delete from windows where run in ${myRuns}`);
  db.run(sql`delete from announcements where run in ${myRuns}`);
  for (const table of [t.links, t.branches, t.runs, t.requests, t.nodes, t.segments] as const) {
    db.delete(table).where(eq(table.conversation, conversation)).run();
  }
  return db.delete(t.conversations).where(eq(t.conversations.key, conversation)).run().changes === 1;
}
