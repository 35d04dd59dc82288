/**
 * Paths inside a workspace. A path is relative to the root, its components joined by "/", compared byte-wise. Two checks
 * keep every access inside: the text of a path may not point out of the root or at a `.git`, and on disk every parent
 * must be a real directory.
 *
 *     a/b/c   →   lstat a: directory   lstat a/b: symlink   →   "symlinked_parent", whatever a/b leads to
 */
import { lstatSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, sep } from "node:path";
import { RetconError } from "../core/errors.js";
import { isErrno } from "./errno.js";

const windows = process.platform === "win32";
const temporary = /^\.retcon-[A-Za-z0-9_-]+-\d+\.tmp$/;

/** Why a parent of a path cannot be gone through. */
export type Blocked = "parent_missing" | "parent_not_directory" | "symlinked_parent" | "unreadable";

/** Whether a name is a repository's own folder or file, in any letter case. */
export function isGitName(name: string): boolean {
  return name.toLowerCase() === ".git";
}

/** Whether a name is that of a temporary file of a restore. */
export function isTemporaryName(name: string): boolean {
  return temporary.test(name);
}

/** The name of a temporary file of the restore with this token. */
export function temporaryName(token: string, number: number): string {
  return `.retcon-${token}-${number}.tmp`;
}

/** Whether a temporary name belongs to the restore with this token. */
export function isTemporaryOf(token: string, name: string): boolean {
  return isTemporaryName(name) && name.slice(0, name.lastIndexOf("-")) === `.retcon-${token}`;
}

/** The folder that a path lies in; "" is the root. */
export function parentOf(path: string): string {
  const cut = path.lastIndexOf("/");
  return cut < 0 ? "" : path.slice(0, cut);
}

/** A name in a folder, as a path. */
export function childOf(directory: string, name: string): string {
  return directory === "" ? name : `${directory}/${name}`;
}

/** The folders above a path, the root excluded, nearest first. */
export function* ancestorsOf(path: string): Generator<string> {
  for (let above = parentOf(path); above !== ""; above = parentOf(above)) yield above;
}

/** The number of folders above a path. */
export function depthOf(path: string): number {
  let depth = 0;
  for (let i = 0; i < path.length; i += 1) if (path.charCodeAt(i) === 47) depth += 1;
  return depth;
}

/**
 * Returns the path if its text stays inside the root and names no `.git`.
 * @throws path_outside
 */
export function requireInside(path: string): string {
  const names = path.split("/");
  const leaves = names.some((name) => name === "" || name === "." || name === ".." || isGitName(name));
  const foreign = windows && (path.includes("\\") || /^[A-Za-z]:/.test(path));
  if (leaves || foreign || path.includes("\0")) throw outside(path);
  return path;
}

/**
 * Returns a path as a person or a tool gave it, relative to the root. Absolute paths are accepted where they lie inside.
 * @throws path_outside
 */
export function relativePath(root: string, given: string): string {
  if (given.includes("\0") || (!windows && /^[A-Za-z]:[\\/]/.test(given))) throw outside(given);
  let path = windows ? given.replaceAll("\\", "/") : given;
  if (isAbsolute(given)) {
    const inside = [given, throughRealParent(given)].find((candidate) => candidate?.startsWith(root + sep));
    if (inside === undefined) throw outside(given);
    path = inside.slice(root.length + 1).replaceAll(sep, "/");
  }
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  return requireInside(names.join("/"));
}

/** Says why a path's parents cannot be gone through, or undefined when each is a real directory. */
export function blockedParent(root: string, path: string): Blocked | undefined {
  const names = path.split("/");
  let above = root;
  for (const name of names.slice(0, -1)) {
    above = join(above, name);
    const blocked = blockedAt(above);
    if (blocked !== undefined) return blocked;
  }
  return undefined;
}

function blockedAt(directory: string): Blocked | undefined {
  try {
    const stats = lstatSync(directory);
    if (stats.isSymbolicLink()) return "symlinked_parent";
    return stats.isDirectory() ? undefined : "parent_not_directory";
  } catch (error) {
    if (isErrno(error, "ENOENT")) return "parent_missing";
    if (isErrno(error, "ENOTDIR")) return "parent_not_directory";
    if (isErrno(error, "EACCES", "EPERM", "ELOOP", "ENAMETOOLONG")) return "unreadable";
    throw error;
  }
}

/** The same path below its nearest existing parent's real place: a root may be reached by a link (macOS' /tmp is one). */
function throughRealParent(given: string): string | undefined {
  const names: string[] = [];
  for (let at = given; dirname(at) !== at; at = dirname(at)) {
    names.unshift(basename(at));
    try {
      return join(realpathSync(dirname(at)), ...names);
    } catch (error) {
      if (!isErrno(error, "ENOENT", "ENOTDIR", "EACCES", "ELOOP")) throw error;
    }
  }
  return undefined;
}

function outside(path: string): RetconError<"path_outside"> {
  return new RetconError("path_outside", `The path ${JSON.stringify(path)} is not inside the workspace.`, { path });
}
