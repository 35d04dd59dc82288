/** Builds small transcripts, line by line, the way the format writes them. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readLines } from "../../src/importers/claude-code/reading/lines.js";
import { readTranscript, type Transcript } from "../../src/importers/claude-code/transcript.js";

type Fields = Record<string, unknown>;

/** A line of a transcript before it is written. */
export type Line = Fields & { uuid?: string };

const start = Date.UTC(2026, 0, 5, 9, 0, 0);

/** A session under construction. Each call adds a line and returns its uuid; a line hangs under the one before it. */
export class Session {
  readonly lines: Line[] = [];
  readonly id: string;
  readonly cwd: string;
  private last: string | null = null;
  private count = 0;

  constructor(id = "session-1", cwd = "/home/ann/shop") {
    this.id = id;
    this.cwd = cwd;
  }

  /** A person's prompt. */
  prompt(text: string, fields: Fields = {}): string {
    return this.tree("user", { message: { role: "user", content: text }, ...fields });
  }

  /** One line of an answer: a block, with the id of the answer it belongs to. */
  block(
    message: string,
    block: Fields,
    fields: Fields = {},
    usage: Fields = { input_tokens: 10, output_tokens: 5 },
  ): string {
    const content = [block];
    return this.tree("assistant", { message: { id: message, role: "assistant", content, usage }, ...fields });
  }

  say(text: string, fields: Fields = {}): string {
    return this.block(`msg-${this.count}`, { type: "text", text }, fields);
  }

  /** A tool call as an answer of its own. */
  call(callId: string, name: string, input: Fields, fields: Fields = {}): string {
    return this.block(`msg-${callId}`, { type: "tool_use", id: callId, name, input }, fields);
  }

  /** The result of a call; `kept` is what the tool keeps beside it. */
  result(callId: string, kept: unknown = {}, fields: Fields & { isError?: boolean; content?: unknown } = {}): string {
    const { isError = false, content = "done", ...others } = fields;
    const block = { type: "tool_result", tool_use_id: callId, content, is_error: isError };
    return this.tree("user", { message: { role: "user", content: [block] }, toolUseResult: kept, ...others });
  }

  write(callId: string, path: string, content: string, fields: Fields = {}): string {
    this.call(callId, "Write", { file_path: `${this.cwd}/${path}`, content }, fields);
    return this.result(callId, { type: "create", filePath: `${this.cwd}/${path}`, content }, fields);
  }

  edit(callId: string, path: string, oldText: string, newText: string, kept: Fields = {}, input: Fields = {}): string {
    const file_path = path.startsWith("/") ? path : `${this.cwd}/${path}`;
    this.call(callId, "Edit", { file_path, old_string: oldText, new_string: newText, ...input });
    return this.result(callId, kept);
  }

  system(text: string, fields: Fields = {}): string {
    return this.tree("system", { subtype: "informational", content: text, ...fields });
  }

  /** Any line with a place in the tree. */
  tree(type: string, fields: Fields): string {
    this.count += 1;
    const uuid = String(fields.uuid ?? `n${this.count}`);
    this.lines.push({
      parentUuid: this.last,
      isSidechain: false,
      type,
      uuid,
      sessionId: this.id,
      cwd: this.cwd,
      timestamp: new Date(start + this.count * 1000).toISOString(),
      ...fields,
    });
    if (fields.isSidechain !== true) this.last = uuid;
    return uuid;
  }

  /** A line without a place in the tree. */
  side(fields: Fields): void {
    this.lines.push(fields);
  }

  /** The next line hangs under this one. */
  backTo(uuid: string | null): this {
    this.last = uuid;
    return this;
  }

  get text(): string {
    return this.lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  }

  read(): Promise<Transcript> {
    return readText(this.text);
  }

  /** Writes the session to a file of its own. */
  file(): string {
    const file = join(mkdtempSync(join(tmpdir(), "retcon-session-")), `${this.id}.jsonl`);
    writeFileSync(file, this.text);
    return file;
  }
}

/** Text as a stream of bytes, cut into chunks of the given size. */
export async function* chunks(text: string | Uint8Array, size = 64): AsyncGenerator<Uint8Array> {
  const bytes = typeof text === "string" ? Buffer.from(text, "utf8") : text;
  for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size);
}

/** Reads a transcript from text. */
export const readText = (text: string | Uint8Array, name = "file", size?: number): Promise<Transcript> =>
  readTranscript(readLines(chunks(text, size)), name);

/** Reads a transcript from lines. */
export const readAll = (lines: readonly Line[]): Promise<Transcript> =>
  readText(lines.map((line) => JSON.stringify(line)).join("\n"));

/** A transcript's arrows, "child<parent" or "child^caller", in the order of the nodes. */
export const arrows = ({ nodes }: Transcript): string =>
  nodes
    .map(({ id, parentId, callerId }) => (callerId === undefined ? `${id}<${parentId ?? ""}` : `${id}^${callerId}`))
    .join(" ");
