/**
 * Two conversations and a person on one folder, in random histories: after every step each conversation's lines are those
 * that its path implies and each line of the person's is the latest. A model keeps the lines by slot (line-model.ts), the
 * store does it on a real folder and a real database (line-world.ts).
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkContent, checkImplied, checkLaws } from "./line-laws.js";
import { resume, rewind } from "./line-moves.js";
import { Player, type Sight, type Step, script } from "./line-script.js";
import { World } from "./line-world.js";
import { runs } from "./runs.js";

async function history(steps: Step[], sight: Sight, finish: (player: Player) => Promise<void>): Promise<void> {
  const world = await new World().open();
  const player = new Player(world, sight);
  try {
    for (const step of steps) {
      await player.play(step);
      await checkLaws(world);
      if (!player.overwrote) checkImplied(world, player.foreign);
    }
    for (const who of ["A", "B"] as const) if (world.modelChat(who).run !== null) await world.end(who, true);
    await checkLaws(world);
    await finish(player);
    await checkContent(world);
  } finally {
    await world.close();
  }
}

/** Every leaf is resumed, then each conversation is rewound to its beginning: what is left is the person's. */
async function everywhere({ world }: Player): Promise<void> {
  for (const who of ["A", "B"] as const) {
    const chat = world.modelChat(who);
    for (const leaf of chat.nodes.filter((node) => chat.children(node).length === 0)) {
      const decision = resume(chat, leaf, "last");
      await world.move(who, decision, {}, () => world.chats[who].resume(leaf.id, { name: "last" }));
      checkImplied(world);
    }
    const [first] = await world.chats[who].rewindPoints().then((points) => points.slice(-1));
    const node = chat.nodes.find(({ id }) => id === first?.nodeId);
    if (node !== undefined) {
      await world.move(who, rewind(chat, node, chat.active, "both"), {}, () => world.chats[who].rewindTo(node.id));
    }
    checkImplied(world);
    await checkLaws(world);
  }
}

const options = runs(25);

test("[L5] C6 C20 C21 C22 F122 F127 a conversation's lines are those that its path implies, the person's are the latest", async () => {
  await fc.assert(
    fc.asyncProperty(script, (steps) => history(steps, "clear", everywhere)),
    options,
  );
}, 3_600_000);

test("[W13] F64 C21 shared changes, kept files and policies: what nobody can attribute is taken back by nobody", async () => {
  await fc.assert(
    fc.asyncProperty(script, (steps) => history(steps, "blurred", async () => expect(true).toBe(true))),
    options,
  );
}, 3_600_000);
