/**
 * A transcript as a conversation: from lines of text to nodes, without a store and without touching a file.
 *
 *     text ─► records ─► lines of the tree ─► entries (one node each) ─► places ─► nodes, parents first
 *                 └► side records, kept with the node that follows them
 */
import { RetconError } from "../../core/errors.js";
import type { Json } from "../../core/model.js";
import type { ImportedNode } from "../../store/surface.js";
import { conversationIdFor } from "./ids.js";
import { type JsonObject, stringIn, textIn } from "./json.js";
import { type Entry, entriesFrom } from "./linking/entries.js";
import { markGrowth, type Stored } from "./linking/growth.js";
import { coverPaths, inOrder, liveHead } from "./linking/order.js";
import { linkParents } from "./linking/parents.js";
import { childrenOf, placeEntries } from "./linking/places.js";
import { hangSideChains } from "./linking/side-chains.js";
import { messageFrom, nodeFrom } from "./messages.js";
import { Collected } from "./reading/collected.js";
import type { KeptLine, Line } from "./reading/line.js";
import type { NumberedLine } from "./reading/lines.js";
import type { ImportReport, Repair } from "./report.js";
import { titleOf } from "./title.js";

/** What a transcript holds. */
export interface Transcript {
  conversationId: string;
  sessionId: string;
  title: string | undefined;
  /** The folder that the session was opened in, as its machine writes paths. */
  home: string | undefined;
  metadata: Json;
  nodes: ImportedNode[];
  /** What the nodes were made from, in the same order. */
  entries: Entry[];
  headId: string | null;
  report: ImportReport;
}

/** The session that the conversation is: the one the file is named after, else the first on the main path. */
function sessionOf(collected: Collected, name: string): string {
  const sessions = collected.lines.filter((line) => line.side === null || collected.isAgentFile);
  if (sessions.some((line) => line.session === name)) return name;
  return sessions.find((line) => line.session !== "")?.session ?? name;
}

/** Side records by the entry that follows them in the file; what follows the last entry is its own too. */
function keptBeside(collected: Collected, entries: readonly Entry[]): Map<Entry, KeptLine[]> {
  const beside = new Map<Entry, KeptLine[]>();
  const inFile = entries.flatMap((entry) => entry.lines.map((line) => ({ at: line.at, entry })));
  inFile.sort((a, b) => a.at - b.at);
  let next = 0;
  for (const line of collected.withoutNode()) {
    while (next < inFile.length - 1 && (inFile[next]?.at ?? 0) < line.at) next += 1;
    const entry = inFile[next]?.entry;
    if (entry === undefined) continue;
    const kept = beside.get(entry);
    if (kept === undefined) beside.set(entry, [line]);
    else kept.push(line);
  }
  return beside;
}

function toolNames(entries: readonly Entry[]): Map<string, string> {
  const calls = entries.flatMap((entry) => entry.lines.flatMap((line) => line.blocks));
  return new Map(
    calls.flatMap((block) => {
      const id = stringIn(block.id);
      return block.type === "tool_use" && id !== undefined ? [[id, stringIn(block.name) ?? "unknown"] as const] : [];
    }),
  );
}

/** Makes the nodes of ordered entries. A node without a readable time gets that of the node before it. */
function nodesFrom(collected: Collected, ordered: readonly Entry[]): ImportedNode[] {
  const beside = keptBeside(collected, ordered);
  const tools = toolNames(ordered);
  let time = ordered.find((entry) => entry.time !== null)?.time ?? new Date(0).toISOString();
  return ordered.map((entry) => {
    time = entry.time ?? time;
    return nodeFrom(entry, messageFrom(entry, tools, beside.get(entry) ?? []), time);
  });
}

function branchesOf(entries: readonly Entry[]): number {
  const main = entries.filter((entry) => entry.side === null);
  const children = childrenOf(main);
  return main.filter((entry) => !children.has(entry)).length;
}

/** Refuses a file of which no line is a record of this format. */
function requireTranscript(collected: Collected): void {
  if (collected.known > 0 || collected.read === 0) return;
  const reason = `none of its ${collected.read} lines is a record of a Claude Code transcript`;
  throw new RetconError(
    "bad_input",
    `this file is not a transcript: ${reason}`,
    { field: "file", reason },
    { hint: "Give a <session>.jsonl file from ~/.claude/projects/<project>/." },
  );
}

function metadataOf(collected: Collected, session: string, nodes: readonly ImportedNode[]): Json {
  const first: JsonObject = collected.lines[0]?.raw ?? {};
  const kept = ["cwd", "version", "gitBranch"].flatMap((key) => (isText(first[key]) ? [[key, first[key]]] : []));
  const lines: Json = nodes.length === 0 ? [...collected.withoutNode()] : [];
  return { claudeCode: { sessionId: session, ...Object.fromEntries(kept), ...(nodes.length === 0 ? { lines } : {}) } };
}

const isText = (value: unknown): value is string => textIn(value) !== undefined;

interface Linked {
  entries: Entry[];
  sideChains: number;
  repairs: Repair[];
}

/** Makes entries of lines whose parents are known, and gives them their places. */
function linked(lines: readonly Line[]): Linked {
  const { entries, entryOf } = entriesFrom(lines);
  placeEntries(entries, entryOf);
  const repairs: Repair[] = [];
  const sideChains = hangSideChains(entries, repairs);
  coverPaths(entries);
  return { entries, sideChains, repairs };
}

function assembled(collected: Collected, sessionId: string, { entries, sideChains, repairs }: Linked): Transcript {
  const { lines, skippedLines } = collected;
  const ordered = inOrder(entries);
  const nodes = nodesFrom(collected, ordered);
  const conversationId = conversationIdFor(sessionId, collected.agentId);
  const mends = [...collected.repairs, ...repairs];
  return {
    conversationId,
    sessionId,
    title: titleOf(collected, entries),
    home: lines.map((line) => textIn(line.raw.cwd)).find((cwd) => cwd !== undefined),
    metadata: metadataOf(collected, sessionId, nodes),
    nodes,
    entries: ordered,
    headId: liveHead(entries)?.id ?? null,
    report: {
      conversationId,
      lines: collected.read,
      nodes: nodes.length,
      added: 0,
      branches: branchesOf(entries),
      sideChains,
      skipped: skippedLines.length,
      repaired: mends.length,
      skippedLines,
      repairs: mends,
    },
  };
}

/**
 * Reads a transcript from its lines; `name` is its file's name without the ending. `storedFor` tells what a store holds
 * already of the conversation that it turns out to be. @throws `bad_input`
 */
export async function readTranscript(
  source: AsyncIterable<NumberedLine>,
  name: string,
  storedFor?: (conversationId: string) => Promise<Stored | undefined>,
): Promise<Transcript> {
  const collected = new Collected();
  for await (const line of source) collected.add(line);
  collected.finish();
  requireTranscript(collected);
  const { lines, repairs, agentId } = collected;
  linkParents(lines, repairs);
  const first = linked(lines);
  const sessionId = sessionOf(collected, name);
  const stored = await storedFor?.(conversationIdFor(sessionId, agentId));
  const hasGrown = stored !== undefined && (await markGrowth(first.entries, stored));
  return assembled(collected, sessionId, hasGrown ? linked(lines) : first);
}
