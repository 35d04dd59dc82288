/**
 * Imports a transcript by playing it: its turns become real turns in a folder, with real captures of the files.
 *
 * The folder starts empty, so what is in it at the end was put there by the replay, and one can rewind in it freely.
 * Importing the same session into the same folder again plays what is new, which as a rule is nothing.
 */
import { mkdir, readdir, realpath } from "node:fs/promises";
import { RetconError } from "../../../core/errors.js";
import type { Conversation, Store } from "../../../store/surface.js";
import { conversationIn } from "../stored.js";
import type { Transcript } from "../transcript.js";
import { Folder } from "./folder.js";
import { planReplay, type ReplayStep } from "./plan.js";
import { Player, type ReplayFigures, requireGoingOn } from "./player.js";

/** How a replay is followed and stopped. */
export interface ReplayOptions {
  onProgress?: (progress: { done: number; total: number }) => void;
  signal?: AbortSignal;
}

function refusal(directory: string, reason: string, hint: string): RetconError {
  return new RetconError(
    "bad_input",
    `cannot replay into ${directory}: ${reason}`,
    { field: "replay", reason },
    { hint },
  );
}

/** The entries of a folder; undefined if there is none. */
async function entriesOf(directory: string): Promise<string[] | undefined> {
  try {
    return await readdir(directory);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") return undefined;
    if (code === "ENOTDIR") throw refusal(directory, "it is not a folder", "Give an empty folder, or a new name.");
    throw error;
  }
}

/** Opens the conversation of an earlier replay into this folder, or makes one on an empty folder. */
async function openFor(store: Store, transcript: Transcript, directory: string): Promise<Conversation> {
  const { conversationId: id, title, metadata } = transcript;
  const entries = await entriesOf(directory);
  const known = await conversationIn(store, id);
  if (known !== undefined) {
    const { workspace } = await known.record();
    if (workspace !== null && entries !== undefined && workspace === (await realpath(directory))) return known;
    throw new RetconError(
      "id_exists",
      `this session is already in the store as ${id}${workspace === null ? ", without files" : `, with its files in ${workspace}`}`,
      { id },
      {
        hint: `${workspace === null ? "Delete it first" : "Replay it into the folder it has"}, or use another database.`,
      },
    );
  }
  if (entries !== undefined && entries.length > 0) {
    throw refusal(directory, "it is not empty", "Give an empty folder, or a new name.");
  }
  await mkdir(directory, { recursive: true });
  return store.createConversation({ id, title, workspace: directory, metadata });
}

/** Refuses to go on with a conversation that a person went on with. @throws `head_moved` */
function requireOwnHead(head: string | null, { nodes }: Transcript): void {
  if (head === null || nodes.some((node) => node.id === head)) return;
  throw new RetconError(
    "head_moved",
    "the conversation went on by itself since it was replayed",
    { actual: head },
    { hint: "Import the grown transcript into another database." },
  );
}

/** Plays steps in order. A caller who gives up is heard between turns, so that a later replay can go on there. */
async function playAll(player: Player, steps: readonly ReplayStep[], options: ReplayOptions): Promise<void> {
  for (const [done, step] of steps.entries()) {
    if (options.signal?.aborted && player.isStop(step.node)) {
      await player.stop();
      requireGoingOn(options.signal);
    }
    options.onProgress?.({ done, total: steps.length });
    try {
      await player.play(steps, done);
    } catch (error) {
      await player.stop(error instanceof Error ? error.message : String(error));
      throw error;
    }
  }
}

/** Plays a transcript into a folder. @throws `bad_input`, `id_exists`, `head_moved`, `workspace_refused`, `aborted` */
export async function replayTranscript(
  store: Store,
  transcript: Transcript,
  directory: string,
  options: ReplayOptions,
): Promise<ReplayFigures> {
  const chat = await openFor(store, transcript, directory);
  const folder = await Folder.at(directory);
  const known = new Set((await chat.graph()).nodes.map((node) => node.id));
  const steps = planReplay(transcript).filter((step) => !known.has(step.node.id));
  const { nodes } = transcript;
  const { headId: head } = await chat.record();
  const branches = (await chat.branches()).map(({ name }) => name);
  const player = new Player({ chat, folder, nodes, head, branches, isFirst: known.size === 0 });
  if (steps.length === 0) return player.figures;
  requireOwnHead(head, transcript);
  await playAll(player, steps, options);
  await player.finish(transcript.headId);
  options.onProgress?.({ done: steps.length, total: steps.length });
  return player.figures;
}
