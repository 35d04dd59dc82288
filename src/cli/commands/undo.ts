/** `retcon undo`: takes back the newest rewind, switch or resume, files included. */

import { idShortener } from "../find.js";
import { onConversation, onRestore, restoreOptions } from "../flags.js";
import { moveAnswer } from "../moves.js";
import { withConversation } from "../open.js";
import type { Verb } from "../verb.js";

export const undo: Verb = {
  name: "undo",
  summary: "take back the newest rewind, switch or resume",
  arguments: [],
  flags: [...onRestore, ...onConversation],
  examples: [{ line: "undo", does: "the newest move of the conversation changed last, taken back" }],
  writes: true,
  run(call) {
    return withConversation(call, { readOnly: false }, async (chat) => {
      const result = await chat.undo(restoreOptions(call, "undoing files:"));
      return moveAnswer("undone", result, await idShortener(chat, [result.newHeadId]));
    });
  },
};
