/**
 * What a verb of the command line is: a row of a table, and a function from a call to an answer.
 *
 *     argv ── program.ts ──> Call ── verb.run ──> Answer ── program.ts ──> stdout, stderr, exit code
 *
 * The table (`verbs.ts`) is all there is to know of a verb: commander's program, `--help` and docs/cli.md are made from
 * it. A verb neither prints its answer nor picks exit codes for failures: it returns, or throws a `RetconError`.
 */
import type { Policy, RewindOptions } from "../core/model.js";
import type { Io } from "./io.js";
import type { ProgressListener } from "./progress.js";
import type { Screen } from "./screen.js";

/** An argument by position; all are required. */
export interface Argument {
  name: string;
  description: string;
  choices?: readonly string[];
}

/** An option. `kind` is what its value must be, if it has one and any text will not do. */
export interface Flag {
  flags: string;
  description: string;
  choices?: readonly string[];
  kind?: "count";
}

/** A call line, without `retcon` in front, and what it does. */
export interface Example {
  line: string;
  does: string;
}

/** Every option of every verb, as commander hands them over: checked against the table, absent if not given. */
export interface Options extends Pick<RewindOptions, "mode" | "onUserEdits" | "onFileError" | "branch"> {
  db?: string;
  conversation?: string;
  json?: boolean;
  all?: boolean;
  limit?: number;
  path?: string;
  name?: string;
  onConflict?: Policy;
  replay?: string;
  yes?: boolean;
}

/** One use of a verb. */
export interface Call {
  io: Io;
  arguments: readonly string[];
  options: Options;
  /** How stdout shows things. */
  screen: Screen;
  /** Writes a line of talk to stderr at once. */
  say(line: string): void;
  /** Makes a listener that shows progress on stderr behind the given words. */
  progress(doing: string): ProgressListener;
}

/** What a verb found or did. */
export interface Answer {
  /** For stdout with `--json`. */
  json: unknown;
  /** For stdout without it: the data alone. */
  text: string;
  /** For stderr without `--json`: what a person wants to know beside the data. */
  talk?: string;
  /** Whether the work is done but part of it failed: exit code 1. */
  incomplete?: boolean;
}

/** A row of the table of verbs. */
export interface Verb {
  name: string;
  summary: string;
  /** More than the summary, for `--help` and the documentation. */
  details?: string;
  arguments: readonly Argument[];
  flags: readonly Flag[];
  examples: readonly Example[];
  /** Whether it writes. What only reads is left at once on Ctrl-C; what writes ends by its signal. */
  writes: boolean;
  run(call: Call): Promise<Answer>;
}
