/**
 * The command line as a function: arguments and streams in, exit code out.
 *
 * This is the only place that prints answers and failures. So every verb keeps the same promises: data on stdout, talk on
 * stderr, `--json` in one shape, one exit code for each reason.
 */
import { CommanderError } from "commander";
import { RetconError } from "../core/errors.js";
import { exitCodeOf, exitCodes } from "./exit.js";
import { failureOf, failureText } from "./failure.js";
import type { Io } from "./io.js";
import { buildProgram, type Perform } from "./program.js";
import { progressLine } from "./progress.js";
import { screenOf } from "./screen.js";
import type { Answer, Call } from "./verb.js";

/** Rejects as soon as the signal is aborted, whatever the work is at. */
function leavable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const leave = () => reject(new RetconError("aborted", "interrupted", { reason: "interrupted" }));
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
    signal.addEventListener("abort", leave, { once: true });
    if (signal.aborted) leave();
  });
}

function writeLines(out: Io["stdout"], text: string): void {
  if (text !== "") out.write(text.endsWith("\n") ? text : `${text}\n`);
}

function printAnswer(answer: Answer, io: Io, json: boolean): number {
  writeLines(io.stdout, json ? JSON.stringify(answer.json, null, 2) : answer.text);
  if (!json && answer.talk !== undefined) writeLines(io.stderr, answer.talk);
  return answer.incomplete ? 1 : 0;
}

/** What commander found wrong, as the error that it is. */
function usageError(error: CommanderError): RetconError {
  const reason = error.message.replace(/^error: /, "").replaceAll("\n", " ");
  const hint = "See `retcon --help`, or `retcon <verb> --help`; options stand behind the verb.";
  return new RetconError("bad_input", reason, { field: "argv", reason }, { hint });
}

function printFailure(thrown: unknown, io: Io, json: boolean): number {
  if (thrown instanceof CommanderError) {
    if (thrown.exitCode === 0) return 0;
    if (thrown.code === "commander.help") return exitCodes.bad_input;
  }
  const error = thrown instanceof CommanderError ? usageError(thrown) : thrown;
  if (json) writeLines(io.stdout, JSON.stringify({ error: failureOf(error) }, null, 2));
  else writeLines(io.stderr, failureText(error));
  return exitCodeOf(error, io.signal);
}

/** Runs one command line, without `node` and the script in front, and returns its exit code. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const progress = progressLine(io.stderr);
  let exitCode = 0;
  const perform: Perform = async (verb, words, options) => {
    const say = (line: string) => {
      progress.clear();
      writeLines(io.stderr, line);
    };
    const screen = screenOf(io.stdout, io.env);
    const call: Call = { io, arguments: words, options, screen, say, progress: progress.listener };
    const answer = await (verb.writes ? verb.run(call) : leavable(verb.run(call), io.signal));
    progress.clear();
    exitCode = printAnswer(answer, io, options.json === true);
  };
  try {
    await buildProgram(perform, io).parseAsync([...argv], { from: "user" });
    return exitCode;
  } catch (error) {
    progress.clear();
    return printFailure(error, io, argv.includes("--json"));
  }
}
