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
import type { Conversation, Store } from "../store/surface.js";
import type { Entry } from "./claude-code/linking/entries.js";
import { liveHead } from "./claude-code/linking/order.js";
import { readLines } from "./claude-code/reading/lines.js";
import { requireGoingOn } from "./claude-code/replay/player.js";
import { replayTranscript } from "./claude-code/replay/replay.js";
import type { ImportReport } from "./claude-code/report.js";
import { conversationIn, storedIn } from "./claude-code/stored.js";
import { readTranscript, type Transcript } from "./claude-code/transcript.js";

export type { ImportReport } from "./claude-code/report.js";

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

async function transcriptIn(file: string, store: Store): Promise<Transcript> {
  const handle = await openFile(file);
  // The stream closes the file at its end, and when reading stops early.
  const lines = readLines(handle.createReadStream());
  return readTranscript(lines, basename(file).replace(/\.jsonl$/i, ""), (id) => storedIn(store, id));
}

/**
 * Imports the nodes. Where the transcript went back and took another way since it was imported, the conversation
 * follows, but only if it still is where that import left it.
 */
async function importNodes(store: Store, transcript: Transcript): Promise<number> {
  const { conversationId: id, title, metadata, nodes, entries, headId } = transcript;
  const before = await conversationIn(store, id);
  const left = before === undefined ? undefined : await headIfUntouched(before, entries);
  const { conversation, added } = await store.importConversation({ id, title, metadata, nodes, headId });
  const { headId: head, activeBranch: name } = await conversation.record();
  if (left !== undefined && headId !== null && head === left && head !== headId) {
    await conversation.resume(headId, { name });
  }
  return added;
}

/** The head of a conversation, if it is the leaf that its transcript showed last when it was imported. */
async function headIfUntouched(chat: Conversation, entries: readonly Entry[]): Promise<string | undefined> {
  const known = new Set((await chat.graph()).nodes.map((node) => node.id));
  const { headId } = await chat.record();
  const shown = liveHead(entries.filter((entry) => known.has(entry.id)))?.id;
  return headId !== null && headId === shown ? headId : undefined;
}

/**
 * Imports one transcript file.
 *
 * @throws `not_found`, `bad_input` if the file is no transcript or the folder cannot be used, `id_exists`, `run_active`,
 *   `aborted`
 */
export async function importClaudeCode(store: Store, file: string, options: ImportOptions = {}): Promise<ImportReport> {
  requireGoingOn(options.signal);
  const transcript = await transcriptIn(file, store);
  requireGoingOn(options.signal);
  if (options.replay !== undefined) {
    const figures = await replayTranscript(store, transcript, options.replay, options);
    return { ...transcript.report, ...figures };
  }
  const total = transcript.nodes.length;
  options.onProgress?.({ done: 0, total });
  const added = await importNodes(store, transcript);
  options.onProgress?.({ done: total, total });
  return { ...transcript.report, added };
}
