/**
 * In CI the generated cases are the same in every run, so that a red run is about the change it ran on; elsewhere each run
 * draws new ones. RETCON_SEED asks for others, or for those of a failed run again.
 */
import fc from "fast-check";

const given = process.env.RETCON_SEED ?? (process.env.CI ? "7" : undefined);
if (given !== undefined) fc.configureGlobal({ seed: Number(given) });
