/**
 * A database file as a value: every row of every table, so that "nothing was written" can be said of all of it.
 */
import Sqlite from "better-sqlite3";

/** Every table with its rows. A heartbeat says that a process lives, not that anything was written, and is left out. */
export function dump(file: string): Record<string, unknown[]> {
  const database = new Sqlite(file, { readonly: true });
  try {
    const names = database.prepare("select name from sqlite_schema where type = 'table' order by name").pluck().all();
    return Object.fromEntries(
      (names as string[]).map((name) => {
        const rows = database.prepare(`select * from "${name}"`).all() as Record<string, unknown>[];
        return [name, rows.map(({ heartbeat_at_ms: _heartbeat, ...row }) => JSON.stringify(row))];
      }),
    );
  } finally {
    database.close();
  }
}

/** Changes a database behind the store's back, as damage does. */
export function damage(file: string, sql: string, ...values: unknown[]): void {
  const database = new Sqlite(file);
  try {
    database.prepare(sql).run(...values);
  } finally {
    database.close();
  }
}
