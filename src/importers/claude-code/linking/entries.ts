/**
 * From lines to entries: what will be one node each.
 *
 * A model's answer is written as several lines, one block each, all with one `message.id`. They become one entry, with
 * usage counted once:
 *
 *     A1 text ← A2 call ← R1 result ← A3 call ← R2        lines (A1, A2, A3 carry one message.id)
 *     A(text, call, call) ← R1 ← R2                        entries
 *
 * Lines of one message.id that are not connected are copies: the same place makes them one entry, another place (a
 * timeline that was copied with its branch) keeps them apart.
 */
import { objectIn, textIn } from "../json.js";
import type { Line, LineKind } from "../reading/line.js";
import { above } from "./parents.js";

/** What becomes one node, and its place. */
export interface Entry {
  id: string;
  kind: LineKind;
  side: string | null;
  at: number;
  time: string | null;
  /** Top line first. */
  lines: Line[];
  /** False for a copy of an answer whose usage counts elsewhere. */
  countsUsage: boolean;
  parent: Entry | null;
  caller: Entry | null;
  covers: Entry[];
}

/** Lines that stand between the lines of one answer without ending it. */
const passedOver: ReadonlySet<LineKind> = new Set(["result", "system", "hidden"]);

/** Names the answer that a line is a part of; undefined for a line that is an answer by itself. */
function answerKey(line: Line, part = line.part): string | undefined {
  const message = textIn(objectIn(line.raw.message)?.id);
  return message === undefined ? undefined : JSON.stringify([line.session, line.side, message, part]);
}

/** The nearest line above that is a part of the same answer. */
function earlierPart(line: Line, key: string): Line | undefined {
  let up = above(line);
  while (up !== null && passedOver.has(up.kind)) up = above(up);
  return up !== null && up.kind === "answer" && answerKey(up) === key ? up : undefined;
}

function newEntry(lines: Line[], top: Line, countsUsage: boolean): Entry {
  const { id, kind, side, time } = top;
  const at = Math.min(...lines.map((line) => line.at));
  return { id, kind, side, at, time, lines, countsUsage, parent: null, caller: null, covers: [] };
}

const byTimeThenId = (a: Line, b: Line): number => compare(a.time ?? "", b.time ?? "") || compare(a.id, b.id);

/** Orders text by its code units, the same on every machine. */
export const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** A line's way up inside its answer: the top line, and how far below it the line hangs. */
interface PlaceInAnswer {
  top: Line;
  depth: number;
}

function placesIn(lines: readonly Line[]): Map<Line, PlaceInAnswer> {
  const places = new Map<Line, PlaceInAnswer>();
  for (const line of lines) {
    const way: Line[] = [];
    let up: Line | undefined = line;
    while (up !== undefined && !places.has(up)) {
      way.push(up);
      const key = answerKey(up);
      up = key === undefined ? undefined : earlierPart(up, key);
    }
    let place = up && places.get(up);
    for (const part of way.reverse()) {
      place = place === undefined ? { top: part, depth: 0 } : { top: place.top, depth: place.depth + 1 };
      places.set(part, place);
    }
  }
  return places;
}

/** Merges the lines of each answer, at each place where it stands. */
function answers(lines: readonly Line[]): Entry[] {
  const places = placesIn(lines);
  const groups = new Map<string, Line[]>();
  for (const line of lines) {
    const top = places.get(line)?.top ?? line;
    const group = JSON.stringify([answerKey(top) ?? top.id, above(top)?.id ?? null]);
    groups.set(group, [...(groups.get(group) ?? []), line]);
  }
  const counted = new Set<string>();
  const depth = (line: Line): number => places.get(line)?.depth ?? 0;
  return [...groups.values()].map((group) => {
    const sorted = group.sort((a, b) => depth(a) - depth(b) || byTimeThenId(a, b));
    const top = sorted[0] as Line;
    const key = answerKey(top, 0);
    const countsUsage = key === undefined || !counted.has(key);
    if (key !== undefined) counted.add(key);
    return newEntry(sorted, top, countsUsage);
  });
}

/** Makes the entries of linked lines, and the way from each line to its entry. */
export function entriesFrom(lines: readonly Line[]): { entries: Entry[]; entryOf: Map<Line, Entry> } {
  const others = lines.filter((line) => line.kind !== "answer" && line.kind !== "opaque");
  const entries = [
    ...answers(lines.filter((line) => line.kind === "answer")),
    ...others.map((line) => newEntry([line], line, true)),
  ];
  entries.sort((a, b) => a.at - b.at);
  return { entries, entryOf: new Map(entries.flatMap((entry) => entry.lines.map((line) => [line, entry]))) };
}
