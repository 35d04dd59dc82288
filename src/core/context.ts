/**
 * What the model should see of a path: summaries in place of what they cover, calls and results in pairs.
 *
 * Nothing stored is rewritten. A call that was interrupted gets an error result here, a result without its call is left
 * out, and since all of it follows from the path, a rewind has nothing to invalidate.
 */
import type { NodeRow } from "./backend.js";
import type { NodeKey } from "./change.js";
import type { Message, Part } from "./model.js";
import { callsOf, messageOf } from "./turns.js";

/** A link between two nodes, as a backend stores it. */
export interface Link {
  link: "covers" | "merges";
  from: NodeKey;
  to: NodeKey;
}

/** The messages of a path as a model should get them. */
export function contextOf(path: readonly NodeRow[], links: readonly Link[]): Message[] {
  const at = new Map(path.map((row, i) => [row.key, i]));
  const covers = links.filter((link) => link.link === "covers" && at.has(link.from) && at.has(link.to));
  const covered = new Set(covers.map((link) => link.to));
  // A summary stands where the first node that it covers stood.
  const standing = new Map<NodeKey, number>();
  for (const { from, to } of covers) {
    standing.set(from, Math.min(standing.get(from) ?? Number.POSITIVE_INFINITY, at.get(to) as number));
  }
  const summariesAt = new Map<number, NodeRow[]>();
  for (const row of path) {
    const place = standing.get(row.key);
    if (place === undefined || covered.has(row.key)) continue;
    summariesAt.set(place, [...(summariesAt.get(place) ?? []), row]);
  }
  const shown = path.flatMap((row, i) => {
    const summaries = summariesAt.get(i) ?? [];
    return covered.has(row.key) || standing.has(row.key) ? summaries : [...summaries, row];
  });
  return paired(shown.map(messageOf));
}

/** Pairs calls and results: an open call gets an error result before the next message, a lone result is left out. */
function paired(messages: readonly Message[]): Message[] {
  const result: Message[] = [];
  let open = new Map<string, string>();
  const close = () => {
    if (open.size > 0) result.push(interrupted(open));
    open = new Map();
  };
  for (const message of messages) {
    const { made, answered } = callsOf(message);
    if (answered.length === 0) close();
    const kept = answered.length === 0 ? message : withoutLone(message, open);
    for (const id of answered) open.delete(id);
    if (kept !== undefined) result.push(kept);
    for (const part of made.length > 0 ? (message.content as Part[]) : []) {
      if (part.type === "tool-call") open.set(part.toolCallId, part.toolName);
    }
  }
  close();
  return result;
}

function withoutLone(message: Message, open: ReadonlyMap<string, string>): Message | undefined {
  const parts = message.content as Part[];
  const kept = parts.filter((part) => part.type !== "tool-result" || open.has(part.toolCallId));
  if (kept.length === parts.length) return message;
  return kept.length === 0 ? undefined : { ...message, content: kept };
}

function interrupted(open: ReadonlyMap<string, string>): Message {
  const content = [...open].map(([toolCallId, toolName]): Part => {
    return { type: "tool-result", toolCallId, toolName, output: "The call was interrupted.", isError: true };
  });
  return { role: "tool", synthetic: true, content };
}
