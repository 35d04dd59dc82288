import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { Stage } from "./stage.js";

const many = 150;

/** Two turns, the second of which makes many files. */
async function crowded(): Promise<Stage> {
  const stage = new Stage();
  await stage.store(async (store) => {
    const chat = await store.createConversation({ workspace: { root: stage.root, watch: false } });
    await stage.turn(chat, "1", "begin", () => stage.write("first.txt", "1\n"));
    await stage.turn(chat, "2", "make many", () => {
      for (let i = 0; i < many; i += 1) stage.write(`file-${i}.txt`, `${i}\n`.repeat(500));
    });
  });
  return stage;
}

test("[K1] a call whose signal is aborted changes nothing and exits with 130", async () => {
  const stage = await new Stage().twoTurns();
  for (const line of ["log", "preview @1", "rewind @1 --yes", "undo"]) {
    expect(await stage.run(line, { signal: AbortSignal.abort() })).toMatchObject({ code: 130, stdout: "" });
  }
  expect((await stage.run("log")).stdout).toContain("change a, make b");
});

test("[K1] a rewind that is interrupted at any moment is done whole or not at all", async () => {
  const stage = await crowded();
  const before = (await stage.run("log")).stdout;
  for (const afterMs of [0, 5, 10, 20, 40, 80, 160, 320]) {
    const { code } = await stage.run("rewind @1 --yes", { signal: AbortSignal.timeout(afterMs) });
    expect([0, 130]).toContain(code);
    expect(readdirSync(stage.root)).toHaveLength(code === 0 ? 1 : many + 1);
    if (code === 0) expect(await stage.run("undo")).toMatchObject({ code: 0 });
    expect((await stage.run("log")).stdout).toBe(before);
  }
});
