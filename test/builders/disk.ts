/**
 * A folder's contents as values: written from a record, read back as one, by content alone or with every mark that a
 * restore could leave (modes, modification times to the nanosecond).
 */
import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Files by path; a path that ends in "/" is a folder. */
export type Files = Record<string, string | Uint8Array>;

/** Writes files below a folder. */
export function writeFiles(root: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    const place = join(root, path);
    mkdirSync(path.endsWith("/") ? place : dirname(place), { recursive: true });
    if (!path.endsWith("/")) writeFileSync(place, content);
  }
}

/** Everything below a folder as path → kind, mode and content. `.git` folders are left out. */
export function contents(root: string, below = "", marks: (path: string) => string = () => ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(join(root, below)).sort()) {
    if (name === ".git") continue;
    const path = below === "" ? name : `${below}/${name}`;
    const stats = lstatSync(join(root, path));
    const mode = (stats.mode & 0o7777).toString(8);
    const mark = marks(path);
    if (stats.isSymbolicLink()) found[path] = `link ${readlinkSync(join(root, path))}${mark}`;
    else if (stats.isDirectory())
      Object.assign(found, { [path]: `folder ${mode}${mark}` }, contents(root, path, marks));
    else found[path] = `file ${mode} ${readFileSync(join(root, path)).toString("latin1")}${mark}`;
  }
  return found;
}

/** The same with modification times and inodes, so that a file that was written again with equal bytes shows. */
export function traces(root: string): Record<string, string> {
  return contents(root, "", (path) => {
    const { mtimeNs, ino } = lstatSync(join(root, path), { bigint: true });
    return ` @${mtimeNs} #${ino}`;
  });
}

/** Runs a shell command in a folder, as an agent's shell tool does. */
export function shell(root: string, command: string): string {
  return execFileSync("sh", ["-ec", command], { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}
