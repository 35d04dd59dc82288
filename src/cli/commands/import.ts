/** `retcon import`: brings a transcript of another program in as a conversation. The one verb that makes a database. */
import { resolve } from "node:path";
import { RetconError } from "../../core/errors.js";
import type { ImportReport } from "../../importers/claude-code.js";
import { everywhere } from "../flags.js";
import { databaseOf, exists, withStore } from "../open.js";
import { counted, harmless, named } from "../screen.js";
import type { Call, Verb } from "../verb.js";

async function requireFile(call: Call): Promise<string> {
  const file = resolve(call.io.cwd, call.arguments[1] as string);
  if (await exists(file)) return file;
  throw new RetconError(
    "not_found",
    `there is no file ${named(file)}`,
    { what: "file", id: file },
    {
      hint: "Give the path of the transcript; Claude Code keeps them under ~/.claude/projects.",
    },
  );
}

const listed = 20;

function list(heading: string, entries: readonly string[]): string[] {
  if (entries.length === 0) return [];
  const shown = entries.slice(0, listed).map((entry) => `  ${harmless(entry)}`);
  const rest = entries.length > listed ? [`  … and ${entries.length - listed} more; --json has them all`] : [];
  return [`${heading}:`, ...shown, ...rest];
}

/** What an import did, in words: nothing that was left out or mended goes unsaid. */
function reportText(report: ImportReport): string {
  const { lines, nodes, added, branches, sideChains, skippedLines, repairs, replayed, notReplayable = [] } = report;
  const shape = `${counted(branches, "branch", "branches")} and ${counted(sideChains, "side chain")}`;
  return [
    `read ${counted(lines, "line")}: ${counted(nodes, "node")} on ${shape}, ${added} of them new`,
    ...list(
      `${counted(skippedLines.length, "line")} skipped`,
      skippedLines.map(({ line, reason }) => `line ${line}: ${reason}`),
    ),
    ...list(
      `${counted(repairs.length, "repair")}`,
      repairs.map(({ line, id, what }) => `line ${line}: ${what} (${id})`),
    ),
    ...(replayed === undefined ? [] : [`${counted(replayed, "edit")} replayed`]),
    ...list(
      `${counted(notReplayable.length, "edit")} not replayable`,
      notReplayable.map(({ path, reason }) => `${named(path)}: ${reason}`),
    ),
  ].join("\n");
}

export const importVerb: Verb = {
  name: "import",
  summary: "import a transcript as a conversation",
  details:
    "Makes the database if there is none. Prints the id of the conversation; importing the same file again adds only " +
    "what is new. With --replay the edits that the transcript records are made again in an empty folder, so that its " +
    "turns have files.",
  arguments: [
    { name: "format", description: "what wrote the transcript", choices: ["claude-code"] },
    { name: "file", description: "the transcript" },
  ],
  flags: [{ flags: "--replay <dir>", description: "make the recorded edits again in this folder" }, ...everywhere],
  examples: [{ line: "import claude-code session.jsonl --db chats.db", does: "into chats.db" }],
  writes: true,
  async run(call) {
    const file = await requireFile(call);
    const database = databaseOf(call.io, call.options.db).file;
    const replay = call.options.replay === undefined ? undefined : resolve(call.io.cwd, call.options.replay);
    if (!(await exists(database))) call.say(`note: making the database ${named(database)}`);
    const { importClaudeCode } = await import("../../importers/claude-code.js");
    const report = await withStore(database, false, (store) =>
      importClaudeCode(store, file, { replay, onProgress: call.progress("importing:"), signal: call.io.signal }),
    );
    return { json: report, text: report.conversationId, talk: reportText(report) };
  },
};
