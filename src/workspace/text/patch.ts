/**
 * Changes as unified diffs by git's conventions, so that `git apply` takes them: headers with modes, names quoted as git
 * quotes them, links as files that hold their target. Git knows no directories: of a change from or to one, only the
 * other side shows.
 */
import type { Edit } from "../../core/files.js";
import type { FileState } from "../../core/model.js";
import { isBinary, linesOf, type Stretch, stretches } from "./lines.js";

const contextLines = 3;
const noBytes = new Uint8Array();

/** Counts lines as `git diff --numstat` does; binary content has none. */
export function countLines(before: Uint8Array, after: Uint8Array): { binary: boolean; added: number; removed: number } {
  if (isBinary(before) || isBinary(after)) return { binary: true, added: 0, removed: 0 };
  let added = 0;
  let removed = 0;
  for (const one of stretches(linesOf(before), linesOf(after))) {
    added += one.afterTo - one.afterFrom;
    removed += one.beforeTo - one.beforeFrom;
  }
  return { binary: false, added, removed };
}

/** The unified diff of one change; empty when git would show none. */
export function patch(change: Edit, before: Uint8Array | null, after: Uint8Array | null): string {
  const old = sideOf(change.before, before);
  const now = sideOf(change.after, after);
  if (old !== undefined && now !== undefined && old.mode.slice(0, 3) !== now.mode.slice(0, 3)) {
    return filePatch(change.path, old, undefined) + filePatch(change.path, undefined, now);
  }
  return filePatch(change.path, old, now);
}

interface Side {
  mode: string;
  bytes: Uint8Array;
}

function sideOf(state: FileState, bytes: Uint8Array | null): Side | undefined {
  if (state.kind === "symlink") return { mode: "120000", bytes: Buffer.from(state.target) };
  if (state.kind !== "file") return undefined;
  return { mode: (state.mode & 0o100) === 0 ? "100644" : "100755", bytes: bytes ?? noBytes };
}

function filePatch(path: string, old: Side | undefined, now: Side | undefined): string {
  const header = [`diff --git ${quoted(`a/${path}`)} ${quoted(`b/${path}`)}\n`];
  if (old === undefined && now !== undefined) header.push(`new file mode ${now.mode}\n`);
  if (old !== undefined && now === undefined) header.push(`deleted file mode ${old.mode}\n`);
  if (old !== undefined && now !== undefined && old.mode !== now.mode) {
    header.push(`old mode ${old.mode}\n`, `new mode ${now.mode}\n`);
  }
  const body = content(path, old, now);
  return body === "" && header.length === 1 ? "" : header.join("") + body;
}

function content(path: string, old: Side | undefined, now: Side | undefined): string {
  const before = old?.bytes ?? noBytes;
  const after = now?.bytes ?? noBytes;
  if (Buffer.compare(before, after) === 0) return "";
  const names = [old === undefined ? "/dev/null" : `a/${path}`, now === undefined ? "/dev/null" : `b/${path}`] as const;
  if (isBinary(before) || isBinary(after)) return `Binary files ${quoted(names[0])} and ${quoted(names[1])} differ\n`;
  const hunks = hunksOf(linesOf(before), linesOf(after)).join("");
  // The diff was made on bytes as characters; both sides are valid UTF-8, and so is every line.
  const text = Buffer.from(hunks, "latin1").toString("utf8");
  return `--- ${fileName(names[0])}\n+++ ${fileName(names[1])}\n${text}`;
}

function hunksOf(before: string[], after: string[]): string[] {
  const groups: Stretch[][] = [];
  for (const one of stretches(before, after)) {
    const last = groups.at(-1)?.at(-1);
    if (last !== undefined && one.beforeFrom - last.beforeTo <= 2 * contextLines) groups.at(-1)?.push(one);
    else groups.push([one]);
  }
  return groups.map((group) => hunkOf(group, before, after));
}

function hunkOf(group: Stretch[], before: string[], after: string[]): string {
  const first = group[0] as Stretch;
  const last = group.at(-1) as Stretch;
  const lead = Math.min(contextLines, first.beforeFrom);
  const trail = Math.min(contextLines, before.length - last.beforeTo);
  const from = { before: first.beforeFrom - lead, after: first.afterFrom - lead };
  const sizes = { before: last.beforeTo + trail - from.before, after: last.afterTo + trail - from.after };
  const lines: string[] = [];
  let at = from.before;
  for (const one of group) {
    for (; at < one.beforeFrom; at += 1) lines.push(marked(" ", before[at] as string));
    for (; at < one.beforeTo; at += 1) lines.push(marked("-", before[at] as string));
    for (const line of after.slice(one.afterFrom, one.afterTo)) lines.push(marked("+", line));
  }
  for (; at < last.beforeTo + trail; at += 1) lines.push(marked(" ", before[at] as string));
  return `@@ -${range(from.before, sizes.before)} +${range(from.after, sizes.after)} @@\n${lines.join("")}`;
}

function range(from: number, size: number): string {
  const first = size === 0 ? from : from + 1;
  return size === 1 ? `${first}` : `${first},${size}`;
}

function marked(mark: string, line: string): string {
  return line.endsWith("\n") ? mark + line : `${mark}${line}\n\\ No newline at end of file\n`;
}

/** A name in a `---` or `+++` line: git ends one that holds a space with a tab, so that readers find its end. */
function fileName(name: string): string {
  const quote = quoted(name);
  return quote === name && name.includes(" ") ? `${name}\t` : quote;
}

const escapes = new Map([
  [0x07, "\\a"],
  [0x08, "\\b"],
  [0x09, "\\t"],
  [0x0a, "\\n"],
  [0x0b, "\\v"],
  [0x0c, "\\f"],
  [0x0d, "\\r"],
  [0x22, '\\"'],
  [0x5c, "\\\\"],
]);

function quoted(name: string): string {
  let escaped = "";
  for (const byte of Buffer.from(name)) {
    const plain = byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, "0")}`;
    escaped += escapes.get(byte) ?? plain;
  }
  return escaped === name ? name : `"${escaped}"`;
}
