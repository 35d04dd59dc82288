/**
 * Which watch a workspace gets. Hints are used only where they can be relied on; a sweep always can.
 *
 *     Linux, local file system      FolderWatch: exact at every size of tree
 *     macOS, Windows, others        ChokidarWatch: trusted in calm stretches only
 *     Linux, other file systems     none: changes may be made by other machines, of which this kernel does not hear
 */
import { statfsSync } from "node:fs";
import { ChokidarWatch } from "./chokidar-watch.js";
import { FolderWatch } from "./folder-watch.js";
import type { Watch } from "./hints.js";

/** ext, xfs, btrfs, tmpfs, overlay, f2fs, zfs: changes go through this kernel, and it tells of them. */
const localFileSystems = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1]);

/** Starts the watch that suits a folder's platform and file system; undefined where every look has to sweep. */
export function startWatch(root: string): Watch | undefined {
  if (process.platform !== "linux") return new ChokidarWatch(root);
  return localFileSystems.has(statfsSync(root).type) ? new FolderWatch(root) : undefined;
}
