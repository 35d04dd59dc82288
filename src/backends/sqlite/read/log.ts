/**
 * Reads of a workspace's log: by whose a row is, by the operation that wrote it, or along one path.
 */
import { and, asc, eq, gt, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { LogQuery, LogRow } from "../../../core/backend.js";
import type { Owner } from "../../../core/change.js";
import * as t from "../schema.js";
import { type Db, once, p } from "../statement.js";
import { fromColumns } from "../states.js";

/** Reads of a workspace's log. */
export function logReads(db: Db) {
  const l = t.logRows;
  const [before, later] = [alias(t.blobs, "before_blobs"), alias(t.blobs, "after_blobs")];
  const select = () =>
    db
      .select({
        row: l,
        path: t.paths.path,
        beforeHash: before.hash,
        beforeSize: before.size,
        afterHash: later.hash,
        afterSize: later.size,
      })
      .from(l)
      .innerJoin(t.paths, eq(t.paths.key, l.path))
      .leftJoin(before, eq(before.key, l.beforeBlob))
      .leftJoin(later, eq(later.key, l.afterBlob));
  const byRuns = once(() =>
    select()
      .where(
        sql`${l.number} in (select number from log_rows where run in (select value from json_each(${p("runs")})) union all select row from log_shares where run in (select value from json_each(${p("runs")})))`,
      )
      .orderBy(asc(l.number))
      .prepare(),
  );
  const byOperation = once(() =>
    select()
      .where(eq(l.operation, p("operation")))
      .orderBy(asc(l.number))
      .prepare(),
  );
  const onPath = once(() =>
    select()
      .where(
        and(
          sql`${l.path} = (select key from paths where workspace = ${p("workspace")} and path = ${p("path")})`,
          gt(l.number, p("after")),
        ),
      )
      .orderBy(asc(l.number))
      .limit(p("limit"))
      .prepare(),
  );
  const sharers = once(() =>
    db
      .select({ run: t.logShares.run })
      .from(t.logShares)
      .where(eq(t.logShares.row, p("row")))
      .orderBy(asc(t.logShares.key))
      .prepare(),
  );
  const ownerOf = (row: typeof l.$inferSelect): Owner => {
    switch (row.owner) {
      case "run":
        return { kind: "run", run: row.run ?? 0, ...(row.toolCallId === null ? {} : { toolCallId: row.toolCallId }) };
      case "shared":
        return {
          kind: "shared",
          runs: sharers()
            .all({ row: row.number })
            .map((share) => share.run),
        };
      default:
        return { kind: row.owner as "outside" | "move" };
    }
  };
  const toLog = ({ row, path, ...blobs }: ReturnType<ReturnType<typeof byRuns>["all"]>[number]): LogRow => ({
    number: row.number,
    path,
    before: fromColumns({
      kind: row.beforeKind,
      mode: row.beforeMode,
      detail: row.beforeDetail,
      hash: blobs.beforeHash,
      size: blobs.beforeSize,
    }),
    after: fromColumns({
      kind: row.afterKind,
      mode: row.afterMode,
      detail: row.afterDetail,
      hash: blobs.afterHash,
      size: blobs.afterSize,
    }),
    owner: ownerOf(row),
    operation: row.operation,
  });
  return (workspace: number, query: LogQuery): LogRow[] => {
    if ("runs" in query)
      return byRuns()
        .all({ runs: JSON.stringify(query.runs) })
        .map(toLog);
    if ("operation" in query) return byOperation().all({ operation: query.operation }).map(toLog);
    const { path, after, limit = -1 } = query;
    return onPath().all({ workspace, path, after, limit }).map(toLog);
  };
}
