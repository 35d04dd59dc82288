/**
 * The contract: what a backend must do, whatever database is behind it. It speaks through the port alone.
 *
 *     backendSuite(async () => ({ backend: await openMine() }));
 */
import type { Open } from "./bench.js";
import { conversationRules, dagRules } from "./dag.js";
import { operationRules, runRules } from "./runs.js";
import { staleRules } from "./stale.js";
import { blobRules, lifeRules, workspaceRules } from "./workspaces.js";

/** Registers every rule as a test of the backend that `open` opens on an empty database. */
export function backendSuite(open: Open): void {
  for (const rules of [
    staleRules,
    conversationRules,
    dagRules,
    runRules,
    operationRules,
    workspaceRules,
    blobRules,
    lifeRules,
  ]) {
    rules(open);
  }
}
