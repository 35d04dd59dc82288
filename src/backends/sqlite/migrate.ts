/**
 * Brings a database file to the schema of this version, in one transaction, before anything else is read.
 *
 * The migrations are plain SQL files in the order of their names. `user_version` counts those applied and
 * `application_id` says that the file is ours: a file of another program, or of a newer version, is left untouched.
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type Sqlite from "better-sqlite3";
import { RetconError } from "../../core/errors.js";

const folder = fileURLToPath(new URL("../../../migrations/sqlite", import.meta.url));

/** "rtcn" in ASCII. */
export const applicationId = 0x7274636e;

/** What a file says of itself. */
interface Marks {
  application: number;
  version: number;
  isEmpty: boolean;
}

function refuse({ application, version, isEmpty }: Marks, file: string): void {
  if (!isEmpty && application !== applicationId) {
    const reason = "it holds tables of another program";
    throw new RetconError("database_foreign", `${file} is not a retcon database: ${reason}`, { file, reason });
  }
  const known = migrations().length;
  if (application !== applicationId || version <= known) return;
  const data = { file, found: version, known };
  throw new RetconError("database_newer", `${file} has schema ${version}; this version knows ${known}`, data);
}

const migrations = () =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .sort();

/**
 * Refuses a file by its header alone. SQLite brings a journal that a dead process left into the file as soon as it opens
 * it, which would touch a file that is then refused.
 * @throws `database_newer`, `database_foreign`
 */
export function refuseUnopened(file: string): void {
  const header = Buffer.alloc(108);
  const fd = openSync(file, "r");
  try {
    if (readSync(fd, header, 0, header.length, 0) < header.length) return;
  } finally {
    closeSync(fd);
  }
  if (header.toString("latin1", 0, 16) !== "SQLite format 3\0") return;
  // Offsets of the file format: user_version, application_id, and of the schema's root page its kind and cells.
  const [version, application] = [header.readUInt32BE(60), header.readUInt32BE(68)];
  refuse({ application, version, isEmpty: header[100] === leafTable && header.readUInt16BE(103) === 0 }, file);
}

const leafTable = 13;

function marksOf(database: Sqlite.Database): Marks {
  const pragma = (name: string) => database.pragma(name, { simple: true }) as number;
  const isEmpty = database.prepare("select count(*) from sqlite_schema").pluck().get() === 0;
  return { application: pragma("application_id"), version: pragma("user_version"), isEmpty };
}

/** Applies what is missing. @throws `database_newer`, `database_foreign` */
export function migrate(database: Sqlite.Database, file: string): void {
  const names = migrations();
  const marks = marksOf(database);
  refuse(marks, file);
  if (marks.version === names.length) return;
  if (database.readonly) throw new RetconError("read_only", `${file} needs a migration`, { file });
  database
    .transaction(() => {
      // Another process may have migrated between the look above and this lock.
      for (const name of names.slice(marksOf(database).version)) {
        database.exec(readFileSync(join(folder, name), "utf8"));
      }
      database.pragma(`user_version = ${names.length}`);
      database.pragma(`application_id = ${applicationId}`);
    })
    .immediate();
}
