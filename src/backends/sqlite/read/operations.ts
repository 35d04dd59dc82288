/**
 * Reads of operations, of what a request returned, and of unsettled intents.
 */
import { and, asc, desc, eq, gt, type SQL, sql } from "drizzle-orm";
import type { IntentQuery, IntentRow, OperationQuery, OperationRow } from "../../../core/backend.js";
import * as t from "../schema.js";
import { type Db, listed, once, p, parse } from "../statement.js";

/** The kinds that have an index of their own; the statement must say them as the index does. */
const indexed = new Set(["rewind", "switch", "resume", "undo", "redo", "turn"]);
const moves = sql`${t.operations.kind} in ('rewind', 'switch', 'resume', 'undo', 'redo', 'turn')`;

/** Reads of operations and of unsettled intents. */
export function operationReads(db: Db) {
  const o = t.operations;
  const q = t.requests;
  const columns = {
    number: o.number,
    conversation: o.conversation,
    kind: o.kind,
    author: o.author,
    atMs: o.atMs,
    summary: o.summary,
    requestId: q.id,
    fingerprint: q.fingerprint,
    result: q.result,
  };
  const select = () =>
    db
      .select(columns)
      .from(o)
      .leftJoin(q, and(eq(q.operation, o.number), eq(q.conversation, o.conversation)));
  const newest = once(() =>
    select()
      .where(eq(o.conversation, p("key")))
      .orderBy(desc(o.number))
      .limit(p("limit"))
      .prepare(),
  );
  const last = once(() => select().orderBy(desc(o.number)).limit(p("limit")).prepare());
  const ofKinds = (also?: SQL) =>
    once(() =>
      select()
        .where(and(eq(o.conversation, p("key")), listed(o.kind, "kinds"), also))
        .orderBy(desc(o.number))
        .limit(p("limit"))
        .prepare(),
    );
  const [some, moving] = [ofKinds(), ofKinds(moves)];
  const since = once(() =>
    select()
      .where(gt(o.number, p("after")))
      .orderBy(asc(o.number))
      .limit(p("limit"))
      .prepare(),
  );
  const requested = once(() =>
    db
      .select(columns)
      .from(q)
      .innerJoin(o, eq(o.number, q.operation))
      .where(and(eq(q.conversation, p("key")), eq(q.id, p("request"))))
      .prepare(),
  );
  const intentsIn = once(() =>
    db
      .select()
      .from(t.intents)
      .where(eq(t.intents.workspace, p("key")))
      .prepare(),
  );
  const intentsOf = once(() =>
    db
      .select()
      .from(t.intents)
      .where(eq(t.intents.conversation, p("key")))
      .prepare(),
  );
  const allIntents = once(() => db.select().from(t.intents).orderBy(asc(t.intents.key)).prepare());
  const toOperation = (row: ReturnType<ReturnType<typeof newest>["all"]>[number]): OperationRow => ({
    number: row.number,
    conversation: row.conversation,
    kind: row.kind as OperationRow["kind"],
    author: row.author,
    atMs: row.atMs,
    summary: parse(row.summary),
    request:
      row.requestId === null
        ? null
        : { id: row.requestId, fingerprint: row.fingerprint ?? "", result: parse(row.result ?? "null") },
  });
  const toIntent = (row: typeof t.intents.$inferSelect): IntentRow => ({
    ...parse<IntentRow>(row.intent),
    conversation: row.conversation,
    startedAtMs: row.startedAtMs,
  });
  return {
    operations(query: OperationQuery): OperationRow[] {
      if ("newest" in query) return last().all({ limit: query.newest }).map(toOperation);
      if ("after" in query)
        return since()
          .all({ ...query })
          .map(toOperation);
      if ("request" in query) {
        return requested().all({ key: query.conversation, request: query.request }).map(toOperation);
      }
      const { conversation: key, limit, kinds } = query;
      if (kinds === undefined) return newest().all({ key, limit }).map(toOperation);
      const statement = kinds.every((kind) => indexed.has(kind)) ? moving() : some();
      return statement.all({ key, limit, kinds: JSON.stringify(kinds) }).map(toOperation);
    },
    intents(query: IntentQuery): IntentRow[] {
      if ("workspace" in query) return intentsIn().all({ key: query.workspace }).map(toIntent);
      if ("conversation" in query) return intentsOf().all({ key: query.conversation }).map(toIntent);
      return allIntents().all().map(toIntent);
    },
  };
}
