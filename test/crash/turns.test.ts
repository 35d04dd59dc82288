/**
 * An agent's process is killed at every step of a turn. What it wrote stays, the run is settled as abandoned, the head
 * goes back to what can stand, and the next turn is as exact as any.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Conversation } from "../../src/store/surface.js";
import { dump } from "../builders/database.js";
import { shell, writeFiles } from "../builders/disk.js";
import { bundleChild, Ground, removeBundle } from "./ground.js";
import { at, marksFollowHeads, nothingIsLeft, pathOf } from "./laws.js";
import { play } from "./story.js";

beforeAll(bundleChild);
afterAll(removeBundle);

const story = "u0 a0 u1 a1 u2 a2 u3 a3";
/** What of the turn can stand: a call without its result cannot. */
const ends = ["", " u9", " u9 c9 r9", " u9 c9 r9 a9"];

/** The next turn, and a rewind of it: the files are byte for byte what they were when it began. */
async function goOn(ground: Ground, chat: Conversation): Promise<void> {
  const before = ground.files();
  const turn = await chat.beginTurn({ role: "user", id: "u10", content: "go on" });
  writeFiles(ground.root, { "text.txt": "u10\n", "made/u10.txt": "u10\n", "announced.txt": "u10\n" });
  shell(ground.root, "rm -f bin.dat; chmod 600 script.sh");
  await turn.end();
  await chat.rewindTo("u10");
  expect(ground.files(), "the next turn is exact").toEqual(before);
}

test("[T2] F44 C63 a turn, killed at any step, leaves what it wrote and a conversation that can stand", async () => {
  const ground = new Ground();
  const { before } = await play(ground);
  const restore = ground.save();
  const had = ground.bytes();
  const seen = new Set<string>();
  const points = await ground.killEverywhere(restore, { verb: "turn" }, (place) =>
    at(place, async () => {
      const left = ground.files();
      let isWhole = false;
      await ground.with(async (chat) => {
        await marksFollowHeads(chat);
        const path = await pathOf(chat);
        const end = path.slice(story.length);
        expect(path.startsWith(story) && ends.includes(end), path).toBe(true);
        seen.add(end);
        const [run] = (await chat.runs()).slice(-1);
        isWhole = end !== "" && run?.status === "completed";
        if (end !== "" && !isWhole) expect(run?.status).toBe("abandoned");
      });
      expect(ground.files(), "recovery touches no file of a turn").toEqual(left);
      nothingIsLeft(ground, had);
      const once = ground.everything();
      await ground.with(async (chat) => {
        expect(ground.everything(), "opening again changes nothing").toEqual(once);
        await goOn(ground, chat);
        if (!(await pathOf(chat)).includes("u9")) return;
        // Of a turn that was killed, what cannot be told to be its own is left; nothing that was there is lost.
        const kept = ground.bytes();
        await chat.rewindTo("u9", { onConflict: "keep" });
        if (isWhole) expect(ground.files(), "a turn that ended is taken back exactly").toEqual(before);
        nothingIsLeft(ground, kept);
        await chat.undo({ onConflict: "keep" });
        expect(ground.files(), "and the rewind of it can be undone").toEqual(left);
      });
      expect(dump(ground.file).intents).toEqual([]);
    }),
  );
  expect([...seen].sort()).toEqual([...ends].sort());
  expect(points.filter((point) => point === "commit:before").length).toBeGreaterThan(10);
}, 900_000);
