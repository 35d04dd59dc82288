/**
 * Databases that earlier versions left: each opens, is migrated and keeps what it held.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/index.js";
import { code } from "../builders/codes.js";

const fixtures = join(import.meta.dirname, "../../fixtures/databases");
const migrations = join(import.meta.dirname, "../../migrations/sqlite");

const names = readdirSync(fixtures).filter((name) => name.endsWith(".db.gz"));

test("[B4] C62 there is a database of every schema", () => {
  const schemas = readdirSync(migrations).filter((name) => name.endsWith(".sql"));
  expect(names).toEqual(schemas.map((_name, i) => `schema-${i + 1}.db.gz`));
});

test.each(names)("[B4] C62 %s opens and keeps its content", async (name) => {
  const home = mkdtempSync(join(tmpdir(), "retcon-versions-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const file = join(home, "chat.db");
  writeFileSync(file, gunzipSync(readFileSync(join(fixtures, name))));
  for (const opening of [1, 2]) {
    const store = await openStore({ file });
    const chat = await store.conversation("kept");
    const ids = async (branch: string) => (await chat.history({ branch })).map((node) => node.id).join(" ");
    expect(await chat.record(), `opening ${opening}`).toMatchObject({
      title: "A kept conversation",
      metadata: { color: "blue" },
      activeBranch: "main",
      headId: "a-u1",
      rewindCount: 1,
    });
    expect(await ids("main")).toBe("u1 c-u1 r-u1 a-u1");
    expect(await ids("other")).toBe("u1 c-u1 r-u1 a-u1");
    const { nodes } = await chat.graph();
    expect(nodes.filter((node) => node.rewound).map((node) => node.id)).toEqual(["u2", "c-u2", "r-u2", "a-u2"]);
    expect((await chat.node("a-u2"))?.message).toEqual({
      role: "assistant",
      content: "answer to u2",
      usage: { inputTokens: 7 },
    });
    expect(await chat.node("aside")).toMatchObject({ callerId: "c-u1", parentId: null, rewound: false });
    expect((await chat.changes("u2")).map(({ path, kind }) => [path, kind])).toEqual([["a.txt", "modified"]]);
    expect(await chat.diff("u1")).toContain("-first\n+second\n");
    expect((await chat.operations()).map((operation) => operation.kind)[0]).toBe("rewind");
    expect(await chat.result("back")).toMatchObject({ userText: "text of u2", restoredPaths: ["a.txt"] });
    expect((await chat.runs()).map((run) => run.status)).toEqual(["completed", "completed"]);
    expect(await code(chat.undo())).toBe("workspace_changed");
    await store.close();
  }
});
