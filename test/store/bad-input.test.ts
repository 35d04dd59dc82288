/**
 * What a caller can get wrong: ids, names, counts, parts and types. A wrong value has a code, a wrong type is a TypeError,
 * and either leaves the database as it was.
 */
import { expect, it } from "vitest";
import type { NewMessage } from "../../src/core/model.js";
import { openStore } from "../../src/index.js";
import { chat } from "../builders/chat.js";
import { refusal } from "../builders/codes.js";
import { dump } from "../builders/database.js";
import { Scene } from "../builders/scene.js";

/** Anything, where a type would forbid it. */
const wrong = (value: unknown) => value as never;

it("[N1] F95 ids that look like options, paths or shell text are refused, each naming its field", async () => {
  const scene = await chat("u1 a1");
  const before = dump(scene.file);
  for (const id of ["-x", "--force", "", ".", "../x", "a b", "a/b", "a;b", "$(x)", "a\nb", "ü", "x".repeat(129)]) {
    const calls = [
      () => scene.store.createConversation({ id }),
      () => scene.chat.beginTurn("x", { id }),
      () => scene.chat.append({ role: "system", content: "x", id }),
      () => scene.store.importConversation({ id, nodes: [], headId: null }),
    ];
    for (const call of calls) expect(await refusal(call)).toMatchObject({ code: "bad_input", data: { field: "id" } });
  }
  for (const name of ["", "-x", " x", "a\u0000"]) {
    expect(await refusal(async () => scene.store.scope(name))).toMatchObject({ code: "bad_input" });
  }
  expect(dump(scene.file)).toEqual(before);
  for (const id of ["a", "A9_.:-z", "x".repeat(128), "_-", "constructor"]) await scene.store.createConversation({ id });
});

it("[T4] unknown roles and part types are refused by name, before anything is stored", async () => {
  const scene = await chat("u1 a1");
  const before = dump(scene.file);
  const file = { type: "file", mediaType: "x/y", data: Uint8Array.of(1, 2, 3) };
  const bad: [unknown, string][] = [
    [{ role: "robot", content: "x" }, "role"],
    [{ role: "assistant", content: [{ type: "image", url: "x" }] }, "content[0]"],
    [{ role: "assistant", content: [file, null] }, "content[1]"],
    [{ role: "assistant", content: [file, { text: "x" }] }, "content[1]"],
    [{ role: "assistant", content: ["text"] }, "content[0]"],
    [{ role: "assistant", content: [{ type: "constructor" }] }, "content[0]"],
  ];
  for (const [message, field] of bad) {
    expect(await refusal(scene.chat.append(wrong(message)))).toMatchObject({ code: "bad_input", data: { field } });
  }
  expect(dump(scene.file)).toEqual(before);
});

