import {
  type FSWatcher,
  mkdirSync,
  renameSync,
  rmSync,
  type WatchListener,
  type WatchOptions,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { ChokidarWatch } from "../../src/workspace/observe/chokidar-watch.js";
import { idOf } from "../../src/workspace/observe/folder-id.js";
import { FolderWatch } from "../../src/workspace/observe/folder-watch.js";
import type { Hints } from "../../src/workspace/observe/hints.js";
import { startWatch } from "../../src/workspace/observe/watch.js";
import { Folder, quiet, temporaryFolder, write } from "./folder.js";

/** Every watch that was begun, so that a test can make one fail as Windows and macOS do. */
const begun = vi.hoisted((): { path: string; watcher: FSWatcher; persistent: boolean | undefined }[] => []);
vi.mock("node:fs", async (original) => {
  const real = await original<typeof import("node:fs")>();
  const watch = (path: string, options: WatchOptions, listener: WatchListener<string>) => {
    const watcher = real.watch(path, options, listener);
    begun.push({ path, watcher, persistent: options.persistent });
    return watcher;
  };
  return { ...real, watch };
});

beforeEach(() => {
  begun.length = 0;
});

function opened(root: string, calmMs = 0): ChokidarWatch {
  const watch = new ChokidarWatch(root, calmMs);
  onTestFinished(() => watch.close());
  return watch;
}

/** What a look asks of the watch, for a look that lists these folders. */
async function look(watch: ChokidarWatch, root: string, ...folders: string[]): Promise<Hints | undefined> {
  const settled = await watch.settle();
  const hints = watch.take();
  for (const folder of folders) {
    const id = idOf(join(root, folder));
    if (id !== undefined) watch.follow(folder, id);
  }
  return settled && watch.working && !hints.everything ? hints : undefined;
}

async function calm(watch: ChokidarWatch, root: string, ...folders: string[]): Promise<void> {
  await vi.waitFor(async () => expect(await look(watch, root, ...folders)).toBeDefined(), { timeout: 5_000 });
}

describe("the watch for a workspace", () => {
  test("[W7] is chosen by platform and file system", () => {
    const root = temporaryFolder();
    const { platform } = process;
    onTestFinished(() => {
      Object.defineProperty(process, "platform", { value: platform });
    });
    const startOn = (name: string, place: string) => {
      Object.defineProperty(process, "platform", { value: name });
      const watch = startWatch(place);
      onTestFinished(() => watch?.close());
      return watch;
    };
    expect(startOn("linux", root)).toBeInstanceOf(FolderWatch);
    expect(startOn("linux", "/proc")).toBeUndefined();
    expect(startOn("darwin", root)).toBeInstanceOf(ChokidarWatch);
    expect(startOn("win32", root)).toBeInstanceOf(ChokidarWatch);
  });
});

describe("watching by chokidar", () => {
  test("[W7] hints name the folder and what came or went in it", async () => {
    const root = temporaryFolder();
    write(root, { "a/x": "x", "b~/y": "y" });
    const watch = opened(root);
    await calm(watch, root, "", "a", "b~");
    write(root, { "b~/new": "n" });
    writeFileSync(join(root, "a/x"), "more");
    const hints = await look(watch, root);
    expect(hints?.folders).toEqual(
      new Map([
        ["a", new Set()],
        ["b~", new Set(["new"])],
      ]),
    );
    expect((await look(watch, root))?.folders).toEqual(new Map());
  });

  test("[W7] a folder that comes, goes, is renamed or replaced leads to sweeps until it is followed", async () => {
    const root = temporaryFolder();
    write(root, { "a/x": "x", "b/y": "y" });
    const watch = opened(root);
    await calm(watch, root, "", "a", "b");
    const changes = [
      () => mkdirSync(join(root, "c")),
      () => renameSync(join(root, "c"), join(root, "d")),
      () => rmSync(join(root, "d"), { recursive: true }),
      () => {
        renameSync(join(root, "a"), join(root, "e"));
        renameSync(join(root, "b"), join(root, "a"));
      },
    ];
    for (const change of changes) {
      change();
      expect(await look(watch, root, "", "a", "b", "c", "d", "e")).toBeUndefined();
      await calm(watch, root, "", "a", "b", "c", "d", "e");
    }
    writeFileSync(join(root, "a/y"), "more");
    writeFileSync(join(root, "e/x"), "more");
    expect((await look(watch, root))?.folders).toEqual(
      new Map([
        ["a", new Set()],
        ["e", new Set()],
      ]),
    );
  });

  test("[W7] a sweep shortly after a folder came is not built upon", async () => {
    const root = temporaryFolder();
    const watch = opened(root, 300);
    await calm(watch, root, "");
    mkdirSync(join(root, "a"));
    await quiet();
    for (let i = 0; i < 3; i += 1) expect(await look(watch, root, "", "a")).toBeUndefined();
    await calm(watch, root, "", "a");
  });

  test("[W7] another watch of the process leads to a sweep, because they share what hears on macOS", async () => {
    const root = temporaryFolder();
    const watch = opened(root);
    await calm(watch, root, "");
    const other = opened(temporaryFolder());
    expect(await look(watch, root, "")).toBeUndefined();
    await vi.waitFor(async () => expect(await other.settle()).toBe(true));
    await look(watch, root, "");
    await calm(watch, root, "");
    other.close();
    expect(await look(watch, root, "")).toBeUndefined();
  });

  test("[W7] heavy folders are not followed, unless a look goes into them", async () => {
    const root = temporaryFolder();
    write(root, { "node_modules/a/x": "x", "node_modules/b/y": "y", ".git/HEAD": "h" });
    const watch = opened(root);
    await calm(watch, root, "");
    expect(begun.map(({ path }) => path).filter((path) => path.startsWith(join(root, "")))).toEqual([root]);
    await look(watch, root, "", "node_modules", "node_modules/a");
    await calm(watch, root, "", "node_modules", "node_modules/a");
    writeFileSync(join(root, "node_modules/a/x"), "more");
    expect((await look(watch, root))?.folders).toEqual(new Map([["node_modules/a", new Set()]]));
  });

  test("[W7] an error of a watch ends the hints and not the process", async () => {
    const folder = await Folder.open({ "a/x": "x" }, { start: opened });
    await folder.sync();
    await vi.waitFor(() => expect(begun).toHaveLength(3));
    const failing = begun.find(({ path }) => path === folder.place("a"))?.watcher;
    const broken = vi.fn();
    folder.write({ "a/x": "changed" });
    failing?.on("close", broken);
    failing?.emit("error", new TypeError("too many open files"));
    expect(await folder.sync()).toEqual({ "a/x": "file → file" });
    expect(broken).toHaveBeenCalled();
    folder.write({ "a/y": "new" });
    expect(await folder.sync()).toEqual({ "a/y": "absent → file" });
  });

  test("[W7] the error that Windows raises for a deleted folder costs a sweep, not the hints", async () => {
    const root = temporaryFolder();
    write(root, { "a/x": "x" });
    const watch = opened(root);
    await calm(watch, root, "", "a");
    const failing = begun.find(({ path }) => path === join(root, "a"))?.watcher;
    rmSync(join(root, "a"), { recursive: true });
    failing?.emit("error", Object.assign(new TypeError("denied"), { code: "EPERM", syscall: "watch" }));
    expect(await look(watch, root, "")).toBeUndefined();
    expect(watch.working).toBe(true);
    await calm(watch, root, "");
  });

  test("[W7] without its place for cookies it sweeps, and gets another one", async () => {
    const root = temporaryFolder();
    const watch = opened(root);
    await calm(watch, root, "");
    const cookies = begun.find(({ path }) => path !== root)?.path as string;
    rmSync(cookies, { recursive: true });
    expect(await look(watch, root, "")).toBeUndefined();
    await calm(watch, root, "");
    expect(begun.at(-1)?.path).not.toBe(cookies);
  });

  test("[W7] a root that chokidar cannot name, or in which cookies would lie, is swept", async () => {
    const odd = join(temporaryFolder(), "a\\b");
    mkdirSync(odd);
    expect(opened(odd).working).toBe(false);
    const root = temporaryFolder();
    vi.stubEnv("TMPDIR", root);
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    expect(opened(root).working).toBe(false);
    vi.stubEnv("TMPDIR", join(root, "none"));
    expect(opened(temporaryFolder("/tmp")).working).toBe(false);
  });

  test("[W7] it keeps no process alive, and closes with nothing left", async () => {
    const root = temporaryFolder();
    write(root, { "a/x": "x" });
    const watch = opened(root);
    await calm(watch, root, "", "a");
    expect(begun.map(({ persistent }) => persistent)).not.toContain(true);
    const closed = begun.map(({ watcher }) => new Promise((resolve) => watcher.on("close", resolve)));
    watch.close();
    await Promise.all(closed);
    expect(await watch.settle()).toBe(false);
    const early = opened(root);
    early.close();
    await quiet();
    expect(begun).toHaveLength(closed.length);
  });
});
