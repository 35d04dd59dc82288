/**
 * Listing a folder. Names that are not valid UTF-8 cannot be paths here: they are set apart, written with escapes. A
 * folder that was replaced between the look at it and its listing gives nothing, as another one's names would be wrong.
 */

import { isUtf8 } from "node:buffer";
import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { isErrno, systemCode } from "../errno.js";

/** One name in a folder, and whether it was a folder itself. */
export type Entry = Pick<Dirent, "name" | "isDirectory">;

/** What a folder holds: entries with proper names, and the escaped names of the others. */
export type Listing =
  | { kind: "listed"; entries: Entry[]; strange: string[] }
  | { kind: "gone" }
  | { kind: "changing" }
  | { kind: "unreadable" };

/** Lists a folder that was seen with this inode. */
export function listFolder(directory: string, inode: number): Listing {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    const stats = lstatSync(directory, { throwIfNoEntry: false });
    if (stats === undefined) return { kind: "gone" };
    if (!stats.isDirectory() || stats.ino !== inode) return { kind: "changing" };
    // A name with a replacement character was either decoded badly or holds that very character.
    if (!entries.some((entry) => entry.name.includes("\uFFFD"))) return { kind: "listed", entries, strange: [] };
    const raw = readdirSync(directory, { withFileTypes: true, encoding: "buffer" });
    const proper = raw.filter(({ name }) => isUtf8(name));
    const strange = raw.filter(({ name }) => !isUtf8(name)).map(({ name }) => escapedName(name));
    return { kind: "listed", entries: proper.map(decoded), strange };
  } catch (error) {
    if (isErrno(error, "ENOENT")) return { kind: "gone" };
    if (isErrno(error, "ENOTDIR", "ELOOP")) return { kind: "changing" };
    const code = systemCode(error);
    if (code === undefined || code === "EMFILE" || code === "ENFILE") throw error;
    return { kind: "unreadable" };
  }
}

function escapedName(name: Buffer): string {
  let escaped = "";
  for (const byte of name) {
    escaped +=
      byte >= 0x20 && byte < 0x7f && byte !== 0x5c
        ? String.fromCharCode(byte)
        : `\\x${byte.toString(16).padStart(2, "0")}`;
  }
  return escaped;
}

function decoded(entry: Dirent<Buffer>): Entry {
  return { name: entry.name.toString("utf8"), isDirectory: () => entry.isDirectory() };
}
