/**
 * What can be done with the story once it is told: preview, rewind, undo, resend, resume, switch.
 */
import { type Conversation, isRetconError, type MoveResult } from "../index.js";
import type { Manifest, Stage } from "./stage.js";
import { type PlayedTurn, playTurn, withPersonalEdits } from "./story.js";

/** Prints each path of a move that is not plainly unchanged. */
export function showMove(stage: Stage, move: Pick<MoveResult, "files" | "errors">): void {
  for (const { path, outcome, reason } of move.files) {
    if (outcome !== "unchanged") stage.say(`${outcome.padEnd(9)} ${path}${reason === undefined ? "" : ` (${reason})`}`);
  }
  for (const error of move.errors) stage.say(`error     ${error.path ?? ""} ${error.message}`);
}

const userTexts = async (chat: Conversation): Promise<unknown[]> =>
  (await chat.history()).filter((node) => node.message.role === "user").map((node) => node.message.content);

const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

async function showPoints(stage: Stage, chat: Conversation, turns: PlayedTurn[]): Promise<void> {
  stage.step("The rewind points, newest first");
  const points = await chat.rewindPoints();
  for (const [i, point] of points.entries()) {
    stage.say(`@${i + 1} ${point.text} (files: ${point.filesChanged}, +${point.added} -${point.removed})`);
  }
  const prompts = turns.map((turn) => turn.prompt).reverse();
  stage.check(
    "each prompt is a point",
    sameJson(
      prompts,
      points.map((point) => point.text),
    ),
  );
}

async function rewindAndUndo(stage: Stage, chat: Conversation, target: PlayedTurn): Promise<void> {
  const before = stage.manifest();
  const expected = withPersonalEdits(target.before, before);

  stage.step(`Preview of a rewind to "${target.prompt}"`);
  const preview = await chat.previewRewind(target.userNodeId);
  showMove(stage, preview);
  stage.checkFolder("a preview changes nothing", before);

  stage.step("The rewind itself");
  const back = await chat.rewindTo(target.userNodeId, { planId: preview.planId });
  stage.say(`${back.turnsReverted} turns and ${back.nodesRewound.length} nodes taken back`);
  stage.check("it did what the preview said", sameJson(preview.files, back.files));
  stage.check("the prompt comes back", back.userText === target.prompt);
  stage.checkFolder("files are as before the turn, and the person's edits are still there", expected);
  const script = stage.read("js/main.js");
  stage.check(
    "js/main.js has the agent's line back and keeps the person's",
    /greet\.js/.test(script) && /on its way/.test(script),
  );

  stage.step("Undo of the rewind");
  showMove(stage, await chat.undo());
  stage.checkFolder("files are byte for byte as before the rewind", before);
  stage.check("all five turns are in the history again", (await userTexts(chat)).length === 5);
}

async function resend(stage: Stage, chat: Conversation, target: PlayedTurn): Promise<Manifest> {
  stage.step("Rewind again, to ask differently");
  const back = await chat.rewindTo(target.userNodeId);
  stage.say(`the prompt to edit: "${back.userText}"`);
  const prompt = `${back.userText}, but keep the old ones`;
  await playTurn(stage, chat, prompt, [{ shell: "mkdir js/lib && mv js/greet.js js/lib/greet.js" }]);
  const texts = await userTexts(chat);
  stage.check("the new prompt stands in place of the old one", texts.length === 3 && texts[2] === prompt);
  const old = await chat.node(target.userNodeId);
  stage.check("the old turn is marked as rewound, not deleted", old?.rewound === true);
  return stage.manifest();
}

async function refuse(stage: Stage, chat: Conversation, { prompt, userNodeId }: PlayedTurn): Promise<void> {
  stage.step(`A conflict: a person paints the button again, then a rewind to "${prompt}"`);
  stage.write("css/style.css", stage.read("css/style.css").replace("background: blue", "background: teal"));
  const before = stage.manifest();
  const { headId } = await chat.record();
  try {
    await chat.rewindTo(userNodeId);
    stage.check("it is refused", false);
  } catch (error) {
    if (!isRetconError(error)) throw error;
    stage.say(`refused: ${error.message}`);
    stage.check("the code is file_conflict", error.code === "file_conflict");
  }
  stage.checkFolder("a refusal changes no file", before);
  stage.check("and moves no head", (await chat.record()).headId === headId);
}

/** Tells the second half of the demo and checks each claim. */
export async function playRewinds(stage: Stage, chat: Conversation, turns: PlayedTurn[]): Promise<void> {
  const [painted, , target, , last] = turns;
  if (painted === undefined || target === undefined || last === undefined)
    throw new TypeError("the story has five turns");
  await showPoints(stage, chat, turns);
  const first = stage.manifest();
  await rewindAndUndo(stage, chat, target);
  const second = await resend(stage, chat, target);
  const { activeBranch } = await chat.record();

  stage.step("Resume of the abandoned branch");
  showMove(stage, await chat.resume(last.userNodeId, { name: "first-try" }));
  stage.checkFolder("its files are back, byte for byte", first);
  stage.check("and so are its five turns", (await userTexts(chat)).length === 5);

  stage.step(`Back to ${activeBranch}`);
  showMove(stage, await chat.switchBranch(activeBranch));
  stage.checkFolder("files are as the second try left them", second);
  stage.check("and so is the history", (await userTexts(chat)).length === 3);
  await refuse(stage, chat, painted);
}
