/**
 * The files of one workspace, as the store sees them: the port of core/files.ts on a real folder.
 */
import { relative } from "node:path";
import type { WorkspaceFiles, WorkspaceSettings } from "../core/files.js";
import { applyEdits } from "./apply.js";
import type { Probe } from "./edit.js";
import { identify, requireSame } from "./identity.js";
import { sightOf } from "./look.js";
import { Observer } from "./observe/observer.js";
import { startWatch } from "./observe/watch.js";
import { relativePath } from "./paths.js";

/**
 * Opens the files of a folder. `probe` is told of every step that a restore makes on disk; a crash test stops there.
 * `start` starts the watch where one is wanted; a test brings another. `never` are files that are not captured wherever
 * they lie, by their real paths.
 * @throws workspace_refused
 */
export async function createFiles(
  root: string,
  options: WorkspaceSettings,
  probe: Probe = () => undefined,
  start = startWatch,
  never: readonly string[] = [],
): Promise<WorkspaceFiles> {
  const identity = identify(root);
  const inside = new Set(never.map((path) => relative(identity.root, path)));
  const observer = new Observer(identity, options, options.watch ? start(identity.root) : undefined, inside);
  return {
    identity,
    observe: (request) => observer.observe(request),
    accept: (observation) => observer.accept(observation),
    async look(paths) {
      requireSame(identity);
      const wanted = paths.map((path) => relativePath(identity.root, path));
      const sights = [];
      for (const path of wanted) sights.push(await sightOf(identity.root, path));
      return sights;
    },
    async apply(request) {
      requireSame(identity);
      return applyEdits(identity.root, request, probe);
    },
    async close() {
      observer.close();
    },
  };
}
