import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { importClaudeCode } from "../../src/importers/claude-code.js";
import { openStore, type Store } from "../../src/index.js";
import { Session } from "./session.js";

let store: Store;
beforeEach(async () => {
  store = await openStore({ file: ":memory:" });
});
afterEach(() => store.close());

/** Two branches, parallel calls and a side chain. */
function session(): Session {
  const one = new Session();
  one.prompt("one", { uuid: "u1" });
  one.block("m1", { type: "tool_use", id: "c1", name: "Task", input: { prompt: "look" } }, { uuid: "a1" });
  one.block("m1", { type: "tool_use", id: "c2", name: "Bash", input: {} }, { uuid: "a2" });
  one.prompt("look", { uuid: "s1", parentUuid: null, isSidechain: true });
  one.result("c2", {}, { uuid: "r2" });
  one.result("c1", {}, { uuid: "r1" });
  const fork = one.say("both", { uuid: "a3" });
  one.prompt("two", { uuid: "u2" });
  one.say("no", { uuid: "a4" });
  one.backTo(fork).prompt("two again", { uuid: "u3" });
  one.say("yes", { uuid: "a5" });
  return one;
}

it("[I1] an import makes the conversation: live branch, rewound branch, side chain", async () => {
  const report = await importClaudeCode(store, session().file());
  expect(report).toMatchObject({
    conversationId: "claude-code:session-1",
    nodes: 10,
    added: 10,
    branches: 2,
    sideChains: 1,
  });
  const chat = await store.conversation(report.conversationId);
  expect((await chat.history()).map(({ id }) => id)).toEqual(["u1", "a1", "r2", "r1", "a3", "u3", "a5"]);
  const { nodes, edges } = await chat.graph();
  expect(nodes.filter(({ rewound }) => rewound).map(({ id }) => id)).toEqual(["u2", "a4"]);
  expect(edges.filter(({ kind }) => kind === "caller")).toEqual([{ kind: "caller", from: "s1", to: "a1" }]);
  expect((await chat.rewindPoints()).map(({ text }) => text)).toEqual(["two again", "one"]);
  expect((await chat.record()).title).toBe("one");
});

it("[I4] importing the same file twice adds nothing", async () => {
  const file = session().file();
  const first = await importClaudeCode(store, file);
  const chat = await store.conversation(first.conversationId);
  const before = [await chat.graph(), await chat.record()];
  const second = await importClaudeCode(store, file);
  expect(second).toEqual({ ...first, added: 0 });
  expect([await chat.graph(), await chat.record()]).toEqual(before);
});

it("[I4] importing a file that has grown adds what is new", async () => {
  const growing = session();
  await importClaudeCode(store, growing.file());
  growing.prompt("three", { uuid: "u4" });
  growing.say("and on", { uuid: "a6" });
  const report = await importClaudeCode(store, growing.file());
  expect(report).toMatchObject({ nodes: 12, added: 2 });
  const chat = await store.conversation(report.conversationId);
  expect((await chat.history()).map(({ id }) => id).slice(-3)).toEqual(["a5", "u4", "a6"]);
});

it("[I4] an answer that grew after it was imported goes on in a node of its own", async () => {
  const growing = new Session();
  growing.prompt("one", { uuid: "u1" });
  growing.block("m1", { type: "text", text: "Reading." }, { uuid: "a1" });
  await importClaudeCode(store, growing.file());
  growing.block("m1", { type: "tool_use", id: "c1", name: "Read", input: {} }, { uuid: "a2" });
  growing.result("c1", {}, { uuid: "r1" });
  growing.block("m1", { type: "tool_use", id: "c2", name: "Read", input: {} }, { uuid: "a3" });
  const second = growing.file();
  expect(await importClaudeCode(store, second)).toMatchObject({ added: 2 });
  expect(await importClaudeCode(store, second)).toMatchObject({ added: 0 });
  growing.block("m1", { type: "tool_use", id: "c3", name: "Read", input: {} }, { uuid: "a4" });
  growing.result("c2", {}, { uuid: "r2" });
  const third = growing.file();
  expect(await importClaudeCode(store, third)).toMatchObject({ added: 2 });
  expect(await importClaudeCode(store, third)).toMatchObject({ added: 0 });
  const history = await (await store.conversation("claude-code:session-1")).history();
  const shown = history.map(({ id, message: { content } }) => {
    const parts = typeof content === "string" ? [] : content;
    return [id, ...parts.flatMap((part) => ("toolCallId" in part ? part.toolCallId : []))].join(" ");
  });
  expect(shown).toEqual(["u1", "a1", "a2 c1 c2", "r1 c1", "a4 c3", "r2 c2"]);
});

