/**
 * Reads of workspaces, their index and blobs.
 */
import { and, eq, gt, sql } from "drizzle-orm";
import type { IndexQuery, WorkspaceRow } from "../../../core/backend.js";
import type { IndexEntry, PackedBlob } from "../../../core/files.js";
import * as t from "../schema.js";
import { type Db, once, p, parse, parseOrNull } from "../statement.js";
import { fromColumns } from "../states.js";

/** Reads of workspaces: their rows, index, log and blobs. */
export function workspaceReads(db: Db) {
  const w = t.workspaces;
  const byKey = once(() =>
    db
      .select()
      .from(w)
      .where(eq(w.key, p("key")))
      .prepare(),
  );
  const byIdentity = once(() =>
    db
      .select()
      .from(w)
      .where(
        and(eq(w.root, p("root")), eq(w.machine, p("machine")), eq(w.device, p("device")), eq(w.inode, p("inode"))),
      )
      .prepare(),
  );
  const s = t.paths;
  const entries = () =>
    db
      .select({
        path: s.path,
        kind: s.kind,
        mode: s.mode,
        detail: s.detail,
        stat: s.stat,
        announced: s.announced,
        hash: t.blobs.hash,
        size: t.blobs.size,
      })
      .from(s)
      .leftJoin(t.blobs, eq(t.blobs.key, s.blob));
  const changedAfter = once(() =>
    entries()
      .where(and(eq(s.workspace, p("workspace")), gt(s.sequence, p("after"))))
      .prepare(),
  );
  const ofPath = once(() =>
    entries()
      .where(and(eq(s.workspace, p("workspace")), eq(s.path, p("path"))))
      .prepare(),
  );
  const blobsByHash = once(() =>
    db
      .select()
      .from(t.blobs)
      .where(eq(t.blobs.hash, sql`unhex(${p("hash")})`))
      .prepare(),
  );
  const blobsWithin = once(() =>
    db
      .select()
      .from(t.blobs)
      .where(
        sql`${t.blobs.hash} = unhex(${p("hash")}) and (
          exists (select 1 from node_blobs b join nodes n on n.key = b.node where b.blob = ${t.blobs.key} and n.conversation = ${p("conversation")})
          or exists (select 1 from paths where blob = ${t.blobs.key} and workspace = ${p("workspace")})
          or exists (select 1 from log_rows where before_blob = ${t.blobs.key} and workspace = ${p("workspace")})
          or exists (select 1 from log_rows where after_blob = ${t.blobs.key} and workspace = ${p("workspace")}))`,
      )
      .prepare(),
  );
  const toWorkspace = (row: typeof w.$inferSelect): WorkspaceRow => ({
    key: row.key,
    identity: { root: row.root, machine: row.machine, device: Number(row.device), inode: Number(row.inode) },
    options: parse(row.options),
    sequence: row.sequence,
    syncedAtMs: row.syncedAtMs,
    rules: parseOrNull(row.rules),
    logNumber: row.logNumber,
  });
  return {
    byKey: (key: number): WorkspaceRow | undefined => byKey().all({ key }).map(toWorkspace)[0],
    byIdentity: (identity: { root: string; machine: string; device: string; inode: string }) =>
      byIdentity().all(identity).map(toWorkspace)[0],
    index(workspace: number, query: IndexQuery): IndexEntry[] {
      const rows =
        "path" in query ? ofPath().all({ workspace, ...query }) : changedAfter().all({ workspace, ...query });
      return rows.map((row) => ({
        path: row.path,
        state: fromColumns(row),
        stat: parseOrNull(row.stat),
        announced: row.announced === 1,
      }));
    },
    blobs(ids: string[], within?: { conversation: number; workspace: number | null }): PackedBlob[] {
      return ids.flatMap((hash) =>
        (within === undefined ? blobsByHash().all({ hash }) : blobsWithin().all({ hash, ...within })).map((row) => ({
          blob: hash,
          size: row.size,
          encoding: row.encoding as PackedBlob["encoding"],
          data: row.data,
        })),
      );
    },
  };
}
