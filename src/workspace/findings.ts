/**
 * What a sweep notes down while it goes, and what follows from it at the end: differences with what first sight makes of
 * a path, newer stats, exclusions, and for every index entry that was not met whether it is gone or only out of sight.
 *
 *     not met ─┬─ below a folder that could not be read ─► unknown "unreadable"
 *              ├─ no longer covered ────────────────────► unknown "ignored"
 *              └─ otherwise ────────────────────────────► absent
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Difference, Index, IndexEntry, ObserveRequest, StatSeen } from "../core/files.js";
import type { FileState } from "../core/model.js";
import { ifPresent } from "./errno.js";
import { ancestorsOf } from "./paths.js";
import { Coverage } from "./rules/coverage.js";
import { absent, sameStat, sameState, unknown } from "./state.js";

/** The notes of one sweep. */
export class Findings {
  readonly differences: Difference[] = [];
  readonly restats: { path: string; stat: StatSeen }[] = [];
  readonly notCaptured: { path: string; reason: string }[] = [];
  /** Paths met on disk whose state is known now. */
  readonly met = new Set<string>();
  /** Folders whose contents could not be seen, with the reason. */
  readonly shut = new Map<string, string>();
  /** Index paths met on disk that the rules ignore. */
  readonly passed = new Set<string>();
  readonly #index: Index;
  readonly #before: Coverage | null;

  constructor(request: ObserveRequest) {
    this.#index = request.index;
    this.#before = request.rules === null ? null : new Coverage(request.rules);
  }

  /** Notes the state of a path on disk. */
  note(path: string, state: FileState, stat: StatSeen | null): void {
    this.met.add(path);
    const entry = this.#index.get(path);
    const before = entry?.state ?? this.#firstSight(path, state.kind === "directory");
    if (entry === undefined || !sameState(before, state)) this.differences.push({ path, before, after: state, stat });
    else if (stat !== null && (state.kind === "file" || state.kind === "symlink") && !sameStat(entry.stat, stat)) {
      this.restats.push({ path, stat });
    }
  }

  /** Notes that a path is there but not captured. Where the index knew it, its state is unknown from now on. */
  exclude(path: string, reason: string, stat: StatSeen | null, isNew: boolean): void {
    this.notCaptured.push({ path, reason });
    if (isNew || this.#index.has(path)) this.note(path, unknown(reason), stat);
  }

  /** Notes an index entry that was not met. */
  miss(root: string, entry: IndexEntry, coverage: Coverage): void {
    const { path, state } = entry;
    const shut = this.#shutAbove(path);
    const ignored = shut === undefined && (this.passed.has(path) || !isCovered(entry, coverage));
    const after = shut !== undefined ? unknown(shut) : ignored ? unknown("ignored") : absent;
    if (ignored && state.kind !== "absent" && exists(join(root, path)))
      this.notCaptured.push({ path, reason: "ignored" });
    if (!sameState(state, after)) this.differences.push({ path, before: state, after, stat: null });
  }

  /** Puts everything in the order of paths, so that an observation does not depend on the order of a folder's entries. */
  sort(): void {
    for (const list of [this.differences, this.restats, this.notCaptured]) {
      (list as { path: string }[]).sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
    }
  }

  #firstSight(path: string, isDirectory: boolean): FileState {
    if (this.#before === null) return unknown("first_capture");
    if (!this.#before.covers(path, isDirectory)) return unknown("not_covered_before");
    for (const above of ancestorsOf(path)) {
      if (this.#index.get(above)?.state.kind === "unknown") return unknown("not_covered_before");
    }
    return absent;
  }

  #shutAbove(path: string): string | undefined {
    if (this.shut.size === 0) return undefined;
    for (const above of ancestorsOf(path)) {
      const reason = this.shut.get(above);
      if (reason !== undefined) return reason;
    }
    return undefined;
  }
}

/** An unknown entry may have been a folder or not: it counts as covered only if it would be as either. */
function isCovered(entry: IndexEntry, coverage: Coverage): boolean {
  if (entry.state.kind === "directory") return coverage.covers(entry.path, true);
  if (!coverage.covers(entry.path, false)) return false;
  return entry.state.kind !== "unknown" || coverage.covers(entry.path, true);
}

function exists(path: string): boolean {
  return ifPresent(() => lstatSync(path, { throwIfNoEntry: false })) !== undefined;
}
