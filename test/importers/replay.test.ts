import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ImportReport, importClaudeCode } from "../../src/importers/claude-code.js";
import { type Conversation, openStore, type Store } from "../../src/index.js";
import { Session } from "./session.js";

let store: Store;
let outer: string;
let place: string;
beforeEach(async () => {
  store = await openStore({ file: ":memory:" });
  outer = mkdtempSync(join(tmpdir(), "retcon-replay-"));
  place = join(outer, "shop");
});
afterEach(() => store.close());

const small = resolve(import.meta.dirname, "../../fixtures/transcripts/small-session.jsonl");

async function replayed(source: Session | string): Promise<{ report: ImportReport; chat: Conversation }> {
  const file = typeof source === "string" ? source : source.file();
  const report = await importClaudeCode(store, file, { replay: place });
  return { report, chat: await store.conversation(report.conversationId) };
}

const read = (path: string): string | undefined =>
  existsSync(join(place, path)) ? readFileSync(join(place, path), "utf8") : undefined;

/** The transcript's own DAG, as a plain import makes it. */
async function plainGraph(file: string) {
  const other = await openStore({ file: ":memory:" });
  const { conversationId } = await importClaudeCode(other, file);
  const graph = await (await other.conversation(conversationId)).graph();
  await other.close();
  return graph;
}

const shape = ({ nodes }: Awaited<ReturnType<Conversation["graph"]>>) =>
  nodes
    .map(({ id, parentId, callerId, role, synthetic, rewound }) => ({
      id,
      parentId,
      callerId,
      role,
      synthetic,
      rewound,
    }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));

describe("a session with a rewound branch and a failing call", () => {
  it("[I6] is replayed: files, turns and the same DAG as a plain import", async () => {
    const { report, chat } = await replayed(small);
    expect(report).toMatchObject({ replayed: 7, failedCalls: 1, notReplayable: [], seeded: 1, branches: 2 });
    expect(report.added).toBe(report.nodes);
    expect(shape(await chat.graph())).toEqual(shape(await plainGraph(small)));
    expect(read("src/teas.js")).toContain("Darjeeling");
    expect(read("src/teas.js")).toContain("price: 6");
    expect(read("NOTES.md")).toContain("first flush");
    expect(await chat.branches()).toMatchObject([{ name: "main", active: true }]);
    expect(readdirSync(outer)).toEqual(["shop"]);
  });

  it("[I6] can be rewound turn by turn, and undone, its files with it", async () => {
    const { chat } = await replayed(small);
    const last = [read("src/teas.js"), read("src/page.js"), read("NOTES.md")];
    const points = await chat.rewindPoints();
    expect(points.map(({ filesChanged }) => filesChanged)).toEqual([1, 1, 1, 1]);
    await chat.rewindTo(points[0]?.nodeId ?? "");
    expect(read("NOTES.md")).toBeUndefined();
    await chat.rewindTo(points[1]?.nodeId ?? "");
    expect(read("src/teas.js")).not.toContain("Darjeeling");
    await chat.rewindTo(points[2]?.nodeId ?? "");
    expect(read("src/page.js")).not.toContain("price");
    await chat.rewindTo(points[3]?.nodeId ?? "");
    expect(read("src/page.js")).toBeUndefined();
    expect(read("src/teas.js")).toContain("Sencha");
    for (let back = 0; back < 4; back += 1) await chat.undo();
    expect([read("src/teas.js"), read("src/page.js"), read("NOTES.md")]).toEqual(last);
  });

  it("[I6] the branch that was left can be resumed, its files with it", async () => {
    const { chat } = await replayed(small);
    const left = (await chat.graph()).nodes.find(({ preview }) => preview.startsWith("Raise all prices"));
    await chat.resume(left?.id ?? "");
    expect(read("src/teas.js")).toContain("price: 10");
    expect(read("src/teas.js")).not.toContain("Darjeeling");
    expect(read("NOTES.md")).toContain("one euro");
  });

  it("[I6] each change is its call's, and what was seeded is nobody's", async () => {
    const { chat } = await replayed(small);
    const first = (await chat.rewindPoints()).at(-1);
    expect((await chat.changes(first?.nodeId ?? "")).map(({ path, kind }) => [path, kind])).toEqual([
      ["src/page.js", "added"],
    ]);
  });

  it("[I4] [I6] replayed again into its folder it adds nothing and changes nothing", async () => {
    const { report, chat } = await replayed(small);
    const before = await chat.graph();
    writeFileSync(join(place, "mine.txt"), "my own");
    const again = await replayed(small);
    expect(again.report).toMatchObject({ conversationId: report.conversationId, added: 0, replayed: 0, seeded: 0 });
    expect(await chat.graph()).toEqual(before);
    expect(read("mine.txt")).toBe("my own");
  });
});

