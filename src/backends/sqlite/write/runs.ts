/**
 * Writes of runs. Every write but the first requires that the run is still live, which fences off a run that was lost.
 */
import { and, desc, eq, sql } from "drizzle-orm";
import * as t from "../schema.js";
import { type Db, once, p } from "../statement.js";
import type { Of, Writers } from "./writing.js";

/** How each change of a run is written. */
export function runWriters(db: Db) {
  const r = t.runs;
  const live = and(eq(r.run, p("run")), sql`${r.status} = 'running'`);
  const start = once(() =>
    db
      .insert(r)
      .values({
        conversation: p("conversation"),
        workspace: p("workspace"),
        firstKey: p("firstKey"),
        userKey: p("userKey"),
        lastKey: p("lastKey"),
        status: p("status"),
        holder: p("holder"),
        leaseMs: p("leaseMs"),
        startedAtMs: p("startedAtMs"),
        heartbeatAtMs: p("startedAtMs"),
        endedAtMs: p("endedAtMs"),
        found: p("found"),
        left: p("left"),
        usage: p("usage"),
        error: p("error"),
        report: p("report"),
        rowsOf: p("rowsOf"),
      })
      .onConflictDoNothing()
      .prepare(),
  );
  const end = once(() =>
    db
      .update(r)
      .set({
        status: sql`${p("status")}`,
        endedAtMs: sql`${p("endedAtMs")}`,
        left: sql`${p("left")}`,
        lastKey: sql`${p("lastKey")}`,
        usage: sql`${p("usage")}`,
        error: sql`${p("error")}`,
        report: sql`${p("report")}`,
      })
      .where(live)
      .prepare(),
  );
  const cancel = once(() =>
    db
      .update(r)
      .set({ cancelRequested: sql`${p("reason")}` })
      .where(live)
      .prepare(),
  );
  const beat = once(() =>
    db
      .update(r)
      .set({ heartbeatAtMs: sql`${p("atMs")}` })
      .where(live)
      .prepare(),
  );
  const running = once(() => db.select({ run: r.run }).from(r).where(live).prepare());
  const activity = once(() =>
    db
      .select({
        run: sql`exists (select 1 from runs where conversation = ${p("conversation")} and status = 'running')`,
        intent: sql`exists (select 1 from intents where conversation = ${p("conversation")} or workspace = ${p("workspace")})`,
      })
      .from(sql`(select 1)`)
      .prepare(),
  );
  const newest = once(() =>
    db
      .select({ number: t.operations.number })
      .from(t.operations)
      .where(and(eq(t.operations.conversation, p("conversation")), sql`${t.operations.number} is not ${p("own")}`))
      .orderBy(desc(t.operations.number))
      .limit(1)
      .prepare(),
  );
  const w = t.windows;
  const sequence = sql`(select sequence from workspaces where key = ${p("workspace")})`;
  const open = once(() =>
    db
      .insert(w)
      .values({ run: p("run"), toolCallId: p("toolCallId"), opened: sequence })
      .prepare(),
  );
  const close = once(() =>
    db
      .update(w)
      .set({ closed: sequence })
      .where(
        sql`${w.key} = (select max(key) from windows where run = ${p("run")} and tool_call_id = ${p("toolCallId")} and closed is null)`,
      )
      .prepare(),
  );
  const fieldsOf = (fields: Of<"run-end">["to"]) => ({
    ...fields,
    usage: fields.usage === null ? null : JSON.stringify(fields.usage),
    report: fields.report === null ? null : JSON.stringify(fields.report),
  });
  return {
    "run-start"(change, at) {
      const { start: begun, fields } = change;
      const values = {
        ...begun,
        ...fieldsOf(fields),
        holder: JSON.stringify(begun.holder),
        conversation: at.conversation,
      };
      const made = start().run(values);
      at.runs.set(change.run, Number(made.lastInsertRowid));
      return made.changes === 1;
    },
    "run-end": ({ run, to }) => end().run({ run, ...fieldsOf(to) }).changes === 1,
    "run-cancel": ({ run, reason }) => cancel().run({ run, reason }).changes === 1,
    heartbeat: ({ run, atMs }) => beat().run({ run, atMs }).changes === 1,
    running: ({ run }) => running().get({ run }) !== undefined,
    idle(_change, at) {
      const row = activity().get({ conversation: at.conversation, workspace: at.workspace });
      return row?.run === 0 && row.intent === 0;
    },
    version({ at: expected }, at) {
      return newest().get({ conversation: at.conversation, own: at.number })?.number === expected;
    },
    window({ run, toolCallId, open: opens }, at) {
      return (opens ? open() : close()).run({ run, toolCallId, workspace: at.workspace }).changes >= 1;
    },
  } satisfies Partial<Writers>;
}
