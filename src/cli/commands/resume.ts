/** `retcon resume`: goes on from an abandoned or rewound node, on a branch, files included; prints the branch. */

import { idShortener, requireNodeId } from "../find.js";
import { onConversation, onRestore, restoreOptions } from "../flags.js";
import { moveAnswer } from "../moves.js";
import { withConversation } from "../open.js";
import type { Verb } from "../verb.js";

export const resume: Verb = {
  name: "resume",
  summary: "go on from an abandoned or rewound node, on a branch of its own",
  details:
    "Puts a branch on the newest leaf under the node and makes it the active one; the files follow. " +
    "Prints the name of the branch. Ids of rewound nodes are those that `retcon log --all` shows.",
  arguments: [{ name: "node", description: "node id, unique prefix, or @n" }],
  flags: [
    { flags: "--name <name>", description: "name of the branch (default: one is made up)" },
    ...onRestore,
    ...onConversation,
  ],
  examples: [{ line: "resume 7k2m9qpx --name first-try", does: "bring a rewound tail back as the branch first-try" }],
  writes: true,
  run(call) {
    return withConversation(call, { readOnly: false }, async (chat) => {
      const nodeId = await requireNodeId(chat, call.arguments[0] as string);
      const options = { ...restoreOptions(call, "resuming files:"), name: call.options.name };
      const result = await chat.resume(nodeId, options);
      return { ...moveAnswer("resumed", result, await idShortener(chat, [result.newHeadId])), text: result.branch };
    });
  },
};
