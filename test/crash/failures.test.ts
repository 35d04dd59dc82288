/**
 * The file system refuses a step in the middle of a restore, while the process lives: at whichever step that happens, the
 * call fails, and everything is as it was. The refusal is injected; the folder and the database are real.
 */
import { expect, test } from "vitest";
import { openSqlite } from "../../src/backends/sqlite/index.js";
import type { Store } from "../../src/store/surface.js";
import { createFiles } from "../../src/workspace/files.js";
import { refusal } from "../builders/codes.js";
import { compose } from "../builders/compose.js";
import { Ground } from "./ground.js";
import { at, nothingIsLeft, pathOf } from "./laws.js";
import { headOf, play } from "./story.js";

/** Fails like a full disk at the n-th step from now; later steps work again. */
class Disk {
  private left = 0;
  steps: string[] = [];

  failAt(step: number): void {
    this.left = step;
    this.steps = [];
  }

  readonly probe = (step: string): void => {
    this.steps.push(step);
    this.left -= 1;
    if (this.left === 0) throw Object.assign(new RangeError(`no space at ${step}`), { code: "ENOSPC", syscall: step });
  };
}

async function openOn(disk: Disk, file: string): Promise<Store> {
  return compose({
    backend: await openSqlite({ file }),
    openFiles: (root, options) => createFiles(root, { ...options, watch: false }, disk.probe),
  });
}

test("[L7] F145 a step that the file system refuses takes every other step back", async () => {
  const ground = new Ground({ forks: false });
  const files = await play(ground);
  const had = ground.bytes();
  const disk = new Disk();
  const store = await openOn(disk, ground.file);
  const chat = await store.conversation("chat");
  disk.failAt(0);
  await chat.rewindTo("u1");
  const steps = [...disk.steps];
  await chat.undo();
  expect(ground.files()).toEqual(files.before);
  const { rewindCount } = await chat.record();
  for (let step = 1; step <= steps.length; step += 1) {
    // What has happened cannot be refused.
    if (steps[step - 1] === "apply:renamed") continue;
    await at(`${step} of ${steps.length}, ${steps[step - 1]}`, async () => {
      disk.failAt(step);
      const error = await refusal(chat.rewindTo("u1"));
      expect(error).toMatchObject({ code: "restore_failed", data: { rolledBack: true } });
      expect(ground.files()).toEqual(files.before);
      expect(headOf(await pathOf(chat))).toBe("before");
      expect((await chat.record()).rewindCount).toBe(rewindCount);
      nothingIsLeft(ground, had);
    });
  }
  disk.failAt(0);
  await chat.rewindTo("u1");
  expect(ground.files(), "and afterwards it works").toEqual(files.after);
  await store.close();
}, 300_000);
