/**
 * Imports a transcript of Claude Code as a conversation.
 *
 * Without a folder it becomes nodes, branches and links. With one, its edits are made again there, turn by turn, so
 * that its turns have files and can be rewound with them. Ids come from the transcript: importing a file again adds
 * only what is new.
 */
import { createReadStream } from "node:fs";
import { basename } from "node:path";
import type { Store } from "../store/surface.js";
import { readLines } from "./claude-code/reading/lines.js";
import { requireGoingOn } from "./claude-code/replay/player.js";
import { replayTranscript } from "./claude-code/replay/replay.js";
import type { ImportReport } from "./claude-code/report.js";
import { readTranscript } from "./claude-code/transcript.js";

export type { ImportReport, NotReplayable, Repair, SkippedLine } from "./claude-code/report.js";

/** How an import is done, followed and stopped. */
export interface ImportOptions {
  /** A new or empty folder, in which the transcript's edits are made again. */
  replay?: string;
  onProgress?: (progress: { done: number; total: number }) => void;
  signal?: AbortSignal;
}

/**
 * Imports one transcript file.
 *
 * @throws `bad_input` if the file is no transcript or the folder cannot be used, `id_exists`, `run_active`, `aborted`
 */
export async function importClaudeCode(store: Store, file: string, options: ImportOptions = {}): Promise<ImportReport> {
  requireGoingOn(options.signal);
  const transcript = await readTranscript(readLines(createReadStream(file)), basename(file).replace(/\.jsonl$/i, ""));
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
