/**
 * What an agent's shell does to a tree, at random: files made, changed and removed, folders made empty, things renamed and
 * swapped, modes set, one kind put in place of another. Nothing is ever written through a link.
 */
import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";

/** One edit of a tree. */
export type TreeEdit =
  | { kind: "put"; path: string; bytes: string; mode: number }
  | { kind: "link"; path: string; target: string }
  | { kind: "folder"; path: string; mode: number }
  | { kind: "remove"; path: string }
  | { kind: "mode"; path: string; mode: number }
  | { kind: "rename"; path: string; to: string }
  | { kind: "swap"; path: string; to: string };

const path = fc.constantFrom("a", "b", "d", "d/x", "d/y", "d/e", "d/e/z", "f", "f/x", "f/é ü", "f/-n\n");
const bytes = fc.constantFrom(
  "",
  "text\n",
  "no newline",
  "a\r\nb\r\n",
  "\0\u0001\u00ff",
  "\u00ef\u00bb\u00bfbom\n",
  "longer ".repeat(99),
);
const mode = fc.constantFrom(0o644, 0o600, 0o755, 0o444);
const folderMode = fc.constantFrom(0o755, 0o755, 0o700, 0o750);
const target = fc.constantFrom("a", "../d/x", "nowhere", "/etc", "f", "d");

/** Random edits. */
export const treeEdits: fc.Arbitrary<TreeEdit> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("put" as const), path, bytes, mode }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("link" as const), path, target }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("folder" as const), path, mode: folderMode }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("remove" as const), path }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("mode" as const), path, mode }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("rename" as const), path, to: path }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("swap" as const), path, to: path }) },
);

const kindOf = (place: string) => lstatSync(place, { throwIfNoEntry: false });
const remove = (place: string) => rmSync(place, { recursive: true, force: true });

/** Whether one path lies in the other, or is it. */
const nested = (a: string, b: string) => a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);

/** Makes every folder above a path a folder, whatever was there. */
function makeWay(root: string, below: string): void {
  const above = dirname(below);
  if (above === ".") return;
  makeWay(root, above);
  const place = join(root, above);
  if (kindOf(place)?.isDirectory()) return;
  remove(place);
  mkdirSync(place);
}

/** Whether a path is there without going through a link. */
function isThere(root: string, given: string): boolean {
  const above = dirname(given);
  if (above !== "." && !(isThere(root, above) && kindOf(join(root, above))?.isDirectory())) return false;
  return kindOf(join(root, given)) !== undefined;
}

/** Makes an edit below a root. One that means nothing there does nothing. */
export function editTree(root: string, edit: TreeEdit): void {
  const place = join(root, edit.path);
  if (edit.kind === "rename") rename(root, edit.path, edit.to);
  else if (edit.kind === "swap") swap(root, edit.path, edit.to);
  else if (edit.kind === "remove") {
    if (isThere(root, edit.path)) remove(place);
  } else if (edit.kind === "mode") {
    if (isThere(root, edit.path) && kindOf(place)?.isFile()) chmodSync(place, edit.mode);
  } else make(root, place, edit);
}

function make(root: string, place: string, edit: Extract<TreeEdit, { kind: "put" | "link" | "folder" }>): void {
  makeWay(root, edit.path);
  const there = kindOf(place);
  const fits = edit.kind === "put" ? there?.isFile() : edit.kind === "folder" && there?.isDirectory();
  if (!fits) remove(place);
  if (edit.kind === "link") symlinkSync(edit.target, place);
  else {
    if (edit.kind === "put") writeFileSync(place, Buffer.from(edit.bytes, "latin1"));
    else mkdirSync(place, { recursive: true });
    chmodSync(place, edit.mode);
  }
}

function rename(root: string, from: string, to: string): void {
  if (nested(from, to) || !isThere(root, from)) return;
  makeWay(root, to);
  if (!isThere(root, from)) return;
  remove(join(root, to));
  renameSync(join(root, from), join(root, to));
}

function swap(root: string, from: string, to: string): void {
  if (nested(from, to) || !isThere(root, from) || !isThere(root, to)) return;
  const [left, right, beside] = [join(root, from), join(root, to), join(root, "beside")];
  renameSync(left, beside);
  renameSync(right, left);
  renameSync(beside, right);
}
