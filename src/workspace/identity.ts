/**
 * Which folder a workspace is. A path alone does not say: a disk can be unmounted, a folder moved away and another put in
 * its place. So a workspace is its real path with the machine's id and the folder's device and inode, and every access
 * begins with the question whether that still holds. A root that is missing is an error, never a mass deletion.
 */
import { readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { parse, resolve } from "node:path";
import { RetconError } from "../core/errors.js";
import type { WorkspaceIdentity } from "../core/files.js";
import { ifPresent, isErrno, systemCode } from "./errno.js";

/**
 * Finds out which folder a path names.
 * @throws workspace_refused for a home or file-system root, a file, or nothing at all
 */
export function identify(given: string): WorkspaceIdentity {
  const found = look(given);
  if (typeof found === "string") throw refused(resolve(given), found);
  const { root, stats } = found;
  if (parse(root).root === root) throw refused(root, "file_system_root");
  if (root === realOf(homedir())) throw refused(root, "home");
  return { root, machine: machineId(), device: stats.dev, inode: stats.ino };
}

/**
 * Returns if the folder is still the one that was opened.
 * @throws workspace_changed
 */
export function requireSame(identity: WorkspaceIdentity): void {
  const { root } = identity;
  const found = look(root);
  let reason: string | undefined;
  if (typeof found === "string") reason = found;
  else if (found.root !== root) reason = "moved";
  else if (found.stats.dev !== identity.device || found.stats.ino !== identity.inode) reason = "replaced";
  if (reason !== undefined) {
    throw new RetconError("workspace_changed", `The workspace ${root} is not the folder it was: ${reason}.`, {
      root,
      reason,
    });
  }
}

function look(given: string): { root: string; stats: Stats } | string {
  try {
    const root = realpathSync(given);
    const stats = statSync(root);
    return stats.isDirectory() ? { root, stats } : "not_a_directory";
  } catch (error) {
    if (isErrno(error, "ENOENT")) return "missing";
    if (isErrno(error, "ENOTDIR")) return "not_a_directory";
    const code = systemCode(error);
    if (code === undefined) throw error;
    return code.toLowerCase();
  }
}

function realOf(path: string): string {
  return ifPresent(() => realpathSync(path)) ?? path;
}

function machineId(): string {
  const id = ifPresent(() => readFileSync("/etc/machine-id", "utf8").trim());
  return id ? id : hostname();
}

function refused(root: string, reason: string): RetconError<"workspace_refused"> {
  return new RetconError("workspace_refused", `${root} cannot be a workspace: ${reason}.`, { root, reason });
}
