/**
 * Which turn a rewind goes to: named by its user node, or counted on the conversation as it is when the rewind decides.
 */
import { lengthOf, pathOf } from "../core/dag.js";
import { RetconError } from "../core/errors.js";
import { startsTurn } from "../core/turns.js";
import type { Chat } from "./chat.js";
import { pathRows, requireBranch, type State } from "./state.js";

/** What was asked, and how the turn is found. */
export interface Target {
  verb: "rewindTo" | "rewindTurns" | "rewindToLength";
  asked: string | number;
  /** The user node's id; undefined where there is nothing to remove. */
  find(state: State): Promise<string | undefined>;
}

/** The turn of a user node. */
export function toTurn(userNodeId: string): Target {
  if (typeof userNodeId !== "string") throw new TypeError("a node id must be a string");
  return { verb: "rewindTo", asked: userNodeId, find: async () => userNodeId };
}

/** The turn that lies a number of turns back, or the oldest. @throws `bad_input` */
export function turnsBack(chat: Chat, count: number, branch?: string): Target {
  if (!Number.isSafeInteger(count) || count < 1) {
    const reason = "it must be a whole number from 1 up";
    throw new RetconError("bad_input", `cannot rewind ${count} turns: ${reason}`, { field: "count", reason });
  }
  return {
    verb: "rewindTurns",
    asked: count,
    async find(state) {
      const turns = (await pathRows(chat.env, state, requireBranch(state, branch).head)).filter(startsTurn);
      return (turns.at(-count) ?? turns[0])?.id;
    },
  };
}

/** The turn that a cut at a length falls into or starts with; none at or past the end. @throws `bad_input` */
export function toLength(chat: Chat, length: number, branch?: string): Target {
  if (!Number.isSafeInteger(length) || length < 0) {
    const reason = "it must be a whole number from 0 up";
    throw new RetconError("bad_input", `cannot cut the history to ${length}: ${reason}`, { field: "length", reason });
  }
  return {
    verb: "rewindToLength",
    asked: length,
    async find(state) {
      const { head } = requireBranch(state, branch);
      if (length >= lengthOf(pathOf(state.segments, head))) return undefined;
      const rows = await pathRows(chat.env, state, head);
      return (rows.slice(0, length + 1).findLast(startsTurn) ?? rows.find(startsTurn))?.id;
    },
  };
}
