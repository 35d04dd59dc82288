/**
 * Reading the own rows of one side of a fork.
 */
import type { KeyRange, LogRow, NodeRow, RunRow } from "../core/backend.js";
import type { NodeKey } from "../core/change.js";
import { pathBelow } from "../core/dag.js";
import { ownRows, spansOf } from "../core/own-rows.js";
import type { Environment } from "./environment.js";
import type { State } from "./state.js";

/** The own rows of the path below a node (null: of the whole path), in the order of the log. */
export async function rowsBelow(
  env: Environment,
  state: State,
  fork: NodeKey | null,
  head: NodeKey | null,
): Promise<LogRow[]> {
  const workspace = state.row.workspace;
  const ranges = pathBelow(state.segments, fork, head);
  if (workspace === null || ranges.length === 0) return [];
  return rowsOfRanges(env, state, fork, ranges, workspace);
}

async function rowsOfRanges(
  env: Environment,
  state: State,
  fork: NodeKey | null,
  ranges: KeyRange[],
  workspace: number,
): Promise<LogRow[]> {
  const keys = [...(fork === null ? [] : [fork]), ...ranges.map((range) => range.to)];
  const nodes = new Map((await env.backend.nodes(state.row.key, { keys })).map((row) => [row.key, row]));
  const forkRow = fork === null ? undefined : nodes.get(fork);
  const ends = ranges.map((range) => nodes.get(range.to)).filter((row): row is NodeRow => row !== undefined);
  const across = forkRow?.run == null ? [] : await env.backend.runs({ runs: [forkRow.run] });
  const started = await env.backend.runs({ startedIn: ranges });
  const runs: RunRow[] = [...across, ...started.filter((run) => run.run !== forkRow?.run)];
  const spans = spansOf({ ranges, fork: forkRow, runs, ends });
  if (spans.length === 0) return [];
  const rows = await env.backend.log(workspace, { runs: [...new Set(spans.map((span) => span.run))] });
  return ownRows(rows, spans);
}
