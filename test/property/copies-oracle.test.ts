/**
 * One conversation that makes, deletes, renames and retypes whatever it likes, against a model that keeps a full copy of
 * the tree with every capture: after any move the folder is exactly the copy that belongs to the head.
 */
import fc from "fast-check";
import { test } from "vitest";
import { CopyWorld, copySteps } from "./copy-world.js";
import { runs } from "./runs.js";

test("[L5] F78 F79 F80 F81 F83 F84 F87 F88 F123 F124 F125 C21 the folder is the copy that belongs to the head", async () => {
  await fc.assert(
    fc.asyncProperty(copySteps, async (steps) => {
      const world = await new CopyWorld().open();
      try {
        for (const step of steps) await world.play(step);
        await world.everywhere();
      } finally {
        await world.close();
      }
    }),
    runs(25),
  );
}, 3_600_000);
