/**
 * Reading a file so that what is kept is what the file was, never a mix of two.
 *
 *     stat ── read ── stat      equal, and the last change lies further back than the clock can blur: the bytes are sound
 *
 * A file that was written within the last `quietMs` may be half written, and a second write in the same tick would not
 * show in its times. Such a file is `changing`: the caller waits and asks again. The descriptor is opened without
 * following a link and without waiting for a fifo's other end.
 */
import { createHash, hash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { isErrno, systemCode } from "./errno.js";

/** How long a file must have been left alone to be read as a whole; more than a tick of the kernel's clock. */
export const quietMs = 20;

/** The largest file that is looked at by name, whatever the workspace's limit: what one buffer holds. */
export const hugeBytes = 2 ** 31 - 1;

/** What reading came to. `gone`: nothing is there, or no regular file any more. */
export type Reading =
  | { kind: "read"; bytes: Buffer; blob: string; stats: Stats }
  | { kind: "gone" }
  | { kind: "changing" }
  | { kind: "too_large"; stats: Stats }
  | { kind: "unreadable"; code: string };

/** Lets the event loop run when the work in hand has held it for more than a few milliseconds. */
export interface Pace {
  due(): boolean;
  rest(): Promise<void>;
}

const sliceBytes = 1 << 20;
const noFollow = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Reads a regular file once. With `settled` false a file that was written a moment ago is read all the same. */
export async function readOnce(path: string, maxBytes: number, pace: Pace, settled = true): Promise<Reading> {
  let fd: number;
  try {
    fd = openSync(path, noFollow);
  } catch (error) {
    return refusal(error);
  }
  try {
    return await readOpen(fd, maxBytes, pace, settled);
  } catch (error) {
    return refusal(error);
  } finally {
    closeSync(fd);
  }
}

async function readOpen(fd: number, maxBytes: number, pace: Pace, settled: boolean): Promise<Reading> {
  const before = fstatSync(fd);
  if (!before.isFile()) return { kind: "gone" };
  if (before.size > maxBytes) return { kind: "too_large", stats: before };
  if (settled && isRecent(before)) return { kind: "changing" };
  // One byte more than the size, so that a file that grew meanwhile shows it.
  const buffer = Buffer.allocUnsafeSlow(before.size + 1);
  const digest = before.size > sliceBytes ? createHash("sha256") : undefined;
  let length = 0;
  while (length < buffer.length) {
    const read = readSync(fd, buffer, length, Math.min(sliceBytes, buffer.length - length), length);
    if (read === 0) break;
    digest?.update(buffer.subarray(length, length + read));
    length += read;
    if (digest !== undefined && pace.due()) await pace.rest();
  }
  const after = fstatSync(fd);
  if (length !== before.size || !sameTimes(before, after)) return { kind: "changing" };
  const bytes = buffer.subarray(0, length);
  return { kind: "read", bytes, blob: digest?.digest("hex") ?? hash("sha256", bytes, "hex"), stats: after };
}

function sameTimes(a: Stats, b: Stats): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs && a.mode === b.mode;
}

/** Only a change time near to now counts: one far ahead comes from another clock and says nothing. */
function isRecent(stats: Stats): boolean {
  const age = Date.now() - stats.ctimeMs;
  return age < quietMs && age > -quietMs;
}

function refusal(error: unknown): Reading {
  // ELOOP: a link took the file's place; ENXIO: a socket did.
  if (isErrno(error, "ENOENT", "ENOTDIR", "ELOOP", "ENXIO")) return { kind: "gone" };
  const code = systemCode(error);
  if (code === undefined || code === "EMFILE" || code === "ENFILE") throw error;
  return { kind: "unreadable", code };
}

/** A pace that rests after every `sliceMs` of work. */
export function steadyPace(sliceMs = 8): Pace {
  let started = performance.now();
  return {
    due: () => performance.now() - started >= sliceMs,
    rest: () =>
      new Promise((resolve) => {
        setImmediate(() => {
          started = performance.now();
          resolve();
        });
      }),
  };
}
