/**
 * Imports a transcript of Claude Code as a conversation.
 *
 * Without a folder it becomes nodes, branches and links. With one, its edits are made again there, turn by turn, so
 * that its turns have files and can be rewound with them. Ids come from the transcript: importing a file again adds
 * only what is new.
 */
import { open } from "node:fs/promises";
import { basename } from "node:path";
import { RetconError } from "../core/errors.js";
import type { Store } from "../store/surface.js";
import { readLines } from "./claude-code/reading/lines.js";
import { requireGoingOn } from "./claude-code/replay/player.js";
import { replayTranscript } from "./claude-code/replay/replay.js";
import type { ImportReport } from "./claude-code/report.js";
import { readTranscript, type Transcript } from "./claude-code/transcript.js";

export type { ImportReport, NotReplayable, Repair, SkippedLine } from "./claude-code/report.js";

/** How an import is done, followed and stopped. */
export interface ImportOptions {
  /** A new or empty folder, in which the transcript's edits are made again. */
  replay?: string;
  onProgress?: (progress: { done: number; total: number }) => void;
  signal?: AbortSignal;
}

/** Opens a file for reading. @throws `not_found`, `bad_input` for a folder */
async function openFile(file: string) {
  const handle = await open(file).catch((error: unknown) => {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    throw new RetconError("not_found", `there is no file ${file}`, { what: "file", id: file }, { cause: error });
  });
  if (!(await handle.stat()).isDirectory()) return handle;
  await handle.close();
  const reason = "it is a folder, not a transcript";
  throw new RetconError("bad_input", `cannot import ${file}: ${reason}`, { field: "file", reason });
}

async function transcriptIn(file: string): Promise<Transcript> {
  const handle = await openFile(file);
  // The stream closes the file at its end, and when reading stops early.
  return readTranscript(readLines(handle.createReadStream()), basename(file).replace(/\.jsonl$/i, ""));
}

/**
 * Imports one transcript file.
 *
 * @throws `not_found`, `bad_input` if the file is no transcript or the folder cannot be used, `id_exists`, `run_active`,
 *   `aborted`
 */
export async function importClaudeCode(store: Store, file: string, options: ImportOptions = {}): Promise<ImportReport> {
  requireGoingOn(options.signal);
  const transcript = await transcriptIn(file);
  requireGoingOn(options.signal);
  if (options.replay !== undefined) {
    const figures = await replayTranscript(store, transcript, options.replay, options);
    return { ...transcript.report, ...figures };
  }
  const { conversationId: id, title, metadata, nodes, headId } = transcript;
  const total = nodes.length;
  options.onProgress?.({ done: 0, total });
  const { added } = await store.importConversation({ id, title, metadata, nodes, headId });
  options.onProgress?.({ done: total, total });
  return { ...transcript.report, added };
}
