/**
 * Progress on stderr: one line that is written over, only on a terminal, only once the work has taken a second.
 *
 * The line is cleared when the work is done, and by whoever writes to stderr next.
 */
import type { Out } from "./io.js";

const quietMs = 1000;
const everyMs = 100;

/** Hears how far some work is. */
export type ProgressListener = (progress: { done: number; total: number }) => void;

/** The progress line of one call. */
export interface ProgressLine {
  /** Makes a listener that shows its progress behind the given words. */
  listener(doing: string): ProgressListener;
  clear(): void;
}

/** Makes the progress line of a stream; on anything but a terminal it stays silent. */
export function progressLine(out: Out): ProgressLine {
  let shownAt = 0;
  const clear = () => {
    if (shownAt > 0) out.write("\r\u001b[K");
    shownAt = 0;
  };
  const listener = (doing: string): ProgressListener => {
    if (out.isTTY !== true) return () => undefined;
    const start = Date.now();
    return ({ done, total }) => {
      const now = Date.now();
      if (done >= total) return clear();
      if (now - start < quietMs || now - shownAt < everyMs) return;
      shownAt = now;
      out.write(`\r${doing} ${done} of ${total}\u001b[K`);
    };
  };
  return { listener, clear };
}
