/**
 * Watching by chokidar, for platforms whose events are less to be relied on than Linux's. chokidar goes through the tree by
 * itself and follows each folder some time after it came, so there are stretches in which a change goes unheard. Hints are
 * given only for the calm between them:
 *
 *     chokidar:   scan … ready │ folder comes … followed │ calm ─────────────────►
 *     looks:      sweep  sweep │ sweep   sweep    sweep  │ sweep  hints  hints
 *
 * A stretch is over when every folder that a sweep lists was followed before it was listed, no folder came, went or was
 * renamed, and no watch began or ended, since shortly before that sweep. macOS hears through one stream for the whole
 * process, which is made anew with each watch and loses what happens meanwhile: hence the time, and for all instances.
 * A folder that chokidar does not notice (another one of the same name) leads to a new instance, an error to no hints.
 */
import { type FSWatcher as Handle, type Stats, watch } from "node:fs";
import { basename } from "node:path";
import { FSWatcher } from "chokidar";
import { isErrno, systemCode } from "../errno.js";
import { childOf, isGitName } from "../paths.js";
import { heavyFolders } from "../rules/patterns.js";
import { Cookies } from "./cookies.js";
import { type FolderId, idOf, isSameFolder } from "./folder-id.js";
import { Heard, type Hints, type Watch } from "./hints.js";

const windows = process.platform === "win32";
const heavy = new Set(
  heavyFolders
    .trim()
    .split("\n")
    .map((line) => line.replace("/", "")),
);
/** How long nothing may have happened to folders and watches before a sweep that hints build upon. */
const usualCalmMs = 2_000;
/** All instances in use: they share what hears for them. */
const sharers = new Set<ChokidarWatch>();

/** Follows the folders of a workspace through one chokidar instance at a time. */
export class ChokidarWatch implements Watch {
  readonly #root: string;
  readonly #calmMs: number;
  readonly #heard = new Heard();
  /** Folders by full path, as they were when their watch began. */
  readonly #followed = new Map<string, FolderId & { handle: Handle }>();
  /** Folders that a look listed before they were followed. */
  readonly #missing = new Map<string, FolderId>();
  /** Those of them at any time: chokidar must not ignore them, though they be heavy. */
  readonly #wanted = new Set<string>();
  #chokidar: FSWatcher | undefined;
  #ready = false;
  #working: boolean;
  #changedAtMs = 0;
  #cookies: Cookies | undefined;

