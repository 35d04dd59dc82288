/**
 * The same with somebody's own conversation: a transcript is imported, replayed into a temporary folder and rewound.
 */
import { createHash } from "node:crypto";
import { importClaudeCode } from "../importers/claude-code.js";
import type { Conversation, Store } from "../index.js";
import { showMove } from "./rewinds.js";
import type { Manifest, Stage } from "./stage.js";

const shownPoints = 15;

/** Whether an entry of a manifest holds the bytes, or the absence, that the store recorded. */
async function isRecorded(
  chat: Conversation,
  nodeId: string,
  path: string,
  entry: string | undefined,
): Promise<boolean> {
  const state = await chat.fileAt(nodeId, path);
  if (state.kind === "absent") return entry === undefined;
  if (state.kind === "directory") return entry?.startsWith("directory ") === true;
  if (state.kind === "symlink") return entry === `symlink ${state.target}`;
  if (state.kind === "unknown" || entry === undefined) return false;
  const bytes = Buffer.from(entry.replace(/^file \d+ /, ""), "latin1");
  return state.blob.endsWith(createHash("sha256").update(bytes).digest("hex"));
}

async function checkRewound(stage: Stage, chat: Conversation, nodeId: string, before: Manifest): Promise<void> {
  const back = await chat.rewindTo(nodeId);
  showMove(stage, back);
  const after = stage.manifest();
  const moved = new Set(back.restoredPaths);
  const wrong: string[] = [];
  for (const path of moved) if (!(await isRecorded(chat, nodeId, path, after.get(path)))) wrong.push(path);
  stage.check(
    `${moved.size} paths have the bytes from before the turn${wrong.map((path) => `, not ${path}`).join("")}`,
    wrong.length === 0,
  );
  const others = [...before].filter(([path]) => !moved.has(path));
  stage.check(
    "no other path was touched",
    others.every(([path, entry]) => after.get(path) === entry),
  );
}

/** Imports a transcript, rewinds to its oldest turn that changed files, and undoes that. */
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
    stage.say(`@${i + 1} ${text}: ${point.filesChanged} files, +${point.added} -${point.removed}`);
  }
  if (points.length > shownPoints) stage.say(`and ${points.length - shownPoints} older ones`);
  const target = points.findLast((point) => point.filesChanged > 0) ?? points.at(-1);
  if (target === undefined) {
    const prompts = (await chat.history()).filter(({ message }) => message.role === "user" && !message.synthetic);
    stage.check("the transcript has no turn, and so no point", prompts.length === 0);
    return;
  }

  stage.step(`Rewind to turn ${target.ordinal}`);
  const before = stage.manifest();
  await checkRewound(stage, chat, target.nodeId, before);

  stage.step("Undo");
  showMove(stage, await chat.undo());
  stage.checkFolder("files are byte for byte as before the rewind", before);
  stage.check("all points are there again", (await chat.rewindPoints()).length === points.length);
}
