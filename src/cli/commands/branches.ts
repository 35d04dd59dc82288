/** `retcon branches`: the named heads of a conversation, a star at the active one. */

import { idShortener } from "../find.js";
import { onConversation } from "../flags.js";
import { withConversation } from "../open.js";
import { renderBranches } from "../render.js";
import type { Verb } from "../verb.js";

export const branches: Verb = {
  name: "branches",
  summary: "list the branches, with a star at the active one",
  details: "Prints name, id of the head, and the time (UTC) at which the branch was made.",
  arguments: [],
  flags: onConversation,
  examples: [{ line: "branches --json", does: "as JSON" }],
  writes: false,
  run(call) {
    return withConversation(call, { readOnly: true }, async (chat) => {
      const found = await chat.branches();
      return {
        json: found,
        text: renderBranches(
          found,
          call.screen,
          await idShortener(
            chat,
            found.map((branch) => branch.headId),
          ),
        ),
      };
    });
  },
};
