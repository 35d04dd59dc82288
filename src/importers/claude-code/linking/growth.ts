/**
 * Answers that were imported before their last lines were written.
 *
 * A node never changes once it is stored, so what came later of its answer becomes a node of its own:
 *
 *     first import    A1 ← A2                       node A1 (A1 A2)
 *     the file grows  A1 ← A2 ← A3 ← R              node A1 (A1 A2) ← node A3 (A3) ← R
 */
import type { Entry } from "./entries.js";

/** What a store holds of a conversation already. */
export interface Stored {
  ids: ReadonlySet<string>;
  /** Uuids of the lines that a node was made from. */
  linesOf(nodeId: string): Promise<ReadonlySet<string>>;
}

/** Whether an answer may have grown: a later line of it is a node already, or is newer than all that is stored. */
function mayHaveGrown(entry: Entry, stored: Stored, newest: number): boolean {
  if (entry.kind !== "answer" || entry.lines.length < 2 || !stored.ids.has(entry.id)) return false;
  return entry.lines.slice(1).some((line) => stored.ids.has(line.id) || line.at > newest);
}

/** Numbers the parts of answers that are stored in parts; true if there are any. */
export async function markGrowth(entries: readonly Entry[], stored: Stored): Promise<boolean> {
  const newest = entries.reduce((at, entry) => (stored.ids.has(entry.id) ? Math.max(at, entry.at) : at), 0);
  let found = false;
  for (const entry of entries) {
    if (!mayHaveGrown(entry, stored, newest)) continue;
    let part = 0;
    let held: ReadonlySet<string> | undefined = await stored.linesOf(entry.id);
    for (const line of entry.lines.slice(1)) {
      const startsNode = stored.ids.has(line.id);
      if (startsNode || (held !== undefined && !held.has(line.uuid))) {
        part += 1;
        held = startsNode ? await stored.linesOf(line.id) : undefined;
      }
      line.part = part;
      found ||= part > 0;
    }
  }
  return found;
}
