/**
 * The story that is interrupted: turns that do everything to files that can be done, a person's edit in between, and a
 * second branch.
 *
 *     u0 a0 ─┬─ u1 a1 ─ u2 a2 ─ (a person) ─ u3 a3      main
 *            └─ s1 t1                                   side
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { openStore } from "../../src/index.js";
import type { Conversation } from "../../src/store/surface.js";
import { shell, writeFiles } from "../builders/disk.js";
import type { Ground } from "./ground.js";

const lines = (...changed: [number, string][]) => {
  const text = Array.from({ length: 9 }, (_, i) => `line ${i + 1}`);
  for (const [line, as] of changed) text[line - 1] = as;
  return `${text.join("\n")}\n`;
};

async function turn(chat: Conversation, id: string, work: () => void): Promise<void> {
  const begun = await chat.beginTurn({ role: "user", id, content: `text of ${id}` });
  work();
  const answer = id.replace("u", "a").replace("s", "t");
  await begun.append({ role: "assistant", id: answer, content: "done" });
  await begun.end();
}

/** Nodes of a head's path, by what the head is called. */
const paths = { before: "u0 a0 u1 a1 u2 a2 u3 a3", after: "u0 a0", side: "u0 a0 s1 t1" };

/** What a head is called: where the story ended, where its first turn did, where the other branch did. */
export type Head = keyof typeof paths;

/** The head that a path leads to. */
export function headOf(path: string): Head {
  const found = (Object.keys(paths) as Head[]).find((name) => paths[name] === path);
  expect(found, `a head at ${path}`).toBeDefined();
  return found as Head;
}

/** Plays the story. What comes back: the folder as it was at the head of each branch, a person's edits included. */
export async function play(ground: Ground): Promise<{ [head in Head]: Record<string, string> }> {
  const { root } = ground;
  writeFiles(root, {
    "text.txt": lines(),
    "from.txt": "moved\n",
    "bin.dat": Buffer.from([0, 1, 2, 255]),
    "script.sh": "echo\n",
    "dir/sub/x.txt": "x\n",
    kind: "a file\n",
  });
  mkdirSync(join(root, "empty"));
  shell(root, "ln -s text.txt link");
  const store = await openStore({ file: ground.file });
  const chat = await store.createConversation({ id: "chat", workspace: { root, watch: false } });
  await turn(chat, "u0", () => writeFiles(root, { "first.txt": "stays\n" }));
  await chat.createBranch("side", { at: "a0", switch: true });
  await turn(chat, "s1", () => writeFiles(root, { "side.txt": "side\n", "text.txt": lines([7, "side"]) }));
  await chat.switchBranch("main");
  await turn(chat, "u1", () => writeFiles(root, { "text.txt": lines([2, "agent"]), "new/deep/f.txt": "new\n" }));
  await turn(chat, "u2", () => {
    shell(root, "rm -r dir empty kind link; mv from.txt to.txt; chmod 755 script.sh; ln -s to.txt link");
    writeFiles(root, { "bin.dat": Buffer.from([0, 9, 9, 255]), "kind/of.txt": "a folder now\n" });
  });
  writeFiles(root, { "text.txt": lines([2, "agent"], [9, "a person"]), "mine.txt": "a person's\n" });
  await turn(chat, "u3", () => {
    writeFiles(root, { "text.txt": lines([2, "agent"], [5, "agent"], [9, "a person"]), "late.txt": "late\n" });
  });
  await store.close();
  const before = ground.files();
  const restore = ground.save();
  // What the heads imply is said by hand, not by the store: the folder at a0, with the person's edits.
  shell(root, "rm -r new to.txt link kind late.txt; mkdir -p dir/sub empty; chmod 644 script.sh; ln -s text.txt link");
  writeFiles(root, {
    "text.txt": lines([9, "a person"]),
    "from.txt": "moved\n",
    "bin.dat": Buffer.from([0, 1, 2, 255]),
    "dir/sub/x.txt": "x\n",
    kind: "a file\n",
  });
  const after = ground.files();
  writeFiles(root, { "text.txt": lines([7, "side"], [9, "a person"]), "side.txt": "side\n" });
  const side = ground.files();
  restore();
  return { before, after, side };
}
