/**
 * Turns as a path shows them: where each begins, what its text was, and what of a broken one can stand.
 */
import type { NodeRow } from "./backend.js";
import type { Message, NewMessage, Part } from "./model.js";

/** A message as it is stored: without its role, as JSON. */
export function bodyOf(message: Message): string {
  const { content, externalId, usage, metadata } = message;
  return JSON.stringify({ content, externalId, usage, metadata });
}

/** The message of a stored node, free of loss. */
export function messageOf(row: Pick<NodeRow, "role" | "synthetic" | "body">): Message {
  return {
    role: row.role,
    ...(row.synthetic ? { synthetic: true } : {}),
    ...(JSON.parse(row.body) as { content: string }),
  };
}

/** Whether a node is a person's: the start of a turn, and a point to rewind to. */
export function startsTurn(row: Pick<NodeRow, "role" | "synthetic">): boolean {
  return row.role === "user" && !row.synthetic;
}

/** The text of a message: its text parts, or the whole of a string. */
export function textOf(message: Pick<Message, "content">): string {
  if (typeof message.content === "string") return message.content;
  return message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

const partsOf = (message: Pick<Message, "content">): Part[] =>
  typeof message.content === "string" ? [] : message.content;

/** The ids of the calls a message makes, and of those it answers. */
export function callsOf(message: Pick<NewMessage, "content">): { made: string[]; answered: string[] } {
  const parts = partsOf(message);
  return {
    made: parts.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : [])),
    answered: parts.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId] : [])),
  };
}

/** How many messages at the start of a list stand by themselves: every call among them has its result among them. */
export function coherentLength(messages: readonly Pick<Message, "content">[]): number {
  const open = new Set<string>();
  let coherent = 0;
  messages.forEach((message, i) => {
    const { made, answered } = callsOf(message);
    for (const id of made) open.add(id);
    for (const id of answered) open.delete(id);
    if (open.size === 0) coherent = i + 1;
  });
  return coherent;
}
