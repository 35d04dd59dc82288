/**
 * Options that more than one verb takes, each described once.
 *
 * The table of a verb names the groups it wants; `restoreOptions` turns what was given into the library's options.
 */
import type { RestoreOptions, RewindOptions } from "../core/model.js";
import type { Call, Flag } from "./verb.js";

const db: Flag = {
  flags: "--db <file>",
  description: "database file (default: $RETCON_DB, else retcon.db in the current folder)",
};

/** Options of every verb. */
export const everywhere: readonly Flag[] = [db, { flags: "--json", description: "print the result as JSON" }];

/** Options of every verb that looks at one conversation. */
export const onConversation: readonly Flag[] = [
  db,
  { flags: "--conversation <id>", description: "conversation, by id or unique prefix (default: the one changed last)" },
  { flags: "--json", description: "print the result as JSON" },
];

/** The branch to look at. */
export const branchFlag: Flag = { flags: "--branch <name>", description: "another branch than the active one" };

/** How many entries to show. */
export const limitFlag: Flag = { flags: "--limit <n>", description: "only the newest n", kind: "count" };

/** What to do where other hands touched the files. */
export const onEdits: readonly Flag[] = [
  {
    flags: "--on-user-edits <what>",
    description: "files that somebody else edited too (default: merge)",
    choices: ["merge", "keep", "overwrite", "refuse"],
  },
  {
    flags: "--on-conflict <what>",
    description: "files whose edits cannot be merged (default: refuse)",
    choices: ["keep", "overwrite", "refuse"],
  },
];

/** Options of every verb that moves files. */
export const onRestore: readonly Flag[] = [
  ...onEdits,
  {
    flags: "--on-file-error <what>",
    description: "when a file cannot be written: take all back, or go on (default: rollback)",
    choices: ["rollback", "continue"],
  },
];

/** What a rewind takes back. */
export const modeFlag: Flag = {
  flags: "--mode <what>",
  description: "what to take back (default: both)",
  choices: ["both", "conversation", "files"],
};

/** The library's options for a move; its progress shows under the given words. */
export function restoreOptions(call: Call, doing: string): RestoreOptions {
  const { onUserEdits, onConflict, onFileError } = call.options;
  return {
    onUserEdits,
    onConflict,
    onFileError,
    signal: call.io.signal,
    onProgress: call.progress(doing),
  };
}

/** The same for a rewind. */
export function rewindOptions(call: Call, doing: string): RewindOptions {
  return { ...restoreOptions(call, doing), mode: call.options.mode, branch: call.options.branch };
}
