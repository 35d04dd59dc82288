/**
 * Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused, 130 interrupted.
 *
 * Refused means that the store looked and said no, with everything as it was: the call can be repeated once its reason
 * is gone. Failed means that something outside the call broke or gave up. The table is total over the error codes, so a
 * new code does not compile until it has been put on one side.
 */
import { type ErrorCode, isRetconError } from "../core/errors.js";

/** The exit code of each error code. */
export const exitCodes: Readonly<Record<ErrorCode, 1 | 2 | 3>> = {
  not_found: 3,
  ambiguous_id: 3,
  not_a_turn: 3,
  not_on_branch: 3,
  already_rewound: 3,
  run_active: 3,
  run_lost: 1,
  cancel_timeout: 1,
  busy: 3,
  head_moved: 3,
  plan_stale: 3,
  request_reused: 3,
  nothing_to_undo: 3,
  branch_exists: 3,
  branch_active: 3,
  id_exists: 3,
  file_conflict: 3,
  restore_failed: 1,
  blob_missing: 3,
  workspace_changed: 3,
  workspace_refused: 3,
  path_outside: 3,
  crosses_thread: 3,
  bad_input: 2,
  database_newer: 3,
  database_foreign: 3,
  corrupt: 1,
  read_only: 3,
  closed: 1,
  aborted: 1,
  storage_full: 1,
  not_supported: 3,
};

/** What a shell expects of a program that Ctrl-C ended. */
export const interruptedExit = 130;

/** The exit code for a thrown value; a call that its signal ended was interrupted. */
export function exitCodeOf(error: unknown, signal: AbortSignal | undefined): number {
  if (!isRetconError(error)) return 1;
  if (error.code === "aborted" && signal?.aborted) return interruptedExit;
  return exitCodes[error.code];
}
