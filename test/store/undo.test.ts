/**
 * Undo and redo: moves like any other, planned afresh, which answer the newest move that is not undone yet.
 */
import { describe, expect, it } from "vitest";
import { chat, play } from "../builders/chat.js";
import { code, refusal } from "../builders/codes.js";
import { Scene } from "../builders/scene.js";

/** All that a person can see of a conversation and its files. */
async function view(scene: Scene) {
  return { path: await scene.path(), rewound: await scene.rewound(), files: scene.files() };
}

async function threeTurns(): Promise<Scene> {
  const scene = await Scene.open({ "a.txt": "0\n" });
  for (const n of [1, 2, 3]) await scene.turn(`u${n}`, { "a.txt": `${n}\n`, [`n${n}.txt`]: `${n}\n` });
  return scene;
}

describe("there and back", () => {
  it("[R10] F128 a rewind is itself recorded and can be undone; the undo is an operation of its own", async () => {
    const scene = await threeTurns();
    const before = await view(scene);
    const rewound = await scene.chat.rewindTo("u2");
    const undone = await scene.chat.undo();
    expect(await view(scene)).toEqual(before);
    expect(undone).toMatchObject({ newHeadId: "a3", branch: "main", restoredPaths: ["a.txt", "n2.txt", "n3.txt"] });
    const kinds = (await scene.chat.operations({ limit: 2 })).map(({ id, kind }) => `${kind} ${id}`);
    expect(kinds).toEqual([`undo ${undone.operationId}`, `rewind ${rewound.operationId}`]);
  });

  it("[R10] F124 redo after a rewind returns the latest state, with different files and with the same file", async () => {
    const scene = await threeTurns();
    await scene.chat.rewindTo("u3");
    await scene.chat.rewindTo("u2");
    const rewound = await view(scene);
    await scene.chat.undo();
    await scene.chat.undo();
    expect(scene.read("a.txt")).toBe("3\n");
    await scene.chat.redo();
    expect([scene.read("a.txt"), Object.keys(scene.files())]).toEqual(["2\n", ["a.txt", "n1.txt", "n2.txt"]]);
    await scene.chat.redo();
    expect(await view(scene)).toEqual(rewound);
    expect(await refusal(scene.chat.redo())).toMatchObject({ code: "nothing_to_undo", data: { direction: "redo" } });
  });

  it("[R10] C21 undo, redo, undo, redo return the same heads, marks and files each time, after a restart too", async () => {
    const scene = await threeTurns();
    const before = await view(scene);
    await scene.chat.rewindTo("u1");
    const after = await view(scene);
    for (let i = 0; i < 3; i += 1) {
      await scene.chat.undo();
      expect(await view(scene)).toEqual(before);
      if (i === 1) await scene.reopen();
      await scene.chat.redo();
      expect(await view(scene)).toEqual(after);
    }
  });

  it("[R10] F127 C21 undoing and redoing n steps of every kind is the identity", async () => {
    const scene = await Scene.open();
    for (const n of [1, 2, 3]) await scene.turn(`u${n}`, { [`n${n}.txt`]: `${n}\n` });
    await scene.chat.createBranch("side", { at: "a1" });
    const moves = [
      () => scene.chat.rewindTo("u3"),
      () => scene.chat.switchBranch("side"),
      () => scene.chat.resume("u3", { name: "third" }),
      () => scene.chat.rewindTo("u2", { mode: "conversation" }),
      () => scene.chat.switchBranch("main"),
      () => scene.chat.rewindTo("u2", { mode: "files" }),
      () => scene.chat.rewindTurns(1),
    ];
    const seen = [await view(scene)];
    for (const move of moves) {
      await move();
      seen.push(await view(scene));
    }
    // An undone branch goes again, so what differs on the way back is only which nodes no head reaches.
    const back: (typeof seen)[number][] = [];
    for (let i = moves.length - 1; i >= 0; i -= 1) {
      await scene.chat.undo();
      back.unshift(await view(scene));
      expect(back[0]).toMatchObject({ path: seen[i]?.path, files: seen[i]?.files });
    }
    expect(await code(scene.chat.undo())).toBe("nothing_to_undo");
    for (let i = 1; i <= moves.length; i += 1) {
      await scene.chat.redo();
      const now = await view(scene);
      expect(now).toMatchObject({ path: seen[i]?.path, files: seen[i]?.files });
      if (i < moves.length) expect(now).toEqual(back[i]);
    }
    expect(await view(scene)).toEqual(seen.at(-1));
  });
});

