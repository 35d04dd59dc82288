/**
 * The laws that are about everything at once, followed through one long history: operations and content only grow, and
 * what a person wrote is never lost.
 */
import { expect, it } from "vitest";
import { play } from "../builders/chat.js";
import { damage, dump } from "../builders/database.js";
import { Scene } from "../builders/scene.js";

/** Steps of every kind, with a person's edits in between. */
function steps(scene: Scene): (() => Promise<unknown>)[] {
  const { chat } = scene;
  return [
    () => scene.turn("u1", { "a.txt": "1\n" }),
    () => scene.turn("u2", { "a.txt": "2\n", "b.txt": "b\n" }),
    async () => scene.write({ "mine.txt": "mine\n", "b.txt": "mine, over b\n" }),
    () => chat.rewindTo("u2", { onConflict: "overwrite" }),
    () => play(chat, "u3 c3 r3 a3"),
    () => chat.undo({ onConflict: "overwrite" }),
    () => chat.redo({ onConflict: "overwrite" }),
    () => chat.createBranch("side", { at: "a1", switch: true }),
    () => scene.turn("u4", { "c.txt": "c\n" }),
    () => chat.rewindTo("u4", { mode: "files" }),
    () => chat.rewindTo("u1", { mode: "conversation" }),
    () => chat.switchBranch("main", { onConflict: "keep" }),
    () => chat.renameBranch("side", "other"),
    () => chat.deleteBranch("other"),
    () => chat.resume("u4", { onConflict: "keep" }),
    () => chat.fork(),
  ];
}

it("[L1] F128 every write is an operation, none is ever edited, and undo is a new one", async () => {
  const scene = await Scene.open({ "a.txt": "0\n" });
  let before = await scene.chat.operations();
  for (const step of steps(scene)) {
    await step();
    const after = await scene.chat.operations();
    expect(after.slice(after.length - before.length)).toEqual(before);
    before = after;
  }
  expect(before.map((operation) => operation.kind)).toContain("undo");
});

it("[L2] C1 C18 content never changes: nodes, links, blobs, log rows and operations are only added", async () => {
  const scene = await Scene.open({ "a.txt": "0\n" });
  let before = dump(scene.file);
  for (const step of steps(scene)) {
    await step();
    const after = dump(scene.file);
    for (const table of ["nodes", "node_blobs", "links", "blobs", "log_rows", "log_shares", "operations", "requests"]) {
      expect(after[table]).toEqual(expect.arrayContaining(before[table] as unknown[]));
    }
    before = after;
  }
});

it("[L6] every byte that a person wrote and a restore replaced is stored, and comes back with undo", async () => {
  const scene = await Scene.open({ "a.txt": "0\n" });
  await scene.turn("u1", { "a.txt": "1\n", "new.txt": "agent\n", "gone.txt": "x\n" });
  const mine = { "a.txt": `mine ${"x".repeat(2 ** 20)}\n`, "new.txt": "mine, in a new file\n" };
  scene.write(mine);
  const before = scene.files();
  await scene.chat.rewindTo("u1", { onUserEdits: "overwrite" });
  expect(scene.files()).toEqual({ "a.txt": "file 644 0\n" });
  await scene.reopen();
  await scene.chat.undo();
  expect(scene.files()).toEqual(before);
});

it("[L6] F104 F107 a state that was never captured is unknown, not absent: such a file is neither deleted nor overwritten", async () => {
  const scene = await Scene.open(
    { "a.txt": "0\n", "late.log": "mine\n", ".gitignore": "*.log\n" },
    { workspace: { watch: false, maxFileBytes: 20 } },
  );
  await scene.turn("u1", { "a.txt": "1\n", ".gitignore": "" });
  // The log was ignored until now: what it was before the agent's turn nobody knows.
  await scene.turn("u2", { "late.log": "agent's\n" });
  scene.write({ "a.txt": "mine, and longer than the limit\n" });
  for (const onConflict of ["keep", "overwrite"] as const) {
    const { files } = await scene.chat.rewindTo("u1", { onConflict, onUserEdits: "overwrite" });
    const skipped = files.filter((file) => file.outcome === "skipped").map((file) => file.path);
    expect(skipped).toEqual(["a.txt", "late.log"]);
    expect([scene.read("a.txt"), scene.read("late.log")]).toEqual(["mine, and longer than the limit\n", "agent's\n"]);
    await scene.chat.undo();
  }
});

it("[L2] B6 a blob that was changed behind the store's back is noticed, and never written to the workspace", async () => {
  const scene = await Scene.open({ "a.txt": "original content\n" });
  await scene.turn("u1", { "a.txt": "x\n" });
  damage(scene.file, "update blobs set data = cast('tampered content!' as blob) where size = 17");
  await expect(scene.chat.rewindTo("u1")).rejects.toMatchObject({ code: "blob_missing" });
  expect(scene.read("a.txt")).toBe("x\n");
});
