/**
 * What is SQLite's own: how a file is made, which files are refused and left as they were, and that the schema in the
 * code is the one in the migrations.
 */
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { openSqlite } from "../../src/backends/sqlite/index.js";
import { applicationId } from "../../src/backends/sqlite/migrate.js";
import * as schema from "../../src/backends/sqlite/schema.js";
import type { Backend } from "../../src/core/backend.js";
import { code, refusal } from "../builders/codes.js";
import { Bench, blobOf, fileOf, identity, options, segment } from "../contract/bench.js";

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "retcon-sqlite-"));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

async function opened(file: string, more: { readOnly?: boolean } = {}): Promise<Backend> {
  const backend = await openSqlite({ file, ...more });
  onTestFinished(() => backend.close());
  return backend;
}

/** A database with something in it, closed. */
async function made(file: string): Promise<void> {
  const bench = await Bench.open(async () => ({ backend: await openSqlite({ file }) }));
  await bench.store("one");
  await bench.sync({ a: fileOf("one") });
  await bench.chain("u1", "a1");
  await bench.backend.close();
}

/** Work on a database behind the backend's back. */
function tamper(file: string, ...sql: string[]): void {
  const database = new Sqlite(file);
  for (const text of sql) database.exec(text);
  database.close();
}

/** The names of all that lies in a folder, with the hash of what it holds. */
const bytes = (home: string) =>
  Object.fromEntries(readdirSync(home).map((name) => [name, blobOf(readFileSync(join(home, name))).blob]));

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe("a file", () => {
  test("[B4] that is missing is made for its owner alone, its folders too", async () => {
    const home = folder();
    const file = join(home, "new/deep/chat.db");
    const backend = await opened(file);
    await backend.putBlobs([blobOf("one")]);
    expect(modeOf(file)).toBe("600");
    expect([modeOf(join(home, "new")), modeOf(join(home, "new/deep"))]).toEqual(["700", "700"]);
    for (const beside of readdirSync(join(home, "new/deep")))
      expect(modeOf(join(home, "new/deep", beside))).toBe("600");
  });

  test("[B4] that is empty becomes a database and keeps its mode", async () => {
    const file = join(folder(), "chat.db");
    writeFileSync(file, "");
    chmodSync(file, 0o640);
    const backend = await opened(file);
    expect(await backend.operations({ newest: 1 })).toEqual([]);
    expect(modeOf(file)).toBe("640");
  });

  test("[B4] of the same version is opened again with all that it holds", async () => {
    const file = join(folder(), "chat.db");
    await made(file);
    const backend = await opened(file);
    const [row] = await backend.conversations({ scope: "default", id: "chat" });
    expect((await backend.nodes(row?.key ?? 0, { ids: ["a1", "u1"] })).map((one) => one.id)).toEqual(["a1", "u1"]);
  });

  test("[B4] of a newer version is refused and left as it was", async () => {
    const home = folder();
    const file = join(home, "chat.db");
    await made(file);
    tamper(file, "pragma user_version = 99", "create table future (x)");
    const before = bytes(home);
    const error = await refusal(openSqlite({ file }));
    expect(error).toMatchObject({ code: "database_newer", data: { file, found: 99 } });
    expect(await code(openSqlite({ file, readOnly: true }))).toBe("database_newer");
    expect(bytes(home)).toEqual(before);
  });

  test("[B4] whose process died is refused with its journal left beside it, newer or another's", async () => {
    const home = folder();
    await made(join(home, "newer.db"));
    tamper(join(home, "newer.db"), "pragma user_version = 99");
    tamper(join(home, "theirs.db"), "pragma journal_mode = wal", "create table notes (text)");
    for (const [name, refused] of [
      ["newer", "database_newer"],
      ["theirs", "database_foreign"],
    ] as const) {
      const [file, crashed] = [join(home, `${name}.db`), join(home, `${name}-crashed.db`)];
      const writing = new Sqlite(file);
      writing.exec("create table more (x)");
      for (const end of ["", "-wal"]) copyFileSync(`${file}${end}`, `${crashed}${end}`);
      writing.close();
      expect(statSync(`${crashed}-wal`).size).toBeGreaterThan(0);
      const before = bytes(home);
      expect(await code(openSqlite({ file: crashed })), name).toBe(refused);
      expect(bytes(home), name).toEqual(before);
    }
  });

  test("[B4] of another program is refused and left as it was", async () => {
    const home = folder();
    const file = join(home, "theirs.db");
    tamper(file, "create table notes (text)", "insert into notes values ('mine')");
    tamper(join(home, "wal.db"), "pragma journal_mode = wal", "create table notes (text)");
    const before = bytes(home);
    for (const name of ["theirs.db", "wal.db"]) {
      expect(await code(openSqlite({ file: join(home, name) })), name).toBe("database_foreign");
      expect(await code(openSqlite({ file: join(home, name), readOnly: true })), name).toBe("database_foreign");
    }
    expect(bytes(home)).toEqual(before);
  });

  test("[B4] that is no database is refused and left as it was", async () => {
    const home = folder();
    writeFileSync(
      join(home, "notes.txt"),
      "Dear diary,\nthis is no database, and it is longer than a header.\n".repeat(9),
    );
    writeFileSync(join(home, "short.txt"), "short");
    writeFileSync(join(home, "zeros"), Buffer.alloc(8192));
    const before = bytes(home);
    for (const name of ["notes.txt", "short.txt", "zeros"]) {
      expect(await code(openSqlite({ file: join(home, name) })), name).toBe("database_foreign");
    }
    expect(bytes(home)).toEqual(before);
  });

  test("[B4] that was cut off is refused, whatever is left of it", async () => {
    const home = folder();
    const file = join(home, "chat.db");
    await made(file);
    const whole = readFileSync(file);
    for (const length of [10, 99, 100, 4096, whole.length / 2, whole.length - 4096]) {
      const cut = join(home, `cut-${length}.db`);
      writeFileSync(cut, whole.subarray(0, length));
      expect(["corrupt", "database_foreign"], `${length}`).toContain(await code(openSqlite({ file: cut })));
      expect(readFileSync(cut).equals(whole.subarray(0, length)), `${length}`).toBe(true);
    }
  });

  test("[B4] that is a folder, or lies in a file, is refused with a code", async () => {
    const home = folder();
    mkdirSync(join(home, "folder"));
    writeFileSync(join(home, "file"), "x");
    for (const name of ["folder", "file/chat.db"]) {
      expect(await refusal(openSqlite({ file: join(home, name) })), name).toMatchObject({
        code: "bad_input",
        data: { field: "file" },
      });
    }
  });
});

