import { lstatSync, utimesSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Folder, quiet, shell } from "./folder.js";

describe("sweep", () => {
  test("[W2] F1 F4 F6 what a shell command creates, modifies and deletes is found", async () => {
    const folder = await Folder.open({ "a.txt": "a", "b.txt": "b" });
    expect(await folder.sync()).toEqual({
      "a.txt": "unknown first_capture → file",
      "b.txt": "unknown first_capture → file",
    });
    shell(folder.root, "rm a.txt; echo more >> b.txt; mkdir -p x/y/z; echo new > x/y/z/n.txt");
    expect(await folder.sync()).toEqual({
      "a.txt": "file → absent",
      "b.txt": "file → file",
      x: "absent → directory",
      "x/y": "absent → directory",
      "x/y/z": "absent → directory",
      "x/y/z/n.txt": "absent → file",
    });
  });

  test("[W2] F2 F3 two looks without a change in between differ in nothing and keep nothing", async () => {
    const folder = await Folder.open({ "a.txt": "a", "empty/": "" });
    await folder.sync();
    await quiet();
    for (let i = 0; i < 3; i += 1) {
      const observation = await folder.observe();
      expect(observation.differences).toEqual([]);
      expect(observation.restats).toEqual([]);
      expect(observation.rulesChanged).toBe(false);
      expect(folder.kept).toEqual([]);
      folder.take(observation);
    }
    expect(await (await Folder.open({})).sync()).toEqual({});
  });

  test("[W2] F5 F15 a hidden file is captured, and its deletion is reported", async () => {
    const folder = await Folder.open({ ".hidden": "h" });
    await folder.sync();
    folder.remove(".hidden");
    expect(await folder.sync()).toEqual({ ".hidden": "file → absent" });
    expect(await folder.sync()).toEqual({});
  });
});

describe("racy", () => {
  test("[W3] F43 a rewrite of the same size in the same tick is noticed, a hundred times", async () => {
    const folder = await Folder.open({ "a.txt": "0000" });
    await folder.sync();
    for (let i = 1; i <= 100; i += 1) {
      const { atime, mtime } = lstatSync(folder.place("a.txt"));
      folder.write({ "a.txt": String(i).padStart(4, "0") });
      utimesSync(folder.place("a.txt"), atime, mtime);
      expect(await folder.sync(), `rewrite ${i}`).toEqual({ "a.txt": "file → file" });
    }
  });
});
