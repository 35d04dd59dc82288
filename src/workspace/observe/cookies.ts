/**
 * Cookies: files of our own whose events prove that all earlier events are in, because events come in order.
 *
 *     change a/x   change b   write cookie ─► heard: a/x, b, cookie: nothing before the cookie is still on its way
 */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemCode } from "../errno.js";

/** How long a cookie is waited for. */
export const cookieMs = 1_000;

/** A private folder for cookies, which the watch that is to be asked follows too. */
export class Cookies {
  readonly folder: string;
  #number = 0;
  #awaited: { name: string; heard: () => void } | undefined;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Makes the folder; undefined where there is no place for it. */
  static open(): Cookies | undefined {
    try {
      return new Cookies(realpathSync(mkdtempSync(join(tmpdir(), "retcon-cookies-"))));
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      return undefined;
    }
  }

  /** Writes a cookie and waits for its event; false if it does not come, undefined if it cannot be written. */
  async ask(): Promise<boolean | undefined> {
    this.#number += 1;
    const name = `cookie-${this.#number}`;
    let timer: NodeJS.Timeout | undefined;
    try {
      const heard = new Promise<boolean>((resolve) => {
        timer = setTimeout(() => resolve(false), cookieMs);
        this.#awaited = { name, heard: () => resolve(true) };
      });
      await writeFile(join(this.folder, name), "");
      return await heard;
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      return undefined;
    } finally {
      clearTimeout(timer);
      this.#awaited = undefined;
      discard(join(this.folder, name));
    }
  }

  /** Takes in an event of the folder. */
  hear(name: string | null): void {
    if (this.#awaited !== undefined && name === this.#awaited.name) this.#awaited.heard();
  }

  /** Removes the folder. */
  close(): void {
    discard(this.folder);
  }
}

/** Removes a cookie, or the folder of them; where that is refused, one small thing stays in the temporary folder. */
export function discard(place: string): void {
  try {
    rmSync(place, { recursive: true, force: true });
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
  }
}
