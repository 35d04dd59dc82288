/**
 * Rewind, the files' half: what the turns did is taken back exactly, what others have stays, and nothing else is touched.
 */
import { describe, expect, it } from "vitest";
import type { Files } from "../builders/disk.js";
import { Scene, type Work } from "../builders/scene.js";

/** Plays turns u1, u2, … and rewinds to the first of them. */
async function rewindAll(files: Files, ...works: Work[]): Promise<Scene> {
  const scene = await Scene.open(files);
  const before = scene.files();
  for (const [i, work] of works.entries()) await scene.turn(`u${i + 1}`, work);
  await scene.chat.rewindTo("u1");
  expect(scene.files()).toEqual(before);
  return scene;
}

describe("content", () => {
  it("[R12] F72 F76 a modified file returns to its exact bytes, a deleted one is made again", async () => {
    const bytes = Uint8Array.from({ length: 4096 }, (_, i) => (i * 7) % 256);
    await rewindAll({ "a.bin": bytes, "b.txt": "b\n" }, { "a.bin": "text now" }, "rm b.txt");
  });

  it("[R12] F73 F74 F75 what the agent made goes, folders that it leaves empty too; a folder that was empty before stays", async () => {
    const scene = await rewindAll(
      { "old/": "", "kept/x.txt": "x" },
      "mkdir -p new/deep/er old/sub && echo a > new/deep/er/a.txt && echo b > old/sub/b.txt && echo c > kept/c.txt",
    );
    expect(Object.keys(scene.files())).toEqual(["kept", "kept/x.txt", "old"]);
  });

  it("[R12] F73 a folder of the agent's that holds somebody's file stays with it", async () => {
    const scene = await Scene.open();
    await scene.turn("u1", { "made/agent.txt": "a" });
    scene.write({ "made/mine.txt": "m" });
    const { files } = await scene.chat.rewindTo("u1");
    expect(Object.keys(scene.files())).toEqual(["made", "made/mine.txt"]);
    expect(files).toContainEqual({ path: "made", outcome: "kept", reason: "not_empty" });
  });

  it("[R12] F77 F78 F79 deleted and made again, made and deleted, changed in several turns: the oldest state wins", async () => {
    await rewindAll(
      { "back.txt": "original\n", "many.txt": "0\n" },
      "rm back.txt && echo tmp > brief.txt && echo 1 > many.txt",
      "echo again > back.txt && rm brief.txt && echo 2 > many.txt",
      "echo 3 > many.txt",
    );
  });

  it("[R12] F80 a rename of a file and of a folder reverts on both sides, a chain and a swap as well", async () => {
    const files = { "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n", "dir/x.txt": "x\n", "dir/sub/y.txt": "y\n" };
    const scene = await rewindAll(
      files,
      "mv a.txt z.txt && mv dir moved",
      "mv z.txt y.txt && mv b.txt t && mv c.txt b.txt && mv t c.txt",
    );
    expect(Object.keys(scene.files())).toEqual([
      "a.txt",
      "b.txt",
      "c.txt",
      "dir",
      "dir/sub",
      "dir/sub/y.txt",
      "dir/x.txt",
    ]);
  });

  it("[W10] F89 line endings, byte order mark, mixed endings and a missing final newline are kept", async () => {
    const files = {
      "crlf.txt": "a\r\nb\r\n",
      "lf.txt": "a\nb\n",
      "mixed.txt": "a\r\nb\nc\r",
      "bom.txt": "\ufeffa\n",
      "open.txt": "no newline",
      "empty.txt": "",
      "latin1.txt": Uint8Array.of(0xe9, 0x0a),
    };
    await rewindAll(files, Object.fromEntries(Object.keys(files).map((name) => [name, "other\n"])));
    const scene = await Scene.open({ "crlf.txt": "1\r\n2\r\n3\r\n4\r\n5\r\n", "bom.txt": "\ufeff1\n2\n3\n4\n5" });
    await scene.turn("u1", { "crlf.txt": "ONE\r\n2\r\n3\r\n4\r\n5\r\n", "bom.txt": "\ufeffONE\n2\n3\n4\n5" });
    scene.write({ "crlf.txt": "ONE\r\n2\r\n3\r\n4\r\nmine\r\n", "bom.txt": "\ufeffONE\n2\n3\n4\nmine" });
    const { files: merged } = await scene.chat.rewindTo("u1");
    expect(merged.map((file) => file.outcome)).toEqual(["merged", "merged"]);
    expect(scene.read("crlf.txt")).toBe("1\r\n2\r\n3\r\n4\r\nmine\r\n");
    expect(scene.read("bom.txt")).toBe("\ufeff1\n2\n3\n4\nmine");
  });
});