describe("what happened since", () => {
  it("[O6] F125 redo does not overwrite an unrelated later edit, nor does undo", async () => {
    const scene = await threeTurns();
    await scene.chat.rewindTo("u2");
    scene.write({ "mine.txt": "mine\n", "n1.txt": "edited\n" });
    await scene.chat.undo();
    expect([scene.read("mine.txt"), scene.read("n1.txt"), scene.read("a.txt")]).toEqual(["mine\n", "edited\n", "3\n"]);
    scene.write({ "mine.txt": "mine again\n" });
    await scene.chat.redo();
    expect([scene.read("mine.txt"), scene.read("n1.txt"), scene.read("a.txt")]).toEqual([
      "mine again\n",
      "edited\n",
      "1\n",
    ]);
  });

  it("[O6] an edit in the same file, elsewhere in it, is merged on the way back", async () => {
    const lines = (first: string, last: string) => `${first}\n2\n3\n4\n5\n${last}\n`;
    const scene = await Scene.open({ "a.txt": lines("1", "6") });
    await scene.turn("u1", { "a.txt": lines("ONE", "6") });
    await scene.chat.rewindTo("u1");
    scene.write({ "a.txt": lines("1", "mine") });
    expect((await scene.chat.undo()).files).toEqual([{ path: "a.txt", outcome: "merged" }]);
    expect(scene.read("a.txt")).toBe(lines("ONE", "mine"));
    await scene.chat.redo();
    expect(scene.read("a.txt")).toBe(lines("1", "mine"));
  });

  it("[R13] bytes of a person's that a rewind overwrote come back with undo", async () => {
    const scene = await Scene.open({ "a.txt": "0\n" });
    await scene.turn("u1", { "a.txt": "1\n" });
    scene.write({ "a.txt": "mine, over the agent's line\n" });
    await scene.chat.rewindTo("u1", { onConflict: "overwrite" });
    expect(scene.read("a.txt")).toBe("0\n");
    await scene.chat.undo();
    expect(scene.read("a.txt")).toBe("mine, over the agent's line\n");
  });

  it("[R10] F126 after a rewind a new prompt drops the redo, and nothing of it reappears unless it is asked for", async () => {
    const scene = await threeTurns();
    await scene.chat.rewindTo("u2");
    await scene.chat.undo();
    await scene.turn("u4", { "n4.txt": "4\n" });
    expect(await code(scene.chat.redo())).toBe("nothing_to_undo");
    await scene.chat.rewindTo("u2");
    await scene.turn("u5", { "n5.txt": "5\n" });
    expect(Object.keys(scene.files())).toEqual(["a.txt", "n1.txt", "n5.txt"]);
    await scene.reopen();
    expect(await scene.path()).toBe("u1 a1 u5 a5");
    expect(Object.keys(scene.files())).toEqual(["a.txt", "n1.txt", "n5.txt"]);
    await scene.chat.resume("u3");
    expect(await scene.path()).toBe("u1 a1 u2 a2 u3 a3 u4 a4");
    expect(Object.keys(scene.files())).toEqual(["a.txt", "n1.txt", "n2.txt", "n3.txt", "n4.txt"]);
  });

  it("[R10] C22 undo brings back what was left although turns were made since; they become siblings, rewound, and can be resumed", async () => {
    const scene = await threeTurns();
    const before = scene.files();
    await scene.chat.rewindTo("u2");
    await scene.turn("u4", { "a.txt": "4\n", "n4.txt": "4\n" });
    await scene.turn("u5", { "n5.txt": "5\n" });
    const after = scene.files();
    await scene.chat.undo();
    expect(await view(scene)).toEqual({ path: "u1 a1 u2 a2 u3 a3", rewound: "u4 a4 u5 a5", files: before });
    await scene.chat.redo();
    expect(await view(scene)).toEqual({ path: "u1 a1 u4 a4 u5 a5", rewound: "u2 a2 u3 a3", files: after });
    await scene.chat.undo();
    await scene.chat.resume("u4");
    expect(await view(scene)).toEqual({ path: "u1 a1 u4 a4 u5 a5", rewound: "", files: after });
  });

  it("[O6] what a move left alone, its undo leaves alone: a file kept in a conflict, a file that was right already", async () => {
    const scene = await Scene.open({ "a.txt": "0\n" });
    await scene.turn("u1", { "a.txt": "1\n", "b.txt": "b\n" });
    scene.write({ "a.txt": "mine\n" });
    await scene.chat.rewindTo("u1", { onConflict: "keep" });
    const { files } = await scene.chat.undo();
    expect(files).toEqual([
      { path: "a.txt", outcome: "unchanged" },
      { path: "b.txt", outcome: "created" },
    ]);
    expect(scene.read("a.txt")).toBe("mine\n");
    scene.write({ "a.txt": "mine, later\n" });
    expect(await code(scene.chat.redo())).toBe("file_conflict");
    expect((await scene.chat.redo({ onConflict: "keep" })).restoredPaths).toEqual(["b.txt"]);
    expect(scene.read("a.txt")).toBe("mine, later\n");
  });

  it("[O6] a person's edit that a move was the first to see is not taken back by its undo", async () => {
    for (const mode of ["both", "files"] as const) {
      const scene = await Scene.open({ "a.txt": "0\n" });
      await scene.turn("u1");
      scene.write({ "a.txt": "mine\n", "new.txt": "mine\n" });
      await scene.chat.rewindTo("u1", { mode });
      expect((await scene.chat.undo()).restoredPaths).toEqual([]);
      expect([scene.read("a.txt"), scene.read("new.txt")]).toEqual(["mine\n", "mine\n"]);
      expect((await scene.chat.redo()).restoredPaths).toEqual([]);
      expect([scene.read("a.txt"), scene.read("new.txt")]).toEqual(["mine\n", "mine\n"]);
    }
  });

  it("[R10] turns and appends are not undone; with nothing else there is nothing to undo", async () => {
    const scene = await chat("s1 u1 a1");
    await scene.chat.createBranch("side");
    await scene.chat.renameBranch("side", "other");
    expect(await refusal(scene.chat.undo())).toMatchObject({ code: "nothing_to_undo", data: { direction: "undo" } });
    expect(await code(scene.chat.redo())).toBe("nothing_to_undo");
  });

  it("[R10] a branch that was renamed or deleted since is found again by what the move recorded", async () => {
    const scene = await chat("u1 a1 u2 a2");
    await scene.chat.resume("a2", { name: "side" });
    await scene.chat.deleteBranch("main");
    const { branch, newHeadId } = await scene.chat.undo();
    expect([branch, newHeadId, await scene.path()]).toEqual(["main", "a2", "u1 a1 u2 a2"]);
    await scene.chat.rewindTo("u2");
    await scene.chat.renameBranch("main", "trunk");
    expect(await scene.chat.undo()).toMatchObject({ newHeadId: "a2" });
    expect([await scene.path(), await scene.rewound()]).toEqual(["u1 a1 u2 a2", ""]);
  });
});

describe("heads and marks", () => {
  it("[L4] C6 a head never rests on a rewound node, in whatever order", async () => {
    const scene = await chat("u1 a1 u2 a2 u3 a3");
    const steps = [
      () => scene.chat.rewindTo("u2"),
      () => play(scene.chat, "u4 a4"),
      () => scene.chat.undo(),
      () => scene.chat.createBranch("side", { at: "a4" }),
      () => scene.chat.redo(),
      () => scene.chat.switchBranch("side"),
      () => scene.chat.rewindTo("u1"),
      () => scene.chat.deleteBranch("main"),
      () => scene.chat.undo(),
      () => scene.chat.resume("u3"),
      () => scene.chat.undo(),
    ];
    for (const step of steps) {
      await step();
      const { nodes, branches, edges } = await scene.chat.graph();
      const rewound = new Map(nodes.map((node) => [node.id, node.rewound]));
      const parents = new Map(edges.map(({ from, to }) => [from, to]));
      const reached = new Set<string>();
      for (const { headId } of branches) for (let id = headId; id; id = parents.get(id) ?? null) reached.add(id);
      for (const [id, mark] of rewound) expect(`${id} ${mark}`).toBe(`${id} ${!reached.has(id)}`);
    }
  });
});
