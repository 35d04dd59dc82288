/**
 * Results as text for people: pure functions, one for each thing that the command line shows.
 *
 * Every line can be cut by a script at runs of two spaces; the free text (a person's words) comes last.
 */
import type { Branch, FileChange, FileOutcome, FileReport, Message, Node, Part, RewindPoint } from "../core/model.js";
import { counted, cut, firstLine, harmless, named, type Screen, type Tone } from "./screen.js";

/** Shortens an id for display. */
export type Shorten = (id: string) => string;

/** What a line of a log says of one part. */
function partLine(part: Part): string {
  switch (part.type) {
    case "text":
      return firstLine(part.text);
    case "reasoning":
      return "(reasoning)";
    case "tool-call":
      return `(calls ${harmless(part.toolName)})`;
    case "tool-result":
      return part.isError ? `(${harmless(part.toolName)} failed)` : `(result of ${harmless(part.toolName)})`;
    case "file":
      return `(file ${named(part.filename ?? part.mediaType)})`;
    case "data":
      return `(data ${harmless(part.name)})`;
  }
}

/** The first line of a message's text; what else it holds, if it holds none. */
export function messageLine(message: Message): string {
  const { content } = message;
  const parts: Part[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const text = parts
    .filter((part) => part.type === "text")
    .map(partLine)
    .find((line) => line !== "");
  if (text !== undefined) return text;
  const spoken = parts.filter((part) => part.type !== "reasoning");
  return (spoken.length > 0 ? spoken : parts).map(partLine).join(" ");
}

/** Lays rows out in columns that are two spaces apart; the last column takes what is left of the screen. */
function columns(
  rows: readonly (readonly string[])[],
  screen: Screen,
  tone: (row: number, column: number) => Tone | undefined,
): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0),
  );
  const lines = rows.map((row, r) => {
    let room = screen.width;
    const cells = row.map((cell, column) => {
      const last = column === row.length - 1;
      const shown = last ? cut(cell, room) : cell.padEnd(widths[column] as number);
      if (room !== undefined) room = Math.max(room - shown.length - 2, 8);
      const mark = tone(r, column);
      return mark === undefined || shown === "" ? shown : screen.paint(mark, shown);
    });
    return cells.join("  ").trimEnd();
  });
  return lines.join("\n");
}

/** A branch's history, newest last. With `marks`, a column says which nodes are rewound. */
export function renderLog(
  nodes: readonly Node[],
  screen: Screen,
  options: { shorten: Shorten; marks: boolean },
): string {
  const rows = nodes.map(({ id, message, rewound }) => [
    options.shorten(id),
    message.role === "user" && message.synthetic ? "user*" : message.role,
    ...(options.marks ? [rewound ? "rewound" : ""] : []),
    messageLine(message),
  ]);
  return columns(rows, screen, (row, column) => {
    if (nodes[row]?.rewound) return "dim";
    if (column === 0) return "yellow";
    return column === 1 && nodes[row]?.message.role === "user" ? "cyan" : undefined;
  });
}

/** A time to the second, in UTC. */
const time = (iso: string) => `${iso.slice(0, 10)} ${iso.slice(11, 19)}Z`;

/** Rewind points, newest first, numbered as `@n` wants it. */
export function renderPoints(points: readonly RewindPoint[], screen: Screen, shorten: Shorten): string {
  const rows = points.map((point, index) => [
    `@${index + 1}`,
    shorten(point.nodeId),
    time(point.createdAt),
    counted(point.filesChanged, "file") + (point.notCaptured > 0 ? ` (${point.notCaptured} not captured)` : ""),
    `+${point.added} -${point.removed}`,
    firstLine(point.text),
  ]);
  const tones: (Tone | undefined)[] = ["bold", "yellow", "dim"];
  return columns(rows, screen, (_, column) => tones[column]);
}

/** Branches, with a star at the active one. */
export function renderBranches(branches: readonly Branch[], screen: Screen, shorten: Shorten): string {
  const rows = branches.map((branch) => [
    `${branch.active ? "*" : " "} ${named(branch.name)}`,
    branch.headId === null ? "(empty)" : shorten(branch.headId),
    time(branch.createdAt),
  ]);
  return columns(rows, screen, (row, column) => {
    if (column === 0) return branches[row]?.active ? "green" : undefined;
    return column === 1 ? "yellow" : "dim";
  });
}

const outcomeTones: Readonly<Record<FileOutcome, Tone>> = {
  restored: "green",
  created: "green",
  deleted: "green",
  merged: "green",
  unchanged: "dim",
  kept: "yellow",
  conflict: "red",
  skipped: "yellow",
  failed: "red",
};

/** Files with outcome and reason, one line each; at most `limit`, then how many more. */
export function renderFiles(files: readonly FileReport[], screen: Screen, limit = Number.POSITIVE_INFINITY): string {
  const shown = files.slice(0, limit).map(({ path, outcome, reason }) => {
    const name = outcome.padEnd(9);
    const why = reason === undefined ? "" : `  (${harmless(reason)})`;
    return `  ${screen.paint(outcomeTones[outcome], name)}  ${named(path)}${why}`;
  });
  if (files.length > shown.length)
    shown.push(`  … and ${counted(files.length - shown.length, "more file", "more files")}`);
  return shown.join("\n");
}

/** A unified diff: as it is for a pipe, harmless and coloured on a terminal. */
export function renderDiff(diff: string, screen: Screen): string {
  if (!screen.terminal) return diff;
  const toneOf = (line: string): Tone | undefined => {
    if (/^(diff|index|---|\+\+\+|new |old |deleted |similarity |rename )/.test(line)) return "bold";
    if (line.startsWith("@@")) return "cyan";
    if (line.startsWith("+")) return "green";
    return line.startsWith("-") ? "red" : undefined;
  };
  return diff
    .split("\n")
    .map((line) => {
      const tone = toneOf(line);
      return tone === undefined ? harmless(line) : screen.paint(tone, harmless(line));
    })
    .join("\n");
}

/** How much a list of changes is, in words. */
export function changesLine(changes: readonly FileChange[]): string {
  const [added, removed] = [
    changes.reduce((sum, c) => sum + c.added, 0),
    changes.reduce((sum, c) => sum + c.removed, 0),
  ];
  return `${counted(changes.length, "file")} changed, +${added} -${removed}`;
}
