/**
 * Watching folders, for hints where to look. Each folder is followed from just before it is listed, so nothing that
 * happens in it after the listing goes unheard; what is heard is only ever a reason to look, never a finding.
 *
 *     events in the kernel's one queue:   … a/x   b   cookie │ later ones
 *     `settle` writes a cookie of its own and waits for it: ──┘ all that happened before has been heard by then
 *
 * That holds for Linux and local file systems, and for all changes but those made through a memory map alone, of which the
 * kernel tells nobody: the next sweep finds them. Elsewhere, after an error, with too many events for the kernel's queue, or
 * if the cookie does not come, there are no hints, and the whole tree is swept.
 */
import { type FSWatcher, mkdtempSync, rmSync, statfsSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { isErrno, systemCode } from "../errno.js";
import { parentOf } from "../paths.js";
import { ruleFiles } from "../rules/coverage.js";

/** Where to look: folders in which something happened, with the names that came, went or were replaced. */
export interface Hints {
  folders: Map<string, Set<string>>;
  /** Something happened after which only a look at everything is enough. */
  everything: boolean;
}

/** ext, xfs, btrfs, tmpfs, overlay, f2fs, zfs: changes go through this kernel, and it tells of them. */
const localFileSystems = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1]);
/** The kernel drops events beyond 16,384 that were not fetched; two stretches of this many stay well below. */
const mostEvents = 4_096;
const cookieMs = 1_000;

/** The folders of one workspace that are followed. */
export class Watch {
  readonly #root: string;
  readonly #followed = new Map<string, { watcher: FSWatcher; inode: number }>();
  #hints: Hints = { folders: new Map(), everything: false };
  #events = 0;
  #working: boolean;

  constructor(root: string) {
    this.#root = root;
    this.#working = process.platform === "linux" && localFileSystems.has(statfsSync(root).type);
  }

  /** Whether hints can be had at all. */
  get working(): boolean {
    return this.#working;
  }

  /** Whether this folder, and not another of the same name, is followed. */
  follows(directory: string, inode: number): boolean {
    return this.#followed.get(directory)?.inode === inode;
  }

  /** Follows a folder from now on, afresh: a name may stand for another folder than before. */
  follow(directory: string, inode: number): void {
    if (!this.#working) return;
    this.#leave(directory);
    try {
      const watcher = watch(join(this.#root, directory), { persistent: false }, (event, name) =>
        this.#hear(directory, event, name),
      );
      watcher.on("error", () => this.#fail());
      this.#followed.set(directory, { watcher, inode });
    } catch (error) {
      // A folder that is gone or closed to us is for the sweep to judge; too many watches are the end of watching.
      if (isErrno(error, "ENOENT", "ENOTDIR", "EACCES", "EPERM")) return;
      if (systemCode(error) === undefined) throw error;
      this.#fail();
    }
  }

  /** Stops following a folder and all below it. */
  unfollow(directory: string): void {
    for (const path of [...this.#followed.keys()]) {
      if (path === directory || path.startsWith(`${directory}/`)) this.#leave(path);
    }
  }

  /** Waits until everything that has happened up to now was heard; false if that cannot be told. */
  async settle(): Promise<boolean> {
    if (!this.#working) return false;
    let folder: string | undefined;
    try {
      folder = mkdtempSync(join(tmpdir(), "retcon-cookie-"));
      return await this.#cookie(folder);
    } catch (error) {
      // Without a place for a cookie, or a watch on it, nothing can be told of what was heard.
      if (systemCode(error) === undefined) throw error;
      return false;
    } finally {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    }
  }

  /** Hands over the hints heard since the last time. */
  take(): Hints {
    const hints = this.#hints;
    if (this.#events > mostEvents) hints.everything = true;
    this.#hints = { folders: new Map(), everything: false };
    this.#events = 0;
    return hints;
  }

  /** Stops watching. */
  close(): void {
    for (const path of [...this.#followed.keys()]) this.#leave(path);
    this.#working = false;
  }

  #cookie(folder: string): Promise<boolean> {
    return new Promise((resolve) => {
      const watcher = watch(folder, { persistent: false }, () => settled(true));
      const timer = setTimeout(() => settled(false), cookieMs);
      const settled = (heard: boolean) => {
        clearTimeout(timer);
        watcher.close();
        resolve(heard);
      };
      watcher.on("error", () => settled(false));
      writeFileSync(join(folder, "cookie"), "");
    });
  }

  #hear(directory: string, event: string, name: string | null): void {
    this.#events += 1;
    if (name === null || ruleFiles.includes(name)) this.#hints.everything = true;
    else this.#mark(directory, event === "rename" ? name : undefined);
    // An event of the folder itself carries the folder's own name, and may be the last that this watch tells.
    if (event === "rename" && name === basename(join(this.#root, directory))) {
      if (directory === "") this.#hints.everything = true;
      else this.#mark(parentOf(directory), name);
    }
  }

  #mark(directory: string, renamed: string | undefined): void {
    const names = this.#hints.folders.get(directory) ?? new Set();
    if (renamed !== undefined) names.add(renamed);
    this.#hints.folders.set(directory, names);
  }

  #leave(directory: string): void {
    this.#followed.get(directory)?.watcher.close();
    this.#followed.delete(directory);
  }

  #fail(): void {
    this.close();
  }
}

/** Whether a path's own folder, as hinted, names it among what came or went. */
export function wasRenamed(hints: Hints, path: string): boolean {
  return hints.folders.get(parentOf(path))?.has(path.slice(path.lastIndexOf("/") + 1)) ?? false;
}

/** Joins two sets of hints. */
export function joinHints(a: Hints, b: Hints): Hints {
  const folders = new Map([...a.folders].map(([directory, names]) => [directory, new Set(names)]));
  for (const [directory, names] of b.folders) {
    folders.set(directory, new Set([...(folders.get(directory) ?? []), ...names]));
  }
  return { folders, everything: a.everything || b.everything };
}
