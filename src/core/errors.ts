/**
 * One class for every expected failure, and one table of what can fail.
 *
 * A code is stable within a major version; a message is not. The table gives each code the sentence that tells a
 * person what to do next. Every edge (HTTP status, exit code) is a total record over `ErrorCode`, so a new code does
 * not compile until each edge has decided. A caller's bug (a wrong type) is a `TypeError`, not one of these.
 */

/** What `error.data` holds, by code. */
export interface ErrorData {
  not_found: { what: "conversation" | "node" | "branch" | "workspace" | "operation" | "blob" | "file"; id: string };
  ambiguous_id: { id: string; matches: string[] };
  not_a_turn: { nodeId: string; role: string; synthetic: boolean };
  not_on_branch: { nodeId: string; branch: string };
  already_rewound: { nodeId: string };
  run_active: { runId: string; userNodeId: string; status: string; heartbeatAt: string };
  run_lost: { runId: string; status?: string };
  cancel_timeout: { runId: string; timeoutMs: number };
  busy: { operation: string; holder?: string };
  head_moved: { expected?: string | null; actual?: string | null; field?: string };
  plan_stale: { planId: string; actual: string };
  request_reused: { requestId: string };
  nothing_to_undo: { direction: "undo" | "redo" };
  branch_exists: { branch: string };
  branch_active: { branch: string };
  id_exists: { id: string };
  file_conflict: { paths: { path: string; reason: string }[] };
  restore_failed: { paths: { path: string; reason: string }[]; rolledBack: boolean };
  blob_missing: { blobs: { blob: string; path: string; reason: string }[] };
  workspace_changed: { root: string; reason: string };
  workspace_refused: { root: string; reason: string };
  path_outside: { path: string };
  crosses_thread: { nodeId: string };
  bad_input: { field: string; reason: string };
  database_newer: { file: string; found: number; known: number };
  database_foreign: { file: string; reason: string };
  corrupt: { file: string; reason: string };
  read_only: { file: string };
  closed: { what: string };
  aborted: { reason?: string };
  storage_full: { file: string };
  not_supported: { what: string };
}

/** Every code that a `RetconError` can carry. */
export type ErrorCode = keyof ErrorData;

/** What to do next, by code; shown to people and carried in `error.hint`. */
export const errorHints: { readonly [C in ErrorCode]: string } = {
  not_found: "Check the id; ids are looked up inside one scope.",
  ambiguous_id: "Give more characters of the id.",
  not_a_turn: "Choose one of the nodes that rewindPoints() lists.",
  not_on_branch: "Name the branch that the node is on, or switch to it first.",
  already_rewound: "Use resume(nodeId) to bring a rewound node back.",
  run_active: "Wait for the run to end, call cancelRun(), or pass cancelRun: true.",
  run_lost: "Begin a new turn; what this run wrote before stays.",
  cancel_timeout: "The run did not end in time; wait longer, or stop its process.",
  busy: "Try again when the operation in progress has settled.",
  head_moved: "Read the conversation again and repeat the call with what it shows now.",
  plan_stale: "Preview again: the files or the conversation changed since the preview.",
  request_reused: "Use a new request id for a different request.",
  nothing_to_undo: "There is no move left in this direction.",
  branch_exists: "Choose another branch name.",
  branch_active: "Switch to another branch first.",
  id_exists: "Choose another id, or leave it out.",
  file_conflict: "Pass onConflict: 'keep' or 'overwrite', for all paths or path by path.",
  restore_failed: "Mend the listed paths (rights, space) and try again, or pass onFileError: 'continue'.",
  blob_missing: "Stored content is gone or damaged; rewind with mode: 'conversation', or restore a backup.",
  workspace_changed: "Bring the folder back to its place, or create a conversation on the new one.",
  workspace_refused: "Choose a project folder as the workspace, with the options it was opened with before.",
  path_outside: "Give a path inside the workspace, relative to its root.",
  crosses_thread: "Leave threadScope out to rewind across threads.",
  bad_input: "Correct the named field and try again.",
  database_newer: "Update retcon; this database was written by a newer version.",
  database_foreign: "Choose another file; this one is not a retcon database.",
  corrupt: "Restore the database file from a backup.",
  read_only: "Open the store without readOnly to write.",
  closed: "Open the store again.",
  aborted: "The call was given up by its signal; nothing was changed.",
  storage_full: "Free some space and try again; nothing was half written.",
  not_supported: "See the documentation for what is supported.",
};

/** The one error class of the package. Look at `code`, never at the message. */
export class RetconError<C extends ErrorCode = ErrorCode> extends Error {
  readonly code: C;
  readonly data: ErrorData[C];
  readonly hint: string;

  constructor(code: C, message: string, data: ErrorData[C], options?: { cause?: unknown; hint?: string }) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = "RetconError";
    this.code = code;
    this.data = data;
    this.hint = options?.hint ?? errorHints[code];
  }
}

/** A `RetconError` of any code; a switch over `code` tells which data it has. */
export type AnyRetconError = { [C in ErrorCode]: RetconError<C> }[ErrorCode];

/** Tells whether a thrown value is a `RetconError`, of the given code if one is given. */
export function isRetconError(error: unknown): error is AnyRetconError;
export function isRetconError<C extends ErrorCode>(error: unknown, code: C): error is RetconError<C>;
export function isRetconError(error: unknown, code?: ErrorCode): boolean {
  return error instanceof RetconError && (code === undefined || error.code === code);
}
