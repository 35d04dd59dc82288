/**
 * How many histories a property plays: few in CI, as many as RETCON_RUNS says when somebody looks for faults.
 * RETCON_SEED and RETCON_PATH play one again.
 */
export function runs(numRuns: number): { numRuns: number; seed?: number; path?: string } {
  const { RETCON_RUNS, RETCON_SEED, RETCON_PATH } = process.env;
  return {
    numRuns: RETCON_RUNS === undefined ? numRuns : Number(RETCON_RUNS),
    ...(RETCON_SEED === undefined ? {} : { seed: Number(RETCON_SEED) }),
    ...(RETCON_PATH === undefined ? {} : { path: RETCON_PATH }),
  };
}
