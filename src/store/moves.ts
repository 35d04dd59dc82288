/**
 * The other verbs that move: switch, resume, undo and redo. Each only decides; move.ts does the rest.
 */
import type { NodeRow } from "../core/backend.js";
import type { Head, NodeKey } from "../core/change.js";
import { callerOf, leavesBelow } from "../core/dag.js";
import { RetconError } from "../core/errors.js";
import { checkName } from "../core/ids.js";
import type { MoveResult, RestoreOptions } from "../core/model.js";
import { type Move, movingKinds, undoStacks } from "../core/undo.js";
import { checkExpected } from "./append.js";
import type { Chat } from "./chat.js";
import { type Decision, executeMove, idOf } from "./move.js";
import { requestOf } from "./requests.js";
import { activeHead, requireBranch, requireNode, type State } from "./state.js";

/** How many operations undo looks back over. */
const undoDepth = 100_000;

async function deciding(
  chat: Chat,
  state: State,
  options: RestoreOptions,
  part: Pick<Decision, "kind" | "branches" | "branch"> & {
    to: NodeKey | null;
    activeTo: string;
    of?: number;
    files?: Decision["files"];
    mode?: Decision["mode"];
  },
): Promise<Decision> {
  await chat.requireIdle();
  await checkExpected(chat, state, options.expectedHead);
  const from = activeHead(state);
  const { kind, branches, branch, to, activeTo, of, files = { from, to }, mode = "both" } = part;
  return {
    kind,
    branches,
    active: { from: state.row.activeBranch, to: activeTo },
    branch,
    headId: await idOf(chat, to),
    head: { from, to },
    mode,
    files: chat.workspaceKey === null ? null : files,
    ...(of === undefined ? {} : { of }),
    also: [],
    owner: { kind: "move" },
    notes: [],
  };
}

const asIs = (moved: MoveResult): MoveResult => moved;

function asked(options: RestoreOptions): object {
  const { signal: _signal, onProgress: _onProgress, ...rest } = options;
  return rest;
}

/** Makes a branch the active one, made first at a node if it is new. @throws `not_found`, `branch_exists` */
export async function switchBranch(
  chat: Chat,
  name: string,
  options: RestoreOptions,
  made?: { at: NodeKey | null },
): Promise<MoveResult> {
  const request = requestOf(chat, options.requestId, "switchBranch", { name, made, ...asked(options) });
  return executeMove(chat, options, request, {
    result: asIs,
    async decide(state) {
      if (made !== undefined) refuseExisting(state, name);
      const to = made === undefined ? requireBranch(state, name).head : made.at;
      const branches = made === undefined ? [] : [{ name, from: null, to: { head: to } }];
      return deciding(chat, state, options, { kind: "switch", branches, branch: name, to, activeTo: name });
    },
  });
}

/** @throws `branch_exists` */
export function refuseExisting(state: State, name: string): void {
  if (!state.branches.has(name)) return;
  throw new RetconError("branch_exists", `branch ${name} exists already`, { branch: name });
}

/** Puts a branch on the newest leaf under a node and makes it the active one. */
export async function resume(
  chat: Chat,
  nodeId: string,
  options: RestoreOptions & { name?: string },
): Promise<MoveResult> {
  const given = options.name === undefined ? undefined : checkName("name", options.name);
  const request = requestOf(chat, options.requestId, "resume", { nodeId, ...asked(options) });
  return executeMove(chat, options, request, {
    result: asIs,
    async decide(state) {
      const leaf = await newestLeaf(chat, state, nodeId);
      const onLeaf = [...state.branches.values()].find((branch) => branch.head === leaf);
      const name = given ?? onLeaf?.name ?? freeName(state);
      const existing = state.branches.get(name);
      const to: Head = { head: leaf };
      const from: Head | null = existing === undefined ? null : { head: existing.head };
      const branches = from?.head === leaf ? [] : [{ name, from, to }];
      return deciding(chat, state, options, { kind: "resume", branches, branch: name, to: leaf, activeTo: name });
    },
  });
}

