/**
 * File states as values: when two are the same, and what a three-way merge of them is.
 *
 * Content merges by line; kind, mode, target and existence merge as values: where one side kept the base, the other
 * side wins; where both left it for the same thing, that thing; otherwise the merge is not clean.
 */
import type { ContentTools } from "./files.js";
import type { FileState } from "./model.js";

/** The state of a path that is not there. */
export const absent: FileState = { kind: "absent" };

/** Why a file's state is unknown whose content should be stored and is not: damage, not a rule. */
export const contentMissing = "content_missing";

/** Whether two states are the same. Two unknown states are never the same. */
export function sameState(a: FileState, b: FileState): boolean {
  if (a.kind === "absent") return b.kind === "absent";
  if (a.kind === "directory") return b.kind === "directory" && a.mode === b.mode;
  if (a.kind === "symlink") return b.kind === "symlink" && a.target === b.target;
  if (a.kind === "file") return b.kind === "file" && a.blob === b.blob && a.mode === b.mode;
  return false;
}

/** Where merged contents come from and go to. */
export interface Contents extends Pick<ContentTools, "merge" | "hash"> {
  /** The bytes of a blob that the plan may need. */
  bytes(blob: string): Uint8Array;
  /** Keeps bytes that a merge made. */
  made(blob: string, bytes: Uint8Array): void;
}

/** A merged state, or why there is none. */
export type StateMerge = { clean: true; state: FileState } | { clean: false; reason: string };

const clean = (state: FileState): StateMerge => ({ clean: true, state });

function mergeValue<T>(base: T, theirs: T, ours: T): { value: T } | undefined {
  if (theirs === base || theirs === ours) return { value: ours };
  return ours === base ? { value: theirs } : undefined;
}

/** Merges `ours` into `theirs`, both seen from `base`. Unknown states never reach it. */
export function mergeStates(base: FileState, theirs: FileState, ours: FileState, contents: Contents): StateMerge {
  if (sameState(theirs, base)) return clean(ours);
  if (sameState(ours, base) || sameState(theirs, ours)) return clean(theirs);
  if (base.kind === "directory" && theirs.kind === "directory" && ours.kind === "directory") {
    return { clean: false, reason: "mode_changed_by_both" };
  }
  if (base.kind !== "file" || theirs.kind !== "file" || ours.kind !== "file") {
    return { clean: false, reason: reasonOf(theirs, ours) };
  }
  const mode = mergeValue(base.mode, theirs.mode, ours.mode);
  if (mode === undefined) return { clean: false, reason: "mode_changed_by_both" };
  const whole = mergeValue(base.blob, theirs.blob, ours.blob);
  if (whole !== undefined) {
    const { size } = whole.value === ours.blob ? ours : theirs;
    return clean({ kind: "file", blob: whole.value, mode: mode.value, size });
  }
  const merged = contents.merge(contents.bytes(base.blob), contents.bytes(theirs.blob), contents.bytes(ours.blob));
  if (!merged.clean) return merged;
  const blob = contents.hash(merged.bytes);
  contents.made(blob, merged.bytes);
  return clean({ kind: "file", blob, mode: mode.value, size: merged.bytes.length });
}

function reasonOf(theirs: FileState, ours: FileState): string {
  if (theirs.kind === "absent") return "deleted_by_others";
  if (ours.kind === "absent") return "edited_by_others";
  return "changed_by_both";
}

/** The folder that a path lies in, or null at the top. */
export function parentPath(path: string): string | null {
  const at = path.lastIndexOf("/");
  return at < 0 ? null : path.slice(0, at);
}
