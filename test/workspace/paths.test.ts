import { renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { FileState } from "../../src/core/model.js";
import { relativePath } from "../../src/workspace/paths.js";
import { Folder, manifest, temporaryFolder } from "./folder.js";

const outsidePaths = [
  "",
  ".",
  "..",
  "../x",
  "a/../../x",
  "a/../b",
  "/etc/passwd",
  "a\0b",
  "C:\\x",
  "c:/x",
  ".git",
  "a/.GIT/config",
  ".git/hooks/x",
];
const absent: FileState = { kind: "absent" };

describe("text of a path", () => {
  test.each(outsidePaths)(
    "[W8] F93 F94 %j is refused for looking and for editing, before anything is done",
    async (path) => {
      const folder = await Folder.open({ a: "a" });
      await expect(folder.files.look([path])).rejects.toMatchObject({
        code: "path_outside",
        data: { path: expect.anything() },
      });
      if (/^[A-Za-z]:/.test(path)) return;
      const first = { path: "a", before: absent, after: absent };
      await expect(folder.apply([first, { path, before: absent, after: absent }])).rejects.toMatchObject({
        code: "path_outside",
      });
    },
  );

  test("[W8] absolute and loosely written paths inside the root are taken for what they name", async () => {
    const folder = await Folder.open({ "d/a": "a" });
    const [absolute, loose, c] = await folder.files.look([folder.place("d/a"), "./d//a", "c:d"]);
    expect(absolute).toMatchObject({ path: "d/a", state: { kind: "file" } });
    expect(loose?.path).toBe("d/a");
    expect(c).toMatchObject({ path: "c:d", state: absent });
    expect(() => relativePath(folder.root, `${folder.root}-sibling/x`)).toThrow("not inside");
    const alias = join(temporaryFolder(), "alias");
    symlinkSync(folder.root, alias);
    expect(relativePath(folder.root, join(alias, "d", "new"))).toBe("d/new");
  });
});

describe("parents on disk", () => {
  test("[W8] F70 F85 a parent that is a link blocks the path for looking, writing and deleting", async () => {
    const outside = await Folder.open({ x: "outside" });
    const folder = await Folder.open({ "d/x": "outside", "d/e/y": "y" });
    await folder.sync();
    const x = folder.index.get("d/x")?.state as FileState;
    folder.remove("d");
    folder.link("d", outside.root);
    const sights = await folder.files.look(["d/x", "d/e/y", "d"]);
    expect(sights.map(({ state }) => state)).toEqual([
      { kind: "unknown", reason: "symlinked_parent" },
      { kind: "unknown", reason: "symlinked_parent" },
      { kind: "symlink", target: outside.root },
    ]);
    expect(sights[0]?.bytes).toBeUndefined();
    const [write, remove] = await folder.apply([
      { path: "d/new", before: absent, after: x },
      { path: "d/x", before: x, after: absent },
    ]);
    expect(write).toMatchObject({ result: "failed", reason: "symlinked_parent" });
    expect(remove?.result).toBe("done");
    expect(manifest(outside.root)).toEqual({ x: "file 644 outside" });
  });

  test("[W8] F70 a parent that becomes a link in the middle of an edit is seen before the rename", async () => {
    const outside = await Folder.open({});
    let folder: Folder;
    const swap = (point: string) => {
      if (point !== "apply:fsync") return;
      renameSync(folder.place("d"), folder.place("moved"));
      folder.link("d", outside.root);
    };
    folder = await Folder.open({ "d/x": "x", other: "new" }, { probe: swap });
    await folder.sync();
    const [before, after] = ["d/x", "other"].map((path) => folder.index.get(path)?.state as FileState);
    const [outcome] = await folder.apply([{ path: "d/x", before: before as FileState, after: after as FileState }]);
    expect(outcome?.result).not.toBe("done");
    expect(manifest(outside.root)).toEqual({});
  });

  test("[W8] looking tells file, directory with all its names, and absence", async () => {
    const folder = await Folder.open(
      { ".gitignore": "x", "d/x": "x", "d/.retcon-t-1.tmp": "", big: "12345" },
      { maxFileBytes: 3 },
    );
    const [d, x, big, none, below] = await folder.files.look(["d", "d/x", "big", "none", "big/none"]);
    expect(d).toMatchObject({ state: { kind: "directory", mode: 0o755 }, children: ["x"] });
    expect(Buffer.from(x?.bytes ?? []).toString()).toBe("x");
    expect(Buffer.from(big?.bytes ?? []).toString()).toBe("12345");
    expect([none?.state, below?.state]).toEqual([absent, absent]);
  });
});
