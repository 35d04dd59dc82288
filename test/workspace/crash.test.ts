import { describe, expect, test } from "vitest";
import type { Edit } from "../../src/core/files.js";
import { Folder, folderInMemory, manifest } from "./folder.js";

/** Stands for the end of the process: nothing cleans up after it. */
class Crash extends Error {}

const before = {
  "keep/a": "a",
  "dir/sub/x": "x",
  "to-dir": "f",
  modified: "one",
  removed: "r",
  "removed-ro/r": "r",
  "to-file/y/z": "z",
};

interface Scene {
  folder: Folder;
  edits: Edit[];
  wanted: Record<string, string>;
  found: Record<string, string>;
  points: string[];
}

/** The folder changed from what it was, and the edits back; the whole scene's edits and contents serve all others. */
async function scene(stopAt: number, whole?: Scene): Promise<Scene> {
  const points: string[] = [];
  let armed = false;
  const probe = (point: string) => {
    if (!armed) return;
    points.push(point);
    if (points.length === stopAt) throw new Crash(point);
  };
  const folder = await Folder.open(before, { probe, root: folderInMemory() });
  folder.link("link", "modified");
  folder.chmod("keep", 0o555);
  folder.chmod("removed-ro", 0o555);
  if (whole === undefined) await folder.sync();
  const wanted = manifest(folder.root);
  const states = folder.states();
  change(folder);
  if (whole === undefined) await folder.sync();
  for (const [blob, bytes] of whole?.folder.blobs ?? []) folder.blobs.set(blob, bytes);
  armed = true;
  return { folder, edits: whole?.edits ?? folder.editsTo(states), wanted, found: manifest(folder.root), points };
}

function change(folder: Folder): void {
  folder.chmod("keep", 0o711);
  folder.chmod("removed-ro", 0o755);
  for (const path of ["dir", "removed-ro", "to-dir", "removed", "to-file", "link"]) folder.remove(path);
  folder.write({
    dir: "file now",
    "to-dir/n/m": "m",
    modified: "two",
    "to-file": "f",
    "made/p/q": "q",
    link: "file now",
  });
  folder.chmod("modified", 0o600);
  folder.chmod("made/p", 0o500);
}

describe("crash", () => {
  test("[W9] F144 stopped before any step, a restore is finished by making the same list again, or taken back by its inverse", async () => {
    const whole = await scene(0);
    await whole.folder.apply(whole.edits);
    expect(manifest(whole.folder.root)).toEqual(whole.wanted);
    expect(new Set(whole.points)).toEqual(
      new Set([
        "apply:temp",
        "apply:write",
        "apply:chmod",
        "apply:fsync",
        "apply:rename",
        "apply:renamed",
        "apply:mkdir",
        "apply:mode",
        "apply:unlink",
        "apply:rmdir",
        "apply:fsync-folder",
      ]),
    );
    for (let stopAt = 1; stopAt <= whole.points.length; stopAt += 1) {
      for (const forward of [true, false]) {
        const { folder, edits, wanted, found } = await scene(stopAt, whole);
        const label = `stop ${stopAt} at ${whole.points[stopAt - 1]}, then ${forward ? "on" : "back"}`;
        await expect(folder.apply(edits), label).rejects.toBeInstanceOf(Crash);
        const back = edits.map(({ path, before, after }) => ({ path, before: after, after: before }));
        const outcomes = await folder.apply(forward ? edits : back, { recovering: true });
        expect(
          outcomes.filter(({ result }) => result !== "done"),
          label,
        ).toEqual([]);
        expect(manifest(folder.root), label).toEqual(forward ? wanted : found);
      }
    }
  }, 60_000);

  test("[W9] F55 temporaries of a dead restore are never captured, and only its own are removed", async () => {
    const folder = await Folder.open({ a: "a", "d/.retcon-t1-7.tmp": "left", "d/.retcon-t10-1.tmp": "another's" });
    await folder.sync();
    expect([...folder.index.keys()]).toEqual(["a", "d"]);
    const edit = { path: "d/x", before: { kind: "absent" }, after: { kind: "absent" } } as const;
    await folder.apply([edit], { recovering: true });
    expect(Object.keys(manifest(folder.root))).toEqual(["a", "d", "d/.retcon-t10-1.tmp"]);
  });
});