describe("what is not touched", () => {
  it("[W9] F87 F88 content that already is right keeps its time, and so does everything that is not planned", async () => {
    const scene = await Scene.open({ "a.txt": "a\n", "same.txt": "s\n", "d/other.txt": "o\n", "mine.txt": "m\n" });
    await scene.turn("u1", { "a.txt": "a2\n", "same.txt": "s2\n" });
    scene.write({ "same.txt": "s\n", "mine.txt": "m2\n" });
    const before = scene.traces();
    const { files, restoredPaths } = await scene.chat.rewindTo("u1");
    expect(files).toEqual([
      { path: "a.txt", outcome: "restored" },
      { path: "same.txt", outcome: "unchanged" },
    ]);
    expect(restoredPaths).toEqual(["a.txt"]);
    const after = scene.traces();
    const touched = Object.keys(before).filter((path) => before[path] !== after[path]);
    expect(touched).toEqual(["a.txt"]);
  });

  it("[R12] F99 F113 untracked files that were there before the point, and files that only the person changed, stay", async () => {
    const scene = await Scene.open({ "tracked.txt": "t\n" });
    scene.shell("git init -q . && git add tracked.txt");
    scene.write({ "untracked.txt": "u\n" });
    await scene.turn("u1", { "tracked.txt": "t2\n" });
    scene.write({ "mine.txt": "m\n" });
    await scene.turn("u2", { "new.txt": "n\n" });
    scene.write({ "untracked.txt": "edited by me\n" });
    const status = scene.shell("git status --porcelain -- mine.txt untracked.txt");
    await scene.chat.rewindTo("u1");
    expect(Object.keys(scene.files())).toEqual(["mine.txt", "tracked.txt", "untracked.txt"]);
    expect(scene.read("untracked.txt")).toBe("edited by me\n");
    expect(scene.shell("git status --porcelain -- mine.txt untracked.txt")).toBe(status);
  });

  it("[W1] F100 ignored files stay: one that was there, a new one, in a folder, by pattern", async () => {
    const scene = await Scene.open({
      ".gitignore": "*.log\nbuild/\n/one.txt\n",
      "old.log": "o",
      "one.txt": "1",
      "a.txt": "a",
    });
    const line =
      "echo x >> old.log; echo n > new.log; mkdir -p build src; echo b > build/out; echo l > src/deep.log; echo 2 > one.txt; echo b > a.txt";
    await scene.turn("u1", line);
    const ignored = ["build", "build/out", "new.log", "old.log", "one.txt", "src", "src/deep.log"];
    const kept = Object.fromEntries(Object.entries(scene.files()).filter(([path]) => ignored.includes(path)));
    await scene.chat.rewindTo("u1");
    expect(scene.files()).toEqual({ ...kept, ".gitignore": expect.any(String), "a.txt": "file 644 a" });
  });

  it("[W1] F101 an ignored file that was removed is not resurrected", async () => {
    const scene = await Scene.open({ ".gitignore": "*.log\n", "old.log": "o", "a.txt": "a" });
    await scene.turn("u1", "rm old.log; echo b > a.txt");
    const { files } = await scene.chat.rewindTo("u1");
    expect(files.map((file) => file.path)).toEqual(["a.txt"]);
    expect(Object.keys(scene.files())).toEqual([".gitignore", "a.txt"]);
  });

  it("[W1] F102 reverting the ignore file makes nothing eligible for deletion", async () => {
    const scene = await Scene.open({ ".gitignore": "*.log\n", "a.log": "precious" });
    await scene.turn("u1", { ".gitignore": "", "b.log": "b" });
    await scene.turn("u2", { "c.log": "c" });
    await scene.chat.rewindTo("u1");
    expect(scene.read("a.log")).toBe("precious");
  });
});

describe("files and conversation together", () => {
  it("[R12] F123 rewinding to turn 1, then 2, then 3 moves the files to the right state each time", async () => {
    const scene = await Scene.open({ "a.txt": "0\n" });
    const states = [scene.files()];
    for (const n of [1, 2, 3]) {
      await scene.turn(`u${n}`, { "a.txt": `${n}\n`, [`f${n}/x.txt`]: `${n}` });
      states.push(scene.files());
    }
    for (const n of [1, 2, 3]) {
      await scene.chat.rewindTo(`u${n}`);
      expect(scene.files()).toEqual(states[n - 1]);
      await scene.chat.undo();
      expect(scene.files()).toEqual(states[3]);
    }
    for (const n of [3, 2, 1]) {
      await scene.chat.rewindTo(`u${n}`);
      expect(scene.files()).toEqual(states[n - 1]);
    }
  });

  it("[R12] a person's edit between turns stays when both turns go, in the middle of a file that both turns changed", async () => {
    const scene = await Scene.open({ "a.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n" });
    await scene.turn("u1", { "a.txt": "ONE\n2\n3\n4\n5\n6\n7\n8\n9\n" });
    scene.write({ "a.txt": "ONE\n2\n3\n4\nmine\n6\n7\n8\n9\n" });
    await scene.turn("u2", { "a.txt": "ONE\n2\n3\n4\nmine\n6\n7\n8\nNINE\n" });
    const { files } = await scene.chat.rewindTo("u1");
    expect(files).toEqual([{ path: "a.txt", outcome: "merged" }]);
    expect(scene.read("a.txt")).toBe("1\n2\n3\n4\nmine\n6\n7\n8\n9\n");
  });

  it("[R12] 300 files in one rewind, with names that are not ASCII", async () => {
    const files = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`d${i % 7}/файл-${i}.txt`, `${i}\n`]));
    await rewindAll(files, 'for f in d*/*; do echo more >> "$f"; done; rm d3/*; mkdir d9; echo x > d9/x');
  });
});
