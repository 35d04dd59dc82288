import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const src = join(import.meta.dirname, "../src");

interface Source {
  path: string;
  text: string;
  lines: number;
  /** The text without its comments. */
  code: string;
}

const sources: Source[] = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((path) => /\.tsx?$/.test(path))
  .sort()
  .map((path) => {
    const text = readFileSync(join(src, path), "utf8");
    const code = text.replace(/\/\*.*?\*\//gs, "").replace(/(?<![:"'`\\])\/\/.*$/gm, "");
    return { path, text, lines: text.trimEnd().split("\n").length, code };
  });

const matching = (pattern: RegExp, folder = "") =>
  sources.filter(({ path, code }) => path.startsWith(folder) && pattern.test(code)).map(({ path }) => path);

it("[P3] no source file is longer than 400 lines", () => {
  expect(sources.filter(({ lines }) => lines > 400).map(({ path, lines }) => `${path} ${lines}`)).toEqual([]);
});

it("[P3] half of the source files have at most 120 lines", () => {
  const lengths = sources.map(({ lines }) => lines).sort((a, b) => a - b);
  expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThanOrEqual(120);
});

it("[P3] failures have a code: no bare Error is thrown", () => {
  expect(matching(/\bnew Error\(/)).toEqual([]);
});

it("[P3] no catch swallows what it caught", () => {
  expect(matching(/\bcatch\s*(\([^)]*\)\s*)?\{\s*\}/)).toEqual([]);
  // The tail of a queue may let an error pass: whoever waits for the link itself hears of it.
  expect(matching(/(?<!this\.\w+ = \w+)\.catch\(\s*\(?\w*\)?\s*=>\s*(\{\s*\}|undefined|null)\s*\)/)).toEqual([]);
  expect(matching(/\.catch\(\s*noop\s*\)/)).toEqual([]);
});

it("[P3] the core has no Node.js, no package, no clock, no randomness and nothing async", () => {
  expect(matching(/\bfrom "(?!\.)/, "core/")).toEqual([]);
  expect(matching(/\bimport\(|\brequire\(|\bprocess\.\w|\bBuffer\b/, "core/")).toEqual([]);
  expect(matching(/\basync\b|\bawait\b/, "core/")).toEqual([]);
  expect(matching(/\bDate\.now\b|\bnew Date\(\)|\bperformance\./, "core/")).toEqual([]);
  expect(matching(/\bMath\.random\b|\bcrypto\b/, "core/")).toEqual([]);
});

it("[P3] each file of the lower floors opens by saying what it is", () => {
  const lower = sources.filter(({ path }) => /^(core|backends|workspace|store)\//.test(path));
  expect(lower.filter(({ text }) => !text.startsWith("/**")).map(({ path }) => path)).toEqual([]);
});