it("[I4] where a transcript went back since it was imported, the conversation follows", async () => {
  const growing = session();
  const { conversationId } = await importClaudeCode(store, growing.file());
  growing.backTo("a3").prompt("two, a third time", { uuid: "u4" });
  growing.say("well", { uuid: "a6" });
  await importClaudeCode(store, growing.file());
  const chat = await store.conversation(conversationId);
  expect((await chat.record()).headId).toBe("a6");
  expect((await chat.branches()).map(({ name }) => name)).toEqual(["main"]);
  expect((await chat.graph()).nodes.filter(({ rewound }) => rewound).map(({ id }) => id)).toEqual([
    "u2",
    "a4",
    "u3",
    "a5",
  ]);
});

it("[I4] where a person moved the conversation meanwhile, it stays there", async () => {
  const growing = session();
  const { conversationId } = await importClaudeCode(store, growing.file());
  const chat = await store.conversation(conversationId);
  await chat.resume("u2");
  growing.backTo("a3").prompt("two, a third time", { uuid: "u4" });
  expect(await importClaudeCode(store, growing.file())).toMatchObject({ added: 1 });
  expect((await chat.record()).headId).toBe("a4");
});

it("[I4] every node keeps the lines it came from, and all of them together are the file", async () => {
  const source = session();
  const { conversationId } = await importClaudeCode(store, source.file());
  const chat = await store.conversation(conversationId);
  const ids = (await chat.graph()).nodes.map(({ id }) => id);
  const nodes = await Promise.all(ids.map((id) => chat.node(id)));
  type Kept = { claudeCode: { lines: { at: number; raw: unknown }[] } };
  const lines = nodes.flatMap(
    (node) => (node?.message.metadata as unknown as Kept | undefined)?.claudeCode.lines ?? [],
  );
  expect(lines.sort((a, b) => a.at - b.at).map(({ raw }) => raw)).toEqual(source.lines);
});

it("[I3] an empty file imports as an empty conversation", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "retcon-session-")), "unused.jsonl");
  writeFileSync(file, "");
  const report = await importClaudeCode(store, file);
  expect(report).toMatchObject({ conversationId: "claude-code:unused", lines: 0, nodes: 0, added: 0, branches: 0 });
  const chat = await store.conversation(report.conversationId);
  expect(await chat.history()).toEqual([]);
});

it("[I3] a file that is missing, a folder and a file of other content are refused", async () => {
  const folder = mkdtempSync(join(tmpdir(), "retcon-session-"));
  const other = join(folder, "other.jsonl");
  writeFileSync(other, "hello\n");
  await expect(importClaudeCode(store, join(folder, "none"))).rejects.toMatchObject({ code: "not_found" });
  await expect(importClaudeCode(store, folder)).rejects.toMatchObject({ code: "bad_input" });
  await expect(importClaudeCode(store, other)).rejects.toMatchObject({ code: "bad_input" });
  expect((await store.conversations()).items).toEqual([]);
});

it("[I3] an import that was given up writes nothing", async () => {
  const signal = AbortSignal.abort("changed my mind");
  await expect(importClaudeCode(store, session().file(), { signal })).rejects.toMatchObject({ code: "aborted" });
  expect((await store.conversations()).items).toEqual([]);
});
