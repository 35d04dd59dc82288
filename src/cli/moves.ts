/**
 * Moves in words: what a rewind, switch, resume, undo or redo did, or would do.
 *
 * A person wants to know three things: where the conversation stands now, which files changed, and which did not
 * although they might have. Long lists are cut, but never what was left undone before what was done.
 */
import type { FileOutcome, FileReport, MoveResult, RewindOptions, RewindPreview, RewindResult } from "../core/model.js";
import { renderFiles, type Shorten } from "./render.js";
import { counted, harmless, named, type Screen } from "./screen.js";
import type { Answer } from "./verb.js";

type Mode = RewindOptions["mode"];

const listed = 20;

/** Nothing is coloured or cut in talk: it also ends up in log files. */
const plain: Screen = { terminal: false, width: undefined, paint: (_, text) => text };

const done: ReadonlySet<FileOutcome> = new Set(["restored", "created", "deleted", "merged"]);

/** The files that a person should see: first those that a move leaves for a reason, then those that it changes. */
function noteworthy(files: readonly FileReport[]): FileReport[] {
  const seen = files.filter((file) => file.outcome !== "unchanged");
  return [...seen.filter((file) => !done.has(file.outcome)), ...seen.filter((file) => done.has(file.outcome))];
}

/** Counts files by outcome, in words. */
function tally(files: readonly FileReport[]): string {
  const counts = new Map<FileOutcome, number>();
  for (const { outcome } of files) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return [...counts].map(([outcome, count]) => `${count} ${outcome}`).join(", ") || "no file changes";
}

/** What a move does to files, short enough to be read: the tally, then the first files. */
function filesText(files: readonly FileReport[], screen: Screen): string {
  const shown = noteworthy(files);
  return [`files: ${tally(files)}`, ...(shown.length === 0 ? [] : [renderFiles(shown, screen, listed)])].join("\n");
}

const place = (branch: string, headId: string | null, shorten: Shorten) =>
  headId === null ? `${named(branch)} is empty now` : `the head of ${named(branch)} is ${shorten(headId)}`;

function errorsText({ errors }: Pick<MoveResult, "errors">): string[] {
  if (errors.length === 0) return [];
  const lines = errors.map(({ path, code, message }) => {
    const where = path === undefined || message.startsWith(path) ? "" : `${named(path)}: `;
    return `  ${where}${harmless(message)} [${code}]`;
  });
  return [`${counted(errors.length, "error")}:`, ...lines];
}

/** What a move did, for stderr. `did` names it in the past. */
function moveText(did: string, result: MoveResult, shorten: Shorten): string {
  return [
    `${did}; ${place(result.branch, result.newHeadId, shorten)}`,
    filesText(result.files, plain),
    ...errorsText(result),
  ].join("\n");
}

/** The answer of a verb that moves: its data is on stderr in words and in JSON, stdout stays empty. */
export function moveAnswer(did: string, result: MoveResult, shorten: Shorten): Answer {
  return { json: result, text: "", talk: moveText(did, result, shorten), incomplete: result.errors.length > 0 };
}

/** How far a rewind goes. Nodes that another branch still reaches are not rewound, so there may be none. */
function extent(
  { turnsReverted, nodesRewound }: Pick<RewindResult, "turnsReverted" | "nodesRewound">,
  mode: Mode,
): string {
  const turns = counted(turnsReverted, "turn");
  return mode === "files" ? "the files alone" : `${turns}, ${counted(nodesRewound.length, "node")}`;
}

/** What a rewind did, for stderr. */
export function rewindText(result: RewindResult, mode: Mode, shorten: Shorten): string {
  if (result.operationId === null) return "nothing to rewind";
  return `${moveText(`rewound ${extent(result, mode)}`, result, shorten)}\n\`retcon undo\` takes this back`;
}

const intent = (preview: RewindPreview, mode: Mode, shorten: Shorten) =>
  `rewinds ${extent(preview, mode)}; then ${place(preview.branch, preview.newHeadId, shorten)}`;

/** What a rewind would do, in full. */
export function previewText(preview: RewindPreview, mode: Mode, screen: Screen, shorten: Shorten): string {
  const files = preview.files.length === 0 ? "  no file changes" : renderFiles(preview.files, screen);
  return `${intent(preview, mode, shorten)}\n${files}`;
}

/** What a rewind would do, before a question. */
export function questionText(preview: RewindPreview, mode: Mode, screen: Screen, shorten: Shorten): string {
  return `${intent(preview, mode, shorten)}\n${filesText(preview.files, screen)}`;
}