  constructor(root: string, calmMs = usualCalmMs) {
    this.#root = slashed(root);
    this.#calmMs = calmMs;
    // chokidar takes a backslash for a slash everywhere.
    this.#working = windows || !root.includes("\\");
    if (this.#working) this.#open();
  }

  get working(): boolean {
    return this.#working;
  }

  follows(directory: string, id: FolderId): boolean {
    return isSameFolder(this.#followed.get(this.#place(directory)), id);
  }

  /** Notes a folder that is not followed yet; chokidar follows it in its own time. */
  follow(directory: string, id: FolderId): void {
    if (this.follows(directory, id)) return;
    this.#missing.set(directory, id);
    this.#wanted.add(directory);
  }

  unfollow(directory: string): void {
    this.#wanted.delete(directory);
  }

  async settle(): Promise<boolean> {
    const cookies = this.#cookies;
    if (!this.#ready || cookies === undefined || !this.#hearsCookies()) return false;
    const heard = await cookies.ask();
    // A new instance gets a new place for cookies.
    if (heard === undefined) this.#followed.delete(slashed(cookies.folder));
    return heard ?? false;
  }

  take(): Hints {
    const hints = this.#heard.take();
    if (!hints.everything && this.#namesFolder(hints)) {
      this.#disturb();
      hints.everything = true;
    }
    if (this.#missing.size > 0) hints.everything = true;
    const unnoticed = [...this.#missing].some(([directory, id]) => !this.follows(directory, id));
    this.#missing.clear();
    const calm = performance.now() - this.#changedAtMs >= this.#calmMs;
    if (calm && this.#ready && (unnoticed || !this.#hearsCookies())) this.#open();
    // The sweep that begins now is not one to build upon.
    if (!calm || !this.#ready) this.#heard.doubt();
    return hints;
  }

  close(): void {
    this.#working = false;
    sharers.delete(this);
    this.#shut();
  }

  /** Starts a chokidar instance, in place of the one there was. */
  #open(): void {
    this.#shut();
    sharers.add(this);
    const cookies = Cookies.open();
    this.#cookies = cookies;
    // Cookies must not be changes themselves.
    if (cookies === undefined || this.#directoryOf(slashed(cookies.folder)) !== undefined) {
      this.close();
      return;
    }
    const chokidar = new FSWatcher({
      ignored: (path, stats) => this.#ignores(path, stats),
      ignoreInitial: true,
      followSymlinks: false,
      persistent: false,
      usePolling: false,
      // By default, folders whose name looks like that of an editor's backup are left out.
      atomic: false,
    });
    // chokidar 5 leaves the errors of a watch that is not persistent to nobody, which ends the process: on Windows each
    // time a folder is deleted. So the watches are begun here; that tells, besides, when a folder is followed.
    chokidar._nodeFsHandler._watchWithNodeFs = (path, changed) => this.#begin(path, changed);
    chokidar.on("ready", () => {
      if (this.#chokidar === chokidar) this.#ready = true;
    });
    chokidar.on("error", () => this.close());
    this.#chokidar = chokidar;
    chokidar.add([this.#root, cookies.folder]);
  }

  #hearsCookies(): boolean {
    return this.#cookies !== undefined && this.#followed.has(slashed(this.#cookies.folder));
  }

  #shut(): void {
    const chokidar = this.#chokidar;
    this.#ready = false;
    this.#chokidar = undefined;
    void chokidar?.close();
    // Closing takes all listeners away, and what chokidar was about meanwhile may still fail.
    chokidar?.on("error", () => undefined);
    this.#cookies?.close();
    this.#cookies = undefined;
  }

  /** Begins to follow one folder on behalf of chokidar, and returns what ends it. */
  #begin(path: string, changed: (path: string) => void): (() => void) | undefined {
    const place = slashed(path);
    let handle: Handle | undefined;
    try {
      const before = idOf(path);
      const begun = watch(path, { persistent: false }, (event, name) => {
        this.#hear(place, event, name);
        changed(path);
      });
      handle = begun;
      begun.on("error", (error) => {
        // Windows calls the deletion of a folder an error of its watch.
        if (isErrno(error, "EPERM") && idOf(path) === undefined) this.#end(place, begun);
        else this.close();
      });
      // In between, another folder may have taken the name; that one is not followed.
      if (before && isSameFolder(before, idOf(path))) this.#followed.set(place, { handle: begun, ...before });
      ChokidarWatch.#rearranged();
      return () => this.#end(place, begun);
    } catch (error) {
      handle?.close();
      if (isErrno(error, "ENOENT", "ENOTDIR")) return undefined;
      if (systemCode(error) === undefined) throw error;
      this.close();
      return undefined;
    }
  }

  #end(place: string, handle: Handle): void {
    handle.close();
    if (this.#followed.get(place)?.handle === handle) this.#followed.delete(place);
    ChokidarWatch.#rearranged();
  }

  #hear(place: string, event: string, name: string | null): void {
    const directory = this.#directoryOf(place);
    if (directory === undefined) {
      this.#cookies?.hear(name);
      return;
    }
    this.#heard.hear(directory, basename(place), event, name);
    if (event !== "rename" || name === null) return;
    this.#check(childOf(place, name));
    if (name === basename(place)) this.#check(place);
  }

  /** Notes that a followed folder may have come, gone or been replaced, and forgets it if it is another one now. */
  #check(place: string): void {
    const known = this.#followed.get(place);
    if (known === undefined) return;
    if (!isSameFolder(known, idOf(place))) this.#followed.delete(place);
    this.#disturb();
  }

  #disturb(): void {
    this.#changedAtMs = performance.now();
    this.#heard.doubt();
  }

  /** Whether something that came is a folder now. */
  #namesFolder(hints: Hints): boolean {
    for (const [directory, names] of hints.folders) {
      for (const name of names) if (idOf(this.#place(childOf(directory, name))) !== undefined) return true;
    }
    return false;
  }

  #ignores(path: string, stats: Stats | undefined): boolean {
    if (stats !== undefined && !stats.isDirectory()) return true;
    const directory = this.#directoryOf(slashed(path));
    if (directory === undefined || this.#wanted.has(directory)) return false;
    return directory.split("/").some((name) => isGitName(name) || heavy.has(name));
  }

  #directoryOf(place: string): string | undefined {
    if (place === this.#root) return "";
    return place.startsWith(`${this.#root}/`) ? place.slice(this.#root.length + 1) : undefined;
  }

  #place(directory: string): string {
    return directory === "" ? this.#root : `${this.#root}/${directory}`;
  }

  /** A watch began or ended in this process. */
  static #rearranged(): void {
    for (const one of sharers) one.#disturb();
  }
}

/** A path with the separators that chokidar and the workspace use. */
function slashed(path: string): string {
  return windows ? path.replaceAll("\\", "/") : path;
}
