/** `retcon switch`: makes another branch the active one; the files follow. Named after the file's verb, a reserved word. */

import { idShortener } from "../find.js";
import { onConversation, onRestore, restoreOptions } from "../flags.js";
import { moveAnswer } from "../moves.js";
import { withConversation } from "../open.js";
import { named } from "../screen.js";
import type { Verb } from "../verb.js";

export const switchVerb: Verb = {
  name: "switch",
  summary: "make another branch the active one; the files follow",
  arguments: [{ name: "branch", description: "name of the branch, in full" }],
  flags: [...onRestore, ...onConversation],
  examples: [{ line: "switch main", does: "back to main" }],
  writes: true,
  run(call) {
    return withConversation(call, { readOnly: false }, async (chat) => {
      const name = call.arguments[0] as string;
      const result = await chat.switchBranch(name, restoreOptions(call, "switching files:"));
      return moveAnswer(`switched to ${named(result.branch)}`, result, await idShortener(chat, [result.newHeadId]));
    });
  },
};
