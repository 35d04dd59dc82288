/**
 * Applies the edits of a call to text, the way the tool that made them did, and makes up text they can be applied to.
 */

/** One replacement of an Edit or MultiEdit call. */
export interface TextEdit {
  oldText: string;
  newText: string;
  all: boolean;
}

/** One replacement; undefined if the old text is not there. */
function applied(text: string, edit: TextEdit): string | undefined {
  if (edit.oldText === "") return text === "" ? edit.newText : undefined;
  // The tool takes a line whole when its text is deleted, so that no empty line is left behind.
  const takesLine = edit.newText === "" && !edit.oldText.endsWith("\n") && text.includes(`${edit.oldText}\n`);
  const oldText = takesLine ? `${edit.oldText}\n` : edit.oldText;
  if (edit.all) return text.includes(oldText) ? text.split(oldText).join(edit.newText) : undefined;
  const start = text.indexOf(oldText);
  if (start === -1) return undefined;
  return text.slice(0, start) + edit.newText + text.slice(start + oldText.length);
}

/** All replacements of a call, in order; undefined if one has no place. */
export function applyEdits(text: string | null, edits: readonly TextEdit[]): string | undefined {
  let result: string | undefined = text ?? "";
  for (const edit of edits) {
    if (result === undefined) return undefined;
    result = applied(result, edit);
  }
  return result;
}

/** A call on a file of which too little is known: its edits, and pieces of the file that the transcript shows. */
export interface BlindEdit {
  edits: readonly TextEdit[];
  pieces: readonly string[];
}

/** The first piece that holds the old text, or that text alone. */
const pieceWith = (edit: TextEdit, pieces: readonly string[]): string =>
  pieces.find((piece) => piece.includes(edit.oldText)) ?? edit.oldText;

const joined = (text: string, piece: string): string =>
  text === "" || text.endsWith("\n") ? text + piece : `${text}\n${piece}`;

/**
 * Extends a file so that edits apply to it one after the other: what an edit replaces and neither the file nor an
 * earlier edit provides is added at the end. Undefined if that leads nowhere.
 */
export function extendedFor(file: string | null, calls: readonly BlindEdit[]): string | undefined {
  let seed = file ?? "";
  for (;;) {
    const missing = firstMissing(seed, calls);
    if (missing === undefined) return seed;
    const { edit, pieces } = missing;
    const piece = pieceWith(edit, pieces);
    const extended = joined(seed, seed.includes(piece) ? edit.oldText : piece);
    if (edit.oldText === "" || extended.split(edit.oldText).length > maxRepeats) return undefined;
    seed = extended;
  }
}

/** More of the same text than this means that an earlier edit takes it away each time it is added. */
const maxRepeats = 50;

function firstMissing(file: string, calls: readonly BlindEdit[]) {
  let text = file;
  for (const { edits, pieces } of calls) {
    for (const edit of edits) {
      const next = applyEdits(text, [edit]);
      if (next === undefined) return { edit, pieces };
      text = next;
    }
  }
  return undefined;
}
