/**
 * Asking before something happens: only where a person can see the question and answer it.
 *
 * The question goes to stderr, since stdout may be piped on. The terminal stays in its line mode, so that editing, Ctrl-C
 * and Ctrl-D do what they do everywhere: Ctrl-C arrives as the signal, Ctrl-D as an empty answer, which means no.
 */
import { createInterface } from "node:readline";
import { RetconError } from "../core/errors.js";
import type { Io } from "./io.js";

/** Whether a person is there to be asked. */
export function canAsk(io: Io): boolean {
  return io.stdin.isTTY === true && io.stderr.isTTY === true;
}

/** Asks a question; anything but yes is no. @throws `aborted` when Ctrl-C is the answer */
export function ask(io: Io, question: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    io.stderr.write(`${question} [y/N] `);
    const lines = createInterface({ input: io.stdin, terminal: false });
    let answer: string | undefined;
    const interrupt = () => lines.close();
    lines.once("line", (line) => {
      answer = line.trim().toLowerCase();
      lines.close();
    });
    lines.once("close", () => {
      io.signal?.removeEventListener("abort", interrupt);
      io.stdin.pause();
      if (answer === undefined) io.stderr.write("\n");
      if (answer === undefined && io.signal?.aborted) {
        reject(new RetconError("aborted", "interrupted; nothing was changed", { reason: "interrupted" }));
      } else resolve(answer === "y" || answer === "yes");
    });
    io.signal?.addEventListener("abort", interrupt, { once: true });
    if (io.signal?.aborted) interrupt();
  });
}
