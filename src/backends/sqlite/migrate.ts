/**
 * Brings a database file to the schema of this version, in one transaction, before anything else is read.
 *
 * The migrations are plain SQL files in the order of their names. `user_version` counts those applied and
 * `application_id` says that the file is ours: a file of another program, or of a newer version, is left untouched.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type Sqlite from "better-sqlite3";
import { RetconError } from "../../core/errors.js";

const folder = fileURLToPath(new URL("../../../migrations/sqlite", import.meta.url));

/** "rtcn" in ASCII. */
export const applicationId = 0x7274636e;

const pragma = (database: Sqlite.Database, name: string) => database.pragma(name, { simple: true }) as number;

function refuseForeign(database: Sqlite.Database, file: string): void {
  const tables = database.prepare("select count(*) from sqlite_schema").pluck().get() as number;
  if (tables === 0 || pragma(database, "application_id") === applicationId) return;
  const reason = "it holds tables of another program";
  throw new RetconError("database_foreign", `${file} is not a retcon database: ${reason}`, { file, reason });
}

/** Applies what is missing. @throws `database_newer`, `database_foreign` */
export function migrate(database: Sqlite.Database, file: string): void {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith(".sql"))
    .sort();
  refuseForeign(database, file);
  const found = pragma(database, "user_version");
  if (found > names.length) {
    const data = { file, found, known: names.length };
    throw new RetconError("database_newer", `${file} has schema ${found}; this version knows ${names.length}`, data);
  }
  if (found === names.length) return;
  if (database.readonly) throw new RetconError("read_only", `${file} needs a migration`, { file });
  database
    .transaction(() => {
      // Another process may have migrated between the look above and this lock.
      for (const name of names.slice(pragma(database, "user_version"))) {
        database.exec(readFileSync(join(folder, name), "utf8"));
      }
      database.pragma(`user_version = ${names.length}`);
      database.pragma(`application_id = ${applicationId}`);
    })
    .immediate();
}
