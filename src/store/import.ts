/**
 * Importing a conversation from another system: what is new is added, what is there stays.
 */
import type { KeyRange } from "../core/backend.js";
import type { Change, NodeKey } from "../core/change.js";
import { inRanges, offsetOf, pathBelow, pathOf, segmentOf } from "../core/dag.js";
import { RetconError } from "../core/errors.js";
import { checkId } from "../core/ids.js";
import type { Json } from "../core/model.js";
import { type Chat, headMoved } from "./chat.js";
import type { Environment } from "./environment.js";
import { type Checked, checkMessage, nodeChange, storeBlobs } from "./place.js";
import { settleDead } from "./runs.js";
import { requireBranch, type State } from "./state.js";
import type { ImportedNode, ImportInput } from "./surface.js";
import { openingChanges, type Placed, type Placing, place, remarkChanges } from "./transfer.js";

interface Prepared {
  node: ImportedNode;
  checked: Checked;
}

/** Checks everything before the first write. @throws `bad_input` */
export function prepare(env: Environment, input: ImportInput): Prepared[] {
  checkId("id", input.id);
  if (!Array.isArray(input.nodes)) throw new TypeError("nodes must be a list");
  const seen = new Set<string>();
  return input.nodes.map((node) => {
    if (seen.has(node.id)) {
      const reason = "an id stands for one node";
      throw new RetconError("bad_input", `node ${node.id} comes twice: ${reason}`, { field: "nodes", reason });
    }
    seen.add(node.id);
    if (Number.isNaN(Date.parse(node.createdAt))) {
      const reason = "a time is an ISO 8601 string";
      throw new RetconError("bad_input", `node ${node.id} has no time: ${reason}`, { field: "createdAt", reason });
    }
    return { node, checked: checkMessage(env, { ...node.message, id: node.id }) };
  });
}

/** The changes that add what is new to a conversation, and how many nodes that is. */
async function importChanges(
  chat: Chat,
  input: ImportInput,
  prepared: readonly Prepared[],
): Promise<{ changes: Change[]; added: number }> {
  const state = await chat.read();
  const rows = await chat.env.backend.nodes(chat.key, { ids: prepared.map(({ node }) => node.id) });
  const known = new Map(rows.map((row) => [row.id, row.key]));
  const fresh = prepared.filter(({ node }) => !known.has(node.id));
  const placed = place(state.segments, known, fresh.map(placing));
  const head = headFor(state, placed, input);
  const branch = requireBranch(state);
  const heads = [...state.branches.values()].map((b) => (b.name === branch.name ? head : b.head));
  const moves: Change[] =
    head === branch.head ? [] : [{ kind: "branch", name: branch.name, from: { head: branch.head }, to: { head } }];
  if (fresh.length === 0 && moves.length === 0) return { changes: [], added: 0 };
  const changes = [
    ...openingChanges(placed, heads),
    ...placed.changes,
    ...linkChanges(placed, fresh),
    ...moves,
    ...remarkChanges(placed, heads),
  ];
  return { changes, added: fresh.length };
}

function placing({ node, checked }: Prepared): Placing {
  const { id, parentId, callerId, createdAt } = node;
  return { id, parentId, callerId, change: (key) => nodeChange(checked, key, null, Date.parse(createdAt)) };
}

function linkChanges({ keys }: Placed, fresh: readonly Prepared[]): Change[] {
  return fresh.flatMap(({ node }) =>
    (node.covers ?? []).flatMap((id): Change[] => {
      const [from, to] = [keys.get(node.id), keys.get(id)];
      return from === undefined || to === undefined ? [] : [{ kind: "link", link: "covers", from, to }];
    }),
  );
}

/** The source's head, unless the conversation went on by itself since it was imported, or what leads there was rewound. */
function headFor(state: State, { keys, segments }: Placed, { headId }: ImportInput): NodeKey | null {
  const now = requireBranch(state).head;
  if (headId === null) return now;
  const head = keys.get(headId);
  if (head === undefined) {
    const reason = "it is not among the nodes";
    throw new RetconError("bad_input", `headId ${headId} is unknown: ${reason}`, { field: "headId", reason });
  }
  const goesOn = now === null || inRanges(pathOf(segments, head), now);
  return goesOn && !hasRewound(state, pathBelow(segments, now, head)) ? head : now;
}

/** Whether some node of a stretch is there already and rewound. It comes back by name, not because its source has it. */
function hasRewound({ segments }: State, ranges: readonly KeyRange[]): boolean {
  return ranges.some(({ from, to }) => {
    const row = segments.get(segmentOf(from));
    return row?.mark != null && Math.min(offsetOf(to), row.last) >= Math.max(offsetOf(from), row.mark);
  });
}

/** Imports into a conversation that exists. Returns how many nodes were added. */
export async function importInto(chat: Chat, input: ImportInput, prepared: readonly Prepared[]): Promise<number> {
  await settleDead(chat);
  await chat.requireIdle();
  await storeBlobs(
    chat.env,
    prepared.map(({ checked }) => checked),
  );
  const { changes, added } = await importChanges(chat, input, prepared);
  if (changes.length === 0) return 0;
  const summary: Json = { nodes: added };
  const outcome = await chat.env.backend.commit(chat.commit("import", [{ kind: "idle" }, ...changes], summary));
  if (!outcome.ok) throw headMoved();
  chat.feed.wake();
  return added;
}
