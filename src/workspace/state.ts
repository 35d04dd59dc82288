/**
 * File states and stats as values. A state says what a path was; a stat says cheaply whether it can still be that.
 *
 * Two states are the same when nothing that is stored differs; an `unknown` one is the same as another with the same
 * reason. Modes are the permission bits with setuid, setgid and sticky; the kind is in the state.
 */
import type { Stats } from "node:fs";
import type { StatSeen } from "../core/files.js";
import type { FileState } from "../core/model.js";

/** The state of a path where nothing is. */
export const absent: FileState = { kind: "absent" };

/** The state of a path of which nothing is known, with the reason. */
export function unknown(reason: string): FileState {
  return { kind: "unknown", reason };
}

/** The permission bits of a stat. */
export function modeOf(stats: { mode: number }): number {
  return stats.mode & 0o7777;
}

/** What is remembered of a stat. */
export function statSeen(stats: Stats): StatSeen {
  return { size: stats.size, mtimeMs: stats.mtimeMs, ctimeMs: stats.ctimeMs, ino: stats.ino, mode: stats.mode };
}

/** Whether two stats are of the same file in the same condition, as far as a stat can tell. */
export function sameStat(a: StatSeen | null, b: StatSeen | null): boolean {
  if (a === null || b === null) return false;
  return (
    a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs && a.ino === b.ino && a.mode === b.mode
  );
}

/** Whether two states are the same. */
export function sameState(a: FileState, b: FileState): boolean {
  switch (a.kind) {
    case "absent":
      return b.kind === "absent";
    case "directory":
      return b.kind === "directory" && a.mode === b.mode;
    case "file":
      return b.kind === "file" && a.blob === b.blob && a.mode === b.mode;
    case "symlink":
      return b.kind === "symlink" && a.target === b.target;
    case "unknown":
      return b.kind === "unknown" && a.reason === b.reason;
  }
}
