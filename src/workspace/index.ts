/**
 * The folder's face: opening the files of a workspace, and the functions on content that the store is given.
 */
import type { OpenFiles } from "../core/files.js";
import { createFiles } from "./files.js";

export { contentTools } from "./text/content.js";

/**
 * Opens the files of a folder.
 * @throws workspace_refused for a home or file-system root, or a folder that is not one
 */
export const openFiles: OpenFiles = (root, options) => createFiles(root, options);
