/**
 * Rewind, the conversation's half: which nodes are marked, where the head goes, what comes back to be edited and resent.
 */
import { describe, expect, it } from "vitest";
import { chat, play } from "../builders/chat.js";
import { code, refusal } from "../builders/codes.js";
import { damage, dump } from "../builders/database.js";

describe("heads and marks", () => {
  it("[R3] C1 F137 a rewind to a boundary leaves exactly the nodes before it, byte for byte, and marks the target and all after it", async () => {
    const scene = await chat("s1 u1 c1 r1 a1 u2 a2 u3 a3");
    const before = await scene.chat.history();
    const result = await scene.chat.rewindTo("u2");
    expect(await scene.chat.history()).toEqual(before.slice(0, 5));
    expect(await scene.rewound()).toBe("u2 a2 u3 a3");
    expect(result).toMatchObject({ nodesRewound: ["u2", "a2", "u3", "a3"], turnsReverted: 2, newHeadId: "a1" });
  });

  it("[R4] C4 the second turn puts the head on the last node of the first; the first turn, on what came before it", async () => {
    const scene = await chat("s1 u1 a1 u2 a2");
    expect((await scene.chat.rewindTo("u2")).newHeadId).toBe("a1");
    expect((await scene.chat.rewindTo("u1")).newHeadId).toBe("s1");
    expect(await scene.rewound()).toBe("u1 a1 u2 a2");
  });

  it("[R4] C5 C4 rewinding the first turn leaves an empty branch: a success that takes a new turn; a system node is still sent", async () => {
    const scene = await chat("u1 a1");
    expect(await scene.chat.rewindTo("u1")).toMatchObject({
      newHeadId: null,
      turnsReverted: 1,
      userText: "text of u1",
    });
    expect([await scene.chat.history(), await scene.chat.context()]).toEqual([[], []]);
    await play(scene.chat, "u2 a2");
    expect(await scene.path()).toBe("u2 a2");
    expect((await scene.chat.children(null)).map((node) => node.id)).toEqual(["u1", "u2"]);
    const withSystem = await chat("s1 u1 a1");
    await withSystem.chat.rewindTo("u1");
    expect((await withSystem.chat.context()).map((message) => message.content)).toEqual(["system s1"]);
  });

  it("[R2] C7 C8 a sibling branch is untouched whatever its numbers, and a node that another branch reaches is not marked", async () => {
    const scene = await chat("u1 a1 u2 a2");
    await scene.chat.createBranch("side", { at: "a1", switch: true });
    await play(scene.chat, "u3 a3");
    await scene.chat.switchBranch("main");
    await play(scene.chat, "u4 a4");
    expect((await scene.chat.rewindTo("u1")).nodesRewound).toEqual(["u2", "a2", "u4", "a4"]);
    expect(await scene.rewound()).toBe("u2 a2 u4 a4");
    expect(await scene.path("side")).toBe("u1 a1 u3 a3");
    expect((await scene.chat.switchBranch("side")).newHeadId).toBe("a3");
    expect(await scene.path()).toBe("u1 a1 u3 a3");
  });

  it("[R4] C9 F134 the result's new head is the stored head, in this process and after reopening", async () => {
    const scene = await chat("u1 a1 u2 a2 u3 a3");
    for (const [id, head] of [
      ["u3", "a2"],
      ["u2", "a1"],
      ["u1", null],
    ] as const) {
      const { newHeadId, version } = await scene.chat.rewindTo(id);
      expect(newHeadId).toBe(head);
      expect(await scene.chat.record()).toMatchObject({ headId: head, version });
      await scene.reopen();
      expect(await scene.chat.record()).toMatchObject({ headId: head, version, activeBranch: "main" });
    }
  });

  it("[R2] C19 a nested sub-agent's nodes are rewound with the call that started them, and come back with it", async () => {
    const scene = await chat("u1 a1 u2 c2 r2");
    await scene.chat.append({ role: "user", id: "x1", content: "sub", callerId: "c2" });
    await scene.chat.append({ role: "assistant", id: "x2", content: "subsub", parentId: "x1" });
    await scene.chat.append({ role: "user", id: "z1", content: "deep", callerId: "x2" });
    await scene.chat.append({ role: "user", id: "w1", content: "kept", callerId: "a1" });
    const { nodesRewound } = await scene.chat.rewindTo("u2");
    expect(nodesRewound).toEqual(["u2", "c2", "r2", "x1", "x2", "z1"]);
    expect(await scene.rewound()).toBe("u2 c2 r2 x1 x2 z1");
    await scene.chat.undo();
    expect(await scene.rewound()).toBe("");
  });

  it("[R2] C12 an unanswered prompt blocks neither rewinding to it nor to the ones before and after it", async () => {
    const line = "u1 u2 a2 u3";
    for (const [id, head] of [
      ["u1", null],
      ["u2", "u1"],
      ["u3", "a2"],
    ] as const) {
      const scene = await chat(line);
      expect((await scene.chat.rewindTo(id)).newHeadId).toBe(head);
    }
  });

  it("[R3] C20 twice in a row, newest then older, and older then newest after an undo", async () => {
    const scene = await chat("u1 a1 u2 a2 u3 a3");
    await scene.chat.rewindTo("u3");
    await scene.chat.rewindTo("u2");
    expect([await scene.path(), await scene.rewound()]).toEqual(["u1 a1", "u2 a2 u3 a3"]);
    await scene.chat.undo();
    expect([await scene.path(), await scene.rewound()]).toEqual(["u1 a1 u2 a2", "u3 a3"]);
    await scene.chat.undo();
    await scene.chat.rewindTo("u2");
    await scene.chat.undo();
    await scene.chat.rewindTo("u3");
    expect([await scene.path(), await scene.rewound()]).toEqual(["u1 a1 u2 a2", "u3 a3"]);
  });

  it("[R11] C18 nothing is deleted: nodes, runs and operations stay readable, and the count rises by one", async () => {
    const scene = await chat("u1 a1 u2 a2");
    const [nodes, runs, operations] = [
      (await scene.chat.graph()).nodes.map((node) => node.id),
      await scene.chat.runs(),
      await scene.chat.operations(),
    ];
    const before = dump(scene.file);
    await scene.chat.rewindTo("u2");
    const after = dump(scene.file);
    for (const table of ["nodes", "runs", "blobs", "log_rows", "links"]) expect(after[table]).toEqual(before[table]);
    expect((await scene.chat.graph()).nodes.map((node) => node.id)).toEqual(nodes);
    expect(await scene.chat.runs()).toEqual(runs);
    expect((await scene.chat.operations()).slice(1)).toEqual(operations);
    expect(await scene.chat.node("a2")).toMatchObject({ rewound: true, message: { role: "assistant" } });
    expect((await scene.chat.record()).rewindCount).toBe(1);
  });
});

