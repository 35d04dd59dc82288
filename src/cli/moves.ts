/**
 * Moves in words: what a rewind, switch, resume, undo or redo did, or would do.
 *
 * A person wants to know three things: where the conversation stands now, which files changed, and which did not although they might
 * have. What is plainly unchanged is counted, not listed.
 */
import type { FileReport, MoveResult, RewindPreview, RewindResult } from "../core/model.js";
import { renderFiles, type Shorten } from "./render.js";
import { counted, harmless, named, type Screen } from "./screen.js";
import type { Answer } from "./verb.js";

const listed = 50;

/** Nothing is coloured or cut in talk: it also ends up in log files. */
const plain: Screen = { terminal: false, width: undefined, paint: (_, text) => text };

/** Files that a move changes, or that it leaves for a reason. */
export const noteworthy = (files: readonly FileReport[]) => files.filter((file) => file.outcome !== "unchanged");

const place = (branch: string, headId: string | null, shorten: Shorten) =>
  headId === null ? `${named(branch)} is empty now` : `the head of ${named(branch)} is ${shorten(headId)}`;

function filesText(result: Pick<MoveResult, "files" | "errors">): string[] {
  const files = noteworthy(result.files);
  const unchanged = result.files.length - files.length;
  const errors = result.errors.map(({ path, code, message }) => {
    return `  ${path === undefined ? "" : `${named(path)}: `}${harmless(message)} [${code}]`;
  });
  return [
    ...(files.length === 0 ? ["no file changed"] : [renderFiles(files, plain, listed)]),
    ...(unchanged === 0 ? [] : [`  ${counted(unchanged, "file")} already as wanted`]),
    ...(errors.length === 0 ? [] : [`${counted(errors.length, "error")}:`, ...errors]),
  ];
}

/** What a move did, for stderr. `did` names it in the past. */
function moveText(did: string, result: MoveResult, shorten: Shorten): string {
  return [`${did}; ${place(result.branch, result.newHeadId, shorten)}`, ...filesText(result)].join("\n");
}

/** The answer of a verb that moves: its data is on stderr in words and in JSON, stdout stays empty. */
export function moveAnswer(did: string, result: MoveResult, shorten: Shorten): Answer {
  return { json: result, text: "", talk: moveText(did, result, shorten), incomplete: result.errors.length > 0 };
}

function extent(result: Pick<RewindResult, "turnsReverted" | "nodesRewound">): string {
  const turns = counted(result.turnsReverted, "turn");
  const nodes = result.nodesRewound.length;
  return nodes === 0 ? `${turns}, files only` : `${turns}, ${counted(nodes, "node")}`;
}

/** What a rewind did, for stderr. */
export function rewindText(result: RewindResult, shorten: Shorten): string {
  if (result.turnsReverted === 0 && result.operationId === null) return "nothing to rewind";
  return `${moveText(`rewound ${extent(result)}`, result, shorten)}\n\`retcon undo\` takes this back`;
}

/** What a rewind would do, for stdout or before a question. */
export function previewText(preview: RewindPreview, screen: Screen, shorten: Shorten, limit?: number): string {
  const heading = `rewinds ${extent(preview)}; then ${place(preview.branch, preview.newHeadId, shorten)}`;
  const files = preview.files.length === 0 ? "  no file changes" : renderFiles(preview.files, screen, limit);
  return `${heading}\n${files}`;
}
