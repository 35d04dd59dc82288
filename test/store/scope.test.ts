/**
 * Scopes: tenants of one database. An id of another scope is not found, by any method.
 */
import { describe, expect, it } from "vitest";
import { chat, play } from "../builders/chat.js";
import { code } from "../builders/codes.js";
import { dump } from "../builders/database.js";

describe("scopes", () => {
  it("[N1] C60 an id from another scope is not found, by every method, and writes nothing", async () => {
    const scene = await chat("u1 a1");
    const tenant = scene.store.scope("tenant");
    const own = await tenant.createConversation({ id: "own" });
    await play(own, "u9 a9");
    const before = dump(scene.file);
    for (const id of ["chat", "cha", "c"]) {
      expect(await code(tenant.conversation(id))).toBe("not_found");
      expect(await code(tenant.deleteConversation(id))).toBe("not_found");
    }
    expect((await tenant.conversations()).items.map((record) => record.id)).toEqual(["own"]);
    expect((await tenant.conversations({ search: "chat" })).items).toEqual([]);
    expect((await scene.store.conversations()).items.map((record) => record.id)).toEqual(["chat"]);
    const calls = [
      () => own.rewindTo("u1"),
      () => own.previewRewind("u1"),
      () => own.resume("u1"),
      () => own.children("u1"),
      () => own.createBranch("x", { at: "u1" }),
      () => own.fork({ at: "u1" }),
      () => own.changes("u1"),
      () => own.diff("u1"),
      () => own.fileAt("u1", "a.txt"),
      () => own.history({ before: "u1" }),
      () => own.append({ role: "user", content: "x", callerId: "u1" }),
      () => own.append({ role: "system", content: "x", parentId: "u1" }),
    ];
    for (const call of calls) expect(await code(call)).toBe("not_found");
    expect(await own.node("u1")).toBeUndefined();
    expect(dump(scene.file)).toEqual(before);
  });

  it("[N1] C60 the same ids live beside one another in two scopes, and in two conversations", async () => {
    const scene = await chat("u1 a1");
    const twin = await scene.store.scope("tenant").createConversation({ id: "chat", title: "theirs" });
    await play(twin, "u1 a1 u2");
    await twin.rewindTo("u1");
    expect([await scene.path(), (await twin.history()).length]).toEqual(["u1 a1", 0]);
    expect(await twin.record()).toMatchObject({ id: "chat", scope: "tenant", title: "theirs", rewindCount: 1 });
    expect(await scene.chat.record()).toMatchObject({ scope: "default", title: null, rewindCount: 0 });
    await scene.reopen();
    const again = await scene.another({ scope: "tenant" });
    expect((await (await again.conversation("chat")).record()).title).toBe("theirs");
  });

  it("[N1] an id that is taken in a scope is refused there; a deleted one is free again, and its content is gone", async () => {
    const scene = await chat("u1 a1");
    expect(await code(scene.store.createConversation({ id: "chat" }))).toBe("id_exists");
    await scene.store.deleteConversation("chat");
    expect(await code(scene.store.conversation("chat"))).toBe("not_found");
    expect(await code(scene.chat.history())).toBe("not_found");
    expect(await code(scene.chat.beginTurn("x"))).toBe("not_found");
    expect((await scene.store.conversations()).items).toEqual([]);
    const { nodes, branches, requests, segments } = dump(scene.file);
    expect([nodes, branches, requests, segments]).toEqual([[], [], [], []]);
    const fresh = await scene.store.createConversation({ id: "chat" });
    expect(await fresh.history()).toEqual([]);
  });

  it("[N1] conversations are listed newest first, by pages, and found by title or id", async () => {
    const scene = await chat("u1 a1");
    for (const [id, title] of [
      ["one", "Blue button"],
      ["two", "100% of_it"],
      ["three", null],
    ] as const) {
      await scene.store.createConversation({ id, ...(title === null ? {} : { title }) });
    }
    await scene.chat.append({ role: "system", content: "newest now" });
    const first = await scene.store.conversations({ limit: 3 });
    expect(first.items.map((record) => record.id)).toEqual(["chat", "three", "two"]);
    const rest = await scene.store.conversations({ limit: 3, cursor: first.nextCursor as string });
    expect([rest.items.map((record) => record.id), rest.nextCursor]).toEqual([["one"], null]);
    const found = async (search: string) =>
      (await scene.store.conversations({ search })).items.map((record) => record.id);
    expect(await found("button")).toEqual(["one"]);
    expect(await found("100%")).toEqual(["two"]);
    expect(await found("%")).toEqual(["two"]);
    expect(await found("thr")).toEqual(["three"]);
    expect(await code(scene.store.conversations({ cursor: "broken" }))).toBe("bad_input");
  });
});
