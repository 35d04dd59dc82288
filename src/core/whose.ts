/**
 * Whose a change is that a sync found.
 *
 * With one live run on the workspace it is that run's; with none it is `outside`: a person's, or another program's. With
 * several, a run that announced the path owns it, or the one run whose tool call was the only open window; otherwise the
 * row is `shared` and names them. A run that never opened a window counts as one open window from start to end.
 * Of a dead run: what was modified up to its last heartbeat is its own, what came later is `outside`, and what cannot be
 * told is `shared`.
 */
import type { RunRow } from "./backend.js";
import type { Owner } from "./change.js";
import type { Difference } from "./files.js";

/** The runs on a workspace when a sync looked. */
export interface Presence {
  live: RunRow[];
  /** A run whose process died and which this sync settles, with the time of its last sign of life. */
  dead?: { run: RunRow; lastSignMs: number };
}

const outside: Owner = { kind: "outside" };

/** Whose one difference is. */
export function ownerOf(difference: Difference, { live, dead }: Presence): Owner {
  if (dead === undefined) return among(difference.path, live);
  const changedMs = difference.stat === null ? null : Math.max(difference.stat.mtimeMs, difference.stat.ctimeMs);
  if (changedMs === null) return { kind: "shared", runs: [dead.run, ...live].map((run) => run.run) };
  // A sign of life is known to the millisecond; a file's times are finer.
  if (Math.floor(changedMs) > dead.lastSignMs) return among(difference.path, live);
  return among(difference.path, [dead.run, ...live]);
}

function among(path: string, live: readonly RunRow[]): Owner {
  const [only, ...others] = live;
  if (only === undefined) return outside;
  if (others.length === 0) return owned(only);
  const announced = live.filter((run) => run.announced.includes(path));
  if (announced.length === 1) return owned(announced[0] as RunRow);
  const open = live.filter((run) => openWindows(run).length > 0 || run.windows.length === 0);
  const [inside, ...more] = open;
  if (inside !== undefined && more.length === 0 && openWindows(inside).length > 0) {
    const since = Math.min(...openWindows(inside).map((window) => window.opened));
    const overlapped = live.some(
      (run) => run !== inside && run.windows.some((window) => window.closed !== null && window.closed > since),
    );
    if (!overlapped) return owned(inside);
  }
  return { kind: "shared", runs: live.map((run) => run.run) };
}

const openWindows = (run: RunRow) => run.windows.filter((window) => window.closed === null);

function owned(run: RunRow): Owner {
  const [window, ...more] = openWindows(run);
  const inOneCall = window !== undefined && more.length === 0;
  return { kind: "run", run: run.run, ...(inOneCall ? { toolCallId: window.toolCallId } : {}) };
}
