/**
 * The rules a look at a workspace begins with: the caller's options, the built-in heavy folders and what git's own files
 * say. The rule files inside the tree are added as their folders are reached.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { CoverageOptions, CoverageRules } from "../../core/files.js";
import { isErrno } from "../errno.js";
import type { GitSettings } from "./git-settings.js";
import { caseLine, heavyFolders } from "./patterns.js";

/** The rules that hold at a root before any rule file of the tree is read. */
export function firstRules(root: string, options: CoverageOptions, git: GitSettings, tracked: string[]): CoverageRules {
  const builtIn = caseCounts(root) ? heavyFolders : `${caseLine}\n${heavyFolders}`;
  const { ignore, include, maxFileBytes } = options;
  const texts = [builtIn, git.globalExcludes, git.privateExcludes];
  return {
    options: { ignore: [...ignore], include: [...include], maxFileBytes },
    sources: texts.filter((text) => text !== "").map((text) => ({ directory: "", text })),
    tracked,
  };
}

/** The text of a rule file, undefined when there is none, null when it may not be read. A link is not followed. */
export function ruleText(path: string): string | undefined | null {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR", "ELOOP", "ENXIO")) return undefined;
    if (isErrno(error, "EACCES", "EPERM", "EIO")) return null;
    throw error;
  }
  try {
    return fstatSync(fd).isFile() ? readFileSync(fd, "utf8") : undefined;
  } finally {
    closeSync(fd);
  }
}

/** Whether `Name` and `name` are two files here. A root without letters in its name is taken to be case-sensitive. */
function caseCounts(root: string): boolean {
  const name = basename(root);
  const swapped = name === name.toLowerCase() ? name.toUpperCase() : name.toLowerCase();
  if (swapped === name) return true;
  const other = lstatSync(join(dirname(root), swapped), { throwIfNoEntry: false });
  return other === undefined || other.ino !== lstatSync(root).ino;
}