it("[T4] a wrong type is a TypeError that names what it should be", async () => {
  const scene = await Scene.open();
  const { chat: conversation, store } = scene;
  await scene.turn("u1");
  const turn = await conversation.beginTurn("x");
  const part = (fields: object): NewMessage => ({ role: "assistant", content: [wrong(fields)] });
  const calls: (() => Promise<unknown> | unknown)[] = [
    () => openStore(wrong(undefined)),
    () => openStore({ file: wrong(5) }),
    () => openStore({ file: "" }),
    () => openStore({ file: ":memory:", durability: wrong("extra") }),
    () => store.createConversation({ id: wrong(5) }),
    () => store.createConversation({ workspace: wrong(5) }),
    () => store.createConversation({ workspace: { root: scene.root, ignore: wrong("*.log") } }),
    () => store.createConversation({ workspace: { root: scene.root, maxFileBytes: -1 } }),
    () => store.conversation(wrong(null)),
    () => store.conversations({ limit: 0 }),
    () => store.on(wrong("changes"), () => undefined),
    () => store.on("change", wrong(undefined)),
    () => store.importConversation({ id: "x", nodes: wrong(undefined), headId: null }),
    () => conversation.beginTurn("x", { leaseMs: 0 }),
    () => conversation.beginTurn("x", { leaseMs: Number.NaN }),
    () => conversation.beginTurn("x", { requestId: wrong(7) }),
    () => conversation.beginTurn(wrong(undefined)),
    () => conversation.rewindTo(wrong(undefined)),
    () => conversation.rewindTo(wrong({ id: "u1" })),
    () => conversation.rewindTo("u1", { requestId: "" }),
    () => conversation.node(wrong(5)),
    () => conversation.children(wrong(undefined)),
    () => conversation.history({ limit: -1 }),
    () => conversation.history({ limit: 1.5 }),
    () => conversation.rewindPoints({ limit: -1 }),
    () => conversation.operations({ limit: -1 }),
    () => conversation.createBranch(wrong(5)),
    () => conversation.fileAt("u1", wrong(5)),
    () => conversation.result(wrong(5)),
    () => turn.append(wrong("text")),
    () => turn.append(wrong(null)),
    () => turn.append({ role: "assistant", content: wrong(5) }),
    () => turn.append(part({ type: "text" })),
    () => turn.append(part({ type: "tool-call", toolCallId: "x" })),
    () => turn.append(part({ type: "tool-result", toolCallId: 5, toolName: "x" })),
    () => turn.append(part({ type: "file", mediaType: "x/y", data: 5 })),
    () => turn.append(part({ type: "data" })),
    () => turn.willChange(wrong(undefined)),
    () => turn.during("", async () => undefined),
  ];
  for (const call of calls) {
    const failure = await Promise.resolve()
      .then(call)
      .then(
        () => "success",
        (error: unknown) => error,
      );
    expect([String(call), failure]).toEqual([String(call), expect.any(TypeError)]);
  }
  await turn.end();
});

it("[R13] unknown policies and modes are refused before anything is looked at", async () => {
  const scene = await Scene.open({ "a.txt": "0" });
  await scene.turn("u1", { "a.txt": "1" });
  const bad = [
    { mode: wrong("everything") },
    { onConflict: wrong("ask") },
    { onConflict: { default: "keep", paths: { "a.txt": wrong("ask") } } },
    { onUserEdits: wrong("discard") },
    { onFileError: wrong("ignore") },
  ] as const;
  for (const options of bad) {
    expect((await refusal(scene.chat.rewindTo("u1", options))).code).toBe("bad_input");
    expect((await refusal(scene.chat.previewRewind("u1", options))).code).toBe("bad_input");
  }
  expect(scene.read("a.txt")).toBe("1");
});

it("[W8] paths that leave the workspace are refused", async () => {
  const scene = await Scene.open({ "a.txt": "0" });
  const turn = await scene.chat.beginTurn("x", { id: "u1" });
  for (const path of ["../x", "/etc/passwd", "a/../../x"]) {
    expect((await refusal(turn.willChange(path))).code).toBe("path_outside");
    expect((await refusal(scene.chat.fileAt("u1", path))).code).toBe("path_outside");
  }
  await turn.end();
});

it("[N1] an id may be shortened to a unique prefix; an ambiguous one lists what it could be", async () => {
  const scene = await chat("u1");
  await scene.chat.append([
    { role: "system", id: "node-alpha", content: "x" },
    { role: "system", id: "node-beta", content: "x" },
  ]);
  expect((await scene.chat.node("node-a"))?.id).toBe("node-alpha");
  expect(await refusal(scene.chat.node("node"))).toMatchObject({
    code: "ambiguous_id",
    data: { id: "node", matches: ["node-alpha", "node-beta"] },
  });
  expect(await scene.chat.node("nobody")).toBeUndefined();
  expect((await scene.store.conversation("ch")).id).toBe("chat");
  expect((await refusal(scene.store.conversation(""))).code).toBe("not_found");
});

it("[B4] a closed store says so; closing twice is fine", async () => {
  const scene = await chat("u1 a1");
  await scene.store.close();
  await scene.store.close();
  const calls = [
    () => scene.store.createConversation(),
    () => scene.store.conversation("chat"),
    () => scene.chat.history(),
    () => scene.chat.beginTurn("x"),
    () => scene.chat.rewindTo("u1"),
  ];
  for (const call of calls) expect((await refusal(call)).code).toBe("closed");
});
