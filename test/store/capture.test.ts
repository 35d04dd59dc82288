/**
 * What a turn captured: every change in the folder while it ran, by edit tool, shell or sub-agent, and taken back exactly.
 *
 * Each case makes its changes inside a turn, reads the report, rewinds, and compares the folder byte for byte.
 */
import { randomBytes } from "node:crypto";
import { symlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { FileChange } from "../../src/core/model.js";
import type { Files } from "../builders/disk.js";
import { Scene, type Work } from "../builders/scene.js";

const brief = (changes: readonly FileChange[]) =>
  Object.fromEntries(changes.map(({ path, kind, added, removed }) => [path, `${kind} +${added} -${removed}`]));

/** Plays one turn, rewinds it, brings it back, and requires the folder to be exact each time. */
async function roundTrip(files: Files, work: Work): Promise<{ scene: Scene; changes: FileChange[] }> {
  const scene = await Scene.open(files);
  const before = scene.files();
  const { changes } = await scene.turn("u1", work);
  const after = scene.files();
  await scene.chat.rewindTo("u1");
  expect(scene.files()).toEqual(before);
  await scene.chat.undo();
  expect(scene.files()).toEqual(after);
  return { scene, changes };
}

describe("what is captured", () => {
  it("[W2] F1 F4 F5 F6 changes made only by a shell command are in the change set: a deep new file, a modified and a deleted one", async () => {
    const { changes } = await roundTrip(
      { "keep.txt": "k\n", "edit.txt": "1\n2\n3\n", "gone.txt": "a\nb\n" },
      "sed -i s/2/two/ edit.txt; rm gone.txt; mkdir -p a/b/c/d; printf 'x\\ny\\n' > a/b/c/d/new.txt",
    );
    expect(brief(changes)).toEqual({
      "a/b/c/d/new.txt": "added +2 -0",
      "edit.txt": "modified +1 -1",
      "gone.txt": "deleted +0 -2",
    });
  });

  it("[W2] F2 two captures without a change find nothing and store nothing", async () => {
    const scene = await Scene.open({ "a.txt": "one\n", "b/c.txt": "two\n" });
    const turn = await scene.chat.beginTurn("look");
    expect(await turn.checkpoint()).toEqual([]);
    const operations = (await scene.chat.operations()).length;
    const first = await scene.chat.fileAt(turn.userNodeId, "a.txt");
    expect(await turn.checkpoint()).toEqual([]);
    expect(await scene.chat.fileAt(turn.userNodeId, "a.txt")).toEqual(first);
    expect((await scene.chat.operations()).length).toBe(operations);
    expect((await turn.end()).changes).toEqual([]);
  });

  it("[W5] F3 a tree of empty folders, and an empty workspace, cause no error", async () => {
    const empty = await Scene.open();
    expect((await empty.turn("u1")).changes).toEqual([]);
    const { changes } = await roundTrip({ "a/b/c/": "" }, "mkdir -p d/e/f");
    expect(brief(changes)).toEqual({ "d/e/f": "added +0 -0" });
  });

  it("[W2] F7 F8 a binary file and one of a MiB are captured byte for byte; their diff is marked binary", async () => {
    const [old, fresh] = [randomBytes(1000), randomBytes(2 ** 20)];
    const { scene, changes } = await roundTrip({ "b.bin": old }, { "b.bin": randomBytes(1000), "m.bin": fresh });
    expect(changes.map(({ path, binary, added }) => [path, binary, added])).toEqual([
      ["b.bin", true, 0],
      ["m.bin", true, 0],
    ]);
    expect(await scene.chat.diff("u1", { path: "b.bin" })).toContain("Binary files a/b.bin and b/b.bin differ");
  });

  it("[W8] F12 F13 F14 F15 odd names round-trip: blanks, quotes, globs, control characters, long, hidden, Unicode in both normal forms", async () => {
    const names = [
      "with space.txt",
      "-rf",
      "--help",
      "'single' \"double\".txt",
      ":colon!bang#hash",
      "[a]*?.txt",
      "back\\slash",
      "tab\tname",
      "line\nbreak",
      "trailing ",
      "$(touch pwned)",
      `${"n".repeat(200)}`,
      ".hidden",
      ".config/.deep",
      "\u00e9.txt",
      "e\u0301.txt",
      "привет/файл.txt",
      "🙂/🎉.md",
    ];
    const old = Object.fromEntries(names.map((name, i) => [name, `old ${i}\n`]));
    const { changes } = await roundTrip(old, Object.fromEntries(names.map((name, i) => [name, `new ${i}\n`])));
    expect(changes.map((change) => change.path).sort()).toEqual([...names].sort());
    const created = await roundTrip({}, old);
    expect(created.changes.every((change) => change.kind === "added")).toBe(true);
    const gone = await roundTrip(old, "rm -rf -- * .hidden .config");
    expect(gone.scene.files()).toEqual({});
    expect(gone.changes.every((change) => change.kind === "deleted")).toBe(true);
  });

  it("[W5] F16 symlinks are captured as links and never followed: to a file, a folder, dangling, nested, circular, outside", async () => {
    const outside = await Scene.open({ "secret.txt": "s" });
    const { scene, changes } = await roundTrip({ "a.txt": "a", "d/x.txt": "x" }, {});
    expect(changes).toEqual([]);
    await scene.turn("u2", () => {
      symlinkSync("a.txt", scene.place("to-file"));
      symlinkSync("d", scene.place("to-folder"));
      symlinkSync("nowhere", scene.place("dangling"));
      symlinkSync("to-folder/x.txt", scene.place("nested"));
      symlinkSync("round", scene.place("round"));
      symlinkSync(".", scene.place("d/here"));
      symlinkSync(outside.root, scene.place("out"));
    });
    const after = scene.files();
    const made = await scene.chat.changes("u2");
    expect(made.map(({ path, after: state }) => [path, state.kind === "symlink" && state.target])).toEqual([
      ["d/here", "."],
      ["dangling", "nowhere"],
      ["nested", "to-folder/x.txt"],
      ["out", outside.root],
      ["round", "round"],
      ["to-file", "a.txt"],
      ["to-folder", "d"],
    ]);
    await scene.chat.rewindTo("u2");
    expect(Object.keys(scene.files())).toEqual(["a.txt", "d", "d/x.txt"]);
    expect(outside.read("secret.txt")).toBe("s");
    await scene.chat.undo();
    expect(scene.files()).toEqual(after);
  });

  it("[W5] F17 a file that became a link, a link that became a file and a link that turned are all seen", async () => {
    const scene = await Scene.open({ "file.txt": "content", "target.txt": "t" });
    symlinkSync("target.txt", scene.place("link"));
    symlinkSync("target.txt", scene.place("turn"));
    const before = scene.files();
    const line = "rm file.txt link turn; ln -s target.txt file.txt; printf real > link; ln -s file.txt turn";
    const { changes } = await scene.turn("u1", line);
    expect(changes.map(({ path, kind }) => `${path} ${kind}`)).toEqual([
      "file.txt type-changed",
      "link type-changed",
      "turn modified",
    ]);
    const after = scene.files();
    await scene.chat.rewindTo("u1");
    expect(scene.files()).toEqual(before);
    expect(scene.read("target.txt")).toBe("t");
    await scene.chat.undo();
    expect(scene.files()).toEqual(after);
  });

  it("[W5] F18 a change of the exec bit only is seen and restored", async () => {
    const { changes } = await roundTrip(
      { "run.sh": "#!/bin/sh\n", "own.key": "k" },
      "chmod 755 run.sh; chmod 600 own.key",
    );
    expect(brief(changes)).toEqual({ "own.key": "mode-changed +0 -0", "run.sh": "mode-changed +0 -0" });
  });

  it("[W14] F44 a capture before the first edit exists although the tool dies half-way", async () => {
    const scene = await Scene.open({ "a.txt": "whole\n", "tool.cache": "c", ".gitignore": "*.cache\n" });
    const turn = await scene.chat.beginTurn("go", { id: "u1" });
    await turn.willChange("a.txt");
    await turn.willChange("tool.cache");
    scene.write({ "a.txt": "ha", "tool.cache": "torn" });
    await turn.end({ status: "failed", error: "the tool crashed" });
    await scene.chat.rewindTo("u1");
    expect([scene.read("a.txt"), scene.read("tool.cache")]).toEqual(["whole\n", "c"]);
  });

  it("[W14] F142 the first edit of an ignored file resolves to its content before the edit, although the turn began before the file was known", async () => {
    const scene = await Scene.open({ ".gitignore": "*.env\n", "secret.env": "v1\n" });
    const turn = await scene.chat.beginTurn("go", { id: "u1" });
    await turn.append({ role: "assistant", id: "a1", content: "before" });
    scene.write({ "other.txt": "x" });
    await turn.checkpoint();
    await turn.willChange("secret.env");
    scene.write({ "secret.env": "v2\n" });
    await turn.willChange("made.env");
    scene.write({ "made.env": "new\n" });
    const { changes } = await turn.end();
    expect(brief(changes)).toEqual({
      "made.env": "added +1 -0",
      "other.txt": "added +1 -0",
      "secret.env": "modified +1 -1",
    });
    await scene.chat.rewindTo("u1");
    expect(scene.files()).toMatchObject({ "secret.env": "file 644 v1\n" });
    expect(Object.keys(scene.files())).toEqual([".gitignore", "secret.env"]);
  });

  it("[T4] F49 a turn that changed nothing is a point to rewind to", async () => {
    const scene = await Scene.open({ "a.txt": "1" });
    await scene.turn("u1");
    await scene.turn("u2", { "a.txt": "2" });
    const { restoredPaths, newHeadId } = await scene.chat.rewindTo("u1");
    expect([restoredPaths, newHeadId, scene.read("a.txt")]).toEqual([["a.txt"], null, "1"]);
  });

  it("[W6] F104 a file over the limit that nothing holds is kept, reported, and listed as skipped", async () => {
    const scene = await Scene.open({ "a.txt": "small" }, { workspace: { watch: false, maxFileBytes: 10 } });
    const big = "x".repeat(11);
    const { notCaptured } = await scene.turn("u1", { "a.txt": big, "b.txt": big });
    expect(notCaptured.map(({ path, reason }) => `${path} ${reason}`)).toEqual(["a.txt too_large", "b.txt too_large"]);
    const { files } = await scene.chat.rewindTo("u1");
    expect(files.find((file) => file.path === "a.txt")).toMatchObject({ outcome: "skipped" });
    expect([scene.read("a.txt"), scene.read("b.txt")]).toEqual([big, big]);
  });
});

describe("whose a change is", () => {
  it("[W13] F119 what a person did before the turn is its baseline, and comes back", async () => {
    const scene = await Scene.open({ "a.txt": "committed\n" });
    await scene.turn("u1");
    scene.write({ "a.txt": "mine, before the turn\n", "note.txt": "mine\n" });
    const { changes } = await scene.turn("u2", { "a.txt": "the agent's\n" });
    expect(changes.map((change) => change.path)).toEqual(["a.txt"]);
    await scene.chat.rewindTo("u2");
    expect([scene.read("a.txt"), scene.read("note.txt")]).toEqual(["mine, before the turn\n", "mine\n"]);
    await scene.chat.rewindTo("u1");
    expect([scene.read("a.txt"), scene.read("note.txt")]).toEqual(["mine, before the turn\n", "mine\n"]);
  });

  it("[W13] F51 what a sub-agent changes belongs to the turn that started it", async () => {
    const scene = await Scene.open({ "a.txt": "1" });
    await scene.turn("u1", async (turn) => {
      const call = { type: "tool-call", toolCallId: "t1", toolName: "task", input: null } as const;
      await turn.append({ role: "assistant", id: "c1", content: [call] });
      await turn.append({ role: "user", id: "sub", content: "do it", callerId: "c1" });
      scene.write({ "a.txt": "2", "sub.txt": "s" });
      await turn.append({ role: "assistant", id: "sub2", content: "did it", parentId: "sub" });
      const output = { type: "tool-result", toolCallId: "t1", toolName: "task", output: "did it" } as const;
      await turn.append({ role: "tool", content: [output] });
    });
    expect((await scene.chat.changes("u1")).map((change) => change.path)).toEqual(["a.txt", "sub.txt"]);
    const { nodesRewound } = await scene.chat.rewindTo("u1");
    expect(nodesRewound).toEqual(expect.arrayContaining(["u1", "c1", "sub", "sub2", "a1"]));
    expect(Object.keys(scene.files())).toEqual(["a.txt"]);
  });

  it("[W13] during a call what changes is that call's, by name", async () => {
    const scene = await Scene.open({ "a.txt": "1" });
    const turn = await scene.chat.beginTurn("go", { id: "u1" });
    const value = await turn.during("call-1", async () => {
      scene.write({ "a.txt": "2" });
      return 42;
    });
    await turn.append({ role: "assistant", id: "a1", content: "x" });
    scene.write({ "b.txt": "b" });
    await turn.append({ role: "assistant", id: "a2", content: "y" });
    await turn.end();
    expect(value).toBe(42);
    expect((await scene.chat.changes("a1")).map((change) => change.path)).toEqual(["a.txt"]);
    expect((await scene.chat.changes("a2")).map((change) => change.path)).toEqual(["b.txt"]);
    await expect(
      scene.turn("u2", (next) => next.during("c", () => Promise.reject(new RangeError("tool")))),
    ).rejects.toThrow(RangeError);
  });

  it("[W13] F64 overlapping turns of two conversations: an announced path has its owner, the rest is shared and taken back by nobody", async () => {
    const scene = await Scene.open({ "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n" });
    const other = await scene.store.createConversation({ id: "other", workspace: scene.root });
    const [mine, theirs] = [await scene.chat.beginTurn("x", { id: "u1" }), await other.beginTurn("y", { id: "v1" })];
    await mine.willChange("a.txt");
    await theirs.willChange("b.txt");
    scene.write({ "a.txt": "a2\n", "b.txt": "b2\n", "c.txt": "c2\n" });
    await mine.end();
    await theirs.end();
    const { files } = await scene.chat.rewindTo("u1");
    expect(files).toEqual([
      { path: "a.txt", outcome: "restored" },
      { path: "c.txt", outcome: "kept", reason: expect.stringContaining("shared by runs") },
    ]);
    expect(["a.txt", "b.txt", "c.txt"].map((path) => scene.read(path))).toEqual(["a\n", "b2\n", "c2\n"]);
    await other.rewindTo("v1");
    expect(["a.txt", "b.txt", "c.txt"].map((path) => scene.read(path))).toEqual(["a\n", "b\n", "c2\n"]);
  });

  it("[W13] F63 a rewind in one conversation leaves what another one wrote, before and after", async () => {
    const scene = await Scene.open({ "a.txt": "a\n", "both.txt": "1\n2\n3\n4\n5\n" });
    const other = await scene.store.createConversation({ id: "other", workspace: scene.root });
    await scene.turn("u1", { "a.txt": "a2\n", "both.txt": "ONE\n2\n3\n4\n5\n" });
    await scene.turn("v1", { "b.txt": "b\n", "both.txt": "ONE\n2\n3\n4\nFIVE\n" }, {}, other);
    await scene.chat.rewindTo("u1");
    expect([scene.read("a.txt"), scene.read("b.txt")]).toEqual(["a\n", "b\n"]);
    expect(scene.read("both.txt")).toBe("1\n2\n3\n4\nFIVE\n");
    await other.rewindTo("v1");
    expect(scene.read("both.txt")).toBe("1\n2\n3\n4\n5\n");
    await scene.chat.undo();
    expect(scene.read("both.txt")).toBe("ONE\n2\n3\n4\n5\n");
  });
});
