/**
 * The calls of a transcript that read or changed files, with what their results say of the file.
 */
import { type JsonObject, objectIn, objectsIn, stringIn } from "../json.js";
import type { Entry } from "../linking/entries.js";
import type { Line } from "../reading/line.js";
import type { TextEdit } from "./edits.js";

/** What a call did to its file. */
export type Effect = { kind: "write"; content: string } | { kind: "edit"; edits: TextEdit[] };

/** A Write, Edit or MultiEdit call. */
export interface FileCall {
  callId: string;
  toolName: string;
  /** As the call names it, and the folder that it was made in. */
  path: string;
  cwd: string | undefined;
  outcome: "succeeded" | "failed" | "unanswered";
  /** Undefined if the call's input is not what the tool takes. */
  effect: Effect | undefined;
  /** The file before the call, as its result tells: content, null for absent, undefined if it does not tell. */
  original: string | null | undefined;
  /** The old sides of the patch in the result: pieces of the file as it was. */
  pieces: string[];
}

/** What a Read call showed. */
export interface FileSeen {
  path: string;
  cwd: string | undefined;
  content: string;
  isWhole: boolean;
}

/** A call's result: the block that the model saw and what the tool kept beside it. */
interface CallResult {
  block: JsonObject;
  kept: JsonObject | undefined;
  isError: boolean;
}

/** Results by the ids of their calls. The first result of a call counts. */
export function resultsOf(entries: readonly Entry[]): Map<string, CallResult> {
  const results = new Map<string, CallResult>();
  for (const line of entries.flatMap((entry) => entry.lines)) {
    for (const block of line.blocks) {
      const id = stringIn(block.tool_use_id);
      if (block.type !== "tool_result" || id === undefined || results.has(id)) continue;
      const { toolUseResult } = line.raw;
      const isError = block.is_error === true || (typeof toolUseResult === "string" && /^Error\b/.test(toolUseResult));
      results.set(id, { block, kept: objectIn(toolUseResult), isError });
    }
  }
  return results;
}

function editIn(input: JsonObject): TextEdit | undefined {
  const { old_string: oldText, new_string: newText } = input;
  if (typeof oldText !== "string" || typeof newText !== "string") return undefined;
  return { oldText, newText, all: input.replace_all === true };
}

function editEffect(edits: (TextEdit | undefined)[]): Effect | undefined {
  const whole = edits.filter((edit) => edit !== undefined);
  return whole.length === edits.length && whole.length > 0 ? { kind: "edit", edits: whole } : undefined;
}

/** What a call did. Where its person changed it before it was made, the result says what was made. */
function effectOf(toolName: string, input: JsonObject, kept: JsonObject | undefined): Effect | undefined {
  const changed = kept?.userModified === true ? kept : undefined;
  if (toolName === "Write") {
    const content = stringIn(changed?.content) ?? stringIn(input.content);
    return content === undefined ? undefined : { kind: "write", content };
  }
  if (toolName === "MultiEdit") return editEffect(objectsIn(input.edits).map(editIn));
  const edit = editIn(input);
  const oldText = stringIn(changed?.oldString);
  const newText = stringIn(changed?.newString);
  if (edit === undefined || oldText === undefined || newText === undefined) return editEffect([edit]);
  return editEffect([{ ...edit, oldText, newText }]);
}

function originalOf(kept: JsonObject | undefined): string | null | undefined {
  if (kept === undefined) return undefined;
  const original = stringIn(kept.originalFile) ?? stringIn(kept.originalFileContents);
  if (original !== undefined) return original;
  return kept.type === "create" ? null : undefined;
}

function oldSides(kept: JsonObject | undefined): string[] {
  return objectsIn(kept?.structuredPatch).map((hunk) => {
    const lines = Array.isArray(hunk.lines) ? hunk.lines.filter((line) => typeof line === "string") : [];
    return lines.flatMap((line) => (/^[ -]/.test(line) ? [line.slice(1)] : [])).join("\n");
  });
}

const fileTools: ReadonlySet<unknown> = new Set(["Write", "Edit", "MultiEdit"]);

function callIn(block: JsonObject, line: Line, results: ReadonlyMap<string, CallResult>): FileCall | undefined {
  const callId = stringIn(block.id);
  const toolName = stringIn(block.name);
  if (block.type !== "tool_use" || callId === undefined || toolName === undefined) return undefined;
  if (!fileTools.has(toolName)) return undefined;
  const input = objectIn(block.input) ?? {};
  const result = results.get(callId);
  return {
    callId,
    toolName,
    path: stringIn(input.file_path) ?? "",
    cwd: stringIn(line.raw.cwd),
    outcome: result === undefined ? "unanswered" : result.isError ? "failed" : "succeeded",
    effect: effectOf(toolName, input, result?.kept),
    original: originalOf(result?.kept),
    pieces: oldSides(result?.kept),
  };
}

/** The file calls of an entry, in the order in which they were made. */
export function fileCallsIn(entry: Entry, results: ReadonlyMap<string, CallResult>): FileCall[] {
  const found = new Map<string, FileCall>();
  for (const line of entry.lines) {
    for (const block of line.blocks) {
      const call = callIn(block, line, results);
      if (call !== undefined && !found.has(call.callId)) found.set(call.callId, call);
    }
  }
  return [...found.values()];
}

/** Numbers that a Read result puts before each line, and the reminder that may stand behind the file. */
const lineNumber = /^\s*(\d+)(?:→|\t)/;
const reminder = /\n*<system-reminder>[\s\S]*$/;

/** Takes the numbers off; undefined if the text is not a numbered file. */
function unnumbered(text: string): string | undefined {
  const lines = text.replace(reminder, "").split("\n");
  if (!lines.every((line) => lineNumber.test(line))) return undefined;
  return lines.map((line) => line.replace(lineNumber, "")).join("\n");
}

function textOf(block: JsonObject): string | undefined {
  if (typeof block.content === "string") return block.content;
  return stringIn(objectsIn(block.content)[0]?.text);
}

/** What a Read call of an entry showed of its file, for each such call that succeeded. */
export function filesSeenIn(entry: Entry, results: ReadonlyMap<string, CallResult>): FileSeen[] {
  return entry.lines.flatMap((line) =>
    line.blocks.flatMap((block): FileSeen[] => {
      const result = block.type === "tool_use" && block.name === "Read" ? results.get(String(block.id)) : undefined;
      const input = objectIn(block.input);
      const path = stringIn(input?.file_path);
      if (result === undefined || result.isError || path === undefined) return [];
      const file = objectIn(result.kept?.file);
      const content = stringIn(file?.content) ?? unnumbered(textOf(result.block) ?? "");
      if (content === undefined) return [];
      const isWhole =
        file === undefined ? !("offset" in (input ?? {})) && !("limit" in (input ?? {})) : isWholeFile(file);
      return [{ path, cwd: stringIn(line.raw.cwd), content, isWhole }];
    }),
  );
}

const isWholeFile = (file: JsonObject): boolean =>
  (file.startLine ?? 1) === 1 && typeof file.numLines === "number" && file.numLines === file.totalLines;
