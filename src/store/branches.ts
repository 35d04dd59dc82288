/**
 * Branches as names: listed, made, renamed, deleted. Marks follow in the same commit.
 */
import type { Change, Head, NodeKey } from "../core/change.js";
import { callerOf } from "../core/dag.js";
import { RetconError } from "../core/errors.js";
import { checkName } from "../core/ids.js";
import type { Branch } from "../core/model.js";
import { type Chat, headMoved } from "./chat.js";
import { refuseExisting, switchBranch } from "./moves.js";
import { settleDead } from "./runs.js";
import { activeHead, headIds, markChanges, requireBranch, requireNode, type State, toBranch } from "./state.js";

const attempts = 20;

/** Every branch by name. */
export async function listBranches(chat: Chat): Promise<Branch[]> {
  const state = await chat.read();
  const ids = await headIds(chat.env, state);
  return [...state.branches.values()].map((branch) => toBranch(state, branch, ids));
}

async function branchNamed(chat: Chat, name: string): Promise<Branch> {
  const state = await chat.read();
  return toBranch(state, requireBranch(state, name), await headIds(chat.env, state));
}

type BranchMove = { name: string; from: Head | null; to: Head | null };

/** Commits moves of branches that leave the files alone. */
async function commitBranches(
  chat: Chat,
  decide: (state: State) => { moves: BranchMove[]; also: Change[]; summary: { [key: string]: string } },
): Promise<void> {
  await settleDead(chat);
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const state = await chat.read();
    await chat.requireIdle();
    const { moves, also, summary } = decide(state);
    const changes = moves.map((move): Change => ({ ...move, kind: "branch" }));
    const commit = chat.commit(
      "branch",
      [{ kind: "idle" }, { kind: "version", at: state.row.version }, ...changes, ...also, ...markChanges(state, moves)],
      summary,
    );
    const outcome = await chat.env.backend.commit(commit);
    if (outcome.ok) {
      chat.feed.wake();
      return;
    }
  }
  throw headMoved();
}

/** Makes a branch. @throws `branch_exists`, `not_found`, `run_active` */
export async function createBranch(
  chat: Chat,
  name: string,
  options: { at?: string | null; switch?: boolean },
): Promise<Branch> {
  checkName("name", name);
  const at = await placeFor(chat, options.at);
  if (options.switch) await switchBranch(chat, name, {}, { at });
  else {
    await commitBranches(chat, (state) => {
      refuseExisting(state, name);
      return { moves: [{ name, from: null, to: { head: at } }], also: [], summary: { made: name } };
    });
  }
  return branchNamed(chat, name);
}

async function placeFor(chat: Chat, at: string | null | undefined): Promise<NodeKey | null> {
  const state = await chat.read();
  if (at === undefined) return activeHead(state);
  if (at === null) return null;
  const node = await requireNode(chat.env, chat.key, at);
  if (callerOf(state.segments, node.key) === null) return node.key;
  const data = { nodeId: node.id, branch: state.row.activeBranch };
  throw new RetconError("not_on_branch", `node ${node.id} belongs to a side chain; no branch can be made there`, data);
}

/** Gives a branch another name. @throws `branch_exists`, `not_found` */
export async function renameBranch(chat: Chat, name: string, to: string): Promise<Branch> {
  checkName("to", to);
  await commitBranches(chat, (state) => {
    const { head } = requireBranch(state, name);
    refuseExisting(state, to);
    const active = state.row.activeBranch === name ? [{ kind: "active", from: name, to } as const] : [];
    const moves = [
      { name: to, from: null, to: { head } },
      { name, from: { head }, to: null },
    ];
    return { moves, also: active, summary: { renamed: name, to } };
  });
  return branchNamed(chat, to);
}

/** Deletes a branch; the nodes that only it reached are marked. @throws `branch_active`, `not_found` */
export async function deleteBranch(chat: Chat, name: string): Promise<void> {
  await commitBranches(chat, (state) => {
    const { head } = requireBranch(state, name);
    if (state.row.activeBranch === name) {
      throw new RetconError("branch_active", `branch ${name} is the active one`, { branch: name });
    }
    return { moves: [{ name, from: { head }, to: null }], also: [], summary: { deleted: name } };
  });
}
