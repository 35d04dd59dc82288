/**
 * Reads of runs. Windows and announced paths matter only while a run is live, and are read only then.
 */
import { and, asc, eq, gte, lte, sql } from "drizzle-orm";
import type { RunQuery, RunRow } from "../../../core/backend.js";
import * as t from "../schema.js";
import { type Db, listed, once, p, parse, parseOrNull } from "../statement.js";

/** Reads of runs. */
export function runReads(db: Db) {
  const r = t.runs;
  const live = sql`${r.status} = 'running'`;
  const select = () => db.select().from(r);
  const byConversation = once(() =>
    select()
      .where(eq(r.conversation, p("key")))
      .orderBy(asc(r.run))
      .prepare(),
  );
  const liveInConversation = once(() =>
    select()
      .where(and(eq(r.conversation, p("key")), live))
      .prepare(),
  );
  const liveInWorkspace = once(() =>
    select()
      .where(and(eq(r.workspace, p("key")), live))
      .orderBy(asc(r.run))
      .prepare(),
  );
  // The plus keeps the order from being read off the table itself, all of which it would walk.
  const liveAnywhere = once(() => select().where(live).orderBy(sql`+${r.run}`).prepare());
  const byRuns = once(() => select().where(listed(r.run, "runs")).orderBy(asc(r.run)).prepare());
  const startedIn = once(() =>
    select()
      .where(and(gte(r.firstKey, p("from")), lte(r.firstKey, p("to"))))
      .orderBy(asc(r.run))
      .prepare(),
  );
  const w = t.windows;
  const windows = once(() =>
    db
      .select({ toolCallId: w.toolCallId, opened: w.opened, closed: w.closed })
      .from(w)
      .where(eq(w.run, p("run")))
      .orderBy(asc(w.key))
      .prepare(),
  );
  const announced = once(() =>
    db
      .select({ path: t.paths.path })
      .from(t.announcements)
      .innerJoin(t.paths, eq(t.paths.key, t.announcements.path))
      .where(eq(t.announcements.run, p("run")))
      .orderBy(asc(t.announcements.key))
      .prepare(),
  );
  type Stored = typeof r.$inferSelect;
  const toRun = (row: Stored): RunRow => ({
    ...row,
    status: row.status as RunRow["status"],
    holder: parse(row.holder),
    usage: parseOrNull(row.usage),
    report: parseOrNull(row.report),
    windows: row.status === "running" ? windows().all({ run: row.run }) : [],
    announced:
      row.status === "running"
        ? announced()
            .all({ run: row.run })
            .map((a) => a.path)
        : [],
  });
  return (query: RunQuery): RunRow[] => {
    if ("conversation" in query) return byConversation().all({ key: query.conversation }).map(toRun);
    if ("liveInConversation" in query) return liveInConversation().all({ key: query.liveInConversation }).map(toRun);
    if ("liveInWorkspace" in query) return liveInWorkspace().all({ key: query.liveInWorkspace }).map(toRun);
    if ("liveAnywhere" in query) return liveAnywhere().all().map(toRun);
    if ("runs" in query)
      return byRuns()
        .all({ runs: JSON.stringify(query.runs) })
        .map(toRun);
    return query.startedIn.flatMap((range) => startedIn().all({ ...range })).map(toRun);
  };
}
