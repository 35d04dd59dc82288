/**
 * Writes of a workspace: its sequence, index, log and unsettled intent.
 */
import { and, eq, sql } from "drizzle-orm";
import * as t from "../schema.js";
import { type Db, once, p } from "../statement.js";
import { type StateColumns, toColumns } from "../states.js";
import type { Of, Writers } from "./writing.js";

/** How each change of a workspace is written. */
export function workspaceWriters(db: Db) {
  const w = t.workspaces;
  const sync = once(() =>
    db
      .update(w)
      .set({
        sequence: sql`${w.sequence} + 1`,
        syncedAtMs: sql`${p("startedAtMs")}`,
        rules: sql`coalesce(${p("rules")}, ${w.rules})`,
      })
      .where(
        and(
          eq(w.key, p("key")),
          eq(w.sequence, p("from")),
          sql`not exists (select 1 from intents where workspace = ${p("key")})`,
        ),
      )
      .prepare(),
  );
  const logged = once(() =>
    db
      .update(w)
      .set({ logNumber: sql`${p("number")}` })
      .where(eq(w.key, p("key")))
      .prepare(),
  );
  const blobKey = once(() =>
    db
      .select({ key: t.blobs.key })
      .from(t.blobs)
      .where(sql`${t.blobs.hash} = unhex(${p("hash")})`)
      .prepare(),
  );
  const columns = (state: Of<"path">["to"]): StateColumns =>
    toColumns(state, (hash) => {
      const row = blobKey().get({ hash });
      if (row === undefined) throw new TypeError(`blob ${hash} is named before it is stored`);
      return row.key;
    });
  const s = t.paths;
  const put = once(() =>
    db
      .insert(s)
      .values({
        workspace: p("workspace"),
        path: p("path"),
        kind: p("kind"),
        blob: p("blob"),
        mode: p("mode"),
        detail: p("detail"),
        stat: p("stat"),
        announced: 0,
        sequence: p("sequence"),
      })
      .onConflictDoUpdate({
        target: [s.workspace, s.path],
        set: {
          kind: sql`excluded.kind`,
          blob: sql`excluded.blob`,
          mode: sql`excluded.mode`,
          detail: sql`excluded.detail`,
          stat: sql`excluded.stat`,
          sequence: sql`excluded.sequence`,
        },
      })
      .prepare(),
  );
  const named = and(eq(s.workspace, p("workspace")), eq(s.path, p("path")));
  const restat = once(() =>
    db
      .update(s)
      .set({ stat: sql`${p("stat")}`, sequence: sql`${p("sequence")}` })
      .where(named)
      .prepare(),
  );
  const pathKey = once(() => db.select({ key: s.key }).from(s).where(named).prepare());
  const announce = once(() =>
    db
      .update(s)
      .set({ announced: 1, sequence: sql`max(${s.sequence}, ${p("sequence")})` })
      .where(named)
      .prepare(),
  );
  const announced = once(() =>
    db
      .insert(t.announcements)
      .values({
        run: p("run"),
        path: sql`(select key from paths where workspace = ${p("workspace")} and path = ${p("path")})`,
      })
      .onConflictDoNothing()
      .prepare(),
  );
  const row = once(() =>
    db
      .insert(t.logRows)
      .values({
        workspace: p("workspace"),
        path: p("path"),
        beforeKind: p("beforeKind"),
        beforeBlob: p("beforeBlob"),
        beforeMode: p("beforeMode"),
        beforeDetail: p("beforeDetail"),
        afterKind: p("afterKind"),
        afterBlob: p("afterBlob"),
        afterMode: p("afterMode"),
        afterDetail: p("afterDetail"),
        owner: p("owner"),
        run: p("run"),
        toolCallId: p("toolCallId"),
        operation: p("operation"),
      })
      .prepare(),
  );
  const share = once(() =>
    db
      .insert(t.logShares)
      .values({ row: p("row"), run: p("run") })
      .prepare(),
  );
  const addIntent = once(() =>
    db
      .insert(t.intents)
      .values({
        workspace: p("workspace"),
        conversation: p("conversation"),
        token: p("token"),
        startedAtMs: p("startedAtMs"),
        intent: p("intent"),
      })
      .onConflictDoNothing()
      .prepare(),
  );
  const dropIntent = once(() =>
    db
      .delete(t.intents)
      .where(and(eq(t.intents.workspace, p("workspace")), eq(t.intents.token, p("token"))))
      .prepare(),
  );
  return {
    sync({ from, startedAtMs, rules }, at) {
      const values = { key: at.workspace, from, startedAtMs, rules: rules === null ? null : JSON.stringify(rules) };
      at.sequence = from + 1;
      return sync().run(values).changes === 1;
    },
    path({ path, to, stat }, at) {
      const values = { workspace: at.workspace, path, ...columns(to), sequence: at.sequence };
      return put().run({ ...values, stat: stat === null ? null : JSON.stringify(stat) }).changes === 1;
    },
    restat({ path, stat }, at) {
      const values = { workspace: at.workspace, path, stat: JSON.stringify(stat), sequence: at.sequence };
      return restat().run(values).changes === 1;
    },
    announce({ run, path }, at) {
      if (announce().run({ workspace: at.workspace, path, sequence: at.sequence }).changes !== 1) return false;
      announced().run({ workspace: at.workspace, run, path });
      return true;
    },
    log({ path, before, after, owner }, at) {
      const entry = pathKey().get({ workspace: at.workspace, path });
      if (entry === undefined) return false;
      const [b, a] = [columns(before), columns(after)];
      const made = row().run({
        workspace: at.workspace,
        path: entry.key,
        beforeKind: b.kind,
        beforeBlob: b.blob,
        beforeMode: b.mode,
        beforeDetail: b.detail,
        afterKind: a.kind,
        afterBlob: a.blob,
        afterMode: a.mode,
        afterDetail: a.detail,
        owner: owner.kind,
        run: owner.kind === "run" ? owner.run : null,
        toolCallId: owner.kind === "run" ? (owner.toolCallId ?? null) : null,
        operation: at.number,
      });
      at.logNumber = Number(made.lastInsertRowid);
      if (owner.kind === "shared") for (const run of owner.runs) share().run({ row: at.logNumber, run });
      return logged().run({ key: at.workspace, number: at.logNumber }).changes === 1;
    },
    intent({ from, to }, at) {
      if (from !== null) return dropIntent().run({ workspace: at.workspace, token: from }).changes === 1;
      if (to === null) return true;
      const values = { workspace: to.workspace, conversation: at.conversation, token: to.token };
      const startedAtMs = to.settle.operation?.atMs ?? 0;
      return addIntent().run({ ...values, startedAtMs, intent: JSON.stringify(to) }).changes === 1;
    },
  } satisfies Partial<Writers>;
}
