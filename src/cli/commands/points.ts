/** `retcon points`: the places that one can rewind to, newest first, numbered `@1`, `@2` and so on. */

import { idShortener } from "../find.js";
import { branchFlag, limitFlag, onConversation } from "../flags.js";
import { withConversation } from "../open.js";
import { renderPoints } from "../render.js";
import type { Verb } from "../verb.js";

export const points: Verb = {
  name: "points",
  summary: "list the rewind points, newest first",
  details:
    "Prints number, id, time (UTC), files changed, lines added and removed by the turn, and the first line of its text. " +
    "Other verbs take the number in place of an id.",
  arguments: [],
  flags: [branchFlag, limitFlag, ...onConversation],
  examples: [{ line: "points --limit 5", does: "the five newest" }],
  writes: false,
  run(call) {
    return withConversation(call, { readOnly: true }, async (chat) => {
      const { branch, limit } = call.options;
      const found = await chat.rewindPoints({ branch, limit });
      const shorten = await idShortener(
        chat,
        found.map((point) => point.nodeId),
      );
      const talk = found.length === 0 ? "no turn to rewind to on this branch" : undefined;
      return { json: found, text: renderPoints(found, call.screen, shorten), talk };
    });
  },
};
