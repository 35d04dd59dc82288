import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Edit } from "../../src/core/files.js";
import type { FileState } from "../../src/core/model.js";
import { contentTools } from "../../src/workspace/index.js";
import { asNobody, Folder, manifest } from "./folder.js";

const absent: FileState = { kind: "absent" };

/** Makes a folder, notes its state, lets `change` work on it, and gives back what is needed to go back. */
async function changed(contents: Record<string, string | Uint8Array>, change: (folder: Folder) => void) {
  const folder = await Folder.open(contents);
  await folder.sync();
  const before = manifest(folder.root);
  const states = folder.states();
  change(folder);
  await folder.sync();
  return { folder, before, edits: folder.editsTo(states) };
}

async function goesBack(
  contents: Record<string, string | Uint8Array>,
  change: (folder: Folder) => void,
): Promise<Folder> {
  const { folder, before, edits } = await changed(contents, change);
  const outcomes = await folder.apply(edits);
  expect(outcomes.map(({ result }) => result)).toEqual(edits.map(() => "done"));
  expect(outcomes.map(({ state }) => state)).toEqual(edits.map(({ after }) => after));
  expect(manifest(folder.root)).toEqual(before);
  return folder;
}

function state(folder: Folder, content: string, mode = 0o644): FileState {
  const bytes = Buffer.from(content);
  const blob = contentTools.hash(bytes);
  folder.blobs.set(blob, bytes);
  return { kind: "file", blob, mode, size: bytes.length };
}

describe("content", () => {
  test("[W9] F72 F76 F77 F89 F90 modified, deleted and recreated files return to the exact bytes", async () => {
    const texts = {
      crlf: "a\r\nb\r\n",
      mixed: "a\r\nb\nc\r",
      bom: "\uFEFFa\n",
      bare: "a\nb",
      empty: "",
      bin: Buffer.from([0, 255, 10]),
    };
    await goesBack({ ...texts, gone: "gone", back: "back" }, (folder) => {
      for (const name of Object.keys(texts)) folder.write({ [name]: "changed\n" });
      folder.remove("gone");
      folder.remove("back");
      folder.write({ back: "back" });
    });
  });

  test("[W9] F73 F74 F75 F78 what was made goes, with its directories; what was empty before stays", async () => {
    const folder = await goesBack({ "empty/": "", "d/x": "x" }, (folder) => {
      folder.write({ "new/deep/a": "a", "empty/b": "b", "d/y": "", zero: "" });
    });
    expect(readdirSync(folder.root).sort()).toEqual(["d", "empty"]);
  });

  test("[W9] F80 F81 F91 renames, chains and swaps go back, with names that are not ASCII", async () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`многие/${i}-é`, `${i}`]));
    await goesBack({ ...many, "d/x": "x", a: "1", b: "2", c: "3" }, (folder) => {
      folder.remove("d");
      folder.remove("a");
      folder.write({ "e/x": "x", b: "1", c: "2", x: "3" });
      for (const name of Object.keys(many)) folder.write({ [name]: "changed" });
    });
  });

  test("[W9] F83 F84 F69 changes of kind go back, and nothing is written or deleted through a link", async () => {
    const outside = await Folder.open({ "keep/x": "outside", f: "outside" });
    await goesBack({ "was-dir/sub/x": "x", "was-file": "f", "was-file-2": "g" }, (folder) => {
      folder.remove("was-dir");
      folder.link("was-dir", outside.place("keep"));
      folder.remove("was-file");
      folder.write({ "was-file/a/b": "b" });
      folder.remove("was-file-2");
      folder.link("was-file-2", outside.place("f"));
    });
    const { folder, edits, before } = await changed({}, (folder) => folder.write({ "l/x": "x" }));
    folder.link("real", outside.place("keep"));
    await folder.sync();
    folder.remove("l");
    folder.link("l", outside.place("keep"));
    const [first, second] = await folder.apply(edits);
    expect([first?.result, second?.result]).toEqual(["changed", "done"]);
    expect(before).toEqual({});
    expect(manifest(outside.root)).toEqual({ f: "file 644 outside", keep: "folder 755", "keep/x": "file 644 outside" });
  });

  test("[W9] F18 F86 modes are restored exactly and never widened, of folders too", async () => {
    await goesBack({ run: "x", secret: "s", both: "b", "d/x": "x", "ro/x": "x" }, (folder) => {
      folder.chmod("run", 0o755);
      folder.chmod("secret", 0o600);
      folder.chmod("d", 0o700);
      folder.chmod("both", 0o600);
      folder.write({ both: "other", "ro/y": "y" });
      folder.chmod("ro", 0o555);
    });
    const folder = await Folder.open({ secret: "s" });
    folder.chmod("secret", 0o600);
    await folder.sync();
    const edit = {
      path: "secret",
      before: folder.index.get("secret")?.state as FileState,
      after: state(folder, "t", 0o600),
    };
    const modes: number[] = [];
    const spied = await Folder.open({}, { root: folder.root, probe: () => modes.push(...temporaryModes(folder.root)) });
    for (const [blob, bytes] of folder.blobs) spied.blobs.set(blob, bytes);
    await spied.apply([edit]);
    expect(modes.length).toBeGreaterThan(0);
    expect(modes.every((mode) => mode === 0o600)).toBe(true);
  });

  test("[W9] F87 F88 F97 what is right is not touched, nor is any other path", async () => {
    const folder = await Folder.open({ a: "a", b: "b", c: "c" });
    await folder.sync();
    const times = () => ["a", "b"].map((path) => lstatSync(folder.place(path)).ctimeMs);
    const before = times();
    const a = folder.index.get("a")?.state as FileState;
    const outcomes = await folder.apply([
      { path: "a", before: state(folder, "other"), after: a },
      { path: "c", before: folder.index.get("c")?.state as FileState, after: state(folder, "new") },
      { path: "nowhere", before: absent, after: absent },
    ]);
    expect(outcomes.map(({ result }) => result)).toEqual(["done", "done", "done"]);
    expect(times()).toEqual(before);
    expect(readFileSync(folder.place("c"), "utf8")).toBe("new");
  });
});