describe("replaying", () => {
  it("[I6] refuses a folder with something in it, a file, and a second folder for one session", async () => {
    mkdirSync(place);
    writeFileSync(join(place, "mine.txt"), "my own");
    await expect(replayed(small)).rejects.toMatchObject({ code: "bad_input", data: { field: "replay" } });
    const file = join(place, "mine.txt");
    await expect(importClaudeCode(store, small, { replay: file })).rejects.toMatchObject({ code: "bad_input" });
    expect((await store.conversations()).items).toEqual([]);
    expect(read("mine.txt")).toBe("my own");
    await importClaudeCode(store, small, { replay: join(outer, "one") });
    const second = importClaudeCode(store, small, { replay: join(outer, "two") });
    await expect(second).rejects.toMatchObject({ code: "id_exists" });
    expect(readdirSync(outer).sort()).toEqual(["one", "shop"]);
  });

  it("[I6] goes on where the transcript has grown", async () => {
    const session = new Session();
    session.prompt("one");
    session.write("c1", "a.txt", "one\n");
    await replayed(session);
    session.prompt("two");
    session.edit("c2", "a.txt", "one", "two");
    const { report } = await replayed(session);
    expect(report).toMatchObject({ added: 3, replayed: 1, notReplayable: [] });
    expect(read("a.txt")).toBe("two\n");
  });

  it("[I6] does not go on where a person did, and does not replace a person's edits", async () => {
    const session = new Session();
    session.prompt("one");
    session.write("c1", "a.txt", "one\n");
    const { chat } = await replayed(session);
    writeFileSync(join(place, "a.txt"), "one\nmine\n");
    session.prompt("two");
    session.edit("c2", "a.txt", "one", "two", { originalFile: "one\n" });
    expect((await replayed(session)).report).toMatchObject({ added: 3, replayed: 1 });
    await chat.rewindTurns(1, { onConflict: "keep" });
    expect(read("a.txt")).toContain("mine");
    await (await chat.beginTurn("my own turn")).end();
    session.prompt("three");
    await expect(replayed(session)).rejects.toMatchObject({ code: "head_moved" });
  });

  it("[I6] rebuilds a file that the transcript does not hold from what the edits replace", async () => {
    const session = new Session();
    session.prompt("one");
    session.edit("c1", "a.txt", "first", "1st");
    session.edit("c2", "a.txt", "second", "2nd");
    session.edit("c3", "a.txt", "1st", "I");
    const { report, chat } = await replayed(session);
    expect(report).toMatchObject({ replayed: 3, notReplayable: [], seeded: 1 });
    expect(read("a.txt")).toBe("I\n2nd");
    await chat.rewindTurns(1);
    expect(read("a.txt")).toBe("first\nsecond");
  });

  it("[I6] puts in place what changed between two calls: inside a turn it is the turn's, before it nobody's", async () => {
    const session = new Session();
    session.prompt("one");
    session.write("c1", "a.txt", "a=1\nb=2\n");
    session.edit("c2", "a.txt", "a = 1", "a = 3", { originalFile: "a = 1\nb = 2\n" });
    session.prompt("two");
    session.edit("c3", "a.txt", "b = 2", "b = 4", { originalFile: "// by hand\na = 3\nb = 2\n" });
    const { report, chat } = await replayed(session);
    expect(report).toMatchObject({ replayed: 3, seeded: 1 });
    expect(read("a.txt")).toBe("// by hand\na = 3\nb = 4\n");
    await chat.rewindTurns(1);
    expect(read("a.txt")).toBe("// by hand\na = 3\nb = 2\n");
  });

  it("[I6] reports what it cannot re-enact, with the reason, and skips calls that failed", async () => {
    const session = new Session();
    session.prompt("one");
    session.call("c1", "Write", { file_path: "a.txt", content: "never" });
    session.result("c1", "Error: no", { isError: true });
    session.call("c2", "Write", { file_path: "b.txt", content: "perhaps" });
    session.call("c3", "Edit", { file_path: "c.txt", old_string: 7 });
    session.result("c3");
    session.edit("c4", "d.txt", "x", "y", {}, { replace_all: true });
    session.edit("c5", "d.txt", "x", "z", { originalFile: "" });
    const { report } = await replayed(session);
    expect(report).toMatchObject({ failedCalls: 1, replayed: 2 });
    expect(report.notReplayable?.map(({ callId, path }) => [callId, path])).toEqual([
      ["c2", "b.txt"],
      ["c3", "c.txt"],
    ]);
    expect(["a.txt", "b.txt", "c.txt"].map(read)).toEqual([undefined, undefined, undefined]);
  });

  it("[I6] re-enacts what a sub-agent did inside the turn of its caller", async () => {
    const session = new Session();
    const side = { isSidechain: true };
    session.prompt("go");
    session.call("c1", "Task", { prompt: "make it" });
    session.prompt("make it", { ...side, uuid: "s1", parentUuid: null });
    session.call(
      "c2",
      "Write",
      { file_path: `${session.cwd}/a.txt`, content: "one\n" },
      { ...side, uuid: "s2", parentUuid: "s1" },
    );
    session.result("c2", { type: "create" }, { ...side, uuid: "s3", parentUuid: "s2" });
    session.result("c1");
    session.edit("c3", "a.txt", "one", "two");
    const { report, chat } = await replayed(session);
    expect(report).toMatchObject({ replayed: 2, notReplayable: [], sideChains: 1 });
    expect(shape(await chat.graph())).toEqual(shape(await plainGraph(session.file())));
    await chat.rewindTurns(1);
    expect(readdirSync(place)).toEqual([]);
  });

  it("[I6] follows a fork inside a turn, and ends on the branch that is live", async () => {
    const session = new Session();
    session.prompt("one", { uuid: "u1" });
    session.write("c1", "a.txt", "one\n", { uuid: undefined });
    const fork = session.say("made", { uuid: "a1" });
    session.say("left", { uuid: "a2" });
    session.backTo(fork).say("right", { uuid: "a3" });
    session.prompt("two", { uuid: "u2" });
    session.edit("c2", "a.txt", "one", "two");
    const { report, chat } = await replayed(session);
    expect(report).toMatchObject({ replayed: 2, branches: 2, notReplayable: [] });
    expect(shape(await chat.graph())).toEqual(shape(await plainGraph(session.file())));
    expect((await chat.branches()).map(({ name }) => name)).toEqual(["main"]);
    expect(read("a.txt")).toBe("two\n");
  });

  it("[I6] writes nothing outside its folder: absolute paths, .., and links that lead out", async () => {
    writeFileSync(join(outer, "secret"), "untouched");
    const session = new Session();
    session.prompt("one");
    session.write("c0", "a.txt", "one\n");
    for (const [index, path] of ["../secret", join(outer, "secret"), "/home/ann/secret", "x/../../secret"].entries()) {
      session.call(`o${index}`, "Write", { file_path: path, content: "broken" });
      session.result(`o${index}`, { type: "create" });
    }
    const first = await replayed(session);
    expect(first.report.notReplayable?.map(({ callId }) => callId)).toEqual(["o0", "o1", "o2", "o3"]);
    symlinkSync(outer, join(place, "door"));
    symlinkSync(join(outer, "secret"), join(place, "link"));
    session.prompt("two");
    session.edit("c1", "door/secret", "untouched", "broken");
    session.edit("c2", "link", "untouched", "broken", { originalFile: "untouched" });
    session.write("c3", "door/new/file", "broken");
    const { report } = await replayed(session);
    expect(report.notReplayable?.map(({ callId, reason }) => [callId, reason])).toEqual([
      ["c1", "a symbolic link is in the way"],
      ["c2", "a symbolic link is in the way"],
      ["c3", "a symbolic link is in the way"],
    ]);
    expect(readFileSync(join(outer, "secret"), "utf8")).toBe("untouched");
    expect(readdirSync(outer).sort()).toEqual(["secret", "shop"]);
  });

  it("[I6] given up it stops between turns, and later goes on there", async () => {
    const session = new Session();
    session.prompt("one");
    session.write("c1", "a.txt", "one\n");
    session.edit("c2", "a.txt", "one", "1");
    session.prompt("two");
    session.edit("c3", "a.txt", "1", "2");
    const controller = new AbortController();
    const file = session.file();
    const stopped = importClaudeCode(store, file, {
      replay: place,
      signal: controller.signal,
      onProgress: ({ done }) => done === 2 && controller.abort("enough"),
    });
    await expect(stopped).rejects.toMatchObject({ code: "aborted" });
    expect(read("a.txt")).toBe("1\n");
    const report = await importClaudeCode(store, file, { replay: place });
    expect(report).toMatchObject({ added: 3, replayed: 1, notReplayable: [] });
    expect(read("a.txt")).toBe("2\n");
    const chat = await store.conversation(report.conversationId);
    expect(await chat.rewindPoints()).toMatchObject([{ filesChanged: 1 }, { filesChanged: 1 }]);
    expect((await chat.runs()).map(({ status }) => status)).toEqual(["completed", "completed"]);
  });
});
