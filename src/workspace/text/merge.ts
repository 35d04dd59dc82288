/**
 * Merging three texts by line: `theirs` is what is there, `ours` what is wanted, `base` what both come from. Lines keep
 * their endings, so mixed ones, a byte order mark and a missing last newline come through. What both changed alike is
 * clean; what both changed differently, or inserted at one place, is not, and then nothing is merged at all.
 */
import { diff3MergeRegions } from "node-diff3";
import type { MergeResult } from "../../core/files.js";
import { bytesOf, commonEnds, isBinary, linesOf } from "./lines.js";

const largestBytes = 8 * 2 ** 20;
/** A bound on pairs of equal lines, which is what the search for a common sequence goes through. */
const mostPairs = 20_000_000;

/** Merges three contents. */
export function merge(base: Uint8Array, theirs: Uint8Array, ours: Uint8Array): MergeResult {
  if (same(base, theirs) || same(theirs, ours)) return { clean: true, bytes: ours };
  if (same(base, ours)) return { clean: true, bytes: theirs };
  const sides = [base, theirs, ours];
  if (sides.some((side) => side.length > largestBytes)) return { clean: false, reason: "too_large" };
  if (sides.some(isBinary)) return { clean: false, reason: "binary" };
  return mergeLines(linesOf(base), linesOf(theirs), linesOf(ours));
}

function mergeLines(base: string[], theirs: string[], ours: string[]): MergeResult {
  const { head, tail } = commonEnds(base, theirs, ours);
  const [o, a, b] = [base, theirs, ours].map((lines) => lines.slice(head, lines.length - tail)) as [
    string[],
    string[],
    string[],
  ];
  if (pairs(o, a) > mostPairs || pairs(o, b) > mostPairs) return { clean: false, reason: "too_large" };
  const merged: string[] = [];
  for (const region of diff3MergeRegions(a, o, b)) {
    if (region.stable) push(merged, region.bufferContent);
    else if (region.aContent.join("") === region.bContent.join("")) push(merged, region.aContent);
    else return { clean: false, reason: "overlap" };
  }
  return { clean: true, bytes: bytesOf([...base.slice(0, head), ...merged, ...base.slice(base.length - tail)]) };
}

function push(lines: string[], more: readonly string[]): void {
  for (const line of more) lines.push(line);
}

function pairs(a: string[], b: string[]): number {
  const counts = new Map<string, number>();
  for (const line of a) counts.set(line, (counts.get(line) ?? 0) + 1);
  return b.reduce((sum, line) => sum + (counts.get(line) ?? 0), 0);
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
