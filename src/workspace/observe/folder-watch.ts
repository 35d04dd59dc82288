/**
 * Watching folders one by one. Each folder is followed from just before it is listed, so nothing that happens in it after
 * the listing goes unheard, however large the tree is and however new the folder.
 *
 *     events in the kernel's one queue:   … a/x   b   cookie │ later ones
 *     `settle` writes a cookie of its own and waits for it: ──┘ all that happened before has been heard by then
 *
 * That holds for Linux and local file systems, and for all changes but those made through a memory map alone, of which the
 * kernel tells nobody: the next sweep finds them. After an error, with too many events for the kernel's queue, or if the
 * cookie does not come, there are no hints, and the whole tree is swept.
 */
import { type FSWatcher, mkdtempSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { isErrno, systemCode } from "../errno.js";
import { cookieMs, discard } from "./cookies.js";
import type { FolderId } from "./folder-id.js";
import { Heard, type Hints, type Watch } from "./hints.js";

/** Follows each folder that a look lists, by a watch of its own. */
export class FolderWatch implements Watch {
  readonly #root: string;
  readonly #followed = new Map<string, { watcher: FSWatcher; inode: number }>();
  readonly #heard = new Heard();
  #working = true;

  constructor(root: string) {
    this.#root = root;
  }

  get working(): boolean {
    return this.#working;
  }

  follows(directory: string, id: FolderId): boolean {
    return this.#followed.get(directory)?.inode === id.ino;
  }

  /** Follows a folder from now on, afresh: a name may stand for another folder than before. */
  follow(directory: string, id: FolderId): void {
    if (!this.#working) return;
    this.#leave(directory);
    try {
      const own = basename(join(this.#root, directory));
      const watcher = watch(join(this.#root, directory), { persistent: false }, (event, name) =>
        this.#heard.hear(directory, own, event, name),
      );
      watcher.on("error", () => this.close());
      this.#followed.set(directory, { watcher, inode: id.ino });
    } catch (error) {
      // A folder that is gone or closed to us is for the sweep to judge; too many watches are the end of watching.
      if (isErrno(error, "ENOENT", "ENOTDIR", "EACCES", "EPERM")) return;
      if (systemCode(error) === undefined) throw error;
      this.close();
    }
  }

  unfollow(directory: string): void {
    for (const path of [...this.#followed.keys()]) {
      if (path === directory || path.startsWith(`${directory}/`)) this.#leave(path);
    }
  }

  async settle(): Promise<boolean> {
    if (!this.#working) return false;
    let folder: string | undefined;
    try {
      folder = mkdtempSync(join(tmpdir(), "retcon-cookie-"));
      return await cookieIn(folder);
    } catch (error) {
      // Without a place for a cookie, or a watch on it, nothing can be told of what was heard.
      if (systemCode(error) === undefined) throw error;
      return false;
    } finally {
      if (folder !== undefined) discard(folder);
    }
  }

  take(): Hints {
    return this.#heard.take();
  }

  close(): void {
    for (const path of [...this.#followed.keys()]) this.#leave(path);
    this.#working = false;
  }

  #leave(directory: string): void {
    this.#followed.get(directory)?.watcher.close();
    this.#followed.delete(directory);
  }
}

function cookieIn(folder: string): Promise<boolean> {
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
