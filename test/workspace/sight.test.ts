import { renameSync } from "node:fs";
import { expect, test } from "vitest";
import { asNobody, Folder } from "./folder.js";

test("[W4] F25 F102 a file that becomes ignored is unknown, not deleted, and is unknown before when it comes back", async () => {
  const folder = await Folder.open({ "a.log": "a", "b.txt": "b", "d/c.log": "c" });
  await folder.sync();
  folder.write({ ".gitignore": "*.log\nd/\n" });
  expect(await folder.sync()).toEqual({
    ".gitignore": "absent → file",
    "a.log": "file → unknown ignored",
    d: "directory → unknown ignored",
    "d/c.log": "file → unknown ignored",
  });
  expect(folder.notCaptured()).toEqual({ "a.log": "ignored", d: "ignored", "d/c.log": "ignored" });
  expect(await folder.sync()).toEqual({});
  folder.write({ "new.log": "n", "d/new.txt": "n" });
  folder.remove(".gitignore");
  expect(await folder.sync()).toEqual({
    ".gitignore": "file → absent",
    "a.log": "unknown ignored → file",
    d: "unknown ignored → directory",
    "d/c.log": "unknown ignored → file",
    "d/new.txt": "unknown not_covered_before → file",
    "new.log": "unknown not_covered_before → file",
  });
});

test("[W4] F99 F101 what was absent and becomes ignored is unknown, so what is made meanwhile was never seen absent", async () => {
  const folder = await Folder.open({ "a.log": "a" });
  await folder.sync();
  folder.remove("a.log");
  await folder.sync();
  folder.write({ ".gitignore": "*.log\n" });
  expect(await folder.sync()).toMatchObject({ "a.log": "absent → unknown ignored" });
  folder.write({ "a.log": "the person's", ".gitignore": "" });
  expect(await folder.sync()).toMatchObject({ "a.log": "unknown ignored → file" });
});

test("[W4] F103 what appears in a folder that could not be listed is unknown before", async () => {
  const folder = await Folder.open({ "d/a": "a", "d/e/b": "b" });
  await folder.sync();
  folder.chmod("d", 0);
  await asNobody(folder, async () => {
    expect(await folder.sync()).toEqual({
      d: "directory → unknown unreadable",
      "d/a": "file → unknown unreadable",
      "d/e": "directory → unknown unreadable",
      "d/e/b": "file → unknown unreadable",
    });
    expect(folder.notCaptured()).toEqual({ d: "unreadable" });
    expect(await folder.sync()).toEqual({});
  });
  folder.chmod("d", 0o755);
  folder.write({ "d/new": "n" });
  expect(await folder.sync()).toEqual({
    d: "unknown unreadable → directory",
    "d/a": "unknown unreadable → file",
    "d/e": "unknown unreadable → directory",
    "d/e/b": "unknown unreadable → file",
    "d/new": "unknown not_covered_before → file",
  });
});

test("[W4] F77 F78 F80 what comes, goes, comes back and is renamed is seen as states, whatever happened in between", async () => {
  const folder = await Folder.open({ "a.txt": "a", "d/x": "x", "d/y/z": "z" });
  await folder.sync();
  folder.write({ "brief.txt": "b" });
  folder.remove("brief.txt");
  folder.remove("a.txt");
  folder.write({ "a.txt": "a" });
  renameSync(folder.place("d"), folder.place("e"));
  expect(await folder.sync()).toEqual({
    d: "directory → absent",
    "d/x": "file → absent",
    "d/y": "directory → absent",
    "d/y/z": "file → absent",
    e: "absent → directory",
    "e/x": "absent → file",
    "e/y": "absent → directory",
    "e/y/z": "absent → file",
  });
});
