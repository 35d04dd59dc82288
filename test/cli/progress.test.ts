import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { progressLine } from "../../src/cli/progress.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function shown(isTTY: boolean, steps: [atMs: number, done: number][]): string {
  const out = Object.assign(new PassThrough(), { isTTY });
  const listener = progressLine(out).listener("rewinding files:");
  let now = 0;
  for (const [atMs, done] of steps) {
    vi.advanceTimersByTime(atMs - now);
    now = atMs;
    listener({ done, total: 100 });
  }
  return ((out.read() as Buffer | null) ?? "").toString();
}

test("[K2] progress shows on a terminal once the work takes a second, ten times a second, and is cleared at its end", () => {
  const clear = "\u001b[K";
  expect(
    shown(true, [
      [900, 1],
      [1100, 20],
      [1150, 21],
      [1250, 30],
      [1300, 100],
    ]),
  ).toBe(`\rrewinding files: 20 of 100${clear}\rrewinding files: 30 of 100${clear}\r${clear}`);
});

test("[K2] work under a second shows no progress, and neither does anything but a terminal", () => {
  expect(
    shown(true, [
      [10, 1],
      [20, 100],
    ]),
  ).toBe("");
  expect(
    shown(false, [
      [1100, 1],
      [2000, 50],
      [3000, 100],
    ]),
  ).toBe("");
});
