/**
 * How a file state lies in columns, and how rows become what the port speaks of.
 *
 * A state is a kind, a blob (by its integer key), a mode and a detail: a symlink's target or why a state is unknown.
 * The size of a file is its blob's, so that it stands in one place only.
 */
import type { FileState } from "../../core/model.js";
import { contentMissing } from "../../core/states.js";

/** A state as columns; `blob` is the key of a row of `blobs`. */
export interface StateColumns {
  kind: string;
  blob: number | null;
  mode: number | null;
  detail: string | null;
}

/** Columns as they come back from a join with `blobs`. */
export interface StoredState {
  kind: string;
  mode: number | null;
  detail: string | null;
  hash: Buffer | null;
  size: number | null;
}

/** The columns of a state. `blobKey` finds the key of a blob that is stored already. */
export function toColumns(state: FileState, blobKey: (blob: string) => number): StateColumns {
  switch (state.kind) {
    case "absent":
      return { kind: "absent", blob: null, mode: null, detail: null };
    case "directory":
      return { kind: "directory", blob: null, mode: state.mode, detail: null };
    case "file":
      return { kind: "file", blob: blobKey(state.blob), mode: state.mode, detail: null };
    case "symlink":
      return { kind: "symlink", blob: null, mode: null, detail: state.target };
    case "unknown":
      return { kind: "unknown", blob: null, mode: null, detail: state.reason };
  }
}

/** The state that columns stand for; a file whose blob is gone is unknown. */
export function fromColumns(row: StoredState): FileState {
  switch (row.kind) {
    case "absent":
      return { kind: "absent" };
    case "directory":
      return { kind: "directory", mode: row.mode ?? 0 };
    case "symlink":
      return { kind: "symlink", target: row.detail ?? "" };
    case "file":
      if (row.hash === null) return { kind: "unknown", reason: contentMissing };
      return { kind: "file", blob: row.hash.toString("hex"), mode: row.mode ?? 0, size: row.size ?? 0 };
    default:
      return { kind: "unknown", reason: row.detail ?? "" };
  }
}
