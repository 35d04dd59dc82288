/**
 * What every statement of this backend is made with.
 *
 * A statement is prepared when it is first needed and kept. Lists travel as one JSON parameter (`json_each`), so a
 * statement is prepared once whatever the length of the list.
 */
import { type eq, type SQL, sql } from "drizzle-orm";
import type { BetterSQLite3Database } from "drizzle-orm/better-sqlite3";
import type * as schema from "./schema.js";

/** A drizzle handle on the schema. */
export type Db = BetterSQLite3Database<typeof schema>;

type Column = SQL | Parameters<typeof eq>[0];

/** Makes a value once, when it is first asked for. */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** A named parameter. */
export const p = sql.placeholder;

/** A column that equals a parameter, or is null where the parameter is. */
export const is = (column: Column, name: string): SQL => sql`${column} is ${p(name)}`;

/** A column that is in a list given as a JSON array. */
export const listed = (column: Column, name: string): SQL =>
  sql`${column} in (select value from json_each(${p(name)}))`;

/** The value of a JSON column. */
export const parse = <T>(text: string): T => JSON.parse(text) as T;

/** The value of a JSON column that can be null. */
export const parseOrNull = <T>(text: string | null): T | null => (text === null ? null : (JSON.parse(text) as T));

/** The lowest text above every text that starts with a prefix. */
export const above = (prefix: string): string => `${prefix}\u{10ffff}`;
