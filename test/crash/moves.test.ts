/**
 * A process is killed at every step of every move. Whoever opens the store next finds it wholly done or wholly undone.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Conversation } from "../../src/store/surface.js";
import type { Job } from "./child.js";
import { bundleChild, Ground, removeBundle } from "./ground.js";
import { at, marksFollowHeads, nothingIsLeft, pathOf } from "./laws.js";
import { type Head, headOf, play } from "./story.js";

beforeAll(bundleChild);
afterAll(removeBundle);

interface Scenario {
  /** What is done first, undisturbed. */
  first?(chat: Conversation): Promise<unknown>;
  job: Job;
  /** Every how many steps the process is killed; every one if left out. */
  stride?: number;
  from: Head;
  to: Head;
  /** The operation again, and the way back from it. */
  again(chat: Conversation): Promise<unknown>;
  back(chat: Conversation): Promise<unknown>;
}

const scenarios: Record<string, Scenario> = {
  "[O4] F144 a rewind": {
    job: { verb: "rewind", id: "u1" },
    from: "before",
    to: "after",
    again: (chat) => chat.rewindTo("u1"),
    back: (chat) => chat.undo(),
  },
  "[O6] F144 an undo": {
    first: (chat) => chat.rewindTo("u1"),
    job: { verb: "undo" },
    from: "after",
    to: "before",
    again: (chat) => chat.undo(),
    back: (chat) => chat.redo(),
  },
  "[B1] C63 a rewind inside its transactions": {
    job: { verb: "rewind", id: "u1", inside: true },
    stride: 25,
    from: "before",
    to: "after",
    again: (chat) => chat.rewindTo("u1"),
    back: (chat) => chat.undo(),
  },
  "[L5] F144 a switch": {
    first: (chat) => chat.rewindTo("u1"),
    job: { verb: "switch", branch: "side" },
    from: "after",
    to: "side",
    again: (chat) => chat.switchBranch("side"),
    back: (chat) => chat.switchBranch("main"),
  },
};

test.each(Object.entries(scenarios))(
  "%s, killed at any step, is done or undone",
  async (_name, scenario) => {
    const ground = new Ground();
    const files = await play(ground);
    if (scenario.first !== undefined) await ground.with(scenario.first);
    const had = ground.bytes();
    const seen = { from: 0, to: 0 };
    const check = async () => {
      const head = await ground.with(async (chat) => {
        await marksFollowHeads(chat);
        return headOf(await pathOf(chat));
      });
      const end = head === scenario.to ? "to" : "from";
      expect(head).toBe(scenario[end]);
      expect(ground.files(), "the folder is what the head implies").toEqual(files[head]);
      nothingIsLeft(ground, had);
      seen[end] += 1;
      const once = ground.everything();
      await ground.with(async (chat) => {
        expect(ground.everything(), "opening again changes nothing").toEqual(once);
        await (end === "to" ? scenario.back(chat) : scenario.again(chat));
        await marksFollowHeads(chat);
      });
      expect(ground.files(), "and it can go on").toEqual(files[end === "to" ? scenario.from : scenario.to]);
    };
    const { job, stride } = scenario;
    const points = await ground.killEverywhere(ground.save(), job, (place) => at(place, check), stride);
    expect(seen.from).toBeGreaterThan(0);
    expect(seen.to).toBeGreaterThan(2);
    expect(points).toEqual(expect.arrayContaining(["move:intended", "apply:renamed", "move:settle", "move:settled"]));
  },
  900_000,
);
