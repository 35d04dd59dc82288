/**
 * Looking at single paths, whatever the rules and limits say: an edit tool announces a path that is ignored, a restore
 * keeps the bytes that it is about to replace. A path below a link is not looked at.
 */
import { lstatSync, readdirSync, readlinkSync, type Stats } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Sight } from "../core/files.js";
import { isErrno, systemCode } from "./errno.js";
import { blockedParent, isTemporaryName } from "./paths.js";
import { hugeBytes, quietMs, readOnce, steadyPace } from "./read.js";
import { absent, modeOf, statSeen, unknown } from "./state.js";

const attempts = 8;

/** The state of a path now. With `settled` false a file that was written a moment ago is not waited for. */
export async function sightOf(root: string, path: string, settled = true): Promise<Sight> {
  const blocked = blockedParent(root, path);
  if (blocked === "parent_missing" || blocked === "parent_not_directory") return { path, state: absent, stat: null };
  if (blocked !== undefined) return { path, state: unknown(blocked), stat: null };
  try {
    return await lookAt(join(root, path), path, settled);
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return { path, state: absent, stat: null };
    if (isErrno(error, "EACCES", "EPERM", "EIO", "ELOOP")) return { path, state: unknown("unreadable"), stat: null };
    if (isErrno(error, "ENAMETOOLONG")) return { path, state: unknown("name_too_long"), stat: null };
    throw error;
  }
}

async function lookAt(place: string, path: string, settled: boolean): Promise<Sight> {
  const stats = lstatSync(place);
  const stat = statSeen(stats);
  if (stats.isSymbolicLink()) return { path, state: { kind: "symlink", target: readlinkSync(place) }, stat };
  if (stats.isDirectory()) return directorySight(place, path, stats);
  if (!stats.isFile()) return { path, state: unknown("special_file"), stat };
  return fileSight(place, path, stats, settled);
}

function directorySight(place: string, path: string, stats: Stats): Sight {
  const sight: Sight = { path, state: { kind: "directory", mode: modeOf(stats) }, stat: statSeen(stats) };
  try {
    return {
      ...sight,
      children: readdirSync(place)
        .filter((name) => !isTemporaryName(name))
        .sort(),
    };
  } catch (error) {
    if (systemCode(error) === "EACCES") return sight;
    throw error;
  }
}

async function fileSight(place: string, path: string, stats: Stats, settled: boolean): Promise<Sight> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const reading = await readOnce(place, hugeBytes, steadyPace(), settled);
    if (reading.kind === "read") {
      const { blob, bytes } = reading;
      const state = { kind: "file", blob, mode: modeOf(reading.stats), size: bytes.length } as const;
      return { path, state, stat: statSeen(reading.stats), bytes };
    }
    if (reading.kind === "too_large" || reading.kind === "unreadable") {
      return { path, state: unknown(reading.kind), stat: statSeen(stats) };
    }
    // Gone while it was looked at: whatever is there now is looked at afresh.
    if (reading.kind === "gone") return lookAt(place, path, settled);
    await delay(quietMs);
  }
  return { path, state: unknown("changing"), stat: statSeen(stats) };
}
