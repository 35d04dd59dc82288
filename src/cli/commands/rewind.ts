/**
 * `retcon rewind`: takes a conversation and its files back to just before a person's message, and prints that message.
 *
 * On a terminal it shows the plan, asks, and then does exactly that plan: if anything changed in between, the store
 * refuses with `plan_stale`. Without a terminal nobody can be asked, so it needs `--yes`.
 */
import { RetconError } from "../../core/errors.js";
import type { RewindOptions, RewindPreview } from "../../core/model.js";
import type { Conversation } from "../../store/surface.js";
import { ask, canAsk } from "../confirm.js";
import { idShortener, requireNodeId } from "../find.js";
import { branchFlag, modeFlag, onConversation, onRestore, rewindOptions } from "../flags.js";
import { questionText, rewindText } from "../moves.js";
import { withConversation } from "../open.js";
import { counted, firstLine, passedOn, screenOf } from "../screen.js";
import type { Call, Verb } from "../verb.js";

function requireConsent(call: Call): void {
  if (call.options.yes || canAsk(call.io)) return;
  const reason = "stdin and stderr are not both terminals";
  throw new RetconError(
    "bad_input",
    `nobody can be asked before files change: ${reason}`,
    { field: "--yes", reason },
    {
      hint: "Look with `retcon preview`, then pass --yes.",
    },
  );
}

/** What the store would refuse anyway is refused before the question. */
function requireNoConflict(plan: RewindPreview, { onConflict = "refuse" }: RewindOptions): void {
  const paths = plan.files.filter((file) => file.outcome === "conflict");
  if (paths.length === 0 || onConflict !== "refuse") return;
  const message = `${counted(paths.length, "file is", "files are")} in conflict, so nothing was changed`;
  throw new RetconError("file_conflict", message, {
    paths: paths.map(({ path, reason }) => ({ path, reason: reason ?? "changed on both sides" })),
  });
}

/** Shows the plan and asks. Returns the plan's id. @throws `aborted` on no */
async function confirmedPlan(call: Call, chat: Conversation, nodeId: string, options: RewindOptions): Promise<string> {
  const plan = await chat.previewRewind(nodeId, options);
  requireNoConflict(plan, options);
  const screen = screenOf(call.io.stderr, call.io.env);
  if (plan.userText !== null) call.say(`back to just before: ${firstLine(plan.userText)}`);
  call.say(questionText(plan, options.mode, screen, await idShortener(chat, [plan.newHeadId])));
  if (await ask(call.io, "Rewind?")) return plan.planId;
  throw new RetconError(
    "aborted",
    "not rewound; nothing was changed",
    { reason: "declined" },
    {
      hint: "Answer y to rewind, or pass --yes.",
    },
  );
}

export const rewind: Verb = {
  name: "rewind",
  summary: "take the conversation and its files back to before a message",
  details:
    "Prints the text of that message on stdout, to be edited and sent again. What others did to the files stays. " +
    "On a terminal it shows the files that will change and asks first; elsewhere it needs --yes.",
  arguments: [{ name: "node", description: "the person's node to rewind to: id, unique prefix, or @n" }],
  flags: [{ flags: "--yes", description: "do not ask" }, modeFlag, ...onRestore, branchFlag, ...onConversation],
  examples: [
    { line: "rewind @1", does: "take back the newest turn" },
    { line: "rewind @3 --yes --mode conversation > prompt.txt", does: "three turns, files left alone, the text kept" },
  ],
  writes: true,
  async run(call) {
    requireConsent(call);
    return withConversation(call, { readOnly: false }, async (chat) => {
      const nodeId = await requireNodeId(chat, call.arguments[0] as string, call.options.branch);
      const options = rewindOptions(call, "rewinding files:");
      const planId = call.options.yes ? undefined : await confirmedPlan(call, chat, nodeId, options);
      const result = await chat.rewindTo(nodeId, { ...options, planId });
      return {
        json: result,
        text: passedOn(result.userText ?? "", call.screen),
        talk: rewindText(result, options.mode, await idShortener(chat, [result.newHeadId])),
        incomplete: result.errors.length > 0,
      };
    });
  },
};
