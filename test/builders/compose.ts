/**
 * A store put together as src/index.ts does, of a backend and files that a test brings, told of each step by its probe.
 */
import { randomBytes } from "node:crypto";
import { idFrom } from "../../src/core/ids.js";
import type { Environment } from "../../src/store/environment.js";
import { claimHolder, isAlive } from "../../src/store/holder.js";
import { createStore } from "../../src/store/store.js";
import type { Store } from "../../src/store/surface.js";
import { contentTools } from "../../src/workspace/index.js";

const nothing = () => undefined;

/** Makes the store. */
export function compose(parts: Pick<Environment, "backend" | "openFiles"> & Partial<Environment>): Promise<Store> {
  const newId = () => idFrom(randomBytes(16));
  return createStore(
    {
      tools: contentTools,
      now: () => new Date(),
      newId,
      holder: claimHolder(newId()),
      isAlive,
      logger: { debug: nothing, warn: nothing },
      probe: nothing,
      ...parts,
    },
    { scope: "default", readOnly: false },
  );
}
