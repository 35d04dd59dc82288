/**
 * How text reaches a person's screen: colours, width, and nothing that could steer the terminal.
 *
 * Conversations and file names come from anywhere. In listings their control characters are always shown as escapes;
 * where text is passed on whole (a rewind's text, a diff) that happens on a terminal only, so that a pipe gets every
 * byte.
 */
import type { Io, Out } from "./io.js";

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

/** The ways in which text can stand out. */
export type Tone = keyof typeof codes;

/** What a renderer must know of stdout. */
export interface Screen {
  terminal: boolean;
  /** Columns of a terminal; lines are not cut elsewhere. */
  width: number | undefined;
  /** Colours text, or returns it as it is. */
  paint(tone: Tone, text: string): string;
}

/** Describes a stream; colours only on terminals, and not where NO_COLOR is set or the terminal is dumb. */
export function screenOf(out: Out, env: Io["env"]): Screen {
  const terminal = out.isTTY === true;
  const colours = terminal && !env.NO_COLOR && env.TERM !== "dumb";
  return {
    terminal,
    width: terminal ? out.columns : undefined,
    paint: (tone, text) => (colours ? `\u001b[${codes[tone]}m${text}\u001b[0m` : text),
  };
}

/** Control characters but tab and newline, and the marks that turn the direction of text. */
const unsafe = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Shows every character that could steer a terminal as an escape; tabs and newlines stay. */
export function harmless(text: string): string {
  return text.replace(unsafe, (character) =>
    character === "\n" || character === "\t" ? character : escaped(character),
  );
}

/** A path or name for a listing: as it is, or as a JSON string where it holds characters that would not show. */
export function named(path: string): string {
  return harmless(path) === path && !/[\n\t"]|^\s|\s$/.test(path) ? path : harmless(JSON.stringify(path));
}

/** The first line with something on it, free of control characters. */
export function firstLine(text: string): string {
  const line = text.split(/\r\n|\r|\n/).find((candidate) => candidate.trim() !== "") ?? "";
  return harmless(line.replaceAll("\t", " ").trim());
}

/** Cuts text to a number of characters, with an ellipsis in place of what is left out. */
export function cut(text: string, width: number | undefined): string {
  if (width === undefined) return text;
  const characters = Array.from(text);
  if (characters.length <= width) return text;
  return `${characters.slice(0, Math.max(width - 1, 1)).join("")}…`;
}

/** Passes text on: whole to a pipe or file, harmless to a terminal. */
export function passedOn(text: string, screen: Screen): string {
  return screen.terminal ? harmless(text) : text;
}

/** Counts things in words: "1 file", "2 files". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
