/** `retcon preview`: what a rewind would do, from the same planner, without doing it. */

import { idShortener, requireNodeId } from "../find.js";
import { branchFlag, modeFlag, onConversation, onEdits, rewindOptions } from "../flags.js";
import { previewText } from "../moves.js";
import { withConversation } from "../open.js";
import type { Verb } from "../verb.js";

export const preview: Verb = {
  name: "preview",
  summary: "show what a rewind would do, without doing it",
  details:
    "Prints how far the rewind goes and every file with its outcome and the reason for it. Takes the options of rewind.",
  arguments: [{ name: "node", description: "the person's node to rewind to: id, unique prefix, or @n" }],
  flags: [modeFlag, ...onEdits, branchFlag, ...onConversation],
  examples: [{ line: "preview @1", does: "what taking back the newest turn would do" }],
  writes: false,
  run(call) {
    return withConversation(call, { readOnly: false }, async (chat) => {
      const nodeId = await requireNodeId(chat, call.arguments[0] as string, call.options.branch);
      const found = await chat.previewRewind(nodeId, rewindOptions(call, "looking at files:"));
      return {
        json: found,
        text: previewText(found, call.options.mode, call.screen, await idShortener(chat, [found.newHeadId])),
      };
    });
  },
};
