/**
 * A record that has a place in the tree, and what it is.
 *
 *     prompt     a person typed it: becomes a user node, and a turn
 *     hidden     sent under the user role, but not typed: becomes a synthetic user node
 *     result     results of tool calls: becomes a synthetic tool node
 *     answer     one block of a model's answer: the lines of one answer become one assistant node
 *     summary    stands for what a compaction took out of the model's sight: becomes a summary node
 *     system     a note of the tool: becomes a synthetic system node
 *     opaque     progress, attachments, damaged and unknown lines: no node; whatever hangs under one is linked past it,
 *                and its record is kept with the next node
 */
import type { Json } from "../../../core/model.js";
import { idFromContent, nodeIdFor } from "../ids.js";
import { isObject, type JsonObject, stringIn, textIn } from "../json.js";
import { isCaveat, isCommand, isTyped, queuedPrompt } from "./typed.js";

/** What a line becomes. */
export type LineKind = "prompt" | "hidden" | "result" | "answer" | "summary" | "system" | "opaque";

/** A record, or text that is none, with its number in the file. */
export type KeptLine = { at: number; raw: Json };

/** A record in the tree. `parent` is set when the lines are linked. */
export interface Line {
  at: number;
  /** The id that parents are named by. */
  uuid: string;
  /** The id of the node that the line becomes, alone or as the first of an answer. */
  id: string;
  kind: LineKind;
  session: string;
  /** The side chain that a sub-agent's line belongs to: its agent's id, or "" where the format had none; else null. */
  side: string | null;
  time: string | null;
  blocks: JsonObject[];
  text: string;
  isCommand: boolean;
  isCaveat: boolean;
  /** Typed while the agent was at work, and handed to it in mid-turn. */
  isQueued: boolean;
  raw: JsonObject;
  parent: Line | null;
  /** Which part of its answer the line is in, where a store already holds the answer in parts. */
  part: number;
}

/** Content as blocks, whatever shape it came in; undefined if it is none. */
function blocksOf(content: unknown): JsonObject[] | undefined {
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) return undefined;
  return content.flatMap((block) => {
    if (typeof block === "string") return [{ type: "text", text: block }];
    return isObject(block) ? [block] : [];
  });
}

const textOf = (blocks: JsonObject[]): string =>
  blocks.flatMap((block) => (block.type === "text" ? [stringIn(block.text) ?? ""] : [])).join("\n");

const isFile = (block: JsonObject): boolean => block.type === "image" || block.type === "document";

function userKind(raw: JsonObject, blocks: JsonObject[]): LineKind {
  if (raw.isCompactSummary === true) return "summary";
  if (blocks.some((block) => block.type === "tool_result")) return "result";
  return isTyped(raw, textOf(blocks), blocks.some(isFile)) ? "prompt" : "hidden";
}

function timeOf(raw: JsonObject): string | null {
  const text = stringIn(raw.timestamp);
  const ms = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

/** What a record is and holds; `damaged` where it should hold a message and does not. */
function nature(raw: JsonObject): { kind: LineKind; blocks: JsonObject[]; damaged?: string; queued?: boolean } {
  if (raw.type === "user" || raw.type === "assistant") {
    const blocks = isObject(raw.message) ? blocksOf(raw.message.content) : undefined;
    if (blocks === undefined)
      return { kind: "opaque", blocks: [], damaged: `a line of type ${raw.type} without a message` };
    return { kind: raw.type === "assistant" ? "answer" : userKind(raw, blocks), blocks };
  }
  if (raw.type === "system") return { kind: "system", blocks: blocksOf(stringIn(raw.content) ?? "") ?? [] };
  const queued = raw.type === "attachment" ? queuedPrompt(raw) : undefined;
  if (queued === undefined) return { kind: "opaque", blocks: [] };
  return { kind: queued.typed ? "prompt" : "hidden", blocks: blocksOf(queued.content) ?? [], queued: true };
}

/** The id by which a record takes part in the tree; undefined for side lines. */
function uuidOf(raw: JsonObject): string | undefined {
  const uuid = textIn(raw.uuid);
  if (uuid !== undefined) return uuid;
  return raw.type === "user" || raw.type === "assistant" ? idFromContent(JSON.stringify(raw)) : undefined;
}

/** Reads a record as a line of the tree; undefined for a record that has no place in it. */
export function lineFrom(raw: JsonObject, at: number): { line: Line; damaged?: string } | undefined {
  const uuid = uuidOf(raw);
  if (uuid === undefined) return undefined;
  const { kind, blocks, damaged, queued } = nature(raw);
  const text = textOf(blocks);
  const line: Line = {
    at,
    uuid,
    id: nodeIdFor(uuid),
    kind,
    session: stringIn(raw.sessionId) ?? "",
    side: raw.isSidechain === true ? (stringIn(raw.agentId) ?? "") : null,
    time: timeOf(raw),
    blocks,
    text,
    isCommand: kind === "prompt" && isCommand(text),
    isCaveat: kind === "hidden" && isCaveat(text),
    isQueued: queued === true,
    raw,
    parent: null,
    part: 0,
  };
  return damaged === undefined ? { line } : { line, damaged };
}
