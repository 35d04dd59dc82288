/**
 * A fork: a new conversation with a copy of a path, its side chains, runs and links. Nothing is shared but content and
 * the workspace's log, so neither side changes the other afterwards.
 */
import type { NodeRow } from "../core/backend.js";
import type { Change, NodeKey } from "../core/change.js";
import { callerOf, inRanges, keyOf, parentOf, pathOf } from "../core/dag.js";
import type { Chat } from "./chat.js";
import { activeHead, requireNode, type State } from "./state.js";
import { copiedNode, copiedRun, openingChanges, place } from "./transfer.js";

/** The rows of a path and of every side chain that hangs from it, parents first. */
async function copiedRows(chat: Chat, state: State, head: NodeKey | null): Promise<NodeRow[]> {
  const path = pathOf(state.segments, head);
  const taken = [...path];
  for (const row of [...state.segments.values()].sort((a, b) => a.segment - b.segment)) {
    const caller = callerOf(state.segments, keyOf(row.segment, 0));
    if (caller !== null && inRanges(taken, caller)) {
      taken.push({ from: keyOf(row.segment, 0), to: keyOf(row.segment, row.last) });
    }
  }
  return chat.env.backend.nodes(chat.key, { ranges: taken });
}

/** The commit that makes the copy under a new id. */
export async function forkChanges(
  chat: Chat,
  id: string,
  at: string | undefined,
): Promise<{ changes: Change[]; at: string | null }> {
  const state = await chat.read();
  const head = at === undefined ? activeHead(state) : (await requireNode(chat.env, chat.key, at)).key;
  const rows = await copiedRows(chat, state, head);
  const ids = new Map(rows.map((row) => [row.key, row.id]));
  const numbers = [...new Set(rows.flatMap((row) => (row.run === null ? [] : [row.run])))];
  const runs = numbers.length === 0 ? [] : await chat.env.backend.runs({ runs: numbers });
  const ended = runs.filter((run) => run.status !== "running");
  const placeholder = new Map(ended.map((run, i) => [run.run, -1 - i]));
  const idOf = (key: NodeKey | null) => (key === null ? null : (ids.get(key) ?? null));
  const placed = place(
    new Map(),
    new Map(),
    rows.map((row) => {
      const parentId = idOf(parentOf(state.segments, row.key));
      const callerId = idOf(callerOf(state.segments, row.key)) ?? undefined;
      const run = row.run === null ? null : (placeholder.get(row.run) ?? null);
      return { id: row.id, parentId, callerId, change: copiedNode(row, run) };
    }),
  );
  const keyOfNode = (key: NodeKey) => placed.keys.get(ids.get(key) ?? "");
  const newHead = head === null ? null : (keyOfNode(head) ?? null);
  const last = rows.find((row) => row.key === head);
  const { title, metadata, workspace, scope } = state.row;
  const createdAtMs = chat.env.now().getTime();
  const changes: Change[] = [
    { kind: "create", scope, id, title, metadata, workspace, branch: state.row.activeBranch, createdAtMs },
    ...openingChanges(placed, [newHead]),
    ...ended.flatMap((run) => {
      const cutAt = { key: newHead ?? 0, position: last?.position ?? null };
      return copiedRun(run, placeholder.get(run.run) as number, keyOfNode, cutAt);
    }),
    ...placed.changes,
    ...state.links.flatMap(({ link, from, to }): Change[] => {
      const [newFrom, newTo] = [keyOfNode(from), keyOfNode(to)];
      return newFrom === undefined || newTo === undefined ? [] : [{ kind: "link", link, from: newFrom, to: newTo }];
    }),
    ...(newHead === null
      ? []
      : [{ kind: "branch", name: state.row.activeBranch, from: { head: null }, to: { head: newHead } } as Change]),
  ];
  return { changes, at: idOf(head) };
}
