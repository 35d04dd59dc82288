/**
 * Reads of nodes: a range of a segment is a range of rowids.
 */
import { and, asc, desc, eq, gte, lt, lte } from "drizzle-orm";
import type { NodeQuery, NodeRow } from "../../../core/backend.js";
import * as t from "../schema.js";
import { above, type Db, listed, once, p } from "../statement.js";

/** Reads of nodes. */
export function nodeReads(db: Db) {
  const n = t.nodes;
  const inRange = and(gte(n.key, p("from")), lte(n.key, p("to")));
  const range = once(() => db.select().from(n).where(inRange).orderBy(asc(n.key)).prepare());
  const newest = once(() => db.select().from(n).where(inRange).orderBy(desc(n.key)).limit(p("limit")).prepare());
  const byKeys = once(() => db.select().from(n).where(listed(n.key, "keys")).orderBy(asc(n.key)).prepare());
  const byIds = once(() =>
    db
      .select()
      .from(n)
      .where(and(eq(n.conversation, p("conversation")), listed(n.id, "ids")))
      .orderBy(asc(n.id))
      .prepare(),
  );
  const byPrefix = once(() =>
    db
      .select()
      .from(n)
      .where(and(eq(n.conversation, p("conversation")), gte(n.id, p("prefix")), lt(n.id, p("after"))))
      .orderBy(asc(n.id))
      .limit(p("limit"))
      .prepare(),
  );
  type Stored = typeof n.$inferSelect;
  const toNode = (row: Stored) => ({ ...row, synthetic: row.synthetic === 1 }) as unknown as NodeRow;
  const newestOf = (ranges: { from: number; to: number }[], limit: number): Stored[] => {
    const rows: Stored[] = [];
    for (const { from, to } of [...ranges].reverse()) {
      if (rows.length >= limit) break;
      rows.push(...newest().all({ from, to, limit: limit - rows.length }));
    }
    return rows.reverse();
  };
  return (conversation: number, query: NodeQuery): NodeRow[] => {
    if ("keys" in query)
      return byKeys()
        .all({ keys: JSON.stringify(query.keys) })
        .map(toNode);
    if ("ids" in query)
      return byIds()
        .all({ conversation, ids: JSON.stringify(query.ids) })
        .map(toNode);
    if ("prefix" in query) {
      const { prefix, limit } = query;
      return byPrefix()
        .all({ conversation, prefix, after: above(prefix), limit })
        .map(toNode);
    }
    if (query.limit !== undefined) return newestOf(query.ranges, query.limit).map(toNode);
    return query.ranges.flatMap(({ from, to }) => range().all({ from, to })).map(toNode);
  };
}
