/**
 * What is read: the history of a path, what a model should see of it, the DAG as a whole.
 */
import { describe, expect, it } from "vitest";
import type { Message, Part } from "../../src/core/model.js";
import { chat, message, play } from "../builders/chat.js";
import { code } from "../builders/codes.js";
import { Scene } from "../builders/scene.js";

const texts = (messages: readonly Message[]) =>
  messages.map(({ content }) =>
    typeof content === "string"
      ? content
      : content
          .map((part) =>
            part.type === "text" ? part.text : `${part.type} ${"toolCallId" in part ? part.toolCallId : ""}`,
          )
          .join("+"),
  );

/** Requires that every call is answered before the next message, and that no result stands alone. */
function requirePaired(messages: readonly Message[]): void {
  let open = new Set<string>();
  for (const { content } of messages) {
    const parts: Part[] = typeof content === "string" ? [] : content;
    const results = parts.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId] : []));
    if (results.length === 0) expect([...open]).toEqual([]);
    for (const id of results) expect(open.delete(id)).toBe(true);
    open = new Set([...open, ...parts.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []))]);
  }
  expect([...open]).toEqual([]);
}

describe("history", () => {
  it("[N7] is the path from root to head; a limit keeps the newest, before ends just before a node", async () => {
    const { chat: conversation } = await chat("s1 u1 a1 u2 a2 u3 a3");
    const ids = async (...args: Parameters<typeof conversation.history>) =>
      (await conversation.history(...args)).map((node) => node.id).join(" ");
    expect(await ids()).toBe("s1 u1 a1 u2 a2 u3 a3");
    expect(await ids({ limit: 2 })).toBe("u3 a3");
    expect(await ids({ limit: 0 })).toBe("");
    expect(await ids({ limit: 100 })).toBe("s1 u1 a1 u2 a2 u3 a3");
    expect(await ids({ before: "u2" })).toBe("s1 u1 a1");
    expect(await ids({ before: "u3", limit: 2 })).toBe("u2 a2");
    expect(await ids({ before: "s1" })).toBe("");
    expect(await code(conversation.history({ before: "nobody" }))).toBe("not_found");
  });

  it("[N7] F126 what was rewound shows only where it is asked for", async () => {
    const scene = await chat("u1 a1 u2 a2");
    await scene.chat.rewindTo("u2");
    await play(scene.chat, "u3 a3");
    const ids = async (options = {}) => (await scene.chat.history(options)).map((node) => node.id).join(" ");
    expect(await ids()).toBe("u1 a1 u3 a3");
    expect(await ids({ includeRewound: true })).toBe("u1 a1 u2 a2 u3 a3");
    expect(await ids({ includeRewound: true, limit: 3 })).toBe("a2 u3 a3");
    expect(await code(scene.chat.history({ before: "u2" }))).toBe("not_on_branch");
  });

  it("[N7] nodes carry their place: parent, caller, depth, run, time", async () => {
    const scene = await chat("s1 u1 c1 r1");
    await scene.chat.append({ role: "user", id: "x1", content: "task", callerId: "c1" });
    const [s1, u1] = await scene.chat.history();
    expect(s1).toMatchObject({ parentId: null, callerId: null, depth: 0, runId: null, conversationId: "chat" });
    expect(u1).toMatchObject({ parentId: "s1", depth: 1, runId: expect.stringMatching(/^r\d+$/) });
    expect(await scene.chat.node("x1")).toMatchObject({ parentId: null, callerId: "c1", depth: 0 });
  });

  it("[N7] children and graph show forks in the order in which they were made, side chains by their caller", async () => {
    const scene = await chat("u1 c1 r1");
    await scene.chat.rewindTo("u1");
    await play(scene.chat, "u2 a2");
    await scene.chat.createBranch("side", { at: "u2", switch: true });
    await play(scene.chat, "u3");
    await scene.chat.append({ role: "user", id: "x1", content: "task", callerId: "c1" });
    expect((await scene.chat.children(null)).map((node) => node.id)).toEqual(["u1", "u2"]);
    expect((await scene.chat.children("u2")).map((node) => node.id)).toEqual(["a2", "u3"]);
    const { nodes, edges, branches } = await scene.chat.graph();
    expect(nodes.map(({ id, rewound }) => (rewound ? `(${id})` : id)).join(" ")).toBe("(u1) (c1) (r1) u2 a2 u3 (x1)");
    expect(edges.map(({ kind, from, to }) => `${from} ${kind} ${to}`)).toEqual([
      "c1 parent u1",
      "r1 parent c1",
      "a2 parent u2",
      "u3 parent u2",
      "x1 caller c1",
    ]);
    expect(branches.map(({ name, headId }) => `${name} ${headId}`)).toEqual(["main a2", "side u3"]);
  });
});

