/**
 * Switching between branches and resuming what was left: heads move, and the files follow.
 */
import { describe, expect, it } from "vitest";
import { chat, play } from "../builders/chat.js";
import { code, refusal } from "../builders/codes.js";
import { Scene } from "../builders/scene.js";

/** Two branches from a1: main with u2, side with u3, each with files of its own and its own last line of a shared one. */
async function twoBranches(): Promise<Scene> {
  const scene = await Scene.open({ "a.txt": "1\n2\n3\n4\n5\n" });
  await scene.turn("u1", { "one.txt": "1\n" });
  await scene.turn("u2", { "two.txt": "2\n", "a.txt": "1\n2\n3\n4\nmain\n" });
  await scene.chat.createBranch("side", { at: "a1", switch: true });
  await scene.turn("u3", { "three.txt": "3\n", "a.txt": "1\n2\n3\n4\nside\n" });
  return scene;
}

describe("switch", () => {
  it("[R10] C25 a switch back to a branch lands where it was left, files included", async () => {
    const scene = await twoBranches();
    const side = scene.files();
    expect(Object.keys(side)).toEqual(["a.txt", "one.txt", "three.txt"]);
    const away = await scene.chat.switchBranch("main");
    expect(away).toMatchObject({ branch: "main", newHeadId: "a2" });
    expect(away.files).toEqual([
      { path: "a.txt", outcome: "restored" },
      { path: "three.txt", outcome: "deleted" },
      { path: "two.txt", outcome: "created" },
    ]);
    expect([scene.read("a.txt"), Object.keys(scene.files())]).toEqual([
      "1\n2\n3\n4\nmain\n",
      ["a.txt", "one.txt", "two.txt"],
    ]);
    await scene.reopen();
    expect(await scene.chat.switchBranch("side")).toMatchObject({ newHeadId: "a3" });
    expect(scene.files()).toEqual(side);
    expect(await scene.rewound()).toBe("");
  });

  it("[R12] a person's edits stay through every switch", async () => {
    const scene = await twoBranches();
    scene.write({ "mine.txt": "m\n", "a.txt": "mine\n2\n3\n4\nside\n" });
    await scene.chat.switchBranch("main");
    expect([scene.read("mine.txt"), scene.read("a.txt")]).toEqual(["m\n", "mine\n2\n3\n4\nmain\n"]);
    scene.write({ "mine.txt": "m2\n" });
    await scene.chat.switchBranch("side");
    expect([scene.read("mine.txt"), scene.read("a.txt")]).toEqual(["m2\n", "mine\n2\n3\n4\nside\n"]);
  });

  it("[R10] to the branch itself nothing moves; to one that is not there it is refused", async () => {
    const scene = await twoBranches();
    const before = scene.traces();
    expect(await scene.chat.switchBranch("side")).toMatchObject({ newHeadId: "a3", restoredPaths: [] });
    expect(scene.traces()).toEqual(before);
    expect(await refusal(scene.chat.switchBranch("none"))).toMatchObject({
      code: "not_found",
      data: { what: "branch", id: "none" },
    });
    expect(await code(scene.chat.switchBranch("main", { expectedHead: "a2" }))).toBe("head_moved");
  });

  it("[N3] an empty branch has no files of any turn, and a first turn there is a root of its own", async () => {
    const scene = await twoBranches();
    await scene.chat.createBranch("fresh", { at: null, switch: true });
    expect(scene.files()).toEqual({ "a.txt": "file 644 1\n2\n3\n4\n5\n" });
    await scene.turn("u9", { "nine.txt": "9\n" });
    expect((await scene.chat.children(null)).map((node) => node.id)).toEqual(["u1", "u9"]);
    await scene.chat.switchBranch("main");
    expect(Object.keys(scene.files())).toEqual(["a.txt", "one.txt", "two.txt"]);
  });

  it("[R10] a branch made inside a turn implies the last capture before its node", async () => {
    const scene = await Scene.open({ "a.txt": "0\n" });
    await scene.turn("u1", async (turn) => {
      scene.write({ "a.txt": "1\n" });
      await turn.checkpoint();
      await turn.append({ role: "assistant", id: "half", content: "half-way" });
      scene.write({ "a.txt": "2\n", "b.txt": "b\n" });
    });
    await scene.chat.createBranch("half", { at: "half", switch: true });
    expect(scene.files()).toEqual({ "a.txt": "file 644 1\n" });
    await scene.chat.switchBranch("main");
    expect([scene.read("a.txt"), scene.read("b.txt")]).toEqual(["2\n", "b\n"]);
  });
});

