/**
 * Gives every entry the entry it hangs under, so that a fork is there only where two continuations are.
 *
 * Parallel calls fork the lines of a transcript, since each result hangs under its own call. They are no branches: the
 * results of one answer are strung behind it, and what follows any of them follows the last.
 *
 *     A1 ← A2 ← R2 ← B        lines                A ← R1 ← R2 ← B        entries
 *      └── R1
 *
 * A note or hidden message that nothing hangs under is no branch either, if its siblings go on: it is put before them.
 */
import type { Line } from "../reading/line.js";
import { compare, type Entry } from "./entries.js";
import { above, answeredCalls, heldCalls } from "./parents.js";

/** Results strung behind their answer: what stands before each, the last of each string, and what was left out. */
interface Strings {
  before: Map<Entry, Entry>;
  last: Map<Entry, Entry>;
  leftOut: Set<Entry>;
}

const topOf = (entry: Entry): Line => entry.lines[0] as Line;

const callsIn = (entry: Entry): string[] => entry.lines.flatMap(heldCalls);

/** The answer whose call a result answers, if nothing but notes and other results stands between. */
function answerAbove(result: Entry, entryOf: ReadonlyMap<Line, Entry>): Entry | undefined {
  const calls = new Set(answeredCalls(topOf(result)));
  for (let line = above(topOf(result)); line !== null; line = above(line)) {
    if (line.kind === "answer") {
      const answer = entryOf.get(line);
      return answer !== undefined && callsIn(answer).some((call) => calls.has(call)) ? answer : undefined;
    }
    const passes = line.kind === "result" || line.kind === "system" || line.kind === "hidden" || line.isQueued;
    if (!passes) return undefined;
  }
  return undefined;
}

/** The results of one answer in the order in which they arrived; a second result of a call stays out. */
function strung(answer: Entry, results: Entry[]): Entry[] {
  const calls = callsIn(answer);
  const callIndex = (result: Entry): number => calls.indexOf(answeredCalls(topOf(result))[0] ?? "");
  const sorted = results.sort(
    (a, b) => compare(a.time ?? "", b.time ?? "") || callIndex(a) - callIndex(b) || compare(a.id, b.id),
  );
  const answered = new Set<string>();
  return sorted.filter((result) => {
    const fresh = answeredCalls(topOf(result)).filter((call) => !answered.has(call));
    for (const call of fresh) answered.add(call);
    return fresh.length > 0;
  });
}

function stringResults(entries: readonly Entry[], entryOf: ReadonlyMap<Line, Entry>): Strings {
  const resultsOf = new Map<Entry, Entry[]>();
  for (const entry of entries) {
    const answer = entry.kind === "result" ? answerAbove(entry, entryOf) : undefined;
    if (answer !== undefined) resultsOf.set(answer, [...(resultsOf.get(answer) ?? []), entry]);
  }
  const strings: Strings = { before: new Map(), last: new Map(), leftOut: new Set() };
  for (const [answer, results] of resultsOf) {
    const members = [answer, ...strung(answer, results)];
    const last = members.at(-1) as Entry;
    for (const [index, member] of members.entries()) {
      strings.last.set(member, last);
      if (index > 0) strings.before.set(member, members[index - 1] as Entry);
    }
    for (const result of results) if (!strings.before.has(result)) strings.leftOut.add(result);
  }
  return strings;
}

/** Entries by the one they hang under, in file order; roots under null. */
export function childrenOf(entries: readonly Entry[]): Map<Entry | null, Entry[]> {
  const children = new Map<Entry | null, Entry[]>();
  for (const entry of entries) {
    const siblings = children.get(entry.parent);
    if (siblings === undefined) children.set(entry.parent, [entry]);
    else siblings.push(entry);
  }
  return children;
}

/** Puts notes that nothing hangs under before the siblings that go on. */
function putNotesInLine(entries: readonly Entry[]): void {
  const children = childrenOf(entries);
  const isLooseNote = (entry: Entry): boolean =>
    (entry.kind === "system" || entry.kind === "hidden" || topOf(entry).isQueued) && !children.has(entry);
  for (const [parent, siblings] of children) {
    if (parent === null || siblings.length < 2) continue;
    const notes = siblings.filter(isLooseNote);
    const others = siblings.filter((entry) => !isLooseNote(entry));
    notes.sort((a, b) => compare(a.time ?? "", b.time ?? "") || compare(a.id, b.id));
    let last = parent;
    for (const note of notes) {
      note.parent = last;
      last = note;
    }
    for (const entry of others) entry.parent = last;
  }
}

/** Gives entries their parents. Side chains hang together, but their first entries still lack their callers. */
export function placeEntries(entries: readonly Entry[], entryOf: ReadonlyMap<Line, Entry>): void {
  const { before, last, leftOut } = stringResults(entries, entryOf);
  for (const entry of entries) {
    const line = above(topOf(entry));
    const parent = line === null ? null : (entryOf.get(line) ?? null);
    const follows = parent === null || leftOut.has(entry) ? parent : (last.get(parent) ?? parent);
    entry.parent = before.get(entry) ?? follows;
  }
  putNotesInLine(entries);
}
