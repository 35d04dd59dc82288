/**
 * What git's own files say about a folder, read without running git, so that no setting, hook or variable of the user's
 * has an effect: where the repository is, what its private exclude file and the user's global one say, what is tracked.
 *
 *     root/.git/            a repository
 *     root/.git  "gitdir: …/worktrees/w"   a linked worktree: index there, info/exclude in its `commondir`
 */
import { lstatSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { isErrno } from "../errno.js";
import { trackedPaths } from "./git-index.js";

/** What git contributes to a workspace's coverage. */
export interface GitSettings {
  globalExcludes: string;
  privateExcludes: string;
  /** Names the state of git's index file; the tracked paths change only when it does. */
  indexStamp: string;
}

/** Reads what git contributes to the coverage of a root folder. */
export function gitSettings(root: string): GitSettings {
  const directory = gitDirectory(root);
  if (directory === undefined) return { globalExcludes: globalExcludes(), privateExcludes: "", indexStamp: "" };
  const common = textOf(join(directory, "commondir"))?.trim();
  return {
    globalExcludes: globalExcludes(),
    privateExcludes: textOf(join(common ? resolve(directory, common) : directory, "info/exclude")) ?? "",
    indexStamp: stampOf(join(directory, "index")),
  };
}

/** The paths that git tracks in a root folder. */
export function gitTracked(root: string): string[] {
  const directory = gitDirectory(root);
  const index = directory === undefined ? undefined : bytesOf(join(directory, "index"));
  return index === undefined ? [] : trackedPaths(index);
}

function gitDirectory(root: string): string | undefined {
  const path = join(root, ".git");
  const text = textOf(path);
  if (text !== undefined) {
    const target = /^gitdir: (.+?)\r?\n?$/.exec(text)?.[1];
    return target === undefined ? undefined : resolve(root, target);
  }
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ? path : undefined;
}

function globalExcludes(): string {
  const configHome = process.env.XDG_CONFIG_HOME || join(homedir(), ".config");
  const named = excludesFile(join(homedir(), ".gitconfig")) ?? excludesFile(join(configHome, "git/config"));
  return textOf(named ?? join(configHome, "git/ignore")) ?? "";
}

/** The value of core.excludesFile in a git configuration file: of the last line that sets it, as git has it. */
function excludesFile(config: string): string | undefined {
  let section = "";
  let found: string | undefined;
  for (const line of (textOf(config) ?? "").split(/\r?\n/)) {
    const header = /^\s*\[([^\]]*)\]/.exec(line);
    if (header !== null) section = (header[1] ?? "").trim().toLowerCase();
    const value = /^\s*(?:\[[^\]]*\]\s*)?excludesfile\s*=\s*(.*?)\s*$/i.exec(line)?.[1];
    if (section === "core" && value !== undefined) found = value;
  }
  if (found === undefined) return undefined;
  const plain = found.replace(/\s[#;].*$/, "").replace(/^"(.*)"$/, "$1");
  if (plain.startsWith("~/")) return join(homedir(), plain.slice(2));
  return isAbsolute(plain) ? plain : join(homedir(), plain);
}

function stampOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? "" : `${stats.ino}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}`;
}

function textOf(path: string): string | undefined {
  return bytesOf(path)?.toString("utf8");
}

function bytesOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    // A setting that this user may not read has no effect on git either.
    if (isErrno(error, "ENOENT", "ENOTDIR", "EISDIR", "EACCES", "EPERM", "ELOOP")) return undefined;
    throw error;
  }
}
