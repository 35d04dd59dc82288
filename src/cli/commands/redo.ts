/** `retcon redo`: does again what the last `retcon undo` took back. */

import { idShortener } from "../find.js";
import { onConversation, onRestore, restoreOptions } from "../flags.js";
import { moveAnswer } from "../moves.js";
import { withConversation } from "../open.js";
import type { Verb } from "../verb.js";

export const redo: Verb = {
  name: "redo",
  summary: "do again what undo took back",
  arguments: [],
  flags: [...onRestore, ...onConversation],
  examples: [{ line: "redo", does: "the newest undo of the conversation changed last, taken back" }],
  writes: true,
  run(call) {
    return withConversation(call, { readOnly: false }, async (chat) => {
      const result = await chat.redo(restoreOptions(call, "redoing files:"));
      return moveAnswer("redone", result, await idShortener(chat, [result.newHeadId]));
    });
  },
};