describe("what comes back", () => {
  it("[R5] C15 F130 the text comes back exactly, with its attachments; text and message agree", async () => {
    const scene = await chat("u1 a1");
    const text = "  make it\r\n\tblue — “now” 🙂 \n\n";
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    const turn = await scene.chat.beginTurn({
      role: "user",
      id: "u2",
      content: [
        { type: "text", text },
        { type: "file", mediaType: "image/png", filename: "shot.png", data: bytes },
        { type: "text", text: "and this" },
      ],
      externalId: "client-7",
      metadata: { draft: true },
    });
    await turn.end();
    const stored = (await scene.chat.node("u2"))?.message;
    const { userText, userMessage } = await scene.chat.rewindTo("u2");
    expect(userText).toBe(`${text}\nand this`);
    expect(userMessage).toEqual(stored);
    expect(userMessage).toMatchObject({ role: "user", externalId: "client-7", metadata: { draft: true } });
    const again = await scene.chat.beginTurn({ ...(userMessage as NonNullable<typeof userMessage>), id: "u3" });
    await again.end();
    expect((await scene.chat.node("u3"))?.message).toEqual(stored);
  });

  it("[R5] C15 a prompt of 5 MB works and comes back exactly", async () => {
    const scene = await chat("u1 a1");
    const text = "0123456789abcdé\n".repeat(330_000);
    const turn = await scene.chat.beginTurn(text, { id: "u2" });
    await turn.end();
    await scene.reopen();
    const { userText, userMessage } = await scene.chat.rewindTo("u2");
    expect(userText === text).toBe(true);
    expect(userMessage?.content === text).toBe(true);
  });

  it("[R10] C16 C29 F133 the middle turn of three rewound and asked again sends first user, first answer, new user, in every later run", async () => {
    const scene = await chat("u1 a1 u2 a2 u3 a3");
    await scene.chat.rewindTo("u2");
    const turn = await scene.chat.beginTurn("new question", { id: "u4" });
    const sent = (await scene.chat.context()).map((message) => message.content);
    expect(sent).toEqual(["text of u1", [{ type: "text", text: "answer a1" }], "new question"]);
    await turn.append({ role: "assistant", id: "a4", content: "new answer" });
    await turn.end();
    await scene.reopen();
    await play(scene.chat, "u5 a5");
    const ids = await scene.path();
    expect(ids).toBe("u1 a1 u4 a4 u5 a5");
    const everything = JSON.stringify(await scene.chat.context());
    expect(everything).not.toMatch(/u2|a2|u3|a3/);
  });

  it("[R10] C23 the same client message id keeps both contents as siblings", async () => {
    const scene = await chat("u1 a1");
    const send = async (id: string, content: string) => {
      const turn = await scene.chat.beginTurn({ role: "user", id, externalId: "client-1", content });
      await turn.end();
    };
    await send("u2", "first wording");
    await scene.chat.rewindTo("u2");
    await send("u3", "second wording");
    const siblings = await scene.chat.children("a1");
    expect(siblings.map(({ id, message, rewound }) => [id, message.content, message.externalId, rewound])).toEqual([
      ["u2", "first wording", "client-1", true],
      ["u3", "second wording", "client-1", false],
    ]);
  });
});

