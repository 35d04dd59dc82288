/**
 * Writes that happen before a commit names what they wrote: blobs, and the row of a workspace.
 *
 * Both are idempotent and change nothing that is there, so they need no guard.
 */
import { sql } from "drizzle-orm";
import type { WorkspaceRow } from "../../core/backend.js";
import type { PackedBlob, WorkspaceIdentity, WorkspaceSettings } from "../../core/files.js";
import type { workspaceReads } from "./read/workspaces.js";
import * as t from "./schema.js";
import { type Db, once, p } from "./statement.js";

/** Makes the function that stores blobs which are not there yet. */
export function blobWriter(db: Db, transaction: <T>(run: () => T) => T): (blobs: PackedBlob[]) => void {
  const put = once(() =>
    db
      .insert(t.blobs)
      .values({ hash: sql`unhex(${p("blob")})`, size: p("size"), encoding: p("encoding"), data: p("data") })
      .onConflictDoNothing()
      .prepare(),
  );
  return (blobs) => {
    if (blobs.length === 0) return;
    transaction(() => {
      for (const blob of blobs) put().run({ ...blob });
    });
  };
}

/** Makes the function that finds a workspace by identity, or adds it. */
export function workspaceAdder(db: Db) {
  const add = once(() =>
    db
      .insert(t.workspaces)
      .values({
        root: p("root"),
        machine: p("machine"),
        device: p("device"),
        inode: p("inode"),
        options: p("options"),
        sequence: 0,
        logNumber: 0,
      })
      .onConflictDoNothing()
      .prepare(),
  );
  return (
    identity: WorkspaceIdentity,
    options: WorkspaceSettings,
    reads: ReturnType<typeof workspaceReads>,
  ): WorkspaceRow | undefined => {
    const { root, machine } = identity;
    const key = { root, machine, device: String(identity.device), inode: String(identity.inode) };
    const found = reads.byIdentity(key);
    if (found !== undefined) return found;
    add().run({ ...key, options: JSON.stringify(options) });
    return reads.byIdentity(key);
  };
}
