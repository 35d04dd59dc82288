/**
 * Reads of conversations and of what their DAG is made of: segments, branches, links.
 */
import { and, asc, eq, gte, lt, type SQL, sql } from "drizzle-orm";
import type { BranchRow, ConversationQuery, ConversationRow, SegmentRow } from "../../../core/backend.js";
import * as t from "../schema.js";
import { above, type Db, once, p, parse } from "../statement.js";

/** Reads of conversations, their structure and their nodes. */
export function conversationReads(db: Db) {
  const newest = (what: SQL) =>
    sql<number>`coalesce((select ${what} from ${t.operations} o where o.conversation = ${t.conversations.key} order by o.number desc limit 1), 0)`;
  const columns = {
    key: t.conversations.key,
    id: t.conversations.id,
    scope: t.conversations.scope,
    title: t.conversations.title,
    metadata: t.conversations.metadata,
    workspace: t.conversations.workspace,
    activeBranch: t.conversations.activeBranch,
    rewindCount: t.conversations.rewindCount,
    version: newest(sql`o.number`).as("version"),
    createdAtMs: t.conversations.createdAtMs,
    updatedAtMs: newest(sql`o.at_ms`).as("updated_at_ms"),
  };
  const select = () => db.select(columns).from(t.conversations);
  const c = t.conversations;
  const byId = once(() =>
    select()
      .where(and(eq(c.scope, p("scope")), eq(c.id, p("id"))))
      .prepare(),
  );
  const byKey = once(() =>
    select()
      .where(eq(c.key, p("key")))
      .prepare(),
  );
  const byPrefix = once(() =>
    select()
      .where(and(eq(c.scope, p("scope")), gte(c.id, p("prefix")), lt(c.id, p("after"))))
      .orderBy(asc(c.id))
      .limit(p("limit"))
      .prepare(),
  );
  const listing = once(() =>
    select()
      .where(
        and(
          eq(c.scope, p("scope")),
          sql`(${p("search")} is null or ${c.title} like ${p("search")} escape '\\' or ${c.id} like ${p("search")} escape '\\')`,
          sql`(${p("before")} is null or version < ${p("before")})`,
        ),
      )
      .orderBy(sql`version desc`)
      .limit(p("limit"))
      .prepare(),
  );
  const segments = once(() =>
    db
      .select({
        segment: t.segments.segment,
        parent: t.segments.parent,
        caller: t.segments.caller,
        depth: t.segments.depth,
        mark: t.segments.mark,
        last: sql<number>`coalesce((select max(n.key) from nodes n where n.key >= ${t.segments.segment} * 4194304 and n.key < (${t.segments.segment} + 1) * 4194304), 0) & 4194303`,
      })
      .from(t.segments)
      .where(eq(t.segments.conversation, p("conversation")))
      .orderBy(asc(t.segments.segment))
      .prepare(),
  );
  const branches = once(() =>
    db
      .select({ name: t.branches.name, head: t.branches.head, createdAtMs: t.branches.createdAtMs })
      .from(t.branches)
      .where(eq(t.branches.conversation, p("conversation")))
      .orderBy(asc(t.branches.name))
      .prepare(),
  );
  const links = once(() =>
    db
      .select({ link: t.links.link, from: t.links.from, to: t.links.to })
      .from(t.links)
      .where(eq(t.links.conversation, p("conversation")))
      .orderBy(asc(t.links.key))
      .prepare(),
  );
  const toConversation = (row: ReturnType<ReturnType<typeof byId>["all"]>[number]): ConversationRow => ({
    ...row,
    metadata: parse(row.metadata),
  });
  return {
    conversations(query: ConversationQuery): ConversationRow[] {
      if ("key" in query) return byKey().all({ key: query.key }).map(toConversation);
      if ("id" in query) return byId().all({ scope: query.scope, id: query.id }).map(toConversation);
      if ("prefix" in query) {
        const { scope, prefix, limit } = query;
        return byPrefix()
          .all({ scope, prefix, after: above(prefix), limit })
          .map(toConversation);
      }
      const search = query.search === undefined ? null : `%${query.search.replace(/[\\%_]/g, "\\$&")}%`;
      const { scope, before = null, limit } = query;
      return listing().all({ scope, search, before, limit }).map(toConversation);
    },
    structure(conversation: number) {
      return {
        segments: segments().all({ conversation }) as SegmentRow[],
        branches: branches().all({ conversation }) as BranchRow[],
        links: links().all({ conversation }) as { link: "covers" | "merges"; from: number; to: number }[],
      };
    },
  };
}
