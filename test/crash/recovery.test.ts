/**
 * A restore that a dead process left unfinished is finished by whoever comes next, who may die at it too. What somebody
 * saved meanwhile is left; where an edit has become impossible, all is taken back.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RewindOptions } from "../../src/core/model.js";
import { damage, dump } from "../builders/database.js";
import { bundleChild, Ground, removeBundle } from "./ground.js";
import { at, marksFollowHeads, nothingIsLeft, pathOf } from "./laws.js";
import { headOf, play } from "./story.js";

beforeAll(bundleChild);
afterAll(removeBundle);

const rewind = (options?: RewindOptions) => ({ verb: "rewind", id: "u1", options }) as const;

/** The story with a rewind that was killed at the n-th step of a name (from the end if negative). */
async function killed(step: string, nth: number, options?: RewindOptions) {
  const ground = new Ground();
  const files = await play(ground);
  const restore = ground.save();
  const { points } = (await ground.run(rewind(options), 0)) ?? { points: [] };
  const places = points.flatMap((point, i) => (point === step ? [i + 1] : []));
  restore();
  expect(await ground.run(rewind(options), places.at(nth) as number), "the process was killed").toBeUndefined();
  expect(dump(ground.file).intents, "in the middle of the operation").toHaveLength(1);
  return { ground, files };
}

test("[O5] a recovery that is killed at any step is recovered in its turn", async () => {
  const { ground, files } = await killed("apply:fsync", 2);
  const had = ground.bytes();
  const points = await ground.killEverywhere(ground.save(), { verb: "open" }, (place) =>
    at(place, async () => {
      await ground.with(async (chat) => {
        await marksFollowHeads(chat);
        expect(headOf(await pathOf(chat))).toBe("after");
        expect(ground.files()).toEqual(files.after);
        nothingIsLeft(ground, had);
        const once = ground.everything();
        await ground.with(async (again) => void (await again.record()));
        expect(ground.everything(), "opening again changes nothing").toEqual(once);
      });
    }),
  );
  expect(points.filter((point) => point.startsWith("recover:"))).toEqual(["recover:apply", "recover:settle"]);
}, 900_000);

test("[O5] one that has to take everything back can be killed at any step as well", async () => {
  const { ground, files } = await killed("apply:rename", -1);
  const had = ground.bytes();
  // A folder that a file is still to be put into becomes a file.
  const impossible = "dir/sub";
  rmSync(join(ground.root, impossible), { recursive: true, force: true });
  writeFileSync(join(ground.root, impossible), "somebody's\n");
  const points = await ground.killEverywhere(ground.save(), { verb: "open" }, (place) =>
    at(place, async () => {
      await ground.with(async (chat) => {
        expect(headOf(await pathOf(chat))).toBe("before");
        await marksFollowHeads(chat);
      });
      const { dir, [impossible]: left, ...rest } = ground.files();
      expect([dir, left]).toEqual(["folder 755", "file 644 somebody's\n"]);
      expect(rest, "everything else is as it was before the rewind").toEqual(files.before);
      nothingIsLeft(ground, had);
    }),
  );
  expect(points).toContain("rollback:apply");
}, 900_000);

test("[O5] F144 a path that somebody saved between the kill and the restart is left, and listed", async () => {
  const { ground, files } = await killed("move:intended", 0);
  writeFileSync(join(ground.root, "bin.dat"), "saved by a person\n");
  mkdirSync(join(ground.root, "from.txt"));
  await ground.with(async (chat) => {
    expect(headOf(await pathOf(chat))).toBe("after");
    const saved = { "bin.dat": "file 644 saved by a person\n", "from.txt": "folder 755" };
    expect(ground.files(), "the others are restored").toEqual({ ...files.after, ...saved });
    const [operation] = await chat.operations({ limit: 1 });
    expect(operation).toMatchObject({
      kind: "rewind",
      summary: {
        left: [
          { path: "bin.dat", reason: "changed" },
          { path: "from.txt", reason: "changed" },
        ],
      },
    });
    await chat.undo({ onConflict: "keep" });
    expect(readFileSync(join(ground.root, "bin.dat"), "utf8"), "undo leaves it as well").toBe("saved by a person\n");
    expect(headOf(await pathOf(chat))).toBe("before");
  });
});

test("[O5] F144 an edit that has become impossible takes the whole operation back", async () => {
  const { ground, files } = await killed("apply:rename", 1);
  // The stored content of a file that is still to be written is damaged.
  damage(ground.file, "update blobs set data = x'00' where data = cast('x' || char(10) as blob)");
  await ground.with(async (chat) => {
    expect(headOf(await pathOf(chat))).toBe("before");
    expect(ground.files()).toEqual(files.before);
    expect(String(dump(ground.file).operations?.at(-1))).toContain('"kind":"rollback"');
  });
});

test("[O3] the request of a rewind that a dead process left returns what the rewind did", async () => {
  const { ground, files } = await killed("apply:rename", 2, { requestId: "once" });
  await ground.with(async (chat) => {
    const { version } = await chat.record();
    const result = await chat.rewindTo("u1", { requestId: "once" });
    expect(result).toMatchObject({ userText: "text of u1", version, operationId: String(version), newHeadId: "a0" });
    expect(result.restoredPaths).toContain("bin.dat");
    expect(await chat.result("once")).toEqual(result);
    expect((await chat.record()).version, "and writes nothing").toBe(version);
    expect(ground.files()).toEqual(files.after);
  });
});

test("[O3] and tells of the paths that somebody saved meanwhile", async () => {
  const { ground } = await killed("move:intended", 0, { requestId: "once" });
  writeFileSync(join(ground.root, "bin.dat"), "saved by a person\n");
  await ground.with(async (chat) => {
    const result = await chat.rewindTo("u1", { requestId: "once" });
    expect(result.files).toContainEqual({ path: "bin.dat", outcome: "failed", reason: "changed" });
    expect(result.errors).toEqual([{ path: "bin.dat", code: "restore_failed", message: "bin.dat: changed" }]);
    expect(result.restoredPaths).not.toContain("bin.dat");
  });
});
