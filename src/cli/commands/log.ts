/** `retcon log`: what was said on a branch, newest last. With `--all` rewound nodes stand where they once stood, marked. */

import { idShortener } from "../find.js";
import { branchFlag, limitFlag, onConversation } from "../flags.js";
import { withConversation } from "../open.js";
import { renderLog } from "../render.js";
import type { Verb } from "../verb.js";

export const log: Verb = {
  name: "log",
  summary: "show the history of a branch, newest last",
  details:
    "Prints id, role and first line of text. user* is a node under the user role that no person wrote " +
    "(a reminder, a tool result). With --all, nodes that were rewound are shown too, and marked.",
  arguments: [],
  flags: [{ flags: "--all", description: "show rewound nodes too" }, branchFlag, limitFlag, ...onConversation],
  examples: [
    { line: "log", does: "the conversation changed last" },
    { line: "log --all --limit 20", does: "its last twenty nodes, rewound ones among them" },
  ],
  writes: false,
  run(call) {
    return withConversation(call, { readOnly: true }, async (chat) => {
      const { all, branch, limit } = call.options;
      const nodes = await chat.history({ branch, limit, includeRewound: all });
      const shorten = await idShortener(
        chat,
        nodes.map((node) => node.id),
      );
      const text = renderLog(nodes, call.screen, { shorten, marks: all === true });
      return { json: nodes, text, talk: nodes.length === 0 ? "this branch is empty" : undefined };
    });
  },
};
