/**
 * Going through the tree. Every path is looked at by lstat without following links; only a file whose stat is not the one
 * in the index, or that may have changed in the tick in which it was last seen (it is *racy*), is read.
 *
 *     previous sync starts          now
 *     ──────┬────────────────────────┬──►
 *        ◄──┤ changed from here on: read, whatever its stat says
 *
 * File system calls are synchronous, in slices of a few milliseconds between which the event loop runs. Files that are
 * being written are put off to the end and read when they have been left alone for a moment.
 */
import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { RetconError } from "../../core/errors.js";
import type { IndexEntry, ObserveRequest, StatSeen } from "../../core/files.js";
import { isErrno, systemCode } from "../errno.js";
import { childOf, isGitName, isTemporaryName } from "../paths.js";
import { hugeBytes, type Pace, quietMs, readOnce } from "../read.js";
import { type Coverage, ruleFiles } from "../rules/coverage.js";
import { ruleText } from "../rules/first.js";
import { modeOf, sameStat, statSeen } from "../state.js";
import type { Findings } from "./findings.js";
import { type Entry, type Listing, listFolder } from "./listing.js";

/** What a sweep works with. `enter` is told of each folder before it is listed and says whether to go into it. */
export interface SweepSetting {
  root: string;
  request: ObserveRequest;
  coverage: Coverage;
  maxFileBytes: number;
  /** Paths that are never captured: the files of the store itself. */
  never: ReadonlySet<string>;
  findings: Findings;
  pace: Pace;
  enter(directory: string, stats: Stats): boolean;
}

/**
 * A change this long before the previous sync is looked at again. A tick of the clock would do for a change made after the
 * look; the rest is for a writer that was stopped in the middle of a write, and went on without the times changing.
 */
const racyMarginMs = 1_000;
/** File systems that only keep whole seconds (or two) blur more. */
const coarseMarginMs = 3_000;
const waitsMs = [quietMs + 5, quietMs + 5, 50, 100, 200];

/** Whether a file may have changed after it was last looked at without its stat showing it. */
export function isRacy(stat: { mtimeMs: number; ctimeMs: number }, previousMs: number | null): boolean {
  if (previousMs === null) return true;
  const margin = stat.ctimeMs % 1000 === 0 ? coarseMarginMs : racyMarginMs;
  return Math.max(stat.mtimeMs, stat.ctimeMs) >= previousMs - margin;
}

/** One walk through a tree or through parts of it. */
export class Sweep {
  /** Folders that were listed. */
  readonly listed = new Set<string>();
  /** Files with several names: a change made through another name shows in no event of their folder. */
  readonly linked = new Set<string>();
  readonly devices = new Set<number>();
  readonly #setting: SweepSetting;
  readonly #postponed = new Set<string>();
  #seen = 0;

  constructor(setting: SweepSetting) {
    this.#setting = setting;
  }

