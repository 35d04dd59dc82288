/** `retcon diff`: what one turn did to the files, as a unified diff that `git apply` understands. */

import { requireNodeId } from "../find.js";
import { onConversation } from "../flags.js";
import { withConversation } from "../open.js";
import { changesLine, renderDiff } from "../render.js";
import { named } from "../screen.js";
import type { Verb } from "../verb.js";

export const diff: Verb = {
  name: "diff",
  summary: "show what a turn did to the files",
  details:
    "Prints a unified diff by git's conventions: of a whole turn for a person's node, of that node alone for any other.",
  arguments: [{ name: "node", description: "node id, unique prefix, or @n for the n-th newest rewind point" }],
  flags: [{ flags: "--path <path>", description: "only this file, relative to the workspace" }, ...onConversation],
  examples: [
    { line: "diff @1", does: "the newest turn" },
    { line: "diff @2 --path src/app.ts | git apply --reverse", does: "take one file of a turn back by hand" },
  ],
  writes: false,
  run(call) {
    return withConversation(call, { readOnly: true }, async (chat) => {
      const { path } = call.options;
      const nodeId = await requireNodeId(chat, call.arguments[0] as string);
      const [text, all] = [await chat.diff(nodeId, { path }), await chat.changes(nodeId)];
      const changes = path === undefined ? all : all.filter((change) => change.path === path);
      const nothing = path === undefined ? "no file changed there" : `${named(path)} did not change there`;
      return {
        json: { nodeId, diff: text, changes },
        text: renderDiff(text, call.screen),
        talk: changes.length === 0 ? nothing : changesLine(changes),
      };
    });
  },
};
