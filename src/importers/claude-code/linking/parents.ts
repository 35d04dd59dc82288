/**
 * Gives every line the line it hangs under, and cuts circles.
 *
 * Only `parentUuid` is believed. A null parent is a root. A parent that is not in the file, or that is missing where
 * there must be one, is replaced: a tool result goes under the line with its call, all else under the nearest earlier
 * line of the same session and side chain. Order in the file matters for these mends only; lines that name parents that
 * are there may stand in any order.
 */
import { objectIn, stringIn } from "../json.js";
import type { Line } from "../reading/line.js";
import type { Repair } from "../report.js";

/** Ids of the calls that a result line answers. */
export const answeredCalls = (line: Line): string[] =>
  line.blocks.flatMap((block) => (block.type === "tool_result" ? [stringIn(block.tool_use_id) ?? ""] : []));

/** Ids of the calls that an answer's line holds. */
export const heldCalls = (line: Line): string[] =>
  line.blocks.flatMap((block) => (block.type === "tool_use" ? [stringIn(block.id) ?? ""] : []));

/** The line above that is not opaque: the line whose node a line's node hangs under. */
export function above(line: Line): Line | null {
  let up = line.parent;
  while (up !== null && up.kind === "opaque") up = up.parent;
  return up;
}

/** The parent that a line names: null for a root, undefined if the line is silent. */
function reference(line: Line): string | null | undefined {
  const parent = line.raw.parentUuid;
  if (typeof parent === "string") return parent;
  const logical = stringIn(line.raw.logicalParentUuid);
  if (logical !== undefined) return logical;
  return parent === null ? null : undefined;
}

/** What was seen of the file so far, to find places for lines without one. */
interface Seen {
  byUuid: Map<string, Line>;
  holders: Map<string, Line>;
  newest: Map<string, Line>;
}

const chainKey = (line: Line): string => JSON.stringify([line.session, line.side]);

function substitute(line: Line, seen: Seen): Line | null {
  const held = answeredCalls(line).map((call) => seen.holders.get(call));
  return held.find((holder) => holder !== undefined) ?? seen.newest.get(chainKey(line)) ?? null;
}

/** Whether a line that says null must hang under something all the same: answers and results never open a session. */
const needsParent = (line: Line): boolean => line.side === null && (line.kind === "answer" || line.kind === "result");

function parentOf(line: Line, seen: Seen): { parent: Line | null; mend?: Repair["what"] } {
  const named = reference(line);
  if (typeof named === "string") {
    const parent = seen.byUuid.get(named);
    if (parent === line) return { parent: substitute(line, seen), mend: "cycle" };
    if (parent === undefined) return { parent: substitute(line, seen), mend: "unknown parent" };
    if (line.side !== null || parent.side === null) return { parent };
    return { parent: substitute(line, seen), mend: "parent in a side chain" };
  }
  if (named === null && !needsParent(line)) return { parent: null };
  const parent = substitute(line, seen);
  return parent === null ? { parent } : { parent, mend: "no parent" };
}

/** Cuts each circle at the line of it that stands last in the file. */
function cutCycles(lines: readonly Line[], repairs: Repair[]): void {
  const walkOf = new Map<Line, number>();
  for (const [walk, start] of lines.entries()) {
    let line: Line | null = start;
    while (line !== null && !walkOf.has(line)) {
      walkOf.set(line, walk);
      line = line.parent;
    }
    if (line === null || walkOf.get(line) !== walk) continue;
    let last = line;
    for (let round = line.parent; round !== null && round !== line; round = round.parent) {
      if (round.at > last.at) last = round;
    }
    last.parent = null;
    repairs.push({ line: last.at, id: last.id, what: "cycle" });
  }
}

/** Links lines, in the order in which they stand in the file. */
export function linkParents(lines: readonly Line[], repairs: Repair[]): void {
  const seen: Seen = { byUuid: new Map(), holders: new Map(), newest: new Map() };
  for (const line of lines) {
    const known = seen.byUuid.get(line.uuid);
    if (known === undefined || (known.kind === "opaque" && line.kind !== "opaque")) seen.byUuid.set(line.uuid, line);
    for (const call of heldCalls(line)) seen.holders.set(call, line);
  }
  for (const line of lines) {
    const { parent, mend } = parentOf(line, seen);
    line.parent = parent;
    if (mend !== undefined) repairs.push({ line: line.at, id: line.id, what: mend });
    seen.newest.set(chainKey(line), line);
  }
  cutCycles(lines, repairs);
  for (const line of lines) {
    // A command under the caveat was run by the tool itself; the model never answers it.
    if (line.isCommand && above(line)?.isCaveat) line.kind = "hidden";
  }
}

/** The compaction that a summary line stands for, as its boundary line describes it. */
export const compactionOf = (boundary: Line) => objectIn(boundary.raw.compactMetadata);
