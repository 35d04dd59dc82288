#!/usr/bin/env node
/**
 * The program `retcon`: `run` joined to this process.
 *
 * The first Ctrl-C asks the work to stop and waits until everything is as it was; the second ends the process at once, which
 * is safe too: what a restore left half done is settled when the store is opened next. A reader that closes its
 * pipe early (`retcon log | head`) has what it wanted, so that is no failure.
 */
import { interruptedExit } from "./exit.js";
import { run } from "./run.js";

/** One Ctrl-C can arrive twice: from the terminal, and passed on by a parent such as npm. */
const echoMs = 500;

const interrupt = new AbortController();
let interruptedAt = 0;
process.on("SIGINT", () => {
  if (!interrupt.signal.aborted) interruptedAt = Date.now();
  else if (Date.now() - interruptedAt > echoMs) process.exit(interruptedExit);
  interrupt.abort();
});

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}
process.stdout.on("error", ignoreClosedPipe);
process.stderr.on("error", ignoreClosedPipe);

const { stdout, stderr, stdin, env } = process;
const exitCode = await run(process.argv.slice(2), {
  stdout,
  stderr,
  stdin,
  env,
  cwd: process.cwd(),
  signal: interrupt.signal,
});
if (exitCode === interruptedExit) process.exit(exitCode);
process.exitCode = exitCode;