function temporaryModes(root: string): number[] {
  const names = readdirSync(root).filter((name) => name.endsWith(".tmp"));
  return names.map((name) => lstatSync(`${root}/${name}`).mode & 0o777);
}

describe("refusals", () => {
  test("[W9] F111 a path that is neither before nor after is left and told apart", async () => {
    const folder = await Folder.open({ a: "somebody's", d: "file" });
    const outcomes = await folder.apply([
      { path: "a", before: state(folder, "old"), after: state(folder, "new") },
      { path: "a", before: state(folder, "old"), after: absent },
      { path: "d", before: { kind: "directory", mode: 0o755 }, after: absent },
      { path: "a", before: absent, after: { kind: "symlink", target: "x" } },
    ]);
    expect(outcomes.map(({ result, reason }) => [result, reason])).toEqual(Array(4).fill(["changed", "changed"]));
    expect(outcomes[0]?.state).toEqual(state(folder, "somebody's"));
    expect(manifest(folder.root)).toEqual({ a: "file 644 somebody's", d: "file 644 file" });
  });

  test("[W9] F111 a change made between the check and the rename is seen by the last check", async () => {
    let folder: Folder;
    const options = { probe: (point: string) => void (point === "apply:fsync" && folder.write({ a: "meanwhile" })) };
    folder = await Folder.open({ a: "old" }, options);
    const [outcome] = await folder.apply([{ path: "a", before: state(folder, "old"), after: state(folder, "new") }]);
    expect(outcome).toMatchObject({ result: "changed", state: state(folder, "meanwhile") });
    expect(manifest(folder.root)).toEqual({ a: "file 644 meanwhile" });
  });

  test("[W9] F98 F100 a directory that holds others' files is kept, a blocked path reported, the rest done", async () => {
    const { folder, edits } = await changed({ f: "f" }, (folder) => folder.write({ "d/mine": "m", f: "g" }));
    folder.write({ "d/theirs": "t" });
    const outcomes = await folder.apply(edits);
    const results = Object.fromEntries(outcomes.map(({ path, result, reason }) => [path, [result, reason]]));
    expect(results).toEqual({ d: ["kept", "not_empty"], "d/mine": ["done", undefined], f: ["done", undefined] });
    expect(manifest(folder.root)).toEqual({ d: "folder 755", "d/theirs": "file 644 t", f: "file 644 f" });
    const blocked = await folder.apply([{ path: "missing/x", before: absent, after: state(folder, "x") }]);
    expect(blocked[0]).toMatchObject({ result: "failed", reason: "parent_missing", state: absent });
    const inFile = await folder.apply([{ path: "f/x", before: absent, after: state(folder, "x") }]);
    expect(inFile[0]).toMatchObject({ result: "failed", reason: "parent_not_directory" });
  });

  test("[W9] F98 F105 a folder that may not be written fails with the code, stops if asked, and leaves no temporary", async () => {
    const folder = await Folder.open({ "ro/a": "a", "ro/gone": "g", z: "z" });
    const edits: Edit[] = [
      { path: "z", before: state(folder, "z"), after: state(folder, "y") },
      { path: "ro/a", before: state(folder, "a"), after: state(folder, "b") },
      { path: "ro/gone", before: state(folder, "g"), after: absent },
    ];
    folder.chmod("ro", 0o555);
    await asNobody(folder, async () => {
      const seen: number[] = [];
      const stopped = await folder.apply(edits, { stopOnError: true, onProgress: ({ done }) => seen.push(done) });
      expect(stopped.map(({ result, reason }) => [result, reason])).toEqual([
        ["untried", undefined],
        ["untried", undefined],
        ["failed", "eacces"],
      ]);
      expect(seen).toEqual([1]);
      const outcomes = await folder.apply(edits);
      expect(outcomes.map(({ result }) => result)).toEqual(["done", "failed", "failed"]);
    });
    expect(manifest(folder.root)).toEqual({
      ro: "folder 555",
      "ro/a": "file 644 a",
      "ro/gone": "file 644 g",
      z: "file 644 y",
    });
  });

  test("[W9] F153 content that does not match its hash is not written, an unknown state is never applied", async () => {
    const folder = await Folder.open({ a: "a" });
    const a = state(folder, "a");
    const b = state(folder, "b");
    if (b.kind === "file") folder.blobs.set(b.blob, Buffer.from("damaged"));
    const outcomes = await folder.apply([
      { path: "a", before: a, after: b },
      { path: "a", before: { kind: "unknown", reason: "ignored" }, after: absent },
      { path: "a", before: a, after: { kind: "unknown", reason: "pruned" } },
    ]);
    expect(outcomes.map(({ result, reason }) => [result, reason])).toEqual([
      ["failed", "blob_damaged"],
      ["failed", "unknown_state"],
      ["failed", "unknown_state"],
    ]);
    expect(manifest(folder.root)).toEqual({ a: "file 644 a" });
  });

  test("[W9] a restore that is given up before its first edit makes none", async () => {
    const folder = await Folder.open({ a: "a" });
    const edits = [{ path: "a", before: state(folder, "a"), after: absent }];
    await expect(folder.apply(edits, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "aborted" });
    expect(manifest(folder.root)).toEqual({ a: "file 644 a" });
  });

  test("[W9] F71 the order of the list changes neither the result nor what is reported", async () => {
    const change = (folder: Folder) => {
      folder.write({ "n/a/b": "b", "n/c": "c" });
      folder.remove("old");
      folder.write({ old: "file now" });
    };
    const results: unknown[] = [];
    for (const order of [(edits: Edit[]) => edits, (edits: Edit[]) => [...edits].reverse()]) {
      const { folder, edits, before } = await changed({ "old/x/y": "y" }, change);
      const outcomes = await folder.apply(order(edits));
      expect(outcomes.map(({ path }) => path)).toEqual(order(edits).map(({ path }) => path));
      expect(manifest(folder.root)).toEqual(before);
      results.push(Object.fromEntries(outcomes.map(({ path, result }) => [path, result])));
    }
    expect(results[0]).toEqual(results[1]);
  });
});
