/**
 * Text as lines. A line keeps its ending, so joining gives the same bytes; bytes are mapped to characters one to one
 * (latin1), so that nothing is decoded on the way.
 */
import { isUtf8 } from "node:buffer";
import { diffArrays } from "diff";

/** A stretch of lines that differs: `[from, to)` on each side. */
export interface Stretch {
  beforeFrom: number;
  beforeTo: number;
  afterFrom: number;
  afterTo: number;
}

const sniffedBytes = 8_192;
/** Beyond this many changed lines a stretch is shown as replaced as a whole: the search would take quadratic time. */
const mostChanges = 4_000;

/** Whether bytes are no text that can be merged or shown: a NUL near the start, or no valid UTF-8. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, sniffedBytes).includes(0) || !isUtf8(bytes);
}

/** The lines of a text, each with its ending; the last one may have none. */
export function linesOf(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** The bytes of lines that came from `linesOf`. */
export function bytesOf(lines: readonly string[]): Uint8Array {
  return Buffer.from(lines.join(""), "latin1");
}

/** How many lines all given texts share at their start, and after that at their end. */
export function commonEnds(...texts: readonly string[][]): { head: number; tail: number } {
  const [first = [], ...others] = texts;
  const shortest = Math.min(...texts.map((lines) => lines.length));
  let head = 0;
  while (head < shortest && others.every((lines) => lines[head] === first[head])) head += 1;
  let tail = 0;
  while (tail < shortest - head && others.every((lines) => lines.at(-1 - tail) === first.at(-1 - tail))) tail += 1;
  return { head, tail };
}

/** The stretches in which two texts differ, in order. */
export function stretches(before: string[], after: string[]): Stretch[] {
  const { head, tail } = commonEnds(before, after);
  const middle = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)] as const;
  const parts = diffArrays(middle[0], middle[1], { maxEditLength: mostChanges }) ?? [
    { removed: true, added: false, count: middle[0].length },
    { removed: false, added: true, count: middle[1].length },
  ];
  const found: Stretch[] = [];
  let at = { before: head, after: head };
  let open: Stretch | undefined;
  for (const part of parts) {
    const next = {
      before: at.before + (part.added ? 0 : part.count),
      after: at.after + (part.removed ? 0 : part.count),
    };
    if (!part.added && !part.removed) open = undefined;
    else {
      if (open === undefined) {
        open = { beforeFrom: at.before, beforeTo: at.before, afterFrom: at.after, afterTo: at.after };
        found.push(open);
      }
      open.beforeTo = next.before;
      open.afterTo = next.after;
    }
    at = next;
  }
  return found.filter((one) => one.beforeTo > one.beforeFrom || one.afterTo > one.afterFrom);
}
