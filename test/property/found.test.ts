/**
 * What the oracles found, each fault as the shortest history that shows it.
 */
import { expect, test } from "vitest";
import { Scene } from "../builders/scene.js";

async function turns(...ids: string[]): Promise<Scene> {
  const scene = await Scene.open({ "a.txt": "u0\n" });
  for (const id of ids) await scene.turn(id, { "a.txt": `${id}\n` });
  return scene;
}

const rewound = async ({ chat }: Scene) =>
  (await chat.graph()).nodes.filter((node) => node.rewound).map((node) => node.id);

test("[N4] C6 a restore of files alone that opens a segment leaves the path above it unmarked", async () => {
  const scene = await turns("u1", "u2");
  await scene.chat.rewindTo("u2");
  await scene.chat.rewindTo("u1", { mode: "files" });
  expect(await rewound(scene)).toEqual(["u2", "a2"]);
});

test("[O6] redo of a rewind that left the files still moves them when another branch became the active one", async () => {
  const scene = await turns("u1", "u2");
  await scene.chat.createBranch("early", { at: "a1" });
  await scene.chat.rewindTo("u2", { mode: "conversation" });
  await scene.chat.undo();
  await scene.chat.switchBranch("early");
  expect(scene.read("a.txt")).toBe("u1\n");
  const { branch, newHeadId } = await scene.chat.redo();
  expect([branch, newHeadId]).toEqual(["main", "a1"]);
  expect(scene.read("a.txt")).toBe("u2\n");
  await scene.chat.undo();
  expect(scene.read("a.txt")).toBe("u1\n");
});

test("[O6] redo gives what the head implies now when the branch that it goes back to was moved meanwhile", async () => {
  const scene = await turns("u1", "u2", "u3");
  await scene.chat.createBranch("other", { at: "a1" });
  await scene.chat.switchBranch("other");
  await scene.chat.undo();
  await scene.chat.resume("a3", { name: "other" });
  await scene.chat.switchBranch("main");
  await scene.chat.rewindTo("u3", { branch: "other" });
  await scene.chat.redo();
  expect((await scene.chat.record()).headId).toBe("a2");
  expect(scene.read("a.txt")).toBe("u2\n");
});

test("[T3] a branch on a node that a failed turn dropped has the files that the turn left", async () => {
  const scene = await turns("u1");
  const call = { toolCallId: "c", toolName: "shell" };
  const turn = await scene.chat.beginTurn({ id: "u2", role: "user", content: "go on" });
  await turn.append({ id: "x1", role: "assistant", content: [{ type: "tool-call", ...call, input: {} }] });
  scene.write({ "a.txt": "late\n" });
  await turn.checkpoint();
  await turn.append({ id: "x2", role: "assistant", content: "no result yet" });
  await turn.end({ status: "failed" });
  expect((await scene.chat.record()).headId).toBe("u2");
  await scene.chat.resume("x2", { name: "dropped" });
  await scene.chat.createBranch("upper", { at: "x1", switch: true });
  expect(scene.read("a.txt")).toBe("late\n");
  await scene.chat.switchBranch("main");
  expect(scene.read("a.txt")).toBe("late\n");
});