async function newestLeaf(chat: Chat, state: State, nodeId: string): Promise<NodeKey> {
  const node = await requireNode(chat.env, chat.key, nodeId);
  if (callerOf(state.segments, node.key) !== null) {
    const branch = state.row.activeBranch;
    throw new RetconError("not_on_branch", `node ${node.id} belongs to a side chain; resume the node that called it`, {
      nodeId: node.id,
      branch,
    });
  }
  const leaves = await chat.env.backend.nodes(chat.key, { keys: leavesBelow(state.segments, node.key) });
  return leaves.reduce((newest, leaf) => (isNewer(leaf, newest) ? leaf : newest), leaves[0] ?? node).key;
}

const isNewer = (a: NodeRow, b: NodeRow) =>
  a.operation === b.operation ? a.createdAtMs > b.createdAtMs : a.operation > b.operation;

function freeName(state: State): string {
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? "resumed" : `resumed-${n}`;
    if (!state.branches.has(name)) return name;
  }
}

/** Takes back the newest move, or brings the newest undone one again. @throws `nothing_to_undo` */
export async function undoOrRedo(chat: Chat, direction: "undo" | "redo", options: RestoreOptions): Promise<MoveResult> {
  const request = requestOf(chat, options.requestId, direction, asked(options));
  return executeMove(chat, options, request, {
    result: asIs,
    async decide(state) {
      await chat.requireIdle();
      const rows = await chat.env.backend.operations({ conversation: chat.key, limit: undoDepth, kinds: movingKinds });
      const move = undoStacks(rows)[direction].at(-1);
      if (move === undefined)
        throw new RetconError("nothing_to_undo", `there is nothing to ${direction}`, { direction });
      return backTo(chat, state, move, direction, options);
    },
  });
}

/** The way back to what a move found, planned afresh from where the branches are now. */
async function backTo(
  chat: Chat,
  state: State,
  { number, summary }: Move,
  kind: "undo" | "redo",
  options: RestoreOptions,
): Promise<Decision> {
  const branches = summary.branches.flatMap(({ name, from: to, to: left }): Decision["branches"] => {
    const now = state.branches.get(name);
    // One of the same name that was made since is not the move's to replace.
    if (left === null) refuseExisting(state, name);
    const from = now === undefined ? null : { head: now.head };
    const same = from === null ? to === null : to !== null && from.head === to.head;
    return same ? [] : [{ name, from, to }];
  });
  const activeTo = summary.active.from;
  if (!state.branches.has(activeTo) && !branches.some((branch) => branch.name === activeTo)) {
    // Deleted or renamed since: it is made again where the move left it.
    branches.push({ name: activeTo, from: null, to: { head: summary.head.from } });
  }
  const moved = branches.find((branch) => branch.name === activeTo);
  const to = moved === undefined ? requireBranch(state, activeTo).head : (moved.to?.head ?? null);
  const files = filesBack(state, { number, summary }, to);
  // Where turns since a move of the conversation alone take their files with them, this one moves files, and says so.
  const mode = summary.mode === "conversation" && files !== null ? "both" : summary.mode;
  const part = { kind, branches, branch: activeTo, to, activeTo, of: number, files, mode };
  return deciding(chat, state, options, part);
}

/**
 * Between which heads the files go back. A move of the conversation alone left the files as they were, so its way back
 * takes them only to where it left the head: what turns did since goes, what it kept stays. What the move found is what to
 * go back to only while the head is the one that it found.
 */
function filesBack(state: State, { number, summary }: Pick<Move, "number" | "summary">, head: NodeKey | null) {
  const from = activeHead(state);
  const ownBranch = summary.branches.some((branch) => branch.name === summary.active.from);
  if (summary.mode === "conversation") {
    const to = ownBranch ? summary.head.to : head;
    return from === to ? null : { from, to };
  }
  return { from, to: head, ...(head === summary.head.from ? { of: number } : {}) };
}
