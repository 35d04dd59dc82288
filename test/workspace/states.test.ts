import { createHash } from "node:crypto";
import { utimesSync } from "node:fs";
import { expect, test } from "vitest";
import { Folder } from "./folder.js";

const strangeNames = [
  "a b",
  " lead",
  "trail ",
  "-rf",
  "--help",
  "it's",
  'say "hi"',
  "c:d",
  "wow!",
  "#tag",
  "[x]",
  "star*",
  "what?",
  "back\\slash",
  "tab\there",
  "new\nline",
  "$(id)",
  "nul",
  "con.txt",
  "файл",
  "日本",
  "😀",
  "caf\u00e9",
  "cafe\u0301",
  "\uFFFD",
  "x".repeat(200),
];

test("[W5] F12 F13 F14 F56 names of every kind round-trip, as files and as directories", async () => {
  const folder = await Folder.open();
  for (const name of strangeNames) folder.write({ [`files/${name}`]: name, [`folders/${name}/${name}`]: name });
  await folder.sync();
  for (const name of strangeNames) {
    expect(folder.index.get(`files/${name}`)?.state.kind, name).toBe("file");
    expect(folder.index.get(`folders/${name}/${name}`)?.state.kind, name).toBe("file");
  }
  expect(folder.index.size).toBe(2 + 3 * strangeNames.length);
});

test("[W5] F7 F8 F90 binary, large and empty contents are kept byte for byte", async () => {
  const binary = Buffer.from(Array.from({ length: 1 << 20 }, (_, i) => (i * 7919) & 255));
  const folder = await Folder.open({ binary, huge: Buffer.alloc(5 << 20, "ab\0"), empty: "" });
  await folder.sync();
  for (const [path, bytes] of Object.entries({ binary, huge: Buffer.alloc(5 << 20, "ab\0"), empty: Buffer.alloc(0) })) {
    const blob = createHash("sha256").update(bytes).digest("hex");
    expect(folder.index.get(path)?.state).toEqual({ kind: "file", blob, mode: 0o644, size: bytes.length });
    expect(folder.blobs.get(blob)?.equals(bytes)).toBe(true);
  }
});

test("[W5] F16 F17 links are states of their own: to files, folders, nothing, themselves; never followed", async () => {
  const folder = await Folder.open({ "d/x": "x", f: "f" });
  folder.link("to-file", "f");
  folder.link("to-folder", "d");
  folder.link("dangling", "nowhere");
  folder.link("loop", "loop");
  folder.link("d/up", "..");
  folder.link("away", "/etc");
  await folder.sync();
  const links = [...folder.index.values()].filter((entry) => entry.state.kind === "symlink").map((entry) => entry.path);
  expect(links).toEqual(["away", "d/up", "dangling", "loop", "to-file", "to-folder"]);
  expect(folder.index.size).toBe(9);
  folder.remove("to-file");
  folder.write({ "to-file": "now a file" });
  folder.remove("f");
  folder.link("f", "d/x");
  folder.remove("dangling");
  folder.link("dangling", "elsewhere");
  expect(await folder.sync()).toEqual({
    dangling: "symlink → symlink",
    f: "file → symlink",
    "to-file": "symlink → file",
  });
});

test("[W5] F18 F19 modes are states: of files, of directories; touching changes none and keeps nothing", async () => {
  const folder = await Folder.open({ run: "x", "d/x": "x" });
  await folder.sync();
  folder.chmod("run", 0o755);
  folder.chmod("d", 0o700);
  const observation = await folder.observe();
  expect(observation.differences.map(({ path, after }) => [path, after])).toEqual([
    ["d", { kind: "directory", mode: 0o700 }],
    ["run", expect.objectContaining({ kind: "file", mode: 0o755 })],
  ]);
  expect(folder.kept).toEqual([]);
  folder.take(observation);
  folder.chmod("run", 0o755);
  utimesSync(folder.place("run"), 1, 1);
  const touched = await folder.observe();
  expect(touched.differences).toEqual([]);
  expect(touched.restats.map(({ path }) => path)).toEqual(["run"]);
  expect(folder.kept).toEqual([]);
});

test("[W5] F75 F83 empty directories, and a file that becomes a directory and back", async () => {
  const folder = await Folder.open({ "empty/": "", a: "a", "b/x": "x" });
  await folder.sync();
  expect(folder.index.get("empty")?.state.kind).toBe("directory");
  folder.remove("a");
  folder.write({ "a/x": "x" });
  folder.remove("b");
  folder.write({ b: "b" });
  folder.remove("empty");
  expect(await folder.sync()).toEqual({
    a: "file → directory",
    "a/x": "absent → file",
    b: "directory → file",
    "b/x": "file → absent",
    empty: "directory → absent",
  });
});
