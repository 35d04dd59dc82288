/**
 * A real temporary folder with a workspace on it, and an index that is kept as the store keeps it: each observation's
 * differences become entries, and what they replaced can be asked for.
 */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type {
  ApplyRequest,
  CoverageOptions,
  CoverageRules,
  Edit,
  EditOutcome,
  IndexEntry,
  Observation,
  WorkspaceFiles,
} from "../../src/core/files.js";
import type { FileState } from "../../src/core/model.js";
import { createFiles } from "../../src/workspace/files.js";
import type { Watch } from "../../src/workspace/observe/hints.js";

/** Longer than a file must be left alone to be read at once. */
export const quiet = () => new Promise((resolve) => setTimeout(resolve, 30));

export function temporaryFolder(parent = tmpdir()): string {
  const folder = realpathSync(mkdtempSync(join(parent, "retcon-test-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A folder in memory where there is one: for tests that flush thousands of times. */
export function folderInMemory(): string {
  return temporaryFolder(existsSync("/dev/shm") ? "/dev/shm" : tmpdir());
}

/** Writes files given as path → content; a path that ends in "/" is a folder. */
export function write(root: string, files: Record<string, string | Uint8Array>): void {
  for (const [path, content] of Object.entries(files)) {
    const place = join(root, path);
    mkdirSync(path.endsWith("/") ? place : dirname(place), { recursive: true });
    if (!path.endsWith("/")) writeFileSync(place, content);
  }
}

/** Everything below a folder as path → description of kind, mode and content. */
export function manifest(root: string, below = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(join(root, below)).sort()) {
    const path = below === "" ? name : `${below}/${name}`;
    const place = join(root, path);
    const stats = lstatSync(place);
    const mode = (stats.mode & 0o7777).toString(8);
    if (stats.isSymbolicLink()) found[path] = `link ${readlinkSync(place)}`;
    else if (stats.isDirectory()) Object.assign(found, { [path]: `folder ${mode}` }, manifest(root, path));
    else found[path] = `file ${mode} ${readFileSync(place).toString("latin1")}`;
  }
  return found;
}

export class Folder {
  readonly root: string;
  readonly files: WorkspaceFiles;
  readonly index = new Map<string, IndexEntry>();
  readonly blobs = new Map<string, Buffer>();
  kept: string[] = [];
  rules: CoverageRules | null = null;
  previousMs: number | null = null;
  latest: Observation | undefined;

  private constructor(root: string, files: WorkspaceFiles) {
    this.root = root;
    this.files = files;
  }

  static async open(
    contents: Record<string, string | Uint8Array> = {},
    options: Partial<CoverageOptions> & {
      watch?: boolean;
      start?: (root: string) => Watch | undefined;
      root?: string;
      probe?: (point: string) => void;
    } = {},
  ): Promise<Folder> {
    const root = options.root ?? temporaryFolder();
    write(root, contents);
    const { ignore = [], include = [], maxFileBytes = 64 * 2 ** 20, start } = options;
    const watch = options.watch ?? start !== undefined;
    const files = await createFiles(root, { ignore, include, maxFileBytes, watch }, options.probe, start);
    onTestFinished(() => files.close());
    return new Folder(root, files);
  }

  /** Observes without taking anything over. */
  async observe(signal?: AbortSignal): Promise<Observation> {
    const { index, rules, previousMs } = this;
    this.kept = [];
    const keep = (blob: string, bytes: Uint8Array) => {
      this.kept.push(blob);
      this.blobs.set(blob, Buffer.from(bytes));
    };
    const observation = await this.files.observe({ index, rules, previousMs, keep, signal });
    const paths = [...observation.differences, ...observation.restats].map(({ path }) => path);
    expect(new Set(paths).size, "a path is reported once").toBe(paths.length);
    return observation;
  }

  /** Observes, takes the result over as the store does, and returns the differences as path → "before → after". */
  async sync(): Promise<Record<string, string>> {
    const observation = await this.observe();
    this.take(observation);
    return Object.fromEntries(
      observation.differences.map((one) => [one.path, `${brief(one.before)} → ${brief(one.after)}`]),
    );
  }

  take(observation: Observation): void {
    for (const { path, after, stat } of observation.differences) {
      this.index.set(path, { path, state: after, stat, announced: this.index.get(path)?.announced ?? false });
    }
    for (const { path, stat } of observation.restats) {
      const entry = this.index.get(path) as IndexEntry;
      this.index.set(path, { ...entry, stat });
    }
    this.rules = observation.rules;
    this.previousMs = observation.startedAtMs;
    this.latest = observation;
    this.files.accept(observation);
  }

  /** The states of the index, as a plain object. */
  states(): Map<string, FileState> {
    return new Map([...this.index].map(([path, entry]) => [path, entry.state]));
  }

  apply(edits: Edit[], more: Partial<ApplyRequest> = {}): Promise<EditOutcome[]> {
    const read = async (blob: string) => this.blobs.get(blob) ?? Buffer.alloc(0);
    return this.files.apply({ edits, token: "t1", read, stopOnError: false, recovering: false, ...more });
  }

  /** The edits that turn the states of the index into others. */
  editsTo(target: Map<string, FileState>): Edit[] {
    const paths = new Set([...this.index.keys(), ...target.keys()]);
    return [...paths].map((path) => ({
      path,
      before: this.index.get(path)?.state ?? { kind: "absent" },
      after: target.get(path) ?? { kind: "absent" },
    }));
  }

  write(files: Record<string, string | Uint8Array>): void {
    write(this.root, files);
  }

  place(path: string): string {
    return join(this.root, path);
  }

  link(path: string, target: string): void {
    mkdirSync(dirname(this.place(path)), { recursive: true });
    symlinkSync(target, this.place(path));
  }

  remove(path: string): void {
    rmSync(this.place(path), { recursive: true });
  }

  chmod(path: string, mode: number): void {
    chmodSync(this.place(path), mode);
  }

  /** What the latest observation could not capture, as path → reason. */
  notCaptured(): Record<string, string> {
    return Object.fromEntries((this.latest?.notCaptured ?? []).map(({ path, reason }) => [path, reason]));
  }
}

/** A state in a word or two. */
function brief(state: FileState): string {
  if (state.kind === "unknown") return `unknown ${state.reason}`;
  if (state.kind === "file") return "file";
  return state.kind;
}

/** Runs a shell command in a folder, as an agent's shell would. */
export function shell(root: string, command: string): string {
  return execFileSync("sh", ["-c", command], { cwd: root, encoding: "utf8" });
}

/** Runs work as a user who may not read what its mode forbids. The whole folder becomes that user's. */
export async function asNobody(folder: Folder, work: () => Promise<void>): Promise<void> {
  if (process.geteuid?.() !== 0) return work();
  shell(folder.root, "chown -Rh 65534:65534 .");
  process.seteuid?.(65_534);
  try {
    await work();
  } finally {
    process.seteuid?.(0);
  }
}
