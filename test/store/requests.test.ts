/**
 * Request ids: a call that is made again, because its answer got lost, returns the first answer and writes nothing.
 */
import { describe, expect, it } from "vitest";
import type { Conversation } from "../../src/store/surface.js";
import { chat } from "../builders/chat.js";
import { code, refusal } from "../builders/codes.js";
import { dump } from "../builders/database.js";
import { Scene } from "../builders/scene.js";

async function stage(): Promise<Scene> {
  const scene = await Scene.open({ "a.txt": "0\n" });
  for (const n of [1, 2, 3]) await scene.turn(`u${n}`, { "a.txt": `${n}\n` });
  await scene.chat.createBranch("side", { at: "a1" });
  return scene;
}

const requestId = "request-1";
const moves: [
  string,
  (conversation: Conversation) => Promise<unknown>,
  (conversation: Conversation) => Promise<unknown>,
][] = [
  ["rewindTo", (c) => c.rewindTo("u2", { requestId }), (c) => c.rewindTo("u1", { requestId })],
  ["rewindTurns", (c) => c.rewindTurns(1, { requestId }), (c) => c.rewindTurns(2, { requestId })],
  ["rewindToLength", (c) => c.rewindToLength(3, { requestId }), (c) => c.rewindToLength(1, { requestId })],
  ["switchBranch", (c) => c.switchBranch("side", { requestId }), (c) => c.switchBranch("main", { requestId })],
  ["resume", (c) => c.resume("u1", { requestId, name: "x" }), (c) => c.resume("u1", { requestId, name: "y" })],
  [
    "undo",
    async (c) => {
      if ((await c.result(requestId)) === undefined) await c.rewindTo("u3");
      return c.undo({ requestId });
    },
    (c) => c.redo({ requestId }),
  ],
];

describe("moves", () => {
  for (const [verb, call, other] of moves) {
    it(`[O3] C37 ${verb}: the same id twice returns the first result and writes nothing; other content is refused; the result can be looked up`, async () => {
      const scene = await stage();
      const first = await call(scene.chat);
      const [database, files] = [dump(scene.file), scene.traces()];
      expect(await call(scene.chat)).toEqual(first);
      await scene.reopen();
      expect(await call(scene.chat)).toEqual(first);
      expect(await scene.chat.result(requestId)).toEqual(first);
      expect(await refusal(other(scene.chat))).toMatchObject({ code: "request_reused", data: { requestId } });
      expect(await code(scene.chat.beginTurn("x", { requestId }))).toBe("request_reused");
      expect([dump(scene.file), scene.traces()]).toEqual([database, files]);
    });
  }

  it("[O3] C37 a refused call keeps no result: the id can be used again when the reason is gone", async () => {
    const scene = await stage();
    scene.write({ "a.txt": "mine\n" });
    expect(await code(scene.chat.rewindTo("u3", { requestId }))).toBe("file_conflict");
    expect(await scene.chat.result(requestId)).toBeUndefined();
    scene.write({ "a.txt": "3\n" });
    expect(await scene.chat.rewindTo("u3", { requestId })).toMatchObject({ newHeadId: "a2" });
  });

  it("[O3] C37 the first result comes back although the conversation went on since", async () => {
    const scene = await stage();
    const first = await scene.chat.rewindTo("u3", { requestId });
    await scene.turn("u4", { "a.txt": "4\n" });
    await scene.chat.rewindTo("u2");
    expect(await scene.chat.rewindTo("u3", { requestId })).toEqual(first);
    expect(scene.read("a.txt")).toBe("1\n");
  });
});

describe("writes", () => {
  it("[O3] C37 append: the same nodes come back; the same id for other messages is refused", async () => {
    const scene = await chat("u1 a1");
    const messages = [{ role: "system", content: "note" } as const, { role: "system", content: "two" } as const];
    const first = await scene.chat.append(messages, { requestId });
    const database = dump(scene.file);
    expect(await scene.chat.append(messages, { requestId })).toEqual(first);
    expect(await code(scene.chat.append(messages.slice(1), { requestId }))).toBe("request_reused");
    expect(dump(scene.file)).toEqual(database);
    expect(await scene.chat.result(requestId)).toEqual(first.map((node) => node.id));
  });

  it("[O3] C37 append in a turn, bytes included", async () => {
    const scene = await chat("u1 a1");
    const turn = await scene.chat.beginTurn("x");
    const part = (byte: number) => ({ type: "file", mediaType: "x/y", data: Uint8Array.of(byte) }) as const;
    const first = await turn.append({ role: "assistant", content: [part(1)] }, { requestId });
    expect(await turn.append({ role: "assistant", content: [part(1)] }, { requestId })).toEqual(first);
    expect(await code(turn.append({ role: "assistant", content: [part(2)] }, { requestId }))).toBe("request_reused");
    await turn.end();
    expect(await scene.chat.history()).toHaveLength(4);
  });

  it("[O3] C37 beginTurn: the live turn itself comes back; after its end, one whose writes say that it is over", async () => {
    const scene = await stage();
    const turn = await scene.chat.beginTurn("go", { requestId });
    const again = await scene.chat.beginTurn("go", { requestId });
    expect([again.runId, again.userNodeId]).toEqual([turn.runId, turn.userNodeId]);
    await again.append({ role: "assistant", content: "x" });
    expect(await code(scene.chat.beginTurn("stop", { requestId }))).toBe("request_reused");
    await turn.end();
    const over = await scene.chat.beginTurn("go", { requestId });
    expect(over.runId).toBe(turn.runId);
    expect(await code(over.append({ role: "assistant", content: "late" }))).toBe("run_lost");
    expect((await scene.chat.runs()).length).toBe(4);
  });

  it("[O3] C37 the same request made by several callers at once begins one turn", async () => {
    const scene = await stage();
    const other = await (await scene.another()).conversation("chat");
    const calls = Array.from({ length: 8 }, (_, i) => (i % 2 ? scene.chat : other).beginTurn("go", { requestId }));
    const turns = await Promise.all(calls);
    expect(new Set(turns.map((turn) => turn.runId)).size).toBe(1);
    expect((await scene.chat.runs()).filter((run) => run.status === "running").length).toBe(1);
    await turns[0]?.end();
  });

  it("[O3] an id belongs to its conversation: another one may use it too", async () => {
    const scene = await stage();
    const other = await scene.store.createConversation();
    await scene.chat.append({ role: "system", content: "x" }, { requestId });
    await other.append({ role: "system", content: "y" }, { requestId });
    expect(await other.result("nobody")).toBeUndefined();
  });
});
