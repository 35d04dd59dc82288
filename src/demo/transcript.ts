/**
 * The same with somebody's own conversation: a transcript is imported, replayed into a temporary folder and rewound.
 */
import { createHash } from "node:crypto";
import { importClaudeCode } from "../importers/claude-code.js";
import {
  type Conversation,
  type FileState,
  isRetconError,
  type RewindPoint,
  type RewindResult,
  type Store,
} from "../index.js";
import { showMove } from "./rewinds.js";
import type { Stage } from "./stage.js";

const shownPoints = 15;

/** Whether an entry of a manifest is a state that the store recorded. */
function isState(entry: string | undefined, state: FileState): boolean {
  if (state.kind === "absent") return entry === undefined;
  if (state.kind === "directory") return entry?.startsWith("directory ") === true;
  if (state.kind === "symlink") return entry === `symlink ${state.target}`;
  if (state.kind === "unknown" || entry === undefined) return false;
  const bytes = Buffer.from(entry.replace(/^file \d+ /, ""), "latin1");
  return state.blob.endsWith(createHash("sha256").update(bytes).digest("hex"));
}

/** What each path was before the first of some turns that changed it; the turns are given oldest first. */
async function statesBefore(chat: Conversation, turns: RewindPoint[]): Promise<Map<string, FileState>> {
  const states = new Map<string, FileState>();
  for (const { nodeId } of turns) {
    for (const { path, before } of await chat.changes(nodeId)) if (!states.has(path)) states.set(path, before);
  }
  return states;
}

/** The oldest point with file changes that can be rewound to without a conflict, else the oldest, else the newest. */
async function chooseTarget(stage: Stage, chat: Conversation, points: RewindPoint[]): Promise<RewindPoint | undefined> {
  const candidates = points.filter(({ filesChanged }) => filesChanged > 0).reverse();
  for (const point of candidates) {
    const { files } = await chat.previewRewind(point.nodeId);
    const conflict = files.find(({ outcome }) => outcome === "conflict");
    if (conflict === undefined) return point;
    stage.say(`turn ${point.ordinal} would be refused: others changed the same lines of ${conflict.path}`);
  }
  return candidates[0] ?? points[0];
}

/** Rewinds; where that is refused because of conflicts, checks that it did nothing, and overwrites. */
async function rewindTo(stage: Stage, chat: Conversation, { nodeId }: RewindPoint): Promise<RewindResult> {
  const before = stage.manifest();
  try {
    return await chat.rewindTo(nodeId);
  } catch (error) {
    if (!isRetconError(error, "file_conflict")) throw error;
    stage.say(`refused: ${error.message}`);
    stage.checkFolder("a refusal changes nothing", before);
    stage.say("again, with onConflict: overwrite");
    return chat.rewindTo(nodeId, { onConflict: "overwrite" });
  }
}

async function checkRewind(
  stage: Stage,
  chat: Conversation,
  target: RewindPoint,
  points: RewindPoint[],
): Promise<void> {
  const before = stage.manifest();
  const turns = points.slice(0, points.indexOf(target) + 1).reverse();
  const states = await statesBefore(chat, turns);
  const back = await rewindTo(stage, chat, target);
  showMove(stage, back);
  const after = stage.manifest();
  const exact = back.files.filter(({ outcome }) => ["restored", "created", "deleted"].includes(outcome));
  const wrong = exact.filter(
    ({ path }) => !isState(after.get(path), states.get(path) ?? { kind: "unknown", reason: "" }),
  );
  const names = wrong.map(({ path }) => `, but not ${path}`).join("");
  stage.check(`${exact.length} files have the bytes from before these turns${names}`, wrong.length === 0);
  const moved = new Set(back.restoredPaths);
  const others = [...before].filter(([path, entry]) => !entry.startsWith("directory") && !moved.has(path));
  stage.check(
    "no other file was touched",
    others.every(([path, entry]) => after.get(path) === entry),
  );
  stage.check("the prompt comes back", back.userText === target.text);
}

/** Imports a transcript, rewinds to its oldest turn that changed files and can be taken back whole, and undoes that. */
export async function playTranscript(stage: Stage, store: Store, file: string): Promise<void> {
  stage.step(`Import of ${file}, its edits replayed into a temporary folder`);
  const report = await importClaudeCode(store, file, { replay: stage.root });
  for (const [figure, value] of Object.entries(report)) {
    stage.say(`${figure}: ${Array.isArray(value) ? value.length : String(value)}`);
  }
  const chat = await store.conversation(report.conversationId);

  stage.step("The rewind points, newest first");
  const points = await chat.rewindPoints();
  for (const [i, point] of points.slice(0, shownPoints).entries()) {
    const text = point.text.replace(/\s+/g, " ").slice(0, 60);
    stage.say(`@${i + 1} ${text} (files: ${point.filesChanged}, +${point.added} -${point.removed})`);
  }
  if (points.length > shownPoints) stage.say(`and ${points.length - shownPoints} older ones`);
  const target = await chooseTarget(stage, chat, points);
  if (target === undefined) {
    const prompts = (await chat.history()).filter(({ message }) => message.role === "user" && !message.synthetic);
    stage.check("the branch has no turn, and so no point", prompts.length === 0);
    return;
  }

  stage.step(`Rewind to turn ${target.ordinal}`);
  const before = stage.manifest();
  await checkRewind(stage, chat, target, points);

  stage.step("Undo");
  showMove(stage, await chat.undo());
  stage.checkFolder("files are byte for byte as before the rewind", before);
  stage.check("all points are there again", (await chat.rewindPoints()).length === points.length);
}
