/**
 * Conversations that come whole: forks, which share the workspace and nothing else, and imports, which can be repeated.
 */
import { describe, expect, it } from "vitest";
import type { ImportedNode } from "../../src/store/surface.js";
import { chat, play } from "../builders/chat.js";
import { code, refusal } from "../builders/codes.js";
import { dump } from "../builders/database.js";
import { answerOf, Scene } from "../builders/scene.js";

describe("fork", () => {
  it("[N5] C26 parents, links, side chains, runs and files are those of the copy; neither side changes the other afterwards", async () => {
    const scene = await Scene.open({ "a.txt": "0\n" });
    await scene.turn("u1", { "a.txt": "1\n" });
    const turn = await scene.chat.beginTurn("two", { id: "u2" });
    await turn.append({
      role: "assistant",
      id: "c2",
      content: [{ type: "tool-call", toolCallId: "t", toolName: "x", input: null }],
    });
    await turn.append({ role: "user", id: "sub", content: "task", callerId: "c2" });
    scene.write({ "a.txt": "2\n", "b.txt": "b\n" });
    await turn.append({
      role: "tool",
      id: "r2",
      content: [{ type: "tool-result", toolCallId: "t", toolName: "x", output: 1 }],
    });
    await turn.end();
    const original = {
      graph: await scene.chat.graph(),
      runs: await scene.chat.runs(),
      record: await scene.chat.record(),
    };
    const fork = await scene.chat.fork();
    expect((await fork.record()).workspace).toBe(scene.root);
    expect(fork.id).not.toBe("chat");
    const copy = await fork.graph();
    const byName = <T extends { id?: string; from?: string }>(list: T[]) =>
      [...list].sort((a, b) => ((a.id ?? a.from ?? "") < (b.id ?? b.from ?? "") ? -1 : 1));
    expect(byName(copy.nodes)).toEqual(byName(original.graph.nodes));
    expect(byName(copy.edges)).toEqual(byName(original.graph.edges));
    expect((await fork.history()).map((node) => node.message)).toEqual(
      (await scene.chat.history()).map((node) => node.message),
    );
    expect((await fork.rewindPoints()).map(({ nodeId, filesChanged }) => [nodeId, filesChanged])).toEqual([
      ["u2", 2],
      ["u1", 1],
    ]);
    expect(await fork.changes("u2")).toEqual(await scene.chat.changes("u2"));
    await fork.rewindTo("u2");
    expect(scene.files()).toEqual({ "a.txt": "file 644 1\n" });
    await play(fork, "u9 a9");
    expect(await scene.chat.graph()).toEqual(original.graph);
    expect(await scene.chat.runs()).toEqual(original.runs);
    expect(await scene.chat.record()).toEqual(original.record);
    expect(await scene.chat.node("u9")).toBeUndefined();
  });

  it("[N5] C26 after a fork either side can be rewound by itself, and its files come back by themselves", async () => {
    const scene = await Scene.open({ "a.txt": "0\n" });
    await scene.turn("u1", { "a.txt": "1\n" });
    const fork = await scene.chat.fork();
    await scene.turn("u2", { "mine.txt": "m\n" });
    await scene.turn("v2", { "theirs.txt": "t\n" }, {}, fork);
    await fork.rewindTo("v2");
    expect(Object.keys(scene.files())).toEqual(["a.txt", "mine.txt"]);
    await fork.undo();
    await scene.chat.rewindTo("u2");
    expect(Object.keys(scene.files())).toEqual(["a.txt", "theirs.txt"]);
    expect((await fork.history()).map((node) => node.id)).toEqual(["u1", "a1", "v2", "b2"]);
  });

  it("[N5] a fork at an older node ends there; one of an empty conversation is empty; a rewound node can be forked from", async () => {
    const scene = await chat("s1 u1 a1 u2 a2");
    const older = await scene.chat.fork({ at: "a1" });
    expect((await older.history()).map((node) => node.id)).toEqual(["s1", "u1", "a1"]);
    await play(older, "u3 a3");
    await scene.chat.rewindTo("u2");
    const left = await scene.chat.fork({ at: "a2" });
    expect((await left.history()).map((node) => `${node.id}${node.rewound ? " rewound" : ""}`)).toEqual([
      "s1",
      "u1",
      "a1",
      "u2",
      "a2",
    ]);
    const empty = await (await scene.store.createConversation({ id: "empty" })).fork();
    expect(await empty.history()).toEqual([]);
    await play(empty, "u1 a1");
    expect(await code(scene.chat.fork({ at: "nobody" }))).toBe("not_found");
    const forked = (await left.operations()).at(-1);
    expect(forked).toMatchObject({ kind: "create", summary: { forkedFrom: "chat", at: "a2" } });
  });
});

const node = (id: string, parentId: string | null, more: Partial<ImportedNode> = {}): ImportedNode => ({
  id,
  parentId,
  createdAt: "2026-01-01T00:00:00.000Z",
  message: { role: id.startsWith("u") ? "user" : "assistant", content: `imported ${id}` },
  ...more,
});

/** A DAG with a fork at a1 and a side chain under it. */
const dag = [
  node("u1", null),
  node("a1", "u1"),
  node("u2", "a1"),
  node("a2", "u2"),
  node("u3", "a1"),
  node("a3", "u3"),
  node("x1", null, { callerId: "a1" }),
  node("x2", "x1"),
];

