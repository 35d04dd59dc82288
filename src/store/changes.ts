/**
 * Looking at what turns did to the files: lists of changes, diffs, single files at a node.
 */
import type { LogRow, NodeRow } from "../core/backend.js";
import { parentOf } from "../core/dag.js";
import { RetconError } from "../core/errors.js";
import type { FileChange, FileState } from "../core/model.js";
import { byPath, ownRows, positionOf } from "../core/own-rows.js";
import { absent, sameState } from "../core/states.js";
import { shownPlans } from "../core/tree.js";
import { startsTurn } from "../core/turns.js";
import { findBlob } from "./blobs.js";
import type { Chat } from "./chat.js";
import type { Environment } from "./environment.js";
import { requireNode, type State } from "./state.js";

/** Rows of the log as one change for each path: from the oldest state to the newest. */
export async function fileChanges(env: Environment, rows: readonly LogRow[]): Promise<FileChange[]> {
  const changes: FileChange[] = [];
  const unknown = new Set(unknownIn(rows).map(({ path }) => path));
  for (const [path, own] of [...byPath(rows)].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (unknown.has(path)) continue;
    const [before, after] = [own[0]?.before ?? absent, own.at(-1)?.after ?? absent];
    const kind = kindOf(before, after);
    if (kind === undefined) continue;
    const [old, now] = [await contentOf(env, before), await contentOf(env, after)];
    const empty = new Uint8Array();
    const counts = old === null && now === null ? noLines : env.tools.countLines(old ?? empty, now ?? empty);
    changes.push({ path, kind, before, after, ...counts });
  }
  const outcomes = { added: "created", deleted: "deleted" } as Record<string, string>;
  const shown = shownPlans(changes.map((change) => ({ ...change, outcome: outcomes[change.kind] ?? "restored" })));
  return shown.map(({ outcome: _outcome, ...change }) => change);
}

/** Paths of which some state was never captured: no change can be told of them, and none can be taken back. */
export function unknownIn(rows: readonly LogRow[]): { path: string; reason: string }[] {
  return [...byPath(rows)].flatMap(([path, own]) => {
    const unknown = own.flatMap((row) => [row.before, row.after]).find((state) => state.kind === "unknown");
    return unknown === undefined ? [] : [{ path, reason: unknown.reason }];
  });
}

const noLines = { binary: false, added: 0, removed: 0 };

function kindOf(before: FileState, after: FileState): FileChange["kind"] | undefined {
  if (sameState(before, after)) return undefined;
  if (before.kind === "absent") return "added";
  if (after.kind === "absent") return "deleted";
  if (before.kind !== after.kind) return "type-changed";
  if (before.kind === "file" && after.kind === "file" && before.blob === after.blob) return "mode-changed";
  return before.kind === "directory" ? "mode-changed" : "modified";
}

/** The content of a state: a file's bytes, a link's target, null for anything else and for content that is gone. */
async function contentOf(env: Environment, state: FileState): Promise<Uint8Array | null> {
  if (state.kind === "symlink") return new TextEncoder().encode(state.target);
  if (state.kind !== "file") return null;
  const found = await findBlob(env, state.blob);
  return typeof found === "string" ? null : found;
}

/** The own rows of a node: of its whole turn for a user node, otherwise of what was captured at it. */
async function rowsOf(chat: Chat, state: State, node: NodeRow): Promise<LogRow[]> {
  const { backend } = chat.env;
  const workspace = chat.workspaceKey;
  if (workspace === null) return [];
  if (startsTurn(node)) {
    const runs = (await backend.runs({ conversation: chat.key })).filter((run) => run.userKey === node.key);
    const spans = runs.map((run) => ({ run: run.rowsOf ?? run.run, above: run.found ?? 0, upTo: run.left }));
    if (spans.length === 0) return [];
    return ownRows(await backend.log(workspace, { runs: spans.map((span) => span.run) }), spans);
  }
  if (node.run === null) return [];
  const [run] = await backend.runs({ runs: [node.run] });
  if (run === undefined) return [];
  const parentKey = parentOf(state.segments, node.key);
  const [parent] = parentKey === null ? [] : await backend.nodes(chat.key, { keys: [parentKey] });
  const above = parent?.run === node.run ? positionOf(parent, run) : run.found;
  const own = run.rowsOf ?? run.run;
  const rows = await backend.log(workspace, { runs: [own] });
  return ownRows(rows, [{ run: own, above: above ?? 0, upTo: positionOf(node, run) }]);
}

/** What a turn, or a single node, did to the files. */
export async function changesOf(chat: Chat, nodeId: string): Promise<FileChange[]> {
  const node = await requireNode(chat.env, chat.key, nodeId);
  return fileChanges(chat.env, await rowsOf(chat, await chat.read(), node));
}

/** The same as a unified diff. @throws `blob_missing` never: content that is gone shows as binary */
export async function diffOf(chat: Chat, nodeId: string, only?: string): Promise<string> {
  const changes = await changesOf(chat, nodeId);
  const patches: string[] = [];
  for (const { path, before, after } of changes) {
    if (only !== undefined && path !== only && !path.startsWith(`${only}/`)) continue;
    const contents = [await contentOf(chat.env, before), await contentOf(chat.env, after)] as const;
    patches.push(chat.env.tools.patch({ path, before, after }, ...contents));
  }
  return patches.join("");
}

/** What a path was when a node was the newest: the state before the first row after its position, or the index. */
export async function fileAt(chat: Chat, nodeId: string, path: string): Promise<FileState> {
  const node = await requireNode(chat.env, chat.key, nodeId);
  if (typeof path !== "string") throw new TypeError("path must be a string");
  if (
    path === "" ||
    path.startsWith("/") ||
    path.split("/").some((part) => part === "" || part === "." || part === "..")
  ) {
    throw new RetconError("path_outside", `${JSON.stringify(path)} is not a path inside the workspace`, { path });
  }
  const workspace = chat.workspaceKey;
  if (workspace === null) return { kind: "unknown", reason: "no_workspace" };
  const [run] = node.run === null ? [] : await chat.env.backend.runs({ runs: [node.run] });
  const position = positionOf(node, run);
  if (position === null) return { kind: "unknown", reason: "no_capture" };
  const [row] = await chat.env.backend.log(workspace, { path, after: position, limit: 1 });
  if (row !== undefined) return row.before;
  const [entry] = await chat.env.backend.index(workspace, { path });
  return entry?.state ?? absent;
}
