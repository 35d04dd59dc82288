/**
 * The names in git's index, which is all that is wanted of it: what git tracks is covered although a rule ignores it.
 *
 *     "DIRC" version count │ entry: 62 fixed bytes, name … │ entry … │ extensions │ checksum
 *
 * In version 4 a name drops so many bytes from the end of the one before and adds a tail; 2 and 3 pad entries to eight
 * bytes. What cannot be parsed (a split index, a SHA-256 repository, a newer version) tracks nothing here.
 */

const fixedBytes = 62;
const extendedFlag = 0x4000;
const gitlinkType = 0o160000;

/** The paths of the files that a git index lists, or none when it is not understood. */
export function trackedPaths(index: Buffer): string[] {
  if (index.length < 12 || index.toString("latin1", 0, 4) !== "DIRC") return [];
  const version = index.readUInt32BE(4);
  if (version < 2 || version > 4) return [];
  const paths: string[] = [];
  let at = 12;
  let name = Buffer.alloc(0);
  for (let left = index.readUInt32BE(8); left > 0; left -= 1) {
    if (at + fixedBytes + 1 > index.length) return [];
    const isSubmodule = (index.readUInt32BE(at + 24) & 0o170000) === gitlinkType;
    const extended = (index.readUInt16BE(at + 60) & extendedFlag) !== 0;
    const start = at + fixedBytes + (extended ? 2 : 0);
    const read = version === 4 ? compressedName(index, start, name) : plainName(index, at, start);
    if (read === undefined) return [];
    name = read.name;
    at = read.next;
    if (!isSubmodule) paths.push(name.toString("utf8"));
  }
  return paths;
}

interface NameRead {
  name: Buffer<ArrayBuffer>;
  next: number;
}

function plainName(index: Buffer, entry: number, start: number): NameRead | undefined {
  const end = index.indexOf(0, start);
  if (end < 0) return undefined;
  return { name: Buffer.from(index.subarray(start, end)), next: entry + ((end - entry + 8) & ~7) };
}

function compressedName(index: Buffer, start: number, previous: Buffer): NameRead | undefined {
  let at = start;
  let byte = index[at] ?? 0;
  let strip = byte & 127;
  while ((byte & 128) !== 0) {
    at += 1;
    byte = index[at] ?? 0;
    strip = (strip + 1) * 128 + (byte & 127);
  }
  const end = index.indexOf(0, at + 1);
  if (end < 0 || strip > previous.length) return undefined;
  const kept = previous.subarray(0, previous.length - strip);
  return { name: Buffer.concat([kept, index.subarray(at + 1, end)]), next: end + 1 };
}
