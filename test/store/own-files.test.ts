/**
 * The store's own database inside the folder that it works on, and the bytes that it keeps, handed back.
 */
import { describe, expect, it } from "vitest";
import { isRetconError } from "../../src/index.js";
import { Scene } from "../builders/scene.js";

describe("a database inside the workspace", () => {
  it("[W1] is never captured, so that every turn and rewind is about the project alone", async () => {
    const scene = await Scene.open({ "a.txt": "0\n" });
    const store = await scene.another({ file: `${scene.root}/retcon.db` });
    for (const watch of [true, false]) {
      const chat = await store.createConversation({ workspace: { root: scene.root, watch } });
      const turns: string[] = [];
      for (const text of ["1\n", "2\n", "3\n"]) {
        const turn = await chat.beginTurn(text);
        scene.write({ "a.txt": text });
        await turn.append({ role: "assistant", content: "x".repeat(5_000) });
        expect((await turn.end()).changes.map((change) => change.path)).toEqual(["a.txt"]);
        turns.push(turn.userNodeId);
      }
      expect((await chat.rewindTo(turns[0] as string)).files).toEqual([{ path: "a.txt", outcome: "restored" }]);
      await chat.undo();
      expect(scene.read("a.txt")).toBe("3\n");
      scene.write({ "a.txt": "0\n" });
    }
  });
});

describe("the bytes of a blob", () => {
  it("[B6] C15 come back to whoever holds the conversation, and to nobody else", async () => {
    const scene = await Scene.open({ "a.txt": "old\n" });
    const data = Uint8Array.from([0, 1, 2, 253, 254, 255]);
    const part = { type: "file" as const, mediaType: "image/png", data };
    await scene.turn("u1", { "a.txt": "new\n" }, { content: [part] });
    const [message] = await scene.chat.context();
    const [kept] = (message?.content ?? []) as { data: string }[];
    const stored = kept?.data ?? "";
    expect(await scene.chat.blob(stored)).toEqual(Buffer.from(data));
    const [change] = await scene.chat.changes("u1");
    const before = change?.before.kind === "file" ? change.before.blob : "";
    expect(Buffer.from(await scene.chat.blob(before)).toString()).toBe("old\n");
    const other = await scene.store.scope("other").createConversation();
    for (const [chat, id] of [
      [other, stored],
      [other, before],
      [scene.chat, "sha256:none"],
      [scene.chat, "0".repeat(64)],
    ] as const) {
      await expect(chat.blob(id)).rejects.toMatchObject({ code: "not_found", data: { what: "blob" } });
    }
  });
});

it("[W4] what a turn changed but was never captured is named in its report, not among its changes", async () => {
  const scene = await Scene.open({ ".gitignore": ".env\n", ".env": "secret=old\n", "a.txt": "0\n" });
  const report = await scene.turn("u1", "echo secret=new > .env && rm .gitignore && echo 1 > a.txt");
  expect(report.changes.map((change) => change.path)).toEqual([".gitignore", "a.txt"]);
  expect(report.notCaptured).toEqual([{ path: ".env", reason: "not_covered_before" }]);
  const { files } = await scene.chat.rewindTo("u1");
  expect(files.find((file) => file.path === ".env")?.outcome).toBe("skipped");
  expect(scene.read(".env")).toBe("secret=new\n");
});

it("[P2] a switch over the code of an error tells which data it has", async () => {
  const scene = await Scene.open({ "a.txt": "0\n" });
  await scene.turn("u1", { "a.txt": "1\n" });
  scene.write({ "a.txt": "2\n" });
  const paths = await scene.chat.rewindTo("u1").then(
    () => [],
    (error: unknown) => {
      if (!isRetconError(error)) throw error;
      switch (error.code) {
        case "file_conflict":
          return error.data.paths.map((conflict) => conflict.path);
        default:
          return [];
      }
    },
  );
  expect(paths).toEqual(["a.txt"]);
});
