/**
 * Sorts the records of a file as they come: lines of the tree, side records, and what could not be read.
 *
 * Two lines with one id and the same content are one line, and the later record is kept. Two lines with one id and
 * different content are two: the second gets an id of its own, and those who name the id mean the first.
 */
import type { Json } from "../../../core/model.js";
import { type JsonObject, stringIn } from "../json.js";
import type { Repair, SkippedLine } from "../report.js";
import { type KeptLine, type Line, lineFrom } from "./line.js";
import type { NumberedLine } from "./lines.js";
import { recordsIn } from "./records.js";

/** Types of records by which a transcript is known; a file may hold others beside them. */
const knownTypes: ReadonlySet<unknown> = new Set([
  ...["user", "assistant", "system", "attachment", "progress", "summary", "custom-title", "ai-title", "agent-name"],
  ...["agent-setting", "last-prompt", "permission-mode", "mode", "queue-operation", "pr-link", "frame-link"],
  ...["worktree-state", "relocated", "bridge-session", "file-history-snapshot", "file-history-delta"],
]);

/** How much of a line that is no record is kept for export. */
const maxKeptText = 64 * 1024;

/** What was read of a file. */
export class Collected {
  readonly lines: Line[] = [];
  readonly side: { at: number; raw: JsonObject }[] = [];
  readonly repairs: Repair[] = [];
  readonly skippedLines: SkippedLine[] = [];
  /** Lines that are not blank. */
  read = 0;
  /** Records of known types. */
  known = 0;
  /** A sub-agent's own file: all of it is one side chain, which is read as the conversation. */
  isAgentFile = false;
  agentId: string | undefined;
  private readonly unreadable: KeptLine[] = [];
  private readonly byUuid = new Map<string, Line[]>();

  /** Takes in one line of text. */
  add({ at, text }: NumberedLine): void {
    if (text === undefined) {
      this.read += 1;
      this.skippedLines.push({ line: at, reason: "too long to be read" });
      return;
    }
    const { records, lost } = recordsIn(text);
    if (!lost && records.length === 0) return;
    this.read += 1;
    if (lost) this.skip(at, text, records.length === 0 ? "not a JSON object" : "a part is not JSON");
    for (const record of records) {
      this.take(record, at);
      if (lost || records.length > 1) {
        const id = stringIn(record.uuid) ?? "";
        this.repairs.push({ line: at, id, what: "out of a damaged line" });
      }
    }
  }

  /** Ends the reading: a file with side chains only is a sub-agent's own. */
  finish(): void {
    const first = this.lines[0];
    this.isAgentFile = first !== undefined && this.lines.every((line) => line.side !== null);
    if (!this.isAgentFile) return;
    this.agentId = this.lines.find((line) => line.side)?.side ?? "side-chain";
    for (const line of this.lines) {
      line.side = null;
      if (line.kind === "prompt") line.kind = "hidden";
    }
  }

  /** Every record that no node holds, in file order. */
  *withoutNode(): Generator<KeptLine> {
    const opaque = this.lines.filter((line) => line.kind === "opaque").map(({ at, raw }) => ({ at, raw }));
    yield* [...this.side, ...opaque, ...this.unreadable].sort((a, b) => a.at - b.at);
  }

  private skip(at: number, raw: Json, reason: string): void {
    this.skippedLines.push({ line: at, reason });
    this.unreadable.push({ at, raw: typeof raw === "string" ? raw.slice(0, maxKeptText) : raw });
  }

  private take(raw: JsonObject, at: number): void {
    if (typeof raw.type !== "string") {
      this.skip(at, raw, "a record without a type");
      return;
    }
    if (knownTypes.has(raw.type)) this.known += 1;
    const found = lineFrom(raw, at);
    if (found === undefined) {
      this.side.push({ at, raw });
      return;
    }
    if (found.damaged !== undefined) this.skippedLines.push({ line: at, reason: found.damaged });
    if (found.line.side !== null && found.line.kind === "prompt") found.line.kind = "hidden";
    this.join(found.line);
  }

  private join(line: Line): void {
    const same = this.byUuid.get(line.uuid) ?? [];
    const twin = same.find((other) => sameContent(other, line));
    if (twin !== undefined) {
      twin.raw = line.raw;
      twin.time = line.time;
      this.repairs.push({ line: line.at, id: twin.id, what: "same id twice" });
      return;
    }
    const nodes = same.filter((other) => other.kind !== "opaque").length;
    if (nodes > 0 && line.kind !== "opaque") {
      line.id = `${line.id.slice(0, 120)}.${nodes + 1}`;
      this.repairs.push({ line: line.at, id: line.id, what: "other content under one id" });
    }
    this.byUuid.set(line.uuid, [...same, line]);
    this.lines.push(line);
  }
}

const sameContent = (a: Line, b: Line): boolean =>
  a.kind === b.kind && JSON.stringify(a.blocks) === JSON.stringify(b.blocks);