  /** Lists a folder, notes what is directly in it, and goes on into the folders that `enter` opens. */
  async folder(directory: string, stats: Stats, pruned: boolean): Promise<void> {
    const { root, findings } = this.#setting;
    this.devices.add(stats.dev);
    const listing = listFolder(join(root, directory), stats.ino);
    if (listing.kind !== "listed") {
      this.#shut(directory, statSeen(stats), listing.kind);
      return;
    }
    this.listed.add(directory);
    if (directory !== "") this.#noteFolder(directory, stats);
    for (const name of listing.strange) findings.exclude(childOf(directory, name), "not_utf8", null, false);
    if (!pruned) this.#readRules(directory, listing);
    const below: { path: string; stats: Stats; pruned: boolean }[] = [];
    for (const entry of listing.entries) {
      const path = childOf(directory, entry.name);
      if (this.#setting.pace.due()) await this.#rest();
      // Nearly every path is dealt with at once; a promise for each would cost more than the look.
      const found = this.#child(path, entry, pruned);
      if (found instanceof Promise) await found;
      else if (found !== undefined) below.push({ path, ...found });
    }
    for (const child of below) {
      if (this.#setting.enter(child.path, child.stats)) await this.folder(child.path, child.stats, child.pruned);
      else this.#noteFolder(child.path, child.stats);
    }
  }

  /** Looks at one path that is not a folder to be gone into. */
  async single(path: string): Promise<void> {
    const stats = lstat(join(this.#setting.root, path));
    if (stats === "unreadable") this.#setting.findings.exclude(path, stats, null, true);
    else if (stats?.isDirectory()) this.#shut(path, statSeen(stats), "changing");
    else if (stats !== undefined) await this.#look(path, stats);
  }

  /** Reads what was being written, as soon as it is left alone; gives up after a while. */
  async finish(): Promise<void> {
    const { findings, root } = this.#setting;
    for (const waitMs of waitsMs) {
      if (this.#postponed.size === 0) return;
      await delay(waitMs);
      this.#checkSignal();
      for (const path of this.#takePostponed()) await this.single(path);
    }
    for (const path of this.#takePostponed()) {
      if (lstat(join(root, path)) !== undefined) findings.exclude(path, "changing", null, true);
    }
  }

  /** What was put off, except what was looked at again in the meantime. */
  #takePostponed(): string[] {
    const paths = [...this.#postponed].filter((path) => !this.#setting.findings.met.has(path));
    this.#postponed.clear();
    return paths;
  }

  #child(path: string, entry: Entry, pruned: boolean): { stats: Stats; pruned: boolean } | Promise<void> | undefined {
    const { coverage, findings, never, request, root } = this.#setting;
    if (isGitName(entry.name) || isTemporaryName(entry.name) || never.has(path)) return undefined;
    const standing = coverage.standing(path, entry.isDirectory(), pruned);
    if (standing === "ignored") {
      if (request.index.has(path)) findings.passed.add(path);
      return undefined;
    }
    this.#seen += 1;
    const stats = lstat(`${root}/${path}`);
    if (stats === "unreadable") this.#shut(path, null, stats);
    else if (stats?.isDirectory()) return { stats, pruned: standing === "way" };
    else if (stats !== undefined) return this.#look(path, stats);
    return undefined;
  }

  #look(path: string, stats: Stats): Promise<void> | undefined {
    const { findings, request, root } = this.#setting;
    if (stats.isSymbolicLink()) {
      const target = targetOf(join(root, path));
      if (target === undefined) this.#postponed.add(path);
      else findings.note(path, { kind: "symlink", target }, statSeen(stats));
    } else if (!stats.isFile()) findings.exclude(path, "special_file", statSeen(stats), false);
    else {
      if (stats.nlink > 1) this.linked.add(path);
      const entry = request.index.get(path);
      if (entry === undefined || !isUntouched(entry, stats, request.previousMs)) return this.#read(path, stats, entry);
      findings.met.add(path);
    }
    return undefined;
  }

  async #read(path: string, stats: Stats, entry: IndexEntry | undefined): Promise<void> {
    const { findings, request, root, pace } = this.#setting;
    const maxFileBytes = Math.min(this.#setting.maxFileBytes, hugeBytes);
    if (stats.size > maxFileBytes) {
      findings.exclude(path, "too_large", statSeen(stats), true);
      return;
    }
    const reading = await readOnce(join(root, path), maxFileBytes, pace);
    if (reading.kind === "changing" || reading.kind === "gone") this.#postponed.add(path);
    else if (reading.kind === "read") {
      const { blob, bytes } = reading;
      if (entry?.state.kind !== "file" || entry.state.blob !== blob) await request.keep(blob, bytes);
      const state = { kind: "file", blob, mode: modeOf(reading.stats), size: bytes.length } as const;
      findings.note(path, state, statSeen(reading.stats));
    } else findings.exclude(path, reading.kind, statSeen(stats), true);
  }

  #readRules(directory: string, listing: Listing & { kind: "listed" }): void {
    const { coverage, request, root } = this.#setting;
    for (const name of ruleFiles) {
      if (!listing.entries.some((entry) => entry.name === name)) continue;
      const text = ruleText(join(root, directory, name));
      if (text === undefined) continue;
      // A rule file that may not be read keeps the text it had.
      const former = () => request.rules?.sources.filter((source) => source.directory === directory) ?? [];
      for (const kept of text === null ? former() : [{ text }]) coverage.addSource(directory, kept.text);
    }
  }

  #noteFolder(directory: string, stats: Stats): void {
    this.#setting.findings.note(directory, { kind: "directory", mode: modeOf(stats) }, statSeen(stats));
  }

  #shut(path: string, stat: StatSeen | null, kind: Exclude<Listing["kind"], "listed">): void {
    const { findings } = this.#setting;
    if (kind === "gone") return;
    findings.shut.set(path, kind);
    findings.exclude(path, kind, stat, true);
  }

  async #rest(): Promise<void> {
    await this.#setting.pace.rest();
    this.#checkSignal();
    this.#setting.request.onProgress?.(this.#seen);
  }

  #checkSignal(): void {
    requireGoing(this.#setting.request.signal);
  }
}

function isUntouched(entry: IndexEntry, stats: Stats, previousMs: number | null): boolean {
  return entry.state.kind === "file" && sameStat(entry.stat, stats) && !isRacy(stats, previousMs);
}

function lstat(path: string): Stats | undefined | "unreadable" {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isErrno(error, "ENOTDIR")) return undefined;
    if (systemCode(error) === undefined) throw error;
    return "unreadable";
  }
}

/** The target of a link, or undefined when something else took its place. */
function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR", "EINVAL")) return undefined;
    throw error;
  }
}

/**
 * Returns unless the caller gave up.
 * @throws aborted
 */
export function requireGoing(signal: AbortSignal | undefined): void {
  if (signal?.aborted)
    throw new RetconError("aborted", "The call was given up by its signal.", { reason: String(signal.reason) });
}
