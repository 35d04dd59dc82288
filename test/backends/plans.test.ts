/**
 * No statement walks a whole table. Every statement that the contract and a session of the store execute is explained by
 * SQLite itself; a step that scans a table whose size is that of the history fails.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSqlite } from "../../src/backends/sqlite/index.js";
import { openFiles } from "../../src/workspace/index.js";
import { compose } from "../builders/compose.js";
import { backendSuite } from "../contract/suite.js";

const home = realpathSync(mkdtempSync(join(tmpdir(), "retcon-plans-")));
const file = join(home, "chat.db");
afterAll(() => rmSync(home, { recursive: true }));

/** One statement of each shape, with the values that it was executed with. */
const statements = new Map<string, string>();

function heard(sql: string): void {
  const shape = sql.replace(/x?'(?:[^']|'')*'/g, "?").replace(/\b\d+(?:\.\d+)?\b/g, "?");
  if (!statements.has(shape)) statements.set(shape, sql);
}

describe("the contract, overheard", () => {
  backendSuite(async () => ({ backend: await openSqlite({ file: ":memory:", onStatement: heard }) }));
});

/** Whatever a person and an agent do in a day. */
async function session(): Promise<void> {
  const root = join(home, "work");
  mkdirSync(root);
  const store = await compose({ backend: await openSqlite({ file, onStatement: heard }), openFiles });
  const write = (path: string, text: string) => writeFileSync(join(root, path), text);
  write("a", "one\n");
  const chat = await store.createConversation({ title: "A day", workspace: { root, watch: false } });
  for (const id of ["u1", "u2", "u3"]) {
    const turn = await chat.beginTurn({ role: "user", id, content: id }, { requestId: `begin ${id}` });
    const picture = { type: "file", mediaType: "image/png", data: new Uint8Array([1, 2]) } as const;
    await turn.append({ role: "user", synthetic: true, content: [picture] });
    await turn.willChange("a");
    await turn.during("call", async () => write("a", `${id}\n`));
    write(`of-${id}`, id);
    await turn.append({ role: "assistant", id: `a-${id}`, content: "done" });
    await turn.append({ role: "assistant", content: "aside", callerId: `a-${id}` });
    await turn.checkpoint();
    await turn.end();
  }
  await chat.append({ role: "system", content: "note" }, { requestId: "note" });
  await chat.previewRewind("u2");
  await chat.rewindTo("u2", { requestId: "back" });
  await chat.result("back");
  await chat.undo();
  await chat.redo();
  await chat.resume("a-u3");
  await chat.createBranch("side", { at: "a-u1" });
  await chat.switchBranch("side");
  await chat.renameBranch("side", "beside");
  await chat.rewindTo("u1", { mode: "files" });
  await chat.switchBranch("main");
  await chat.deleteBranch("beside");
  await chat.rewindTurns(1).catch(() => undefined);
  for (const id of ["u1", "a-u1"]) {
    await chat.changes(id);
    await chat.diff(id);
    await chat.fileAt(id, "a");
  }
  await chat.history({ limit: 2, includeRewound: true });
  await chat.context();
  await chat.children(null);
  await chat.graph();
  await chat.rewindPoints();
  await chat.operations();
  await chat.runs();
  await store.conversations({ search: "day", limit: 1 });
  const copy = await chat.fork();
  await store.conversation(copy.id.slice(0, 9));
  await store.deleteConversation(copy.id);
  const nodes = [
    { id: "i1", parentId: null, createdAt: "2024-01-01T00:00:00Z", message: { role: "user", content: "x" } },
  ];
  await store.importConversation({ id: "imported", headId: "i1", nodes: nodes as never });
  await store.close();
}

describe("the plans", () => {
  beforeAll(session);

  /** Tables that hold one row for a folder or for what is under way, whatever the history. */
  const short = new Set(["workspaces", "intents"]);
  /** Indexes over a few rows of a table. */
  const partial = new Set(["runs_one_live", "runs_live_in_workspace", "operations_that_move"]);
  /** Walks that a limit ends: the newest rows by their key. */
  const ended = /from "operations" left join "requests" on [^;]* order by "operations"."number" desc limit [\d.]+$/;

  /** The steps of a plan that walk one of the tables. */
  function scans(database: Sqlite.Database, sql: string): string[] {
    const names = database.prepare("select name from sqlite_schema where type = 'table'").pluck().all();
    const tables = new Set(names as string[]);
    const steps = database.prepare(`explain query plan ${sql}`).all() as { detail: string }[];
    return steps.flatMap(({ detail }) => {
      const scan = /^SCAN "?(\w+)"?(?: USING (?:COVERING )?INDEX (\w+))?/.exec(detail);
      if (scan === null || partial.has(scan[2] ?? "")) return [];
      const table = aliases(sql).get(scan[1] as string) ?? (scan[1] as string);
      const isEnded = table === "operations" && ended.test(sql);
      return tables.has(table) && !short.has(table) && !isEnded ? [detail] : [];
    });
  }

  function aliases(sql: string): Map<string, string> {
    const named = /(?:from|join)\s+"?(\w+)"?\s+(?:as\s+)?"?(\w+)"?/gi;
    return new Map([...sql.matchAll(named)].map(([, table, alias]) => [alias as string, table as string]));
  }

  test("[B5] no read or write walks a whole table", () => {
    const database = new Sqlite(file);
    try {
      const explained = [...statements.values()].filter((sql) => /^\s*(select|insert|update|delete|with)/i.test(sql));
      expect(explained.length).toBeGreaterThan(80);
      const found = explained.flatMap((sql) => scans(database, sql).map((step) => `${step}  in  ${sql.slice(0, 600)}`));
      expect(found).toEqual([]);
    } finally {
      database.close();
    }
  });

  test("[B5] a statement that does is found", () => {
    const database = new Sqlite(file);
    try {
      for (const sql of ["select * from nodes where body = 'x'", "delete from log_rows where after_kind = 'file'"]) {
        expect(scans(database, sql)).not.toEqual([]);
      }
      expect(scans(database, "select p.path from paths p order by p.mode")).not.toEqual([]);
      expect(scans(database, "select * from nodes where key = 7")).toEqual([]);
    } finally {
      database.close();
    }
  });
});
