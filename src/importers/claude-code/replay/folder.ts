/**
 * The folder of a replay: the only place that a replay reads or writes.
 *
 * Every component of a path is looked at without following it. A symbolic link in the way, even one that was put there
 * by hand, blocks the path: nothing outside the folder is ever written. A file is written beside its place and
 * renamed into it, so that another name of the same file (a hard link) keeps its own bytes.
 */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { lstat, mkdir, open, realpath, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/** The content of a path: text, null if nothing is there, or why it cannot be used. */
export type FileText = { text: string | null } | { problem: string };

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");

async function kindOf(path: string): Promise<"absent" | "file" | "directory" | "link" | "other"> {
  try {
    const stat = await lstat(path);
    if (stat.isSymbolicLink()) return "link";
    if (stat.isDirectory()) return "directory";
    return stat.isFile() ? "file" : "other";
  } catch (error) {
    if (isMissing(error)) return "absent";
    throw error;
  }
}

/** A name that captures pass over, so that a file left by a crash never becomes a part of the conversation. */
const temporaryName = `.retcon-${randomBytes(8).toString("hex")}-0.tmp`;

const linkInTheWay = "a symbolic link is in the way";

/** A folder that paths cannot lead out of. */
export class Folder {
  readonly root: string;

  private constructor(root: string) {
    this.root = root;
  }

  /** Opens a folder that exists. */
  static async at(directory: string): Promise<Folder> {
    return new Folder(await realpath(directory));
  }

  /** Reads a file as text. */
  async read(path: string): Promise<FileText> {
    const problem = await this.problemAbove(path);
    if (problem !== undefined) return { problem };
    const place = join(this.root, path);
    const kind = await kindOf(place);
    if (kind === "absent") return { text: null };
    if (kind !== "file") return { problem: kind === "link" ? linkInTheWay : `a ${kind} is in the way` };
    const file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      return { text: await file.readFile("utf8") };
    } finally {
      await file.close();
    }
  }

  /** Writes a file, and the folders above it; returns why it cannot, if it cannot. */
  async write(path: string, text: string): Promise<string | undefined> {
    const current = await this.read(path);
    if ("problem" in current) return current.problem;
    const place = join(this.root, path);
    await this.makeFolders(path);
    const above = await realpath(dirname(place));
    if (above !== dirname(place)) return linkInTheWay;
    const mode = current.text === null ? 0o666 : (await lstat(place)).mode & 0o777;
    const beside = join(above, temporaryName);
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    try {
      const file = await open(beside, flags, mode);
      try {
        await file.writeFile(text);
        if (current.text !== null) await file.chmod(mode);
      } finally {
        await file.close();
      }
      await rename(beside, place);
    } finally {
      await rm(beside, { force: true });
    }
    return undefined;
  }

  private async makeFolders(path: string): Promise<void> {
    const components = path.split("/").slice(0, -1);
    for (const [index] of components.entries()) {
      const place = join(this.root, ...components.slice(0, index + 1));
      if ((await kindOf(place)) === "absent") await mkdir(place);
    }
  }

  /** What stands in the way between the root and a path. */
  private async problemAbove(path: string): Promise<string | undefined> {
    const components = path.split("/");
    if (components.some((component) => component === ".." || component === "")) return "the path leads outside";
    for (const [index] of components.slice(0, -1).entries()) {
      const kind = await kindOf(join(this.root, ...components.slice(0, index + 1)));
      if (kind === "absent") return undefined;
      if (kind === "link") return linkInTheWay;
      if (kind !== "directory") return "a file stands where a folder should be";
    }
    return undefined;
  }
}
