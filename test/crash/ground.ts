/**
 * The ground on which a process is killed, again and again: a database and a folder that are put back to the same state
 * before each run, and a child that is started ahead so that it only has to be told what to do.
 */
import { type ChildProcess, fork } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { build } from "vite";
import { expect, onTestFinished } from "vitest";
import type { PackedBlob } from "../../src/core/files.js";
import { openStore } from "../../src/index.js";
import type { Conversation, Store } from "../../src/store/surface.js";
import { contentTools } from "../../src/workspace/index.js";
import { dump } from "../builders/database.js";
import { contents, traces } from "../builders/disk.js";
import type { Job } from "./child.js";

const repository = join(import.meta.dirname, "../..");
/** Three folders down, as the migrations are looked for from there; where packages are found. */
const bundle = join(repository, "node_modules/.cache", `retcon-crash-${process.pid}`);

/** Makes the child one file, so that hundreds of them start quickly. */
export async function bundleChild(): Promise<void> {
  await build({
    root: repository,
    configFile: false,
    logLevel: "error",
    build: {
      ssr: join(import.meta.dirname, "child.ts"),
      outDir: bundle,
      emptyOutDir: true,
      rollupOptions: { external: ["better-sqlite3"], output: { entryFileNames: "child.mjs" } },
    },
    ssr: { noExternal: true },
  });
}

/** Removes it again. */
export const removeBundle = (): void => rmSync(bundle, { recursive: true, force: true });

const asItIs = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true };

type Ended = { points: string[]; error?: string };

/** A process that waits to be killed. */
class Victim {
  private readonly child: ChildProcess;
  private readonly ready: Promise<unknown>;

  constructor() {
    this.child = fork(join(bundle, "child.mjs"), {
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.ready = new Promise((resolve) => this.child.once("message", resolve));
  }

  /** Does a job; undefined when the process was killed on the way. */
  async run(job: object): Promise<Ended | undefined> {
    await this.ready;
    const ended = new Promise<Ended | undefined>((resolve) => {
      let said: Ended | undefined;
      this.child.once("message", (message) => {
        said = message as Ended;
      });
      this.child.once("exit", (_code, signal) =>
        resolve(signal === "SIGKILL" ? undefined : (said ?? { points: [], error: "ended" })),
      );
    });
    this.child.send(job);
    return ended;
  }

  release(): void {
    this.child.kill("SIGKILL");
  }
}

/** All that was somewhere: the bytes of a folder's files and of the stored blobs, by hash. */
export type Bytes = Set<string>;

export class Ground {
  readonly home = realpathSync(mkdtempSync(join(tmpdir(), "retcon-crash-")));
  readonly root = join(this.home, "work");
  readonly file = join(this.home, "chat.db");
  private next: Victim | undefined;
  private saves = 0;

  /** `forks: false` for a ground on which no process is killed. */
  constructor({ forks = true } = {}) {
    mkdirSync(this.root);
    if (forks) this.next = new Victim();
    onTestFinished(() => {
      this.next?.release();
      rmSync(this.home, { recursive: true, force: true });
    });
  }

  /** Opens the store in this process, and its conversation. */
  async open(): Promise<{ store: Store; chat: Conversation }> {
    const store = await openStore({ file: this.file });
    return { store, chat: await store.conversation("chat") };
  }

  /** Opens, works, closes. */
  async with<T>(work: (chat: Conversation) => Promise<T>): Promise<T> {
    const { store, chat } = await this.open();
    try {
      return await work(chat);
    } finally {
      await store.close();
    }
  }

  /** Keeps the ground as it is and returns the way back to it. */
  save(): () => void {
    this.saves += 1;
    const copy = join(this.home, `save-${this.saves}`);
    mkdirSync(copy);
    const folder = join(copy, "work");
    cpSync(this.root, folder, asItIs);
    const ends = ["", "-wal"].filter((end) => readdirSync(this.home).includes(`chat.db${end}`));
    for (const end of ends) copyFileSync(`${this.file}${end}`, `${copy}/chat.db${end}`);
    return () => {
      // The folder itself stays: another in its place would be another workspace.
      for (const name of readdirSync(this.root)) rmSync(join(this.root, name), { recursive: true });
      for (const end of ["-wal", "-shm"]) rmSync(`${this.file}${end}`, { force: true });
      cpSync(folder, this.root, asItIs);
      for (const end of ends) copyFileSync(`${copy}/chat.db${end}`, `${this.file}${end}`);
    };
  }

  /** Runs a job in a process of its own that kills itself at a step; 0 lets it finish. */
  async run(job: Job, stopAt: number): Promise<Ended | undefined> {
    const victim = this.next ?? new Victim();
    this.next = new Victim();
    const ended = await victim.run({ ...job, stopAt, file: this.file, root: this.root });
    if (ended?.error !== undefined) throw new TypeError(`the child failed: ${ended.error}`);
    return ended;
  }

  /**
   * For every step of a job, or every n-th: puts the ground back, kills a process there, and checks. Returns the names of
   * the steps.
   */
  async killEverywhere(
    restore: () => void,
    job: Job,
    check: (at: string) => Promise<void>,
    stride = 1,
  ): Promise<string[]> {
    restore();
    const { points } = (await this.run(job, 0)) as Ended;
    await check("uninterrupted");
    for (let stopAt = 1; ; stopAt += stride) {
      restore();
      const ended = await this.run(job, stopAt);
      if (ended !== undefined) {
        expect(stopAt, "every step was reached").toBeGreaterThan(points.length);
        expect(ended.points, "and every run takes the same steps").toEqual(points);
        return points;
      }
      await check(`${stopAt} of ${points.length}, ${points[stopAt - 1]}`);
    }
  }

  /** The files by kind, mode and content. */
  files(): Record<string, string> {
    return contents(this.root);
  }

  /** Every row of the database and every mark of the folder, so that "nothing changed" can be said of all of it. */
  everything(): unknown {
    return { database: dump(this.file), folder: traces(this.root) };
  }

  /** The hashes of everything that is in the folder or in the store. */
  bytes(): Bytes {
    const files = readdirSync(this.root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const found = files.map((entry) => contentTools.hash(readFileSync(join(entry.parentPath, entry.name))));
    const database = new Sqlite(this.file, { readonly: true });
    try {
      const rows = database.prepare("select lower(hex(hash)) as blob, size, encoding, data from blobs").all();
      const stored = (rows as PackedBlob[]).map((row) => {
        expect(contentTools.unpack(row), `blob ${row.blob} is undamaged`).toBeDefined();
        return row.blob;
      });
      return new Set([...found, ...stored]);
    } finally {
      database.close();
    }
  }
}
