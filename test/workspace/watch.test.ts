import { linkSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ChokidarWatch } from "../../src/workspace/observe/chokidar-watch.js";
import { FolderWatch } from "../../src/workspace/observe/folder-watch.js";
import type { Watch } from "../../src/workspace/observe/hints.js";
import { asNobody, Folder, quiet, shell, temporaryFolder } from "./folder.js";

/** Whether the latest look had hints to go by. */
interface Listener extends Watch {
  hinted: boolean;
}

/** Both kinds of watch, made to tell whether a look got hints; chokidar without the wait that only macOS needs. */
const kinds: [string, (root: string) => Listener][] = [
  ["folder watch", (root) => listening(new FolderWatch(root))],
  ["chokidar watch", (root) => listening(new ChokidarWatch(root, 0))],
];

function listening(watch: Watch): Listener {
  let settled = false;
  return {
    hinted: false,
    get working() {
      return watch.working;
    },
    follows: (directory, id) => watch.follows(directory, id),
    follow: (directory, id) => watch.follow(directory, id),
    unfollow: (directory) => watch.unfollow(directory),
    async settle() {
      settled = await watch.settle();
      return settled;
    },
    take() {
      const hints = watch.take();
      this.hinted = settled && watch.working && !hints.everything;
      return hints;
    },
    close: () => watch.close(),
  };
}

/** Looks until hints are had, which takes a look or two more where chokidar has to go through the tree first. */
async function calmed(folder: Folder, listener: Listener, tries = 100): Promise<boolean> {
  for (let i = 0; i < tries; i += 1) {
    await quiet();
    await folder.sync();
    if (i > 0 && listener.hinted) return true;
  }
  return false;
}

/** Whether a look lists every folder again: a sweep meets a file that came without an event; a hinted look does not. */
async function isSwept(folder: Folder): Promise<boolean> {
  const seen: number[] = [];
  const { index, rules, previousMs } = folder;
  await folder.files.observe({ index, rules, previousMs, keep: () => undefined, onProgress: (n) => seen.push(n) });
  return seen.length > 0;
}

