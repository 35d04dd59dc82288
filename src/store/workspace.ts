/**
 * A workspace as this process holds it: the files, and a copy of the index that follows the database.
 *
 * The copy is a cache with a number. Each commit that touches the workspace raises its sequence, and `refresh` reads
 * what changed since the number that the copy has, whoever committed it. One sync or move at a time runs on it in this
 * process (`exclusive`); across processes the guard on the sequence decides.
 */
import type { WorkspaceRow } from "../core/backend.js";
import { RetconError } from "../core/errors.js";
import type { CoverageOptions, IndexEntry, WorkspaceFiles, WorkspaceSettings } from "../core/files.js";
import type { FileState } from "../core/model.js";
import { absent } from "../core/states.js";
import type { Environment } from "./environment.js";
import type { WorkspaceOptions } from "./surface.js";

const defaultMaxFileBytes = 64 * 1024 * 1024;

/** A workspace in use. */
export class Workspace {
  readonly key: number;
  readonly files: WorkspaceFiles;
  readonly index = new Map<string, IndexEntry>();
  /** Set while a move of this process is under way. */
  moving = false;
  private sequence = 0;
  private tail: Promise<unknown> = Promise.resolve();

  constructor(key: number, files: WorkspaceFiles) {
    this.key = key;
    this.files = files;
  }

  /** Runs work after all that was asked for before it. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    const result = this.tail.then(work);
    // The queue goes on whatever became of this work; its caller hears of a failure.
    this.tail = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  /** Brings the index up to the database and returns the workspace's row. */
  async refresh(env: Environment): Promise<WorkspaceRow> {
    const row = await env.backend.workspace({ key: this.key });
    if (row === undefined) {
      const { root } = this.files.identity;
      throw new RetconError("not_found", `workspace ${root} is not in this database`, { what: "workspace", id: root });
    }
    if (row.sequence !== this.sequence) {
      for (const entry of await env.backend.index(this.key, { after: this.sequence }))
        this.index.set(entry.path, entry);
      this.sequence = row.sequence;
    }
    return row;
  }

  /** The state that the index holds for a path. */
  state(path: string): FileState {
    return this.index.get(path)?.state ?? absent;
  }
}

/** The workspaces that this process has open, by key. */
export class Workspaces {
  private readonly env: Environment;
  private readonly byKey = new Map<number, Promise<Workspace>>();

  constructor(env: Environment) {
    this.env = env;
  }

  /** Opens a folder as a workspace. @throws `workspace_refused` when it is in use with other options */
  async open(given: string | WorkspaceOptions): Promise<Workspace> {
    const asked: WorkspaceOptions = typeof given === "string" ? { root: given } : given;
    checkOptions(asked);
    const { root, ignore = [], include = [], maxFileBytes = defaultMaxFileBytes, watch = true } = asked;
    const options: WorkspaceSettings = { ignore, include, maxFileBytes, watch };
    const files = await this.env.openFiles(root, options);
    const row = await this.env.backend.workspace({ identity: files.identity, options });
    const open = row && this.byKey.get(row.key);
    const fits = row !== undefined && open === undefined && sameCoverage(row.options, options);
    if (fits) return this.keep(row.key, Promise.resolve(new Workspace(row.key, files)));
    await files.close();
    if (row === undefined) {
      throw new RetconError("read_only", `${root} cannot be added to this database`, { file: root });
    }
    refuseOther(asked, row.options, options);
    return open ?? this.keep(row.key, this.reopen(row));
  }

  /** Opens the workspace that a conversation was made with. @throws `workspace_changed` when it is not there any more */
  async openKey(key: number): Promise<Workspace> {
    const open = this.byKey.get(key);
    if (open !== undefined) return open;
    const row = await this.env.backend.workspace({ key });
    if (row !== undefined) return this.byKey.get(key) ?? this.keep(key, this.reopen(row));
    throw new RetconError("not_found", "the workspace is not in this database", {
      what: "workspace",
      id: String(key),
    });
  }

  private async reopen({ key, identity, options }: WorkspaceRow): Promise<Workspace> {
    const files = await this.env.openFiles(identity.root, options).catch((error: unknown) => {
      if (!(error instanceof RetconError) || error.code !== "workspace_refused") throw error;
      throw changed(identity.root, "it is not there", error);
    });
    const { machine, device, inode } = files.identity;
    const same = machine === identity.machine && device === identity.device && inode === identity.inode;
    if (same && files.identity.root === identity.root) return new Workspace(key, files);
    await files.close();
    throw changed(identity.root, "another folder is in its place");
  }

  private keep(key: number, opening: Promise<Workspace>): Promise<Workspace> {
    this.byKey.set(key, opening);
    opening.catch(() => this.byKey.delete(key));
    return opening;
  }

  /** Waits for what is under way and lets go of every folder. */
  async close(): Promise<void> {
    for (const opening of [...this.byKey.values()]) {
      const workspace = await opening;
      await workspace.exclusive(() => workspace.files.close());
    }
    this.byKey.clear();
  }
}

/** Whether two settings cover the same; how changes are noticed is no part of that. */
function sameCoverage(a: CoverageOptions, b: CoverageOptions): boolean {
  const parts = ({ ignore, include, maxFileBytes }: CoverageOptions) => JSON.stringify([ignore, include, maxFileBytes]);
  return parts(a) === parts(b);
}

/** Options that are left out are those that the folder was first opened with; others are refused. */
function refuseOther(asked: WorkspaceOptions, stored: CoverageOptions, options: CoverageOptions): void {
  const { root, ignore, include, maxFileBytes } = asked;
  if (ignore === undefined && include === undefined && maxFileBytes === undefined) return;
  if (sameCoverage(stored, options)) return;
  const reason = `it is in use with ${JSON.stringify(stored)}`;
  const message = `${root} cannot be opened with other options: ${reason}`;
  throw new RetconError("workspace_refused", message, { root, reason });
}

function changed(root: string, reason: string, cause?: unknown): RetconError {
  return new RetconError(
    "workspace_changed",
    `the workspace ${root} has changed: ${reason}`,
    { root, reason },
    { cause },
  );
}

function checkOptions(options: WorkspaceOptions): void {
  const { root, ignore, include, maxFileBytes } = options;
  if (typeof root !== "string") throw new TypeError("workspace.root must be a string");
  for (const [name, list] of Object.entries({ ignore, include })) {
    if (list !== undefined && !(Array.isArray(list) && list.every((pattern) => typeof pattern === "string"))) {
      throw new TypeError(`workspace.${name} must be a list of strings`);
    }
  }
  if (maxFileBytes !== undefined && !(Number.isSafeInteger(maxFileBytes) && maxFileBytes > 0)) {
    throw new TypeError("workspace.maxFileBytes must be a positive whole number");
  }
}
