/**
 * Rows as a backend would hand them to the core, with everything that a test does not speak of filled in.
 */
import type { LogRow, NodeRow, OperationRow, RunRow } from "../../src/core/backend.js";
import type { NodeKey, Owner } from "../../src/core/change.js";
import type { FileState, Message, OperationKind } from "../../src/core/model.js";
import { bodyOf } from "../../src/core/turns.js";

export const absent: FileState = { kind: "absent" };
export const file = (blob: string, mode = 0o644): FileState => ({ kind: "file", blob, mode, size: blob.length });
export const folder = (mode = 0o755): FileState => ({ kind: "directory", mode });

export function nodeRow(key: NodeKey, message: Message, more: Partial<NodeRow> = {}): NodeRow {
  return {
    key,
    id: `n${key}`,
    run: null,
    role: message.role,
    synthetic: message.synthetic ?? false,
    createdAtMs: 0,
    position: null,
    operation: 0,
    body: bodyOf(message),
    ...more,
  };
}

export function runRow(run: number, more: Partial<RunRow> = {}): RunRow {
  return {
    run,
    conversation: 1,
    workspace: 1,
    firstKey: 0,
    userKey: 0,
    lastKey: null,
    status: "running",
    holder: { machine: "", boot: "", namespace: "", pid: 1, startedAt: "", instance: "" },
    leaseMs: 1,
    startedAtMs: 0,
    heartbeatAtMs: 0,
    endedAtMs: null,
    found: null,
    left: null,
    usage: null,
    error: null,
    report: null,
    cancelRequested: null,
    rowsOf: null,
    windows: [],
    announced: [],
    ...more,
  };
}

export function logRow(number: number, owner: Owner, path = "a"): LogRow {
  return { number, path, before: absent, after: absent, owner, operation: 0 };
}

export function operationRow(number: number, kind: OperationKind): OperationRow {
  return { number, conversation: 1, kind, author: "", atMs: 0, summary: null, request: null };
}