describe("read only", () => {
  test("[B4] reads, and refuses every write", async () => {
    const file = join(folder(), "chat.db");
    await made(file);
    const backend = await opened(file, { readOnly: true });
    const [row] = await backend.conversations({ scope: "default", id: "chat" });
    expect(row?.id).toBe("chat");
    expect((await backend.workspace({ identity, options }))?.key).toBe(row?.workspace);
    const commit = { conversation: row?.key ?? 0, workspace: null, operation: null, changes: [segment()] };
    expect(await code(backend.commit(commit))).toBe("read_only");
    expect(await code(backend.putBlobs([blobOf("new")]))).toBe("read_only");
    expect(await code(backend.workspace({ identity: { ...identity, root: "/new" }, options }))).toBe("read_only");
    expect(await backend.generation()).toBe(await backend.generation());
  });

  test("[B4] a file that is not there is not made", async () => {
    const home = folder();
    const error = await refusal(openSqlite({ file: join(home, "none.db"), readOnly: true }));
    expect(error).toMatchObject({ code: "not_found", data: { what: "file" } });
    expect(readdirSync(home)).toEqual([]);
  });

  test("[B4] one that needs a migration is refused", async () => {
    const file = join(folder(), "chat.db");
    writeFileSync(file, "");
    expect(await code(openSqlite({ file, readOnly: true }))).toBe("read_only");
    expect(readFileSync(file)).toHaveLength(0);
  });
});

describe("migrations", () => {
  test("[B4] one that fails leaves the file as it was", async () => {
    const home = folder();
    const file = join(home, "chat.db");
    // Ours by its mark, of no version yet, and with a table in the way of the first migration.
    tamper(file, `pragma application_id = ${applicationId}`, "create table workspaces (mine)");
    const before = bytes(home);
    expect(await code(openSqlite({ file }))).toBe("corrupt");
    expect(bytes(home)).toEqual(before);
  });

  test("[B4] two processes that open a new file at once both get it", async () => {
    const file = join(folder(), "chat.db");
    const backends = await Promise.all([opened(file), opened(file), opened(file)]);
    const rows = await Promise.all(backends.map((backend) => backend.operations({ newest: 1 })));
    expect(rows).toEqual([[], [], []]);
  });

  test("[B4] make the schema that the code speaks of", async () => {
    const file = join(folder(), "chat.db");
    await (await opened(file)).close();
    const database = new Sqlite(file, { readonly: true });
    onTestFinished(() => void database.close());
    const pragma = (text: string) => database.pragma(text) as Record<string, unknown>[];
    const tables = Object.values(schema).filter((value) => value instanceof SQLiteTable);
    const inFile = database.prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'");
    expect(inFile.pluck().all().sort()).toEqual(tables.map((table) => getTableConfig(table).name).sort());
    for (const table of tables) {
      const { name, columns, indexes } = getTableConfig(table);
      const found = pragma(`table_info(${name})`).map((column) => {
        return [column.name, column.type, column.notnull === 1, column.pk === 1];
      });
      const said = columns.map((column) => {
        return [column.name, column.getSQLType().toUpperCase(), column.notNull, column.primary];
      });
      expect(found, name).toEqual(said);
      const foundIndexes = pragma(`index_list(${name})`).map((index) => {
        const over = pragma(`index_info(${index.name})`).map((column) => column.name);
        return { name: index.name, unique: index.unique === 1, partial: index.partial === 1, over };
      });
      const saidIndexes = indexes.map(({ config }) => ({
        name: config.name,
        unique: config.unique,
        partial: config.where !== undefined,
        over: config.columns.map((column) => (column as { name: string }).name),
      }));
      const sorted = <T extends { name: unknown }>(list: T[]) =>
        list.sort((a, b) => (String(a.name) < String(b.name) ? -1 : 1));
      expect(sorted(foundIndexes), name).toEqual(sorted(saidIndexes));
    }
  });
});
