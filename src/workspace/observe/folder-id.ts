/**
 * Telling a folder from another one that took its name. The inode alone is not enough: its number may be given again.
 *
 *     a: inode 7, born 10:00   ── rm -r a; mkdir a ──►   a: inode 7, born 10:05
 */
import { lstatSync, type Stats } from "node:fs";
import { systemCode } from "../errno.js";

/** What is the same as long as a folder is the same. */
export type FolderId = Pick<Stats, "ino" | "birthtimeMs">;

/** The folder at a path; undefined where there is none, or none that can be seen. */
export function idOf(path: string): FolderId | undefined {
  try {
    const stats = lstatSync(path);
    return stats.isDirectory() ? { ino: stats.ino, birthtimeMs: stats.birthtimeMs } : undefined;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}

/** Whether two are known and are the same folder. */
export function isSameFolder(a: FolderId | undefined, b: FolderId | undefined): boolean {
  return a !== undefined && a.ino === b?.ino && a.birthtimeMs === b.birthtimeMs;
}
