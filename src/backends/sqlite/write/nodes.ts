/**
 * Writes of the DAG: segments, nodes, links and marks.
 */
import { and, eq, sql } from "drizzle-orm";
import * as t from "../schema.js";
import { type Db, is, once, p } from "../statement.js";
import type { Writers } from "./writing.js";

/** How each change of the DAG is written. */
export function nodeWriters(db: Db) {
  const segment = once(() =>
    db
      .insert(t.segments)
      .values({
        conversation: p("conversation"),
        parent: p("parent"),
        caller: p("caller"),
        depth: p("depth"),
        mark: p("mark"),
      })
      .prepare(),
  );
  const node = once(() =>
    db
      .insert(t.nodes)
      .values({
        key: p("key"),
        conversation: p("conversation"),
        id: p("id"),
        run: p("run"),
        role: p("role"),
        synthetic: p("synthetic"),
        createdAtMs: p("createdAtMs"),
        position: sql`coalesce(${p("position")}, (select log_number from workspaces where key = ${p("workspace")}))`,
        operation: p("operation"),
        body: p("body"),
      })
      .onConflictDoNothing()
      .prepare(),
  );
  const nodeBlob = once(() =>
    db
      .insert(t.nodeBlobs)
      .select(
        db
          .select({ key: sql`null`.as("key"), node: sql`${p("node")}`.as("node"), blob: t.blobs.key })
          .from(t.blobs)
          .where(sql`${t.blobs.hash} = unhex(${p("hash")})`),
      )
      .prepare(),
  );
  const mark = once(() =>
    db
      .update(t.segments)
      .set({ mark: sql`${p("to")}` })
      .where(
        and(
          eq(t.segments.segment, p("segment")),
          eq(t.segments.conversation, p("conversation")),
          is(t.segments.mark, "from"),
        ),
      )
      .prepare(),
  );
  const link = once(() =>
    db
      .insert(t.links)
      .values({ conversation: p("conversation"), link: p("link"), from: p("from"), to: p("to") })
      .prepare(),
  );
  return {
    segment(change, at) {
      const { parent, caller, depth, mark } = change;
      const made = segment().run({ conversation: at.conversation, parent, caller, depth, mark });
      at.segments.set(change.segment, Number(made.lastInsertRowid));
      return true;
    },
    node(change, at) {
      const { key, id, run, role, createdAtMs, body, blobs } = change;
      const made = node().run({
        key,
        conversation: at.conversation,
        id,
        run,
        role,
        synthetic: change.synthetic ? 1 : 0,
        createdAtMs,
        position: change.position ?? at.logNumber,
        workspace: at.workspace,
        operation: at.number,
        body,
      });
      for (const hash of blobs) nodeBlob().run({ node: key, hash });
      return made.changes === 1;
    },
    link: ({ link: kind, from, to }, at) =>
      link().run({ conversation: at.conversation, link: kind, from, to }).changes === 1,
    mark: ({ segment: number, from, to }, at) =>
      mark().run({ segment: number, conversation: at.conversation, from, to }).changes === 1,
  } satisfies Partial<Writers>;
}
