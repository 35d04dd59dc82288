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
import type { Difference, Index, IndexEntry, Observation, ObserveRequest, StatSeen } from "../../core/files.js";
import type { FileState } from "../../core/model.js";
import { ifPresent } from "../errno.js";
import { ancestorsOf } from "../paths.js";
import { Coverage } from "../rules/coverage.js";
import { absent, sameStat, sameState, unknown } from "../state.js";

/** The notes of one sweep. */
export class Findings {
  /** By path: a path that is looked at again in one sweep is what it was the last time. */
  readonly differences = new Map<string, Difference>();
  readonly restats = new Map<string, StatSeen>();
  readonly notCaptured = new Map<string, string>();
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
    this.differences.delete(path);
    this.restats.delete(path);
    this.notCaptured.delete(path);
    if (entry === undefined || !sameState(before, state)) {
      this.differences.set(path, { path, before, after: state, stat });
    } else if (stat !== null && (state.kind === "file" || state.kind === "symlink") && !sameStat(entry.stat, stat)) {
      this.restats.set(path, stat);
    }
  }

  /** Notes that a path is there but not captured. Where the index knew it, its state is unknown from now on. */
  exclude(path: string, reason: string, stat: StatSeen | null, isNew: boolean): void {
    if (isNew || this.#index.has(path)) this.note(path, unknown(reason), stat);
    this.notCaptured.set(path, reason);
  }

  /** Notes an index entry that was not met. */
  miss(root: string, entry: IndexEntry, coverage: Coverage): void {
    const { path, state } = entry;
    const shut = this.#shutAbove(path);
    const ignored = shut === undefined && (this.passed.has(path) || !isCovered(entry, coverage));
    const after = shut !== undefined ? unknown(shut) : ignored ? unknown("ignored") : absent;
    if (ignored && state.kind !== "absent" && exists(join(root, path))) this.notCaptured.set(path, "ignored");
    if (!sameState(state, after)) this.differences.set(path, { path, before: state, after, stat: null });
  }

  /** The notes in the order of paths, so that an observation does not depend on the order of a folder's entries. */
  inOrder(): Pick<Observation, "differences" | "restats" | "notCaptured"> {
    return {
      differences: sorted([...this.differences.values()]),
      restats: sorted([...this.restats].map(([path, stat]) => ({ path, stat }))),
      notCaptured: sorted([...this.notCaptured].map(([path, reason]) => ({ path, reason }))),
    };
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

function sorted<T extends { path: string }>(list: T[]): T[] {
  return list.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}
