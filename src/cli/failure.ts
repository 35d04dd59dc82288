/**
 * How a failure is told: one sentence with its code, what it is about line by line, and what to do next.
 *
 *     retcon: 1 file is in conflict [file_conflict]
 *       src/a.ts: changed on both sides
 *     hint: …
 *
 * With `--json` the same goes to stdout as `{ "error": { code, message, hint, data } }`. The hints of the library speak
 * of its options; where the command line has words of its own for them, it says those. What the operating system
 * refused is told as `system`; any other error without a code is a fault of retcon, told as `unexpected` with its stack.
 */
import { type ErrorCode, errorHints, isRetconError, type RetconError } from "../core/errors.js";
import { harmless, named } from "./screen.js";

/** Hints in the words of the command line. */
const hints: { readonly [C in ErrorCode]?: string } = {
  not_a_turn: "Choose one of the rewind points that `retcon points` lists.",
  already_rewound: "Use `retcon resume` to bring a rewound node back.",
  run_active: "Wait for the run to end, or stop the program that runs it.",
  plan_stale: "Try again: the files or the conversation changed since they were shown.",
  file_conflict:
    "Pass --on-conflict keep to leave these files as they are, or --on-conflict overwrite to replace them.",
  restore_failed: "Mend the listed files (rights, space) and try again, or pass --on-file-error continue.",
  blob_missing: "Stored content is gone or damaged; rewind with --mode conversation, or restore a backup.",
  read_only: "Make the database file and its folder writable.",
  not_on_branch: "Name the branch that the node is on with --branch, or switch to it first.",
  head_moved: "Look again with `retcon log`, then repeat the call.",
};

/** Where to look for what was not found. */
const whereabouts: { readonly [what: string]: string } = {
  node: "Ids are those that `retcon log --all` and `retcon points` show.",
  branch: "`retcon branches` lists the branches.",
};

function hintOf(error: RetconError): string {
  if (error.hint !== errorHints[error.code]) return error.hint;
  if (isRetconError(error, "not_found")) return whereabouts[error.data.what] ?? error.hint;
  return hints[error.code] ?? error.hint;
}

/** A failure as `--json` prints it. */
export interface Failure {
  code: ErrorCode | "system" | "unexpected";
  message: string;
  hint: string;
  data: object;
}

/** Whether the operating system said no, outside of anything that the library answers for. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error && "code" in error;
}

/** Turns a thrown value into what is told about it. */
export function failureOf(error: unknown): Failure {
  if (isRetconError(error)) {
    return { code: error.code, message: error.message, hint: hintOf(error), data: error.data };
  }
  if (isSystemError(error)) {
    const { code, syscall, path } = error;
    return {
      code: "system",
      message: error.message,
      hint: "Mend that (rights, space) and try again.",
      data: { code, syscall, path },
    };
  }
  const [message, stack] = error instanceof Error ? [error.message, error.stack] : [String(error)];
  return { code: "unexpected", message, hint: "This is a fault of retcon; please report it.", data: { stack } };
}

/** The things that an error is about, one line each. */
function detailsOf(error: RetconError): string[] {
  if (isRetconError(error, "file_conflict") || isRetconError(error, "restore_failed")) {
    return error.data.paths.map(({ path, reason }) => `${named(path)}: ${harmless(reason)}`);
  }
  if (isRetconError(error, "blob_missing")) {
    return error.data.blobs.map(({ path, reason }) => `${named(path)}: ${harmless(reason)}`);
  }
  if (isRetconError(error, "ambiguous_id")) return error.data.matches.map(named);
  return [];
}

/** A failure as stderr shows it. */
export function failureText(error: unknown): string {
  const { code, message, hint } = failureOf(error);
  const details = isRetconError(error) ? detailsOf(error).map((line) => `  ${line}`) : [];
  const stack = code === "unexpected" && error instanceof Error && error.stack ? [error.stack] : [];
  return [`retcon: ${harmless(message)} [${code}]`, ...details, ...stack, `hint: ${hint}`].join("\n");
}