describe("turns and lengths", () => {
  it("[R9] C13 C14 points are real prompts only, newest first, of the asked branch, never a rewound one", async () => {
    const scene = await chat("s1 u1 c1 t1 y1 a1 u2 a2 u3 a3");
    const points = await scene.chat.rewindPoints();
    expect(points.map(({ nodeId, ordinal, text }) => [nodeId, ordinal, text])).toEqual([
      ["u3", 3, "text of u3"],
      ["u2", 2, "text of u2"],
      ["u1", 1, "text of u1"],
    ]);
    expect(points.every((point) => !Number.isNaN(Date.parse(point.createdAt)))).toBe(true);
    expect((await scene.chat.rewindPoints({ limit: 1 })).map((point) => point.nodeId)).toEqual(["u3"]);
    await scene.chat.createBranch("side", { at: "a1" });
    expect((await scene.chat.rewindPoints({ branch: "side" })).map((point) => point.nodeId)).toEqual(["u1"]);
    await scene.chat.rewindTo("u2");
    expect((await scene.chat.rewindPoints()).map((point) => point.nodeId)).toEqual(["u1"]);
    for (const hidden of ["t1", "y1"]) expect(await code(scene.chat.rewindTo(hidden))).toBe("not_a_turn");
  });

  it("[R9] C11 turns are counted from the newest, real prompts only, and clamp to the oldest", async () => {
    const scene = await chat("s1 u1 a1 u2 c2 t2 y2 a2 u3 a3");
    expect(await scene.chat.rewindTurns(2)).toMatchObject({
      userText: "text of u2",
      turnsReverted: 2,
      newHeadId: "a1",
    });
    expect(await scene.chat.rewindTurns(99)).toMatchObject({
      userText: "text of u1",
      turnsReverted: 1,
      newHeadId: "s1",
    });
    const { version } = await scene.chat.record();
    const nothing = await scene.chat.rewindTurns(1);
    expect(nothing).toMatchObject({ operationId: null, version, userText: null, turnsReverted: 0, newHeadId: "s1" });
    const empty = await chat("s1");
    expect(await empty.chat.rewindTurns(3)).toMatchObject({ operationId: null, nodesRewound: [], newHeadId: "s1" });
  });

  it("[R9] C11 zero, negative and broken counts are refused", async () => {
    const { chat: conversation } = await chat("u1 a1");
    for (const count of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(await refusal(conversation.rewindTurns(count))).toMatchObject({
        code: "bad_input",
        data: { field: "count" },
      });
    }
    for (const length of [-1, 0.5, Number.NaN]) {
      expect(await refusal(conversation.rewindToLength(length))).toMatchObject({ data: { field: "length" } });
    }
    expect((await conversation.record()).headId).toBe("a1");
  });

  it("[R9] C2 a length inside a turn snaps down to its start: no call without its result, no result without its call", async () => {
    const line = "s1 u1 c1 r1 a1 u2 c2 r2 a2";
    const heads = [null, "s1", "s1", "s1", "s1", "a1", "a1", "a1", "a1"];
    for (const [length, head] of heads.entries()) {
      const scene = await chat(line);
      const { newHeadId } = await scene.chat.rewindToLength(length);
      // The system node before the first turn belongs to no turn and stays.
      expect(newHeadId).toBe(head ?? "s1");
      expect((await scene.chat.history()).length).toBe(newHeadId === "a1" ? 5 : 1);
    }
  });

  it("[R9] C3 a length at or past the end removes nothing: a success without a version, nothing invalidated", async () => {
    const scene = await chat("u1 a1 u2 a2");
    const before = dump(scene.file);
    const { version } = await scene.chat.record();
    for (const length of [4, 5, 1000]) {
      expect(await scene.chat.rewindToLength(length)).toEqual({
        conversationId: "chat",
        operationId: null,
        version,
        newHeadId: "a2",
        branch: "main",
        restoredPaths: [],
        files: [],
        errors: [],
        userText: null,
        userMessage: null,
        turnsReverted: 0,
        nodesRewound: [],
      });
    }
    expect(dump(scene.file)).toEqual(before);
    const empty = await chat("s1");
    await empty.chat.createBranch("none", { at: null, switch: true });
    expect(await empty.chat.rewindToLength(0)).toMatchObject({ newHeadId: null, operationId: null });
  });

  it("[R1] C32 an expectation that is no longer true refuses also where nothing would be removed", async () => {
    const scene = await chat("u1 a1");
    expect(await code(scene.chat.rewindToLength(9, { expectedHead: "u1" }))).toBe("head_moved");
    expect(await code(scene.chat.rewindTurns(1, { expectedHead: "u1" }))).toBe("head_moved");
    expect((await scene.chat.rewindToLength(9, { expectedHead: "a1" })).newHeadId).toBe("a1");
  });

  it("[R1] C32 a change to what is only shown does not count as a change of the head or the text", async () => {
    const scene = await chat("u1 a1 u2 a2");
    damage(scene.file, "update conversations set title = 'New title', metadata = '{\"pinned\":true}'");
    const result = await scene.chat.rewindTo("u2", { expectedHead: "a2", expectedText: "text of u2" });
    expect(result.newHeadId).toBe("a1");
    expect(await scene.chat.record()).toMatchObject({ title: "New title", metadata: { pinned: true } });
  });

  it("[N6] C35 order comes from numbers given inside the transaction: clocks that disagree by ten minutes reorder nothing", async () => {
    const scene = await chat("u1 a1");
    const [late, early] = [
      await scene.another({ now: () => new Date(Date.now() + 600_000) }),
      await scene.another({ now: () => new Date(Date.now() - 600_000) }),
    ];
    const [ahead, behind] = [await late.conversation("chat"), await early.conversation("chat")];
    await play(ahead, "u2 a2");
    await play(behind, "u3 a3");
    await play(ahead, "u4 a4");
    const order = "u1 a1 u2 a2 u3 a3 u4 a4";
    expect(await scene.path()).toBe(order);
    expect((await scene.chat.graph()).nodes.map((node) => node.id).join(" ")).toBe(order);
    expect((await behind.rewindPoints()).map((point) => point.nodeId)).toEqual(["u4", "u3", "u2", "u1"]);
    await behind.rewindTo("u3");
    await play(behind, "u5 a5");
    // The newest leaf below a1 is the one made last, although its clock says twenty minutes earlier than u4's.
    expect((await scene.chat.resume("a1")).newHeadId).toBe("a5");
    const numbers = (await scene.chat.operations()).map((operation) => Number(operation.id));
    expect(numbers).toEqual([...numbers].sort((a, b) => b - a));
  });
});
