/**
 * Hints: where something happened, so that a look need not go everywhere. What is heard is only ever a reason to look,
 * never a finding, and a doubt about what was heard makes it a look at everything.
 *
 *     event ─► Heard ──take()──► Hints { a: [x] } ─► list a again; x may stand for something new
 *                          └───► everything: true ─► sweep
 *
 * A `Watch` is what hears. Two classes are one (`FolderWatch`, `ChokidarWatch`); `startWatch` chooses.
 */
import { parentOf } from "../paths.js";
import { ruleFiles } from "../rules/coverage.js";
import type { FolderId } from "./folder-id.js";

/** Where to look: folders in which something happened, with the names that came, went or were replaced. */
export interface Hints {
  folders: Map<string, Set<string>>;
  /** Something happened after which only a look at everything is enough. */
  everything: boolean;
}

/** Hears what happens in the folders of one workspace. */
export interface Watch {
  /** Whether hints can be had at all. */
  readonly working: boolean;
  /** Whether this folder, and not another of the same name, is followed. */
  follows(directory: string, id: FolderId): boolean;
  /** Is told of each folder just before it is listed. Where it cannot be followed from now on, the next look sweeps. */
  follow(directory: string, id: FolderId): void;
  /** Stops following a folder and all below it. */
  unfollow(directory: string): void;
  /** Waits until everything that has happened up to now was heard; false if that cannot be told. */
  settle(): Promise<boolean>;
  /** Hands over the hints heard since the last time. */
  take(): Hints;
  /** Stops watching for good. */
  close(): void;
}

/** The kernel drops events beyond 16,384 that were not fetched; two stretches of this many stay well below. */
const mostEvents = 4_096;

/** Collects hints between two looks. */
export class Heard {
  #hints = noHints();
  #events = 0;

  /** Takes in one event of a folder whose own name is `own`. */
  hear(directory: string, own: string, event: string, name: string | null): void {
    this.#events += 1;
    if (name === null || ruleFiles.includes(name)) this.#hints.everything = true;
    else this.#mark(directory, event === "rename" ? name : undefined);
    // An event of the folder itself carries the folder's own name, and may be the last that is told of it.
    if (event === "rename" && name === own) {
      if (directory === "") this.#hints.everything = true;
      else this.#mark(parentOf(directory), name);
    }
  }

  /** Notes that the next look has to be at everything. */
  doubt(): void {
    this.#hints.everything = true;
  }

  /** Hands over what was heard since the last time. */
  take(): Hints {
    const hints = this.#hints;
    if (this.#events > mostEvents) hints.everything = true;
    this.#hints = noHints();
    this.#events = 0;
    return hints;
  }

  #mark(directory: string, renamed: string | undefined): void {
    const names = this.#hints.folders.get(directory) ?? new Set();
    if (renamed !== undefined) names.add(renamed);
    this.#hints.folders.set(directory, names);
  }
}

/** Hints of nothing. */
export function noHints(): Hints {
  return { folders: new Map(), everything: false };
}

/** Whether a path's own folder, as hinted, names it among what came or went. */
export function wasRenamed(hints: Hints, path: string): boolean {
  return hints.folders.get(parentOf(path))?.has(path.slice(path.lastIndexOf("/") + 1)) ?? false;
}

/** Joins two sets of hints. */
export function joinHints(a: Hints, b: Hints): Hints {
  const folders = new Map([...a.folders].map(([directory, names]) => [directory, new Set(names)]));
  for (const [directory, names] of b.folders) {
    folders.set(directory, new Set([...(folders.get(directory) ?? []), ...names]));
  }
  return { folders, everything: a.everything || b.everything };
}
