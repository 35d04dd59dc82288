/**
 * The single steps of a restore on disk. Content is written beside its target under a temporary name, flushed, and then
 * renamed over it, so that at every moment the path is the old state or the new one.
 *
 *     .retcon-<token>-<n>.tmp:  open exclusively (0600) ─ write ─ chmod ─ fsync ─ look at the target again ─ rename
 *
 * `probe` is told of every step before it happens; a crash test stops there.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { ifPresent, isErrno, systemCode } from "./errno.js";
import { blockedParent, isTemporaryOf, parentOf, temporaryName } from "./paths.js";

/** Told of each step that changes the disk, just before it. */
export type Probe = (point: string) => void;

/** An edit that cannot be made, with the reason; not an error of the program. */
export class EditRefused {
  readonly reason: string;
  readonly result: "failed" | "changed" | "kept";

  constructor(reason: string, result: "failed" | "changed" | "kept" = "failed") {
    this.reason = reason;
    this.result = result;
  }
}

/** Makes the steps of one restore, and remembers which folders are to be flushed. */
export class Editor {
  readonly #root: string;
  readonly #token: string;
  readonly #probe: Probe;
  readonly #flush = new Set<string>();
  #count = 0;

  constructor(root: string, token: string, probe: Probe) {
    this.#root = root;
    this.#token = token;
    this.#probe = probe;
  }

  /** Puts a file in place. `check` runs last before the rename and throws if the target must not be replaced. */
  async file(path: string, bytes: Uint8Array, mode: number, check: () => Promise<void>): Promise<void> {
    await this.#viaTemporary(path, check, (temporary) => {
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
      const fd = openSync(temporary, flags, 0o600);
      try {
        this.#probe("apply:write");
        for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
        this.#probe("apply:chmod");
        fchmodSync(fd, mode);
        this.#probe("apply:fsync");
        fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
    });
  }

  /** Puts a symbolic link in place. */
  async symlink(path: string, target: string, check: () => Promise<void>): Promise<void> {
    await this.#viaTemporary(path, check, (temporary) => symlinkSync(target, temporary));
  }

  /** Makes a directory that can be filled; its exact mode is set when everything in it is done. */
  directory(path: string, mode: number): void {
    this.#requireParent(path);
    this.#probe("apply:mkdir");
    mkdirSync(join(this.#root, path), { mode: mode | 0o700 });
    this.#flush.add(parentOf(path));
  }

  /** Sets the mode of a file or directory. */
  mode(path: string, mode: number): void {
    this.#requireParent(path);
    this.#probe("apply:mode");
    chmodSync(join(this.#root, path), mode);
    this.#flush.add(parentOf(path));
  }

  /** Removes a file or link. */
  unlink(path: string): void {
    this.#requireParent(path);
    this.#probe("apply:unlink");
    unlinkSync(join(this.#root, path));
    this.#flush.add(parentOf(path));
  }

  /** Removes a directory that is empty. */
  rmdir(path: string): void {
    this.#requireParent(path);
    this.#probe("apply:rmdir");
    try {
      rmdirSync(join(this.#root, path));
    } catch (error) {
      if (isErrno(error, "ENOTEMPTY", "EEXIST")) throw new EditRefused("not_empty", "kept");
      throw error;
    }
    this.#flush.add(parentOf(path));
  }

  /** Flushes the folders in which something was made or removed; returns those that could not be, with the reason. */
  flush(): Map<string, string> {
    const failed = new Map<string, string>();
    for (const directory of this.#flush) {
      const reason = flushFolder(join(this.#root, directory), this.#probe);
      if (reason !== undefined) failed.set(directory, reason);
    }
    this.#flush.clear();
    return failed;
  }

  /** Removes what a dead process left beside a path under this restore's token. */
  sweepLeftovers(directory: string): void {
    if (directory !== "" && blockedParent(this.#root, `${directory}/x`) !== undefined) return;
    const names = ifPresent(() => readdirSync(join(this.#root, directory))) ?? [];
    for (const name of names) {
      if (!isTemporaryOf(this.#token, name)) continue;
      this.#probe("apply:leftover");
      ifPresent(() => unlinkSync(join(this.#root, directory, name)));
    }
  }

  async #viaTemporary(path: string, check: () => Promise<void>, make: (temporary: string) => void): Promise<void> {
    const place = join(this.#root, path);
    this.#requireParent(path);
    this.#count += 1;
    const temporary = join(dirname(place), temporaryName(this.#token, this.#count));
    this.#probe("apply:temp");
    try {
      make(temporary);
      await check();
      this.#requireParent(path);
      this.#probe("apply:rename");
      renameSync(temporary, place);
      this.#probe("apply:renamed");
    } catch (error) {
      // What else is thrown here is a crash under test, which cleans nothing up.
      if (error instanceof EditRefused || systemCode(error) !== undefined) removeTemporary(temporary);
      throw error;
    }
    this.#flush.add(parentOf(path));
  }

  #requireParent(path: string): void {
    const blocked = blockedParent(this.#root, path);
    if (blocked !== undefined) throw new EditRefused(blocked);
  }
}

function removeTemporary(temporary: string): void {
  if (lstatSync(temporary, { throwIfNoEntry: false }) !== undefined) unlinkSync(temporary);
}

function flushFolder(place: string, probe: Probe): string | undefined {
  try {
    probe("apply:fsync-folder");
    const fd = openSync(place, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_DIRECTORY ?? 0));
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    return undefined;
  } catch (error) {
    // A folder that is none any more, or may be written but not opened, or that this platform cannot flush, needs none.
    if (isErrno(error, "ENOENT", "ENOTDIR", "ELOOP", "EACCES", "EPERM", "EISDIR", "EINVAL")) return undefined;
    const code = systemCode(error);
    if (code === undefined) throw error;
    return code.toLowerCase();
  }
}
