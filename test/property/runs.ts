/**
 * How many histories a property plays, and where: few in CI, as many as RETCON_RUNS says when somebody looks for faults.
 * RETCON_SEED and RETCON_PATH play one again, RETCON_SHRINK=0 shows a failure as it was found, at once.
 */
import { existsSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Parameters of a property. */
export function runs(numRuns: number): { numRuns: number; endOnFailure: boolean; seed?: number; path?: string } {
  const { RETCON_RUNS, RETCON_SEED, RETCON_PATH, RETCON_SHRINK } = process.env;
  return {
    numRuns: RETCON_RUNS === undefined ? numRuns : Number(RETCON_RUNS),
    endOnFailure: RETCON_SHRINK === "0",
    ...(RETCON_SEED === undefined ? {} : { seed: Number(RETCON_SEED) }),
    ...(RETCON_PATH === undefined ? {} : { path: RETCON_PATH }),
  };
}

/** A folder for one history, in memory where there is such a place: a thousand histories flush a million times. */
export function historyFolder(): string {
  const place = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  return realpathSync(mkdtempSync(join(place, "retcon-history-")));
}