describe.each(kinds)("hints of a %s", (_, start) => {
  let listener: Listener;

  const open = (contents: Record<string, string>) =>
    Folder.open(contents, {
      start(root) {
        listener = start(root);
        return listener;
      },
    });

  async function watched(contents: Record<string, string>): Promise<Folder> {
    const folder = await open(contents);
    expect(await calmed(folder, listener), "hints are given").toBe(true);
    return folder;
  }

  test("[W7] F54 what happens between looks is found: changes, new folders, renames, deletions", async () => {
    const folder = await watched({ "a/b/c": "c", "a/d": "d", e: "e" });
    shell(folder.root, "echo x >> a/b/c; mkdir -p n/m; echo y > n/m/o; rm e; chmod 600 a/d");
    expect(await folder.sync()).toEqual({
      "a/b/c": "file → file",
      "a/d": "file → file",
      e: "file → absent",
      n: "absent → directory",
      "n/m": "absent → directory",
      "n/m/o": "absent → file",
    });
    shell(folder.root, "echo z > n/m/p; mv a/b a/q; rmdir a/q 2>/dev/null; true");
    expect(await folder.sync()).toEqual({
      "a/b": "directory → absent",
      "a/b/c": "file → absent",
      "a/q": "absent → directory",
      "a/q/c": "absent → file",
      "n/m/p": "absent → file",
    });
    shell(folder.root, "echo 1 >> a/q/c; rm -r n; mkdir n; echo 2 > n/k");
    expect(await folder.sync()).toEqual({
      "a/q/c": "file → file",
      "n/k": "absent → file",
      "n/m": "directory → absent",
      "n/m/o": "file → absent",
      "n/m/p": "file → absent",
    });
    expect(await folder.sync()).toEqual({});
  });

  test("[W7] a look that is not accepted keeps its hints for the next one", async () => {
    const folder = await watched({ "a/b": "b", "c/d": "d" });
    folder.write({ "a/b": "B" });
    expect((await folder.observe()).differences.map(({ path }) => path)).toEqual(["a/b"]);
    folder.write({ "c/d": "D" });
    expect(Object.keys(await folder.sync())).toEqual(["a/b", "c/d"]);
    expect(await folder.sync()).toEqual({});
  });

  test("[W7] a file that is changed through another of its names is found", async () => {
    const folder = await open({ "a/x": "x" });
    const other = join(temporaryFolder(), "other");
    linkSync(folder.place("a/x"), other);
    await folder.sync();
    expect(await calmed(folder, listener), "hints are given").toBe(true);
    writeFileSync(other, "changed from outside");
    expect(await folder.sync()).toEqual({ "a/x": "file → file" });
  });

  test("[W7] rule files, git's own files and more events than the queue holds lead to a sweep", async () => {
    const folder = await watched({ "a.log": "a", "d/x": "x" });
    folder.write({ ".gitignore": "*.log\n" });
    expect(await folder.sync()).toEqual({ ".gitignore": "absent → file", "a.log": "file → unknown ignored" });
    folder.write({ ".git/info/exclude": "/d/\n" });
    expect(await folder.sync()).toMatchObject({ d: "directory → unknown ignored" });
    folder.remove(".git");
    await folder.sync();
    for (let i = 0; i < 3_000; i += 1) writeFileSync(folder.place(`d/n${i % 300}`), String(i));
    expect(Object.keys(await folder.sync())).toHaveLength(300);
  });

  test("[W7] an announced path in an ignored folder is looked at although nobody watches there", async () => {
    const folder = await watched({ ".gitignore": "build/\n", "build/a": "a" });
    folder.index.set("build/a", { path: "build/a", state: { kind: "absent" }, stat: null, announced: true });
    expect(await folder.sync()).toMatchObject({ "build/a": "absent → file" });
    folder.write({ "build/a": "changed" });
    expect(await folder.sync()).toEqual({ "build/a": "file → file" });
  });

  test("[W7] exclusions outside the folders looked at are still reported, and an unreadable folder is watched for", async () => {
    const folder = await watched({ "a/x": "x", "b/y": "y" });
    shell(folder.root, "mkfifo b/pipe");
    await folder.sync();
    folder.write({ "a/x": "more" });
    expect(await folder.sync()).toEqual({ "a/x": "file → file" });
    expect(folder.notCaptured()).toEqual({ "b/pipe": "special_file" });
    folder.remove("b");
    expect(await folder.sync()).toEqual({ b: "directory → absent", "b/y": "file → absent" });
    expect(folder.notCaptured()).toEqual({});
  });

  test("[W7] F103 a folder that closes is unknown with all below it, and is gone through when it opens again", async () => {
    const folder = await watched({ "a/b/c": "c", d: "d" });
    await asNobody(folder, async () => {
      await folder.sync();
      folder.chmod("a", 0);
      expect(await folder.sync()).toEqual({
        a: "directory → unknown unreadable",
        "a/b": "directory → unknown unreadable",
        "a/b/c": "file → unknown unreadable",
      });
      folder.write({ d: "more" });
      expect(await folder.sync()).toEqual({ d: "file → file" });
      expect(folder.notCaptured()).toEqual({ a: "unreadable" });
      folder.chmod("a", 0o755);
      folder.write({ "a/b/c": "changed" });
      expect(Object.keys(await folder.sync())).toEqual(["a", "a/b", "a/b/c"]);
      folder.write({ "a/b/c": "again" });
      expect(await folder.sync()).toEqual({ "a/b/c": "file → file" });
    });
  });

  test("[W7] a folder replaced by another of the same name is followed again", async () => {
    const folder = await watched({ "a/b/x": "x", "z/b/x": "other" });
    renameSync(folder.place("a"), folder.place("old"));
    renameSync(folder.place("z"), folder.place("a"));
    expect(await folder.sync()).toMatchObject({
      "a/b/x": "file → file",
      z: "directory → absent",
      "old/b/x": "absent → file",
    });
    folder.write({ "a/b/x": "X", "old/b/x": "Y" });
    expect(await folder.sync()).toEqual({ "a/b/x": "file → file", "old/b/x": "file → file" });
  });

  test("[W7] an idle look is answered from hints, not by a sweep", async () => {
    const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`d${i % 20}/f${i}`, ""]));
    const folder = await watched(many);
    expect(await isSwept(folder)).toBe(false);
    const plain = await Folder.open(many);
    await plain.sync();
    expect(await isSwept(plain)).toBe(true);
  });

  test("[W7] F54 random changes: a look with hints finds what a sweep finds", async () => {
    const path = fc.constantFrom("a", "b", "a/x", "a/y", "b/x", "a/x/k", "b/x/k", "c/d/e/f");
    const step = fc.oneof(
      fc.record({ do: fc.constant("write" as const), path, text: fc.constantFrom("1", "22", "333") }),
      fc.record({ do: fc.constant("remove" as const), path }),
      fc.record({ do: fc.constant("move" as const), path, to: path }),
      fc.record({ do: fc.constant("link" as const), path, to: path }),
      fc.record({ do: fc.constant("sync" as const) }),
      fc.record({ do: fc.constant("observe" as const) }),
      fc.record({ do: fc.constant("calm" as const) }),
    );
    let calm = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 25 }), async (steps) => {
        const folder = await open({ "a/x": "x" });
        await folder.sync();
        for (const one of steps) {
          if (one.do === "sync") await folder.sync();
          else if (one.do === "calm") calm += (await calmed(folder, listener, 10)) ? 1 : 0;
          else if (one.do === "observe") await folder.observe();
          else shell(folder.root, `{ ${commandOf(one)}; } 2>/dev/null; true`);
        }
        await folder.sync();
        const sweeping = await Folder.open({}, { root: folder.root });
        await sweeping.sync();
        const present = [...folder.states()].filter(([, state]) => state.kind !== "absent");
        expect(new Map(present.sort())).toEqual(new Map([...sweeping.states()].sort()));
      }),
      { numRuns: 12 },
    );
    expect(calm).toBeGreaterThan(0);
  }, 120_000);
});

function commandOf(step: { do: string; path?: string; to?: string; text?: string }): string {
  if (step.do === "write")
    return `mkdir -p "$(dirname ${step.path})"; [ -d ${step.path} ] || echo ${step.text} > ${step.path}`;
  if (step.do === "remove") return `rm -rf ${step.path}`;
  if (step.do === "move") return `mv -T ${step.path} ${step.to}`;
  return `ln -sn ${step.to} ${step.path}`;
}
