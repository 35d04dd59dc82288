/**
 * Which rows of the log belong to one side of a fork.
 *
 * A run owns rows between the log's number at its start (`found`) and at its end (`left`). A run that lies across the
 * fork, or that the head leaves in the middle, owns on this side only what was captured between the two positions:
 * a node's position is the log's number when it was sealed, and that of a run's last node is where the run left it.
 */
import type { KeyRange, LogRow, NodeRow, RunRow } from "./backend.js";
import type { NodeKey } from "./change.js";
import { inRanges, segmentOf } from "./dag.js";

/** The rows of a run above one number of the log, up to another (null: without end). */
export interface Span {
  run: number;
  above: number;
  upTo: number | null;
}

/**
 * The log's number that a node stands for: what the workspace was when the node was the newest. The last node that a run
 * keeps stands for what the run left, and so do those below it that a run which ended badly dropped.
 */
export function positionOf(node: NodeRow, run: RunRow | undefined): number | null {
  if (run === undefined || run.lastKey === null || run.left === null) return node.position;
  const isEnd = node.key >= run.lastKey && segmentOf(node.key) === segmentOf(run.lastKey);
  return isEnd ? run.left : node.position;
}

/**
 * The spans of own rows on a stretch of path below a fork.
 * `ends` are the nodes at the lower end of each range; `fork` is the node above the stretch, with the run it belongs to.
 */
export function spansOf(input: {
  ranges: readonly KeyRange[];
  fork: NodeRow | undefined;
  runs: readonly RunRow[];
  ends: readonly NodeRow[];
}): Span[] {
  const { ranges, fork, runs, ends } = input;
  const spans: Span[] = [];
  for (const run of runs) {
    const straddles = fork !== undefined && fork.run === run.run;
    const above = straddles ? positionOf(fork, run) : run.found;
    const upTo = endOf(run, ranges, ends, fork);
    if (upTo !== undefined) spans.push({ run: run.rowsOf ?? run.run, above: above ?? 0, upTo });
  }
  return spans.filter((span) => span.upTo === null || span.upTo > span.above);
}

function endOf(
  run: RunRow,
  ranges: readonly KeyRange[],
  ends: readonly NodeRow[],
  fork: NodeRow | undefined,
): number | null | undefined {
  const reached = (key: NodeKey) => inRanges(ranges, key) || fork?.key === key;
  if (run.lastKey === null || reached(run.lastKey)) return run.left;
  const last = ends.filter((node) => node.run === run.run).at(-1);
  return last === undefined ? undefined : (positionOf(last, run) ?? undefined);
}

/** The rows that lie in one of the spans, in the order of the log. A shared row lies in a span of any run it names. */
export function ownRows(rows: readonly LogRow[], spans: readonly Span[]): LogRow[] {
  const within = (row: LogRow, span: Span) =>
    row.number > span.above && (span.upTo === null || row.number <= span.upTo);
  return rows.filter(({ owner, ...row }) =>
    spans.some((span) => {
      const named =
        owner.kind === "run" ? owner.run === span.run : owner.kind === "shared" && owner.runs.includes(span.run);
      return named && within({ owner, ...row }, span);
    }),
  );
}

/** Rows by path, each path's in the order of the log. */
export function byPath(rows: readonly LogRow[]): Map<string, LogRow[]> {
  const paths = new Map<string, LogRow[]>();
  for (const row of rows) {
    const list = paths.get(row.path);
    if (list === undefined) paths.set(row.path, [row]);
    else list.push(row);
  }
  return paths;
}
