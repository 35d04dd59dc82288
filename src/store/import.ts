/**
 * Importing a conversation from another system: what is new is added, what is there stays.
 */
import type { BranchRow, KeyRange } from "../core/backend.js";
import type { Change, NodeKey } from "../core/change.js";
import { callerOf, inRanges, offsetOf, pathBelow, pathOf, type Segments, segmentOf } from "../core/dag.js";
import { RetconError } from "../core/errors.js";
import { checkId } from "../core/ids.js";
import { type Chat, headMoved } from "./chat.js";
import type { Environment } from "./environment.js";
import { type Checked, checkMessage, nodeChange, storeBlobs } from "./place.js";
import { settleDead } from "./runs.js";
import { requireBranch } from "./state.js";
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
    checkId("node id", node.id);
    const { covers = [] } = node;
    if (!Array.isArray(covers) || covers.some((id) => typeof id !== "string" || id === node.id)) {
      const reason = "a summary covers other nodes, given as a list of their ids";
      throw new RetconError("bad_input", `covers of ${node.id} cannot be: ${reason}`, { field: "covers", reason });
    }
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

/** What an import adds to: the DAG that is there, its branches, and the branch that follows the source. */
interface Ground {
  segments: Segments;
  branches: readonly Pick<BranchRow, "name" | "head">[];
  branch: Pick<BranchRow, "name" | "head">;
  known: ReadonlyMap<string, NodeKey>;
}

/** The changes that add what is new, and how many nodes that is. @throws `bad_input` */
function importChanges(
  { segments, branches, branch, known }: Ground,
  input: ImportInput,
  prepared: readonly Prepared[],
): { changes: Change[]; added: number } {
  const fresh = prepared.filter(({ node }) => !known.has(node.id));
  const placed = place(segments, known, fresh.map(placing));
  const head = headFor({ segments, branch }, placed, input);
  const heads = branches.map((b) => (b.name === branch.name ? head : b.head));
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
function headFor(
  { segments: before, branch }: Pick<Ground, "segments" | "branch">,
  { keys, segments }: Placed,
  { headId }: ImportInput,
): NodeKey | null {
  const now = branch.head;
  if (headId === null) return now;
  const head = keys.get(headId);
  if (head === undefined || callerOf(segments, head) !== null) {
    const reason = head === undefined ? "it is not among the nodes" : "it belongs to a side chain";
    throw new RetconError("bad_input", `headId ${headId} cannot be the head: ${reason}`, { field: "headId", reason });
  }
  const goesOn = now === null || inRanges(pathOf(segments, head), now);
  return goesOn && !hasRewound(before, pathBelow(segments, now, head)) ? head : now;
}

/** Whether some node of a stretch is there already and rewound. It comes back by name, not because its source has it. */
function hasRewound(segments: Segments, ranges: readonly KeyRange[]): boolean {
  return ranges.some(({ from, to }) => {
    const row = segments.get(segmentOf(from));
    return row?.mark != null && Math.min(offsetOf(to), row.last) >= Math.max(offsetOf(from), row.mark);
  });
}

/** The changes that fill a conversation which is made by the same commit. */
export async function importNew(
  env: Environment,
  name: string,
  input: ImportInput,
  prepared: readonly Prepared[],
): Promise<Change[]> {
  const branch = { name, head: null };
  const ground = { segments: new Map(), branches: [branch], branch, known: new Map() };
  const { changes } = importChanges(ground, input, prepared);
  await storeBlobs(
    env,
    prepared.map(({ checked }) => checked),
  );
  return changes;
}

/** Imports into a conversation that exists. Returns how many nodes were added. */
export async function importInto(chat: Chat, input: ImportInput, prepared: readonly Prepared[]): Promise<number> {
  const { env } = chat;
  await settleDead(chat);
  await chat.requireIdle();
  const state = await chat.read();
  const rows = await env.backend.nodes(chat.key, { ids: prepared.map(({ node }) => node.id) });
  const known = new Map(rows.map((row) => [row.id, row.key]));
  const ground = { ...state, branches: [...state.branches.values()], branch: requireBranch(state), known };
  const { changes, added } = importChanges(ground, input, prepared);
  if (changes.length === 0) return 0;
  await storeBlobs(
    env,
    prepared.map(({ checked }) => checked),
  );
  const guards: Change[] = [{ kind: "idle" }, { kind: "version", at: state.row.version }];
  const outcome = await env.backend.commit(chat.commit("import", [...guards, ...changes], { nodes: added }));
  if (!outcome.ok) throw headMoved();
  chat.feed.wake();
  return added;
}
