/**
 * A turn: the person's message and the reservation in one commit, nodes below the head, open nodes, the end.
 */
import { describe, expect, it } from "vitest";
import type { Part } from "../../src/core/model.js";
import { chat } from "../builders/chat.js";
import { code, refusal } from "../builders/codes.js";
import { Scene } from "../builders/scene.js";

describe("beginning", () => {
  it("[T4] the user's node is stored, the conversation reserved and the version raised by one commit", async () => {
    const { chat: conversation } = await chat("u1 a1");
    const before = await conversation.record();
    const turn = await conversation.beginTurn("hello", { id: "u2" });
    const after = await conversation.record();
    expect(after).toMatchObject({ headId: "u2" });
    expect(after.version).toBeGreaterThan(before.version);
    expect(await conversation.node("u2")).toMatchObject({
      id: "u2",
      parentId: "a1",
      depth: 2,
      runId: turn.runId,
      rewound: false,
      message: { role: "user", content: "hello" },
    });
    expect((await conversation.runs()).map((run) => run.status)).toEqual(["completed", "running"]);
    expect((await conversation.operations()).map((operation) => operation.kind).slice(0, 2)).toEqual(["turn", "end"]);
    await turn.end();
  });

  it("[T4] only a person's message at the head begins a turn", async () => {
    const { chat: conversation } = await chat("u1 a1");
    const messages = [
      { role: "assistant", content: "I begin" },
      { role: "user", content: "hidden", synthetic: true },
      { role: "user", content: "elsewhere", parentId: "u1" },
      { role: "user", content: "inside", callerId: "a1" },
    ] as const;
    for (const message of messages) expect(await code(conversation.beginTurn(message))).toBe("bad_input");
    expect((await conversation.record()).headId).toBe("a1");
  });

  it("[T4] C32 a head that is not the expected one refuses the turn; the expected one lets it begin", async () => {
    const { chat: conversation } = await chat("u1 a1");
    const error = await refusal(conversation.beginTurn("x", { expectedHead: "u1" }));
    expect(error).toMatchObject({ code: "head_moved", data: { expected: "u1", actual: "a1" } });
    expect(await code(conversation.beginTurn("x", { expectedHead: null }))).toBe("head_moved");
    const turn = await conversation.beginTurn("x", { expectedHead: "a1" });
    await turn.end();
    expect(await conversation.history()).toHaveLength(3);
  });

  it("[N1] an id is taken once; one that is free is the caller's to choose", async () => {
    const { chat: conversation } = await chat("u1 a1");
    expect(await refusal(conversation.beginTurn("again", { id: "u1" }))).toMatchObject({
      code: "id_exists",
      data: { id: "u1" },
    });
    expect((await conversation.runs()).every((run) => run.status === "completed")).toBe(true);
    const turn = await conversation.beginTurn({ role: "user", content: "x", id: "mine" }, { id: "mine.2" });
    expect(turn.userNodeId).toBe("mine.2");
    expect(await code(turn.append({ role: "assistant", id: "a1", content: "taken" }))).toBe("id_exists");
    await turn.end();
  });
});

describe("appending", () => {
  it("[T4] several messages become a chain, in one commit and in their order", async () => {
    const { chat: conversation } = await chat("u1");
    const turn = await conversation.beginTurn("go", { id: "u2" });
    const { version } = await conversation.record();
    const nodes = await turn.append([
      { role: "assistant", id: "x", content: "one" },
      { role: "tool", id: "y", content: [{ type: "tool-result", toolCallId: "t", toolName: "n", output: 1 }] },
      { role: "assistant", id: "z", content: "three" },
    ]);
    expect(nodes.map(({ id, parentId }) => `${id}<${parentId}`)).toEqual(["x<u2", "y<x", "z<y"]);
    const operations = await conversation.operations();
    expect(operations.filter((operation) => Number(operation.id) > version)).toHaveLength(1);
    expect(await turn.append([])).toEqual([]);
    await turn.end();
  });

  it("[T4] every kind of part comes back as it went in; bytes become a blob's id", async () => {
    const scene = await chat("u1");
    const turn = await scene.chat.beginTurn("go");
    const parts: Part[] = [
      { type: "text", text: "line\r\n\u0000\u2028 ünï 🙂" },
      { type: "reasoning", text: "why", providerData: { signature: "abc", nested: [1, null, true] } },
      { type: "tool-call", toolCallId: "c", toolName: "t", input: { a: [1, 2, { b: "c" }] } },
      { type: "tool-result", toolCallId: "c", toolName: "t", output: { ok: false }, isError: true },
      { type: "file", mediaType: "image/png", filename: "a.png", data: "https://example.org/a.png" },
      { type: "data", name: "plan", data: { steps: ["x"] } },
    ];
    const usage = { inputTokens: 3, outputTokens: 4, cacheReadTokens: 7 };
    const message = { role: "assistant", content: parts, externalId: "ext-1", usage, metadata: { k: 1 } } as const;
    const [node] = await turn.append({ ...message, id: "n" });
    const file = { type: "file", mediaType: "text/plain", data: new TextEncoder().encode("abc") } as const;
    const [withBytes] = await turn.append({ role: "assistant", content: [file] });
    await turn.end();
    await scene.reopen();
    expect(node?.message).toEqual(message);
    expect((await scene.chat.node("n"))?.message).toEqual(message);
    const hash = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    expect(withBytes?.message.content).toEqual([{ ...file, data: hash }]);
  });

  it("[T4] a message below an older node is refused; below the head and into a side chain it goes", async () => {
    const { chat: conversation } = await chat("u1 c1 r1 a1");
    expect(await code(conversation.append({ role: "system", content: "x", parentId: "u1" }))).toBe("not_on_branch");
    await conversation.append({ role: "system", id: "s1", content: "x", parentId: "a1" });
    await conversation.append({ role: "user", id: "sub", content: "task", callerId: "c1" });
    await conversation.append({ role: "assistant", id: "sub2", content: "done", parentId: "sub" });
    expect((await conversation.history()).map((node) => node.id)).toEqual(["u1", "c1", "r1", "a1", "s1"]);
    expect(await conversation.node("sub2")).toMatchObject({ parentId: "sub", callerId: "c1", depth: 1 });
    const both = [
      { role: "system", content: "x" },
      { role: "system", content: "y", parentId: "s1" },
    ] as const;
    expect(await code(conversation.append([...both]))).toBe("bad_input");
  });
});

