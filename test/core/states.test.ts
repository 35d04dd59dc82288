/**
 * Three states of one path and what their merge is, as a table.
 */
import { describe, expect, test } from "vitest";
import type { FileState } from "../../src/core/model.js";
import { mergeStates, parentPath, sameState } from "../../src/core/states.js";
import { absent, file, folder } from "./rows.js";

const [a, b, c]: [FileState, FileState, FileState] = [file("a"), file("b"), file("c")];
const link = (target: string): FileState => ({ kind: "symlink", target });
const lost: FileState = { kind: "unknown", reason: "too_large" };

/** Merges of texts are clean when they are told to be; the merged blob is named after all three. */
const contents = (isClean: boolean) => {
  const made: string[] = [];
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return {
    made: (blob: string) => void made.push(blob),
    names: made,
    bytes: (blob: string) => new TextEncoder().encode(blob),
    hash: (bytes: Uint8Array) => text(bytes),
    merge: (base: Uint8Array, theirs: Uint8Array, ours: Uint8Array) =>
      isClean
        ? { clean: true as const, bytes: new TextEncoder().encode([base, theirs, ours].map(text).join("")) }
        : { clean: false as const, reason: "overlap" },
  };
};

describe("merging states", () => {
  const table: [string, FileState, FileState, FileState, FileState | string][] = [
    ["theirs is the base: ours", a, a, b, b],
    ["ours is the base: theirs", a, b, a, b],
    ["both the same", a, b, b, b],
    ["both deleted", a, absent, absent, absent],
    ["ours deletes what nobody touched", a, a, absent, absent],
    ["theirs deleted what ours did not touch", a, absent, a, absent],
    ["theirs deleted what ours changes", a, absent, b, "deleted_by_others"],
    ["ours deletes what others edited", a, b, absent, "edited_by_others"],
    ["both made it, differently", absent, a, b, "changed_by_both"],
    ["a link that both turned", link("1"), link("2"), link("3"), "changed_by_both"],
    ["a link that one turned", link("1"), link("1"), link("3"), link("3")],
    ["one side's mode, the other's content", a, file("a", 0o755), b, file("b", 0o755)],
    ["one side's content, the other's mode", a, b, file("a", 0o755), file("b", 0o755)],
    ["both modes, differently", a, file("a", 0o755), file("b", 0o600), "mode_changed_by_both"],
    ["a folder's mode by both", folder(), folder(0o700), folder(0o750), "mode_changed_by_both"],
    ["a folder's mode by one", folder(), folder(), folder(0o700), folder(0o700)],
    ["a file that became a folder", a, folder(), b, "changed_by_both"],
    ["the same content by both, one mode", a, b, file("b", 0o755), file("b", 0o755)],
  ];

  test.each(table)("[W10] %s", (_what, base, theirs, ours, expected) => {
    const merge = mergeStates(base, theirs, ours, contents(false));
    expect(merge).toEqual(
      typeof expected === "string" ? { clean: false, reason: expected } : { clean: true, state: expected },
    );
  });

  test("[W10] contents that all three differ in are merged, and the bytes are kept", () => {
    const kept = contents(true);
    expect(mergeStates(a, b, c, kept)).toEqual({ clean: true, state: { ...file("abc"), size: 3 } });
    expect(kept.names).toEqual(["abc"]);
    expect(mergeStates(a, b, c, contents(false))).toEqual({ clean: false, reason: "overlap" });
  });
});

test("[L6] unknown states are the same as nothing, not even as one another", () => {
  for (const state of [absent, a, folder(), link("1"), lost]) {
    expect(sameState(lost, state)).toBe(false);
    expect(sameState(state, lost)).toBe(false);
  }
  expect(sameState(a, { ...a, size: 9 } as FileState)).toBe(true);
  expect([sameState(a, file("a", 0o600)), sameState(folder(), folder(0o700)), sameState(link("1"), link("2"))]).toEqual(
    [false, false, false],
  );
});

test("[W8] the folder of a path is what stands before its last slash", () => {
  expect([parentPath("a/b/c"), parentPath("a/b"), parentPath("a")]).toEqual(["a/b", "a", null]);
});
