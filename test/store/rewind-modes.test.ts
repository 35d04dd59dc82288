/**
 * What a rewind takes back: both halves, the conversation alone, the files alone; and on a branch that is not active.
 */
import { describe, expect, it } from "vitest";
import { play } from "../builders/chat.js";
import { Scene } from "../builders/scene.js";

async function twoTurns(): Promise<Scene> {
  const scene = await Scene.open({ "a.txt": "0\n" });
  await scene.turn("u1", { "a.txt": "1\n" });
  await scene.turn("u2", { "a.txt": "2\n", "b.txt": "b\n" });
  return scene;
}

describe("conversation", () => {
  it("[R7] F129 the conversation alone: nodes are marked, the files stay to the byte and the second", async () => {
    const scene = await twoTurns();
    const before = scene.traces();
    const result = await scene.chat.rewindTo("u2", { mode: "conversation" });
    expect(result).toMatchObject({
      newHeadId: "a1",
      nodesRewound: ["u2", "a2"],
      files: [],
      restoredPaths: [],
      errors: [],
    });
    expect(scene.traces()).toEqual(before);
    await scene.chat.undo();
    expect([await scene.path(), scene.traces()]).toEqual(["u1 a1 u2 a2", before]);
  });

  it("[R7] what a rewind of the conversation left behind counts as nobody's: a later rewind takes back its own turns only", async () => {
    const scene = await twoTurns();
    await scene.chat.rewindTo("u2", { mode: "conversation" });
    await scene.turn("u3", { "c.txt": "c\n" });
    await scene.chat.rewindTo("u3");
    expect(Object.keys(scene.files())).toEqual(["a.txt", "b.txt"]);
    expect(scene.read("a.txt")).toBe("2\n");
    const { files } = await scene.chat.rewindTo("u1", { onConflict: "keep" });
    expect(files).toEqual([{ path: "a.txt", outcome: "kept", reason: expect.any(String) }]);
    expect([scene.read("a.txt"), scene.read("b.txt")]).toEqual(["2\n", "b\n"]);
  });

  it("[R7] resuming what was rewound without its files finds them in place", async () => {
    const scene = await twoTurns();
    await scene.chat.rewindTo("u2", { mode: "conversation" });
    const before = scene.traces();
    const { files } = await scene.chat.resume("u2");
    expect(files.every((file) => file.outcome === "unchanged")).toBe(true);
    expect(scene.traces()).toEqual(before);
    await scene.chat.rewindTo("u1");
    expect(Object.keys(scene.files())).toEqual(["a.txt"]);
    expect(scene.read("a.txt")).toBe("0\n");
  });
});

describe("files", () => {
  it("[R7] F129 the files alone: the conversation goes on with a synthetic node that tells the model and is no turn", async () => {
    const scene = await twoTurns();
    const result = await scene.chat.rewindTo("u2", { mode: "files" });
    expect(result).toMatchObject({ userText: null, userMessage: null, turnsReverted: 0, nodesRewound: [] });
    expect(result.restoredPaths).toEqual(["a.txt", "b.txt"]);
    expect([scene.read("a.txt"), Object.keys(scene.files())]).toEqual(["1\n", ["a.txt"]]);
    const head = await scene.chat.node(result.newHeadId as string);
    expect(head).toMatchObject({ parentId: "a2", message: { role: "user", synthetic: true }, rewound: false });
    expect((await scene.chat.context()).at(-1)?.content).toContain("files were restored");
    expect((await scene.chat.rewindPoints()).map((point) => point.nodeId)).toEqual(["u2", "u1"]);
    expect((await scene.chat.runs()).length).toBe(2);
    expect(await scene.rewound()).toBe("");
  });

  it("[R7] F129 undo after a rewind of the files alone: the node is rewound and the files are as before; redo brings both again", async () => {
    const scene = await twoTurns();
    const before = scene.files();
    const { newHeadId } = await scene.chat.rewindTo("u1", { mode: "files" });
    const after = scene.files();
    expect(await scene.chat.undo()).toMatchObject({ newHeadId: "a2" });
    expect([scene.files(), await scene.path(), await scene.rewound()]).toEqual([before, "u1 a1 u2 a2", newHeadId]);
    expect(await scene.chat.redo()).toMatchObject({ newHeadId });
    expect([scene.files(), await scene.rewound()]).toEqual([after, ""]);
  });

  it("[R7] the synthetic node owns what its restore wrote: rewinding a turn above it takes both back", async () => {
    const scene = await twoTurns();
    const states = scene.files();
    await scene.chat.rewindTo("u2", { mode: "files" });
    await play(scene.chat, "u3 a3");
    await scene.turn("u4", { "a.txt": "4\n" });
    await scene.chat.rewindTo("u4");
    expect(scene.read("a.txt")).toBe("1\n");
    await scene.chat.rewindTo("u2");
    expect([scene.read("a.txt"), Object.keys(scene.files())]).toEqual(["1\n", ["a.txt"]]);
    await scene.chat.rewindTo("u1");
    expect(scene.read("a.txt")).toBe("0\n");
    await scene.chat.undo();
    await scene.chat.undo();
    await scene.chat.undo();
    expect(scene.read("a.txt")).toBe("4\n");
    await scene.chat.rewindTo("u4");
    await scene.chat.undo();
    expect(scene.files()).not.toEqual(states);
  });
});

describe("another branch", () => {
  it("[R7] on a branch that is not active a rewind is of the conversation only, and says so", async () => {
    const scene = await twoTurns();
    await scene.chat.createBranch("side", { switch: true });
    await scene.turn("u3", { "c.txt": "c\n" });
    const before = scene.traces();
    const result = await scene.chat.rewindTo("u2", { branch: "main" });
    expect(result).toMatchObject({ branch: "main", newHeadId: "a1", files: [], nodesRewound: [], turnsReverted: 1 });
    expect(result.errors).toEqual([{ code: "files_not_moved", message: expect.stringContaining("main") }]);
    expect(scene.traces()).toEqual(before);
    expect([await scene.path("main"), await scene.path()]).toEqual(["u1 a1", "u1 a1 u2 a2 u3 a3"]);
    await scene.chat.switchBranch("main");
    expect(Object.keys(scene.files())).toEqual(["a.txt"]);
    expect(scene.read("a.txt")).toBe("1\n");
  });

  it("[R7] C32 an expected head is that of the branch which is rewound", async () => {
    const scene = await twoTurns();
    await scene.chat.createBranch("side", { at: "a1" });
    const { newHeadId } = await scene.chat.rewindTo("u1", { branch: "side", expectedHead: "a1" });
    expect(newHeadId).toBeNull();
    expect(await scene.rewound()).toBe("");
  });
});

describe("without files", () => {
  it("[R7] every mode works on a conversation that has no workspace", async () => {
    for (const mode of ["both", "conversation", "files"] as const) {
      const scene = await Scene.open({}, { workspace: false });
      await play(scene.chat, "u1 a1 u2 a2");
      const { newHeadId, files } = await scene.chat.rewindTo("u2", { mode });
      expect(files).toEqual([]);
      expect((await scene.chat.record()).headId).toBe(newHeadId);
      await scene.chat.undo();
      expect(await scene.path()).toBe("u1 a1 u2 a2");
    }
  });
});
