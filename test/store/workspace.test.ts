/**
 * Which folder a conversation works on: the one it was made with, never another that took its place, and with the options
 * that the folder was first opened with.
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openStore } from "../../src/index.js";

let place: string;

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "retcon-workspace-"));
});

afterEach(() => rmSync(place, { recursive: true, force: true }));

const folder = () => join(place, "project");
const write = (name: string, text: string) => writeFileSync(join(folder(), name), text);

it("[W12] a new conversation on a folder that took another's place leaves the old one's files to the old one", async () => {
  mkdirSync(folder());
  const store = await openStore({ file: ":memory:" });
  const old = await store.createConversation({ workspace: { root: folder(), watch: false } });
  const first = await old.beginTurn("first");
  write("a.txt", "old\n");
  await first.end();
  renameSync(folder(), `${folder()}.aside`);
  mkdirSync(folder());
  const fresh = await store.createConversation({ workspace: { root: folder(), watch: false } });
  const turn = await fresh.beginTurn("second");
  write("a.txt", "new\n");
  expect((await turn.end()).changes.map((change) => change.path)).toEqual(["a.txt"]);
  await expect(old.rewindTo(first.userNodeId)).rejects.toMatchObject({ code: "workspace_changed" });
  expect((await fresh.rewindTo(turn.userNodeId)).restoredPaths).toEqual(["a.txt"]);
  await store.close();
});

it("[W1] a folder keeps the options that it was first opened with, in this process and after a restart", async () => {
  mkdirSync(folder());
  const file = join(place, "store.db");
  const asked = { root: folder(), ignore: ["*.log"], watch: false };
  for (const options of [asked, folder(), asked, { root: folder() }]) {
    const store = await openStore({ file });
    const chat = await store.createConversation({ workspace: options });
    const turn = await chat.beginTurn("write");
    write("kept.txt", `${Math.random()}\n`);
    write("left.log", `${Math.random()}\n`);
    expect((await turn.end()).changes.map((change) => change.path)).toEqual(["kept.txt"]);
    const other = store.createConversation({ workspace: { root: folder(), ignore: [] } });
    await expect(other).rejects.toMatchObject({ code: "workspace_refused" });
    await store.close();
  }
});