/** Edges of a conversation, whatever order it was made in. */
async function shape(scene: Scene, id: string): Promise<string[]> {
  const conversation = await scene.store.conversation(id);
  const { nodes } = await conversation.graph();
  return nodes.map((n) => `${n.id}<${n.parentId}^${n.callerId}${n.rewound ? " rewound" : ""}`).sort();
}

describe("import", () => {
  it("[I1] C64 any order that puts parents first gives the same DAG; what the source's head does not reach is rewound", async () => {
    const scene = await Scene.open({}, { workspace: false });
    const orders = [
      [0, 1, 2, 3, 4, 5, 6, 7],
      [0, 1, 4, 5, 2, 3, 6, 7],
      [0, 1, 6, 4, 2, 7, 5, 3],
    ];
    const shapes: string[][] = [];
    for (const [i, order] of orders.entries()) {
      const nodes = order.map((at) => dag[at] as ImportedNode);
      expect((await scene.store.importConversation({ id: `c${i}`, nodes, headId: "a3" })).added).toBe(8);
      shapes.push(await shape(scene, `c${i}`));
    }
    expect(shapes[0]).toContain("u2<a1^null rewound");
    expect(shapes[0]).toContain("x2<x1^null");
    expect([shapes[1], shapes[2]]).toEqual([shapes[0], shapes[0]]);
  });

  it("[I1] C64 a child before its parent, a missing parent, a node twice and a broken time are refused; nothing is written", async () => {
    const scene = await Scene.open({}, { workspace: false });
    await scene.store.importConversation({ id: "c", nodes: dag, headId: "a3" });
    const database = dump(scene.file);
    const bad: [ImportedNode[], string][] = [
      [[node("a9", "u9"), node("u9", null)], "parentId"],
      [[node("a9", "nobody")], "parentId"],
      [[node("x9", null, { callerId: "nobody" })], "callerId"],
      [[node("u9", null), node("u9", null)], "nodes"],
      [[node("u9", null, { createdAt: "yesterday" })], "createdAt"],
    ];
    for (const [nodes, field] of bad) {
      const error = await refusal(scene.store.importConversation({ id: "c", nodes, headId: null }));
      expect(error).toMatchObject({ code: "bad_input", data: { field } });
    }
    expect(await code(scene.store.importConversation({ id: "c", nodes: dag, headId: "nobody" }))).toBe("bad_input");
    expect(dump(scene.file)).toEqual(database);
  });

  it("[I4] importing again adds only what is new, and follows the source's head while the conversation has not gone on by itself", async () => {
    const scene = await Scene.open({}, { workspace: false });
    const input = { id: "c", title: "Imported", nodes: dag, headId: "a3" };
    const { conversation } = await scene.store.importConversation(input);
    const database = dump(scene.file);
    expect((await scene.store.importConversation(input)).added).toBe(0);
    expect(dump(scene.file)).toEqual(database);
    const grown = [...dag, node("u4", "a3"), node("a4", "u4")];
    expect((await scene.store.importConversation({ ...input, nodes: grown, headId: "a4" })).added).toBe(2);
    expect((await conversation.record()).headId).toBe("a4");
    await play(conversation, "u5 a5");
    const further = [...grown, node("u6", "a4")];
    expect((await scene.store.importConversation({ ...input, nodes: further, headId: "u6" })).added).toBe(1);
    expect((await conversation.record()).headId).toBe("a5");
    expect((await conversation.node("u6"))?.rewound).toBe(true);
  });

  it("[I4] C27 importing the source again does not bring back what was rewound here", async () => {
    const scene = await Scene.open({}, { workspace: false });
    const input = { id: "c", nodes: dag, headId: "a3" };
    const { conversation } = await scene.store.importConversation(input);
    await conversation.rewindTo("u3");
    expect((await scene.store.importConversation(input)).added).toBe(0);
    expect((await conversation.record()).headId).toBe("a1");
    const grown = [...dag, node("u4", "a3"), node("a4", "u4")];
    expect((await scene.store.importConversation({ ...input, nodes: grown, headId: "a4" })).added).toBe(2);
    expect((await conversation.record()).headId).toBe("a1");
    expect((await conversation.node("a4"))?.rewound).toBe(true);
    expect(JSON.stringify(await conversation.context())).not.toMatch(/u3|a3|u4|a4/);
    expect((await conversation.resume("u3")).newHeadId).toBe("a4");
  });

  it("[I1] what was imported can be rewound, resumed and gone on with like any other", async () => {
    const scene = await Scene.open({}, { workspace: false });
    const { conversation } = await scene.store.importConversation({ id: "c", nodes: dag, headId: "a3" });
    expect((await conversation.rewindPoints()).map(({ nodeId, text }) => [nodeId, text])).toEqual([
      ["u3", "imported u3"],
      ["u1", "imported u1"],
    ]);
    const { userText, nodesRewound } = await conversation.rewindTo("u1");
    expect([userText, nodesRewound]).toEqual(["imported u1", ["u1", "a1", "u3", "a3", "x1", "x2"]]);
    expect((await conversation.resume("u2")).newHeadId).toBe("a2");
    await play(conversation, "u7 a7");
    expect((await conversation.history()).map((n) => n.id)).toEqual(["u1", "a1", "u2", "a2", "u7", answerOf("u7")]);
  });
});
