/**
 * From what a person types to a node, and back: ids by prefix, rewind points by number, ids short enough to read.
 */
import { isRetconError, RetconError } from "../core/errors.js";
import type { Conversation } from "../store/surface.js";
import type { Shorten } from "./render.js";
import { counted } from "./screen.js";

const shortest = 8;

/** Up to so many ids are looked up one by one; for more, the whole graph is read once. */
const few = 100;

/** Finds the id of the node that `text` means: an id, a unique prefix of one, or `@n` for the n-th newest rewind point. */
export async function requireNodeId(chat: Conversation, text: string, branch?: string): Promise<string> {
  if (text.startsWith("@")) return requirePointId(chat, text, branch);
  const node = await chat.node(text);
  if (node !== undefined) return node.id;
  throw new RetconError("not_found", `no node of this conversation has the id ${JSON.stringify(text)}`, {
    what: "node",
    id: text,
  });
}

async function requirePointId(chat: Conversation, text: string, branch: string | undefined): Promise<string> {
  if (!/^@[1-9]\d{0,8}$/.test(text)) {
    const reason = "a rewind point is written @1, @2 and so on, from the newest";
    throw new RetconError("bad_input", `${JSON.stringify(text)} is no rewind point: ${reason}`, {
      field: "node",
      reason,
    });
  }
  const number = Number(text.slice(1));
  const points = await chat.rewindPoints({ branch, limit: number });
  const point = points[number - 1];
  if (point !== undefined) return point.nodeId;
  const there = points.length === 0 ? "no rewind point" : `only ${counted(points.length, "rewind point")}`;
  throw new RetconError("not_found", `there is no ${text}: this branch has ${there}`, { what: "node", id: text });
}

/** Makes a function that shortens the ids to be shown to a common length at which each still names its node alone. */
export async function idShortener(chat: Conversation, shown: readonly (string | null)[]): Promise<Shorten> {
  const ids = shown.filter((id) => id !== null);
  if (ids.length > few) {
    const length = tellingLength((await chat.graph()).nodes.map((node) => node.id));
    return (id) => id.slice(0, length);
  }
  let length = tellingLength(ids);
  for (const id of ids) {
    while (length < id.length && !(await names(chat, id.slice(0, length), id))) length += 1;
  }
  return (id) => id.slice(0, length);
}

/** Whether a prefix is enough to find a node. */
async function names(chat: Conversation, prefix: string, id: string): Promise<boolean> {
  try {
    return (await chat.node(prefix))?.id === id;
  } catch (error) {
    if (isRetconError(error, "ambiguous_id")) return false;
    throw error;
  }
}

/** The least number of characters, but no less than eight, at which no two of the ids are alike. */
export function tellingLength(ids: readonly string[]): number {
  const sorted = [...ids].sort();
  let length = shortest;
  for (let i = 1; i < sorted.length; i += 1) {
    const [a, b] = [sorted[i - 1] as string, sorted[i] as string];
    while (length < b.length && a.slice(0, length) === b.slice(0, length)) length += 1;
  }
  return length;
}