describe("open nodes", () => {
  it("[T6] text arrives piece by piece; the node joins the conversation when it is sealed", async () => {
    const { chat: conversation } = await chat("u1 a1");
    const turn = await conversation.beginTurn("go", { id: "u2" });
    const node = await turn.open({ role: "assistant", id: "a2", content: "Well" });
    node.write(", one");
    node.write(" and two");
    expect(await conversation.node("a2")).toBeUndefined();
    expect(await node.seal()).toMatchObject({ id: "a2", parentId: "u2", message: { content: "Well, one and two" } });
    expect(() => node.write("late")).toThrow(TypeError);
    expect((await node.seal()).id).toBe("a2");
    await turn.end();
    expect((await conversation.record()).headId).toBe("a2");
  });

  it("[T6] a node that is still open is sealed by the turn's end, after its parts as a text part", async () => {
    const { chat: conversation } = await chat("u1");
    const turn = await conversation.beginTurn("go");
    const call = { type: "tool-call", toolCallId: "t1", toolName: "x", input: null } as const;
    const node = await turn.open({ role: "assistant", content: [call] });
    node.write("done");
    await turn.append({ role: "tool", content: [{ type: "tool-result", toolCallId: "t0", toolName: "x", output: 0 }] });
    await turn.end();
    expect((await conversation.node(node.id))?.message.content).toEqual([call, { type: "text", text: "done" }]);
    expect((await conversation.record()).headId).toBe(node.id);
  });
});

describe("ending", () => {
  it("[T4] the end reports what changed and what was not captured, and keeps the figures with the run", async () => {
    const scene = await Scene.open({ "a.txt": "1\n2\n" }, { workspace: { watch: false, maxFileBytes: 10 } });
    const turn = await scene.chat.beginTurn("go", { id: "u1" });
    scene.write({ "a.txt": "1\n3\n", "big.bin": "x".repeat(11) });
    const usage = { inputTokens: 10, outputTokens: 20 };
    const report = await turn.end({ usage });
    expect(report.changes).toMatchObject([{ path: "a.txt", kind: "modified", added: 1, removed: 1, binary: false }]);
    expect(report.changes).toHaveLength(1);
    expect(report.notCaptured).toEqual([{ path: "big.bin", reason: "too_large" }]);
    expect(report.dropped).toEqual([]);
    expect(await scene.chat.runs()).toMatchObject([{ userNodeId: "u1", status: "completed", usage, error: null }]);
    const points = await scene.chat.rewindPoints();
    expect(points).toMatchObject([{ nodeId: "u1", filesChanged: 1, added: 1, removed: 1, notCaptured: 1 }]);
  });

  it("[T1] a turn that is over writes nothing more", async () => {
    const scene = await Scene.open({ "a.txt": "1" });
    const turn = await scene.chat.beginTurn("go");
    await turn.end();
    const node = await turn.open({ role: "assistant", content: "x" });
    const late = { role: "assistant", content: "late" } as const;
    const calls = [
      () => turn.append(late),
      () => node.seal(),
      () => turn.willChange("a.txt"),
      () => turn.during("c", async () => undefined),
      () => turn.checkpoint(),
      () => turn.end(),
    ];
    for (const call of calls) expect(await code(call)).toBe("run_lost");
    expect(await scene.chat.history()).toHaveLength(1);
  });

  it("[T4] closing the store ends a live turn as cancelled, with what it changed", async () => {
    const scene = await Scene.open({ "a.txt": "1" });
    await scene.chat.beginTurn("go", { id: "u1" });
    scene.write({ "a.txt": "2" });
    await scene.reopen();
    expect(await scene.chat.runs()).toMatchObject([{ status: "cancelled", error: "the store was closed" }]);
    await scene.chat.rewindTo("u1");
    expect(scene.read("a.txt")).toBe("1");
  });
});
