/**
 * Branches as names: made, renamed, deleted; marks follow, content does not move.
 */
import { describe, expect, it } from "vitest";
import { chat, play } from "../builders/chat.js";
import { code, refusal } from "../builders/codes.js";
import { Scene } from "../builders/scene.js";

const names = async (scene: Scene) =>
  (await scene.chat.branches()).map(({ name, headId, active }) => `${name}${active ? "*" : ""} ${headId}`);

describe("branches", () => {
  it("[N3] a branch is made at the head, at a node, at a rewound node, or empty", async () => {
    const scene = await chat("u1 a1 u2 a2");
    await scene.chat.rewindTo("u2");
    expect(await scene.chat.createBranch("here")).toMatchObject({ name: "here", headId: "a1", active: false });
    await scene.chat.createBranch("there", { at: "u1" });
    await scene.chat.createBranch("empty", { at: null });
    expect(await scene.rewound()).toBe("u2 a2");
    await scene.chat.createBranch("back", { at: "u2" });
    expect(await names(scene)).toEqual(["back u2", "empty null", "here a1", "main* a1", "there u1"]);
    expect(await scene.rewound()).toBe("a2");
  });

  it("[N3] making a branch with a switch moves the files in the same operation, and undo takes it away", async () => {
    const scene = await Scene.open({ "a.txt": "0" });
    await scene.turn("u1", { "a.txt": "1" });
    await scene.turn("u2", { "a.txt": "2" });
    const operations = (await scene.chat.operations()).length;
    expect(await scene.chat.createBranch("old", { at: "a1", switch: true })).toMatchObject({ active: true });
    expect([scene.read("a.txt"), (await scene.chat.operations()).length]).toEqual(["1", operations + 1]);
    await scene.chat.undo();
    expect([scene.read("a.txt"), await names(scene)]).toEqual(["2", ["main* a2"]]);
  });

  it("[N3] a name that is taken, broken or unknown is refused", async () => {
    const scene = await chat("u1 a1");
    await scene.chat.createBranch("side");
    expect(await refusal(scene.chat.createBranch("side"))).toMatchObject({
      code: "branch_exists",
      data: { branch: "side" },
    });
    expect(await code(scene.chat.createBranch("main", { switch: true }))).toBe("branch_exists");
    expect(await code(scene.chat.renameBranch("side", "main"))).toBe("branch_exists");
    expect(await code(scene.chat.renameBranch("none", "x"))).toBe("not_found");
    expect(await code(scene.chat.deleteBranch("none"))).toBe("not_found");
    expect(await code(scene.chat.createBranch("x", { at: "none" }))).toBe("not_found");
    for (const name of ["", "-x", "--force", " x", "a\nb", "x".repeat(129)]) {
      expect(await code(scene.chat.createBranch(name))).toBe("bad_input");
      expect(await code(scene.chat.renameBranch("side", name))).toBe("bad_input");
    }
    expect(await names(scene)).toEqual(["main* a1", "side a1"]);
  });

  it("[N3] names may hold anything else: slashes, dots, blanks inside, other alphabets", async () => {
    const scene = await chat("u1 a1");
    const made = ["feature/x", "..", "a b", "привет 🙂", "constructor", "__proto__", "%", "'; drop table nodes"];
    for (const name of made) await scene.chat.createBranch(name, { at: "u1" });
    for (const name of made)
      expect(await scene.chat.switchBranch(name)).toMatchObject({ branch: name, newHeadId: "u1" });
    await scene.reopen();
    expect((await scene.chat.branches()).map((branch) => branch.name).sort()).toEqual([...made, "main"].sort());
  });

  it("[N3] renaming the active branch keeps it active, and its head; nothing is marked", async () => {
    const scene = await chat("u1 a1");
    expect(await scene.chat.renameBranch("main", "trunk")).toMatchObject({ name: "trunk", headId: "a1", active: true });
    expect(await scene.chat.record()).toMatchObject({ activeBranch: "trunk", headId: "a1" });
    await play(scene.chat, "u2 a2");
    expect([await names(scene), await scene.rewound()]).toEqual([["trunk* a2"], ""]);
  });

  it("[N4] deleting a branch marks what only it reached; the active one cannot be deleted", async () => {
    const scene = await chat("u1 a1 u2 a2");
    await scene.chat.createBranch("side", { at: "a1", switch: true });
    await play(scene.chat, "u3 a3");
    expect(await refusal(scene.chat.deleteBranch("side"))).toMatchObject({
      code: "branch_active",
      data: { branch: "side" },
    });
    await scene.chat.deleteBranch("main");
    expect([await names(scene), await scene.rewound()]).toEqual([["side* a3"], "u2 a2"]);
    await scene.chat.resume("u2", { name: "main" });
    expect(await scene.rewound()).toBe("");
  });

  it("[N3] no branch is made in a side chain, and options are not mistaken for ids", async () => {
    const scene = await chat("u1 c1 r1");
    await scene.chat.append({ role: "user", id: "sub", content: "x", callerId: "c1" });
    expect(await code(scene.chat.createBranch("x", { at: "sub" }))).toBe("not_on_branch");
    expect(await code(scene.chat.history({ branch: "none" }))).toBe("not_found");
    expect(await code(scene.chat.rewindTo("u1", { branch: "none" }))).toBe("not_found");
  });

  it("[R2] C7 C8 a node on two branches is marked only when both have left it", async () => {
    const scene = await chat("u1 a1 u2 a2");
    await scene.chat.createBranch("side");
    expect((await scene.chat.rewindTo("u2")).nodesRewound).toEqual([]);
    expect((await scene.chat.rewindTo("u2", { branch: "side" })).nodesRewound).toEqual(["u2", "a2"]);
    await scene.chat.undo();
    expect(await scene.rewound()).toBe("");
    await scene.chat.undo();
    expect([await scene.path(), await scene.path("side")]).toEqual(["u1 a1 u2 a2", "u1 a1 u2 a2"]);
  });
});
