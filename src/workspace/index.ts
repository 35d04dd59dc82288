/**
 * The folder's face: opening the files of a workspace, and the functions on content that the store is given.
 */
import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { OpenFiles } from "../core/files.js";
import { createFiles } from "./files.js";

export { contentTools } from "./text/content.js";

/**
 * Opens the files of a folder.
 * @throws workspace_refused for a home or file-system root, or a folder that is not one
 */
export const openFiles: OpenFiles = (root, options) => createFiles(root, options);

/** The same for a store whose own database may lie in the folder: its files are never captured. */
export function openFilesBeside(database: string): OpenFiles {
  const file = join(realpathSync(dirname(database)), basename(database));
  const own = ["", "-wal", "-shm", "-journal"].map((ending) => file + ending);
  return (root, options) => createFiles(root, options, undefined, undefined, own);
}
