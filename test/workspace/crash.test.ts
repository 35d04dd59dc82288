import { describe, expect, test } from "vitest";
import type { Edit } from "../../src/core/files.js";
import { Folder, manifest } from "./folder.js";

/** Stands for the end of the process: nothing cleans up after it. */
class Crash extends Error {}

const before = {
  "keep/a": "a",
  "dir/sub/x": "x",
  "to-dir": "f",
  modified: "one",
  removed: "r",
  "to-file/y/z": "z",
};

async function scene(
  stopAt: number,
): Promise<{ folder: Folder; edits: Edit[]; wanted: Record<string, string>; points: string[] }> {
  const points: string[] = [];
  let armed = false;
  const probe = (point: string) => {
    if (!armed) return;
    points.push(point);
    if (points.length === stopAt) throw new Crash(point);
  };
  const folder = await Folder.open(before, { probe });
  folder.link("link", "modified");
  folder.chmod("keep", 0o555);
  await folder.sync();
  const wanted = manifest(folder.root);
  const states = folder.states();
  folder.chmod("keep", 0o755);
  for (const path of ["dir", "to-dir", "removed", "to-file", "link"]) folder.remove(path);
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
  await folder.sync();
  armed = true;
  return { folder, edits: folder.editsTo(states), wanted, points };
}

describe("crash", () => {
  test("[W9] F144 stopped before any step, a restore is finished by making the same list again", async () => {
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
      const { folder, edits, wanted } = await scene(stopAt);
      await expect(folder.apply(edits), `stop ${stopAt}`).rejects.toBeInstanceOf(Crash);
      const outcomes = await folder.apply(edits, { recovering: true });
      const undone = outcomes.filter(({ result }) => result !== "done");
      expect(undone, `stop ${stopAt} at ${whole.points[stopAt - 1]}`).toEqual([]);
      expect(manifest(folder.root), `stop ${stopAt}`).toEqual(wanted);
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
