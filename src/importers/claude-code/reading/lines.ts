/**
 * A file as numbered lines, read as a stream.
 *
 * Only the line at hand is in memory, and a line over the limit is not: its bytes are counted and let go. Lines end in
 * LF or CRLF; the last one may lack its end, because a transcript is often cut where its writer was killed.
 */

/** A line of text with its number from 1; `text` is undefined for a line over the limit. */
export interface NumberedLine {
  at: number;
  text: string | undefined;
}

/** Longest line that is read: far above any real one, and safely below the longest string there can be. */
const defaultMaxLineBytes = 128 * 1024 * 1024;

/** Collects the pieces of one line, and forgets them once they are too many. */
class LineInProgress {
  private pieces: Uint8Array[] = [];
  private bytes = 0;
  private readonly maxBytes: number;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  get empty(): boolean {
    return this.bytes === 0;
  }

  add(piece: Uint8Array): void {
    this.bytes += piece.byteLength;
    if (this.bytes > this.maxBytes) this.pieces = [];
    else this.pieces.push(piece);
  }

  take(at: number): NumberedLine {
    const text = this.bytes > this.maxBytes ? undefined : Buffer.concat(this.pieces).toString("utf8");
    this.pieces = [];
    this.bytes = 0;
    return { at, text: text === undefined ? undefined : trimEnds(text, at) };
  }
}

/** Takes off the carriage return, and from the first line the byte order mark. */
function trimEnds(text: string, at: number): string {
  const start = at === 1 && text.startsWith("\u{feff}") ? 1 : 0;
  return text.slice(start, text.endsWith("\r") ? -1 : undefined);
}

/** Splits a stream of bytes into lines. */
export async function* readLines(
  source: AsyncIterable<Uint8Array>,
  maxLineBytes = defaultMaxLineBytes,
): AsyncGenerator<NumberedLine> {
  const line = new LineInProgress(maxLineBytes);
  let at = 1;
  for await (const chunk of source) {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      line.add(chunk.subarray(start, end));
      yield line.take(at);
      at += 1;
      start = end + 1;
    }
    if (start < chunk.byteLength) line.add(chunk.subarray(start));
  }
  if (!line.empty) yield line.take(at);
}