describe("resume", () => {
  it("[R10] C22 what was rewound is resumed at any later time, files included, on a branch of its own", async () => {
    const scene = await Scene.open({ "a.txt": "0\n" });
    await scene.turn("u1", { "a.txt": "1\n" });
    await scene.turn("u2", { "a.txt": "2\n", "b.txt": "b\n" });
    const before = scene.files();
    await scene.chat.rewindTo("u1");
    for (const n of [3, 4, 5]) await scene.turn(`u${n}`, { "a.txt": `${n}\n` });
    await scene.reopen();
    const result = await scene.chat.resume("u1");
    expect(result).toMatchObject({ branch: "resumed", newHeadId: "a2" });
    expect(scene.files()).toEqual(before);
    expect(await scene.chat.record()).toMatchObject({ activeBranch: "resumed", headId: "a2" });
    expect([await scene.path("main"), await scene.rewound()]).toEqual(["u3 a3 u4 a4 u5 a5", ""]);
    await scene.chat.switchBranch("main");
    expect(scene.files()).toEqual({ "a.txt": "file 644 5\n" });
  });

  it("[R10] the newest leaf under a node is chosen, whichever fork it lies on", async () => {
    const scene = await chat("u1 a1 u2 a2");
    await scene.chat.rewindTo("u2");
    await play(scene.chat, "u3 a3");
    await scene.chat.rewindTo("u1");
    await play(scene.chat, "u4 a4");
    expect((await scene.chat.resume("a1")).newHeadId).toBe("a3");
    expect((await scene.chat.resume("u2", { name: "second" })).newHeadId).toBe("a2");
    await play(scene.chat, "u5 a5");
    expect((await scene.chat.resume("u1")).newHeadId).toBe("a5");
    expect((await scene.chat.branches()).map(({ name, headId }) => `${name} ${headId}`)).toEqual([
      "main a4",
      "resumed a3",
      "second a5",
    ]);
  });

  it("[R10] a branch that is given is moved there, and what it leaves is marked; one that is there already is used", async () => {
    const scene = await chat("u1 a1 u2 a2");
    await scene.chat.rewindTo("u2");
    await play(scene.chat, "u3 a3");
    expect(await scene.chat.resume("u2", { name: "main" })).toMatchObject({ branch: "main", newHeadId: "a2" });
    expect(await scene.rewound()).toBe("u3 a3");
    await scene.chat.createBranch("side", { at: "a3" });
    expect(await scene.chat.resume("u3")).toMatchObject({ branch: "side", newHeadId: "a3" });
    expect((await scene.chat.branches()).length).toBe(2);
  });

  it("[R10] an unknown node, one of a side chain and a broken name are refused", async () => {
    const scene = await chat("u1 c1 r1");
    await scene.chat.append({ role: "user", id: "sub", content: "x", callerId: "c1" });
    expect(await code(scene.chat.resume("nobody"))).toBe("not_found");
    expect(await code(scene.chat.resume("sub"))).toBe("not_on_branch");
    expect(await code(scene.chat.resume("u1", { name: "-x" }))).toBe("bad_input");
    expect((await scene.chat.branches()).length).toBe(1);
  });

  it("[R2] C19 a resumed call brings its sub-agent's nodes back with it", async () => {
    const scene = await chat("u1 a1 u2 c2 r2");
    await scene.chat.append({ role: "user", id: "sub", content: "x", callerId: "c2" });
    await scene.chat.rewindTo("u2");
    expect((await scene.chat.node("sub"))?.rewound).toBe(true);
    await scene.chat.resume("u2");
    expect((await scene.chat.node("sub"))?.rewound).toBe(false);
  });
});
