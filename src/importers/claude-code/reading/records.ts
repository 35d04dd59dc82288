/**
 * One line of text as the records in it: one as a rule, none if it is damaged, several if two writers or an unclean
 * stop ran lines into one another.
 *
 *     {"type":"user",…}                      one record
 *     {"type":"user","mess                   none, and something was lost
 *     {"type":"us{"parentUuid":…}            the second is whole and is kept; the first was lost
 *     {"type":"user",…}{"type":"user",…}     both
 */
import { isObject, type JsonObject } from "../json.js";

/** What a line held, and whether a part of it could not be read. */
export interface LineContent {
  records: JsonObject[];
  lost: boolean;
}

/** Places where a record can start inside a damaged line. */
const recordStart = /\{\s*"(?:parentUuid|type|uuid|sessionId|isSidechain|logicalParentUuid|messageId)"\s*:/g;

/** How much text is tried in all; a damaged line of megabytes must not take minutes. */
const maxTriedCharacters = 32 * 1024 * 1024;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Text that is no JSON is an expected outcome here, and the caller counts it.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A record that may be trusted although it came out of a damaged line: it names its type and its place. */
const isWhole = (value: unknown): value is JsonObject =>
  isObject(value) && typeof value.type === "string" && (typeof value.uuid === "string" || "sessionId" in value);

/** Finds whole records in a line that is not one. */
function salvaged(text: string): LineContent {
  const starts = Array.from(text.matchAll(recordStart), (match) => match.index);
  const records: JsonObject[] = [];
  let budget = maxTriedCharacters;
  let done = 0;
  let kept = 0;
  for (const [index, start] of starts.entries()) {
    if (start < done) continue;
    for (const end of [...starts.slice(index + 1), text.length]) {
      budget -= end - start;
      if (budget < 0) return { records, lost: true };
      const record = parsed(text.slice(start, end));
      if (!isWhole(record)) continue;
      records.push(record);
      kept += text.slice(start, end).trim().length;
      done = end;
      break;
    }
  }
  return { records, lost: kept < text.trim().length };
}

/** Reads one line. A blank one holds nothing and loses nothing. */
export function recordsIn(text: string): LineContent {
  if (text.trim() === "") return { records: [], lost: false };
  const value = parsed(text);
  if (value === undefined) return salvaged(text);
  return isObject(value) ? { records: [value], lost: false } : { records: [], lost: true };
}
