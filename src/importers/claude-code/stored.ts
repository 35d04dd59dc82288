/**
 * Asking the store what it has of a session already.
 */
import { isRetconError } from "../../core/errors.js";
import type { Conversation, Store } from "../../store/surface.js";
import { objectIn, objectsIn, textIn } from "./json.js";
import type { Stored } from "./linking/growth.js";

/** The conversation with exactly this id, if there is one. */
export async function conversationIn(store: Store, id: string): Promise<Conversation | undefined> {
  try {
    const found = await store.conversation(id);
    // The store also finds by the beginning of an id; only the whole id is this session.
    return found.id === id ? found : undefined;
  } catch (error) {
    if (isRetconError(error, "not_found") || isRetconError(error, "ambiguous_id")) return undefined;
    throw error;
  }
}

/** What the store has of the conversation with this id; undefined if nothing. */
export async function storedIn(store: Store, id: string): Promise<Stored | undefined> {
  const chat = await conversationIn(store, id);
  if (chat === undefined) return undefined;
  const { nodes } = await chat.graph();
  return {
    ids: new Set(nodes.map((node) => node.id)),
    async linesOf(nodeId) {
      const metadata = objectIn((await chat.node(nodeId))?.message.metadata);
      const lines = objectsIn(objectIn(metadata?.claudeCode)?.lines);
      return new Set(lines.flatMap((line) => textIn(objectIn(line.raw)?.uuid) ?? []));
    },
  };
}
