/**
 * Entries as nodes: the message that each becomes, with the records it came from beside it.
 *
 * `message.metadata.claudeCode.lines` holds every record with its number in the file: the entry's own, and those that
 * have no node (progress, snapshots, titles, damaged lines) and stand before it in the file. All of them together, in
 * order, are the file again, but for lines that were in it twice and damaged ones too long to keep whole.
 */
import type { Message, Role, Usage } from "../../core/model.js";
import type { ImportedNode } from "../../store/surface.js";
import { type JsonObject, objectIn, stringIn } from "./json.js";
import type { Entry } from "./linking/entries.js";
import type { KeptLine, Line, LineKind } from "./reading/line.js";
import { partsFrom, type ToolNames, usageFrom } from "./reading/parts.js";
import { asTyped } from "./reading/typed.js";

const roles: { readonly [K in LineKind]: Role } = {
  prompt: "user",
  hidden: "user",
  result: "tool",
  answer: "assistant",
  summary: "summary",
  system: "system",
  opaque: "system",
};

const synthetic: ReadonlySet<LineKind> = new Set(["hidden", "result", "system"]);

/** Blocks of all lines of an answer; one that a later line repeats is there once. */
function blocksOf(entry: Entry): JsonObject[] {
  if (entry.lines.length === 1) return entry.lines[0]?.blocks ?? [];
  const seen = new Set<string>();
  return entry.lines.flatMap((line) => {
    const fresh = line.blocks.filter((block) => !seen.has(JSON.stringify(block)));
    for (const block of fresh) seen.add(JSON.stringify(block));
    return fresh;
  });
}

/** Usage of an answer. Each line repeats it and the early ones count only what was there by then: the largest holds. */
function usageOf(entry: Entry): Usage | undefined {
  if (entry.kind !== "answer" || !entry.countsUsage) return undefined;
  const reported = entry.lines.flatMap((line): JsonObject[] => {
    const usage = objectIn(objectIn(line.raw.message)?.usage);
    return usage === undefined ? [] : [usage];
  });
  const output = (usage: JsonObject): number => (typeof usage.output_tokens === "number" ? usage.output_tokens : 0);
  const largest = reported.reduce<JsonObject | undefined>(
    (best, usage) => (best === undefined || output(usage) >= output(best) ? usage : best),
    undefined,
  );
  return largest === undefined ? undefined : usageFrom(largest);
}

function contentOf(entry: Entry, line: Line, tools: ToolNames): Message["content"] {
  if (entry.kind === "system") return line.text || `[${stringIn(line.raw.subtype) ?? "system"}]`;
  const blocks = blocksOf(entry);
  if (blocks.length > 0 && blocks.some((block) => block.type !== "text" || typeof block.text !== "string")) {
    return partsFrom(blocks, tools);
  }
  if (entry.kind === "answer") return partsFrom(blocks, tools);
  return line.isCommand && entry.kind === "prompt" ? asTyped(line.text) : line.text;
}

/** The message that an entry becomes. */
export function messageFrom(entry: Entry, tools: ToolNames, beside: readonly KeptLine[]): Message {
  const line = entry.lines[0] as Line;
  const usage = usageOf(entry);
  const own = entry.lines.map(({ at, raw }) => ({ at, raw }));
  const lines = [...beside, ...own].sort((a, b) => a.at - b.at);
  return {
    role: roles[entry.kind],
    content: contentOf(entry, line, tools),
    ...(synthetic.has(entry.kind) || line.raw.isApiErrorMessage === true ? { synthetic: true } : {}),
    ...(usage === undefined ? {} : { usage }),
    metadata: { claudeCode: { createdAt: entry.time, lines } },
  };
}

/** The node that an entry becomes; `time` stands in where the file gives none that can be read. */
export function nodeFrom(entry: Entry, message: Message, time: string): ImportedNode {
  return {
    id: entry.id,
    parentId: entry.parent?.id ?? null,
    ...(entry.caller === null ? {} : { callerId: entry.caller.id }),
    createdAt: entry.time ?? time,
    message,
    ...(entry.covers.length === 0 ? {} : { covers: entry.covers.map((covered) => covered.id) }),
  };
}
