/**
 * Maps a path of the transcript's machine to a path inside the folder of the replay.
 *
 * The folder that the session was opened in becomes the folder of the replay. What lies outside it there has no place
 * here. The transcript may come from a machine with other rules for paths than ours, so its own folder says which hold.
 */
import { posix, win32 } from "node:path";

/** A path inside the replay's folder, with "/" between its components, or why there is none. */
export type MappedPath = { path: string } | { problem: string };

const isWindows = (path: string): boolean => /^[A-Za-z]:[\\/]/.test(path) || path.startsWith("\\\\");

/** Maps a path as a call named it. `home` is the session's folder, `cwd` the folder that the call was made in. */
export function mapPath(path: string, home: string | undefined, cwd: string | undefined): MappedPath {
  if (path === "") return { problem: "the call names no file" };
  if (path.includes("\0")) return { problem: "the path has a null character in it" };
  const base = home ?? cwd;
  const rules = isWindows(base ?? path) ? win32 : posix;
  if (rules.isAbsolute(path) && base === undefined)
    return { problem: "the transcript does not say which folder it is of" };
  const from = rules.resolve("/", base ?? ".");
  const inside = rules.relative(from, rules.resolve(from, cwd ?? ".", path));
  const components = inside.split(rules.sep);
  if (inside === "") return { problem: "the path is the folder itself" };
  if (components[0] === ".." || rules.isAbsolute(inside))
    return { problem: "the path is outside the session's folder" };
  if (components.some((component) => component.toLowerCase() === ".git")) {
    return { problem: "the path is inside a .git folder" };
  }
  return { path: components.join("/") };
}
