/**
 * What a commit knows while it is being written, and the shape of the functions that write.
 */
import type { Change } from "../../../core/change.js";

/** The running state of one commit. */
export interface Writing {
  conversation: number;
  workspace: number;
  number: number;
  atMs: number;
  sequence: number;
  logNumber: number | null;
  segments: Map<number, number>;
  runs: Map<number, number>;
}

/** The change of a kind. */
export type Of<K extends Change["kind"]> = Extract<Change, { kind: K }>;

/** For each kind of change, what writes it and tells whether what it expected still held. */
export type Writers = { [K in Change["kind"]]: (change: Of<K>, at: Writing) => boolean };
