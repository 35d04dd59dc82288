/**
 * What paths mean to one another in a plan: folders that are needed, folders that must be empty, folders not worth telling.
 */
import { describe, expect, test } from "vitest";
import type { FileState, Policy } from "../../src/core/model.js";
import type { PathPlan } from "../../src/core/plan.js";
import { emptiedDirectories, settleTree, shownPlans } from "../../src/core/tree.js";
import { absent, file, folder } from "./rows.js";

const plan = (path: string, before: FileState, after: FileState): PathPlan => {
  const outcome = before.kind === "absent" ? "created" : after.kind === "absent" ? "deleted" : "restored";
  return { path, before, after, outcome };
};

function settle(plans: PathPlan[], disk: Record<string, FileState> = {}, policy: Policy = "refuse"): string[] {
  const around = {
    state: (path: string) => disk[path] ?? absent,
    children: (path: string) =>
      Object.keys(disk)
        .filter((other) => other.startsWith(`${path}/`) && !other.slice(path.length + 1).includes("/"))
        .map((other) => other.slice(path.length + 1)),
  };
  const settled = settleTree(plans, around, { edits: "merge", conflict: () => policy });
  return settled.map(({ path, outcome, reason }) => `${path} ${outcome}${reason === undefined ? "" : ` ${reason}`}`);
}

describe("folders that are needed", () => {
  test("[L5] one that somebody removed is made again, and those above it", () => {
    expect(settle([plan("a/b/f", absent, file("1"))])).toEqual(["a created", "a/b created", "a/b/f created"]);
    expect(settle([plan("a/b/f", absent, file("1"))], { a: folder() })).toEqual(["a/b created", "a/b/f created"]);
  });

  test("[L5] one that the plan would remove stays", () => {
    expect(settle([plan("a", folder(), absent), plan("a/f", absent, file("1"))], { a: folder() })).toEqual([
      "a kept not_empty",
      "a/f created",
    ]);
  });

  test("[R13] one that became something else is a conflict, or keeps what is there", () => {
    const plans = () => [plan("a/f", absent, file("1"))];
    expect(settle(plans(), { a: file("2") })).toEqual(["a/f conflict parent_replaced"]);
    expect(settle(plans(), { a: file("2") }, "keep")).toEqual(["a/f kept parent_replaced"]);
    expect(settle(plans(), { a: { kind: "symlink", target: "/" } })).toEqual(["a/f conflict parent_replaced"]);
  });

  test("[L5] what goes needs none", () => {
    expect(settle([plan("a/f", file("1"), absent)])).toEqual(["a/f deleted"]);
  });
});

describe("folders that go", () => {
  test("[L5] go when all that is in them goes", () => {
    const disk = { a: folder(), "a/b": folder(), "a/b/f": file("1") };
    const plans = [plan("a", folder(), absent), plan("a/b", folder(), absent), plan("a/b/f", file("1"), absent)];
    expect(emptiedDirectories(plans)).toEqual(["a", "a/b"]);
    expect(settle(plans, disk)).toEqual(["a deleted", "a/b deleted", "a/b/f deleted"]);
  });

  test("[L6] stay, with those above them, while somebody else's file is in them", () => {
    const disk = { a: folder(), "a/b": folder(), "a/b/f": file("1"), "a/b/mine": file("2") };
    const plans = [plan("a", folder(), absent), plan("a/b", folder(), absent), plan("a/b/f", file("1"), absent)];
    expect(settle(plans, disk)).toEqual(["a kept not_empty", "a/b kept not_empty", "a/b/f deleted"]);
  });

  test("[R13] cannot become a file while something is in them", () => {
    const disk = { a: folder(), "a/mine": file("2") };
    expect(settle([plan("a", folder(), file("1"))], disk)).toEqual(["a conflict not_empty"]);
    expect(settle([plan("a", folder(), file("1"))], disk, "keep")).toEqual(["a kept not_empty"]);
    expect(settle([plan("a", folder(), file("1"))], { a: folder() })).toEqual(["a restored"]);
  });
});

describe("what is shown", () => {
  const shown = (...plans: PathPlan[]) => shownPlans(plans).map((one) => one.path);

  test("[R5] a folder that only came or went with what is in it is not", () => {
    expect(shown(plan("a", absent, folder()), plan("a/f", absent, file("1")))).toEqual(["a/f"]);
    expect(shown(plan("a", folder(), absent), plan("a/f", file("1"), absent))).toEqual(["a/f"]);
  });

  test("[R5] an empty one is, and one that changed its mode or kind", () => {
    expect(shown(plan("a", absent, folder()))).toEqual(["a"]);
    expect(shown(plan("a", folder(), folder(0o700)), plan("a/f", absent, file("1")))).toEqual(["a", "a/f"]);
    expect(shown(plan("a", file("1"), folder()), plan("a/f", absent, file("1")))).toEqual(["a", "a/f"]);
  });

  test("[R5] and one that was kept for what is in it", () => {
    const kept: PathPlan = { ...plan("a", folder(), folder()), outcome: "kept", reason: "not_empty" };
    expect(shown(kept, plan("a/f", file("1"), absent))).toEqual(["a", "a/f"]);
  });
});