describe("context", () => {
  it("[N7] C13 synthetic nodes are sent but are no turns; side chains are not sent", async () => {
    const scene = await chat("s1 u1 c1 t1 y1 a1");
    await scene.chat.append({ role: "user", id: "x1", content: "for the sub-agent", callerId: "c1" });
    expect(texts(await scene.chat.context())).toEqual([
      "system s1",
      "text of u1",
      "tool-call call-1",
      "tool-result call-1",
      "reminder y1",
      "answer a1",
    ]);
    expect((await scene.chat.rewindPoints()).length).toBe(1);
  });

  it("[N7] C43 after an interruption in the middle of a call the next context is valid: an error result stands for the missing one", async () => {
    const scene = await chat("u1 a1");
    const turn = await scene.chat.beginTurn("go", { id: "u2" });
    await turn.append(message("c2"));
    requirePaired(await scene.chat.context());
    expect(texts(await scene.chat.context()).at(-1)).toBe("tool-result call-2");
    await turn.append(message("r2"));
    expect(texts(await scene.chat.context())).toEqual([
      "text of u1",
      "answer a1",
      "go",
      "tool-call call-2",
      "tool-result call-2",
    ]);
    await turn.append(message("c3"));
    await turn.end();
    await play(scene.chat, "u4 a4");
    const context = await scene.chat.context();
    requirePaired(context);
    expect(context.find((sent) => sent.synthetic && sent.role === "tool")?.content).toMatchObject([{ isError: true }]);
    expect((await scene.chat.history()).length).toBe(8);
  });

  it("[N7] C52 a branch that begins between a call and its result still pairs, on every path", async () => {
    const scene = await chat("u1 c1 r1 a1 u2 c2 r2 a2");
    for (const at of ["c1", "r1", "c2"]) {
      await scene.chat.createBranch(`at-${at}`, { at, switch: true });
      requirePaired(await scene.chat.context());
      await play(scene.chat, `u-${at}`);
      requirePaired(await scene.chat.context());
    }
    requirePaired(await scene.chat.context({ branch: "main" }));
  });

  it("[N7] C53 F133 a path that was sent once is sent again the same, after a rewind and back, and after a restart", async () => {
    const scene = await chat("s1 u1 c1 r1 a1 u2 a2");
    const sent = await scene.chat.context();
    await scene.chat.rewindTo("u2");
    expect(await scene.chat.context()).toEqual(sent.slice(0, 5));
    await scene.chat.undo();
    await scene.reopen();
    expect(JSON.stringify(await scene.chat.context())).toBe(JSON.stringify(sent));
  });

  it("[N7] C46 C47 C48 a summary stands for what it covers; rewinding behind it brings that back, and one can rewind into it", async () => {
    const scene = await chat("u1");
    const node = (id: string, parentId: string | null, role: Message["role"], covers?: string[]) => {
      return { id, parentId, createdAt: "2026-01-01T00:00:00Z", message: { role, content: id }, covers };
    };
    const nodes = [
      node("p1", null, "user"),
      node("q1", "p1", "assistant"),
      node("p2", "q1", "user"),
      node("q2", "p2", "assistant"),
      node("sum", "q2", "summary", ["p1", "q1", "p2"]),
      node("p3", "sum", "user"),
      node("q3", "p3", "assistant"),
    ];
    const { conversation } = await scene.store.importConversation({ id: "long", nodes, headId: "q3" });
    expect(texts(await conversation.context())).toEqual(["sum", "q2", "p3", "q3"]);
    expect((await conversation.history()).length).toBe(7);
    expect((await conversation.rewindPoints()).map((point) => point.nodeId)).toEqual(["p3", "p2", "p1"]);
    await conversation.rewindTo("p3");
    expect(texts(await conversation.context())).toEqual(["sum", "q2"]);
    await conversation.rewindTo("p2");
    expect(texts(await conversation.context())).toEqual(["p1", "q1"]);
    await conversation.undo();
    expect(texts(await conversation.context())).toEqual(["sum", "q2"]);
  });
});

describe("looking at files", () => {
  it("[W11] F7 a diff follows git's conventions, can be limited to a path, and says what was binary", async () => {
    const scene = await Scene.open({ "a.txt": "1\n2\n3\n", "gone.txt": "x\n", "b.bin": Uint8Array.of(0, 1) });
    await scene.turn("u1", { "a.txt": "1\ntwo\n3\n", "d/new.txt": "n", "b.bin": Uint8Array.of(0, 2) });
    await scene.turn("u2", "rm gone.txt");
    const diff = await scene.chat.diff("u1");
    expect(diff).toContain("--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n");
    expect(diff).toContain("new file mode 100644");
    expect(diff).toContain("\\ No newline at end of file");
    expect(diff).toContain("Binary files a/b.bin and b/b.bin differ");
    expect(await scene.chat.diff("u1", { path: "d" })).toMatch(/^diff --git a\/d\/new.txt b\/d\/new.txt\n/);
    expect(await scene.chat.diff("u2")).toContain("deleted file mode 100644");
    expect(await scene.chat.diff("u1")).toBe(diff);
  });

  it("[W11] a file at a node is what it was when the node was sealed, whatever happened since", async () => {
    const scene = await Scene.open({ "a.txt": "0" });
    for (const n of [1, 2]) await scene.turn(`u${n}`, { "a.txt": `${n}${n}`, "new.txt": "n".repeat(n) });
    const sizes = async (path: string) =>
      Promise.all(
        ["u1", "a1", "u2", "a2"].map(async (id) => {
          const state = await scene.chat.fileAt(id, path);
          return state.kind === "file" ? state.size : state.kind;
        }),
      );
    const expected = [
      [1, 2, 2, 2],
      ["absent", 1, 1, 2],
    ];
    expect([await sizes("a.txt"), await sizes("new.txt")]).toEqual(expected);
    await scene.chat.rewindTo("u1");
    scene.write({ "a.txt": "something else" });
    await scene.turn("u3");
    expect([await sizes("a.txt"), await sizes("new.txt")]).toEqual(expected);
    expect(await scene.chat.fileAt("a1", "nothing.txt")).toEqual({ kind: "absent" });
  });
});
