/**
 * Two verbs at once: each commit holds only if the conversation is still what it was decided on (law 3), so whichever
 * comes second is refused or decides anew, and heads, marks and the active branch agree afterwards.
 */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqlite } from "../../src/backends/sqlite/index.js";
import { type Conversation, openStore, RetconError, type Store } from "../../src/index.js";
import { claimHolder } from "../../src/store/holder.js";
import { openFiles } from "../../src/workspace/index.js";
import { compose } from "../builders/compose.js";

let place: string;
let store: Store;
let chat: Conversation;

const folder = () => join(place, "project");
const write = (name: string, text: string) => writeFileSync(join(folder(), name), text);
const read = (name: string) => readFileSync(join(folder(), name), "utf8");

beforeEach(async () => {
  place = mkdtempSync(join(tmpdir(), "retcon-races-"));
  mkdirSync(folder());
  store = await openStore({ file: join(place, "store.db") });
  chat = await store.createConversation({ workspace: { root: folder(), watch: false } });
});

afterEach(async () => {
  await store.close();
  rmSync(place, { recursive: true, force: true });
});

async function turn(text: string, work: () => void = () => undefined): Promise<string> {
  const live = await chat.beginTurn(text);
  work();
  await live.append({ role: "assistant", content: `done: ${text}` });
  await live.end();
  return live.userNodeId;
}

/** Lets a verb begin some steps of the event loop after another, and says of each whether it was refused, and how. */
async function together(
  first: () => Promise<unknown>,
  second: () => Promise<unknown>,
  after: number,
): Promise<string[]> {
  const later = async () => {
    for (let i = 0; i < after; i += 1) await null;
    return second();
  };
  const outcomes = await Promise.allSettled([first(), later()]);
  return outcomes.map((outcome) => {
    if (outcome.status === "fulfilled") return "done";
    if (!(outcome.reason instanceof RetconError)) throw outcome.reason;
    return outcome.reason.code;
  });
}

/** Marks follow heads, and the active branch is one that is there. */
async function requireSound(): Promise<void> {
  const { nodes, branches } = await chat.graph();
  const parents = new Map(nodes.map((node) => [node.id, node.parentId]));
  const reached = new Set<string>();
  for (const branch of branches) {
    for (let id = branch.headId; id !== null && id !== undefined; id = parents.get(id) ?? null) reached.add(id);
  }
  for (const node of nodes) expect([node.id, node.rewound]).toEqual([node.id, !reached.has(node.id)]);
  expect(branches.filter((branch) => branch.active)).toHaveLength(1);
  expect((await store.conversations()).items).toHaveLength(1);
}

describe("[L3] [N4] C6 C33 two verbs at once", () => {
  const verbs: Record<string, () => Promise<unknown>> = {
    beginTurn: async () => (await chat.beginTurn("x")).end(),
    append: () => chat.append({ role: "system", content: "note" }),
    switch: () => chat.switchBranch("side"),
    delete: () => chat.deleteBranch("side"),
    rename: () => chat.renameBranch("side", "other"),
    create: async () => chat.createBranch("keep", { at: (await chat.record()).headId }),
    rewind: () => chat.rewindTurns(1),
    rewindSide: () => chat.rewindTurns(1, { branch: "side" }),
    undo: () => chat.undo(),
  };
  const names = Object.keys(verbs);
  for (const first of names) {
    it(`[L3] [N4] C6 ${first} beside each other verb leaves heads, marks and the active branch sound`, async () => {
      await turn("one");
      for (const second of names) {
        for (const after of [0, 1, 3]) {
          const branches = (await chat.branches()).map((branch) => branch.name);
          if (!branches.includes("main")) await chat.createBranch("main");
          if ((await chat.record()).activeBranch !== "main") await chat.switchBranch("main");
          await turn("again");
          for (const name of ["side", "other", "keep"]) if (branches.includes(name)) await chat.deleteBranch(name);
          await chat.createBranch("side");
          await together(verbs[first] as () => Promise<unknown>, verbs[second] as () => Promise<unknown>, after);
          await requireSound();
        }
      }
      const last = await chat.beginTurn("and it goes on");
      await last.end();
    });
  }
});

it("[L5] a file saved after its own restore and before the restore ends is the person's, and the move goes through", async () => {
  const names = Array.from({ length: 60 }, (_, i) => `f${String(i).padStart(2, "0")}`);
  for (const name of names) write(name, "old\n");
  const u1 = await turn("one", () => {
    for (const name of names) write(name, "new\n");
  });
  let saved = false;
  await chat.rewindTo(u1, {
    onProgress({ done }) {
      if (saved || done < 20) return;
      saved = true;
      write("f00", "a person's\n");
    },
  });
  expect([read("f00"), read("f59"), (await chat.record()).headId]).toEqual(["a person's\n", "old\n", null]);
  await chat.undo({ onConflict: "keep" });
  expect([read("f00"), read("f59")]).toEqual(["a person's\n", "new\n"]);
});

it("[O6] [L5] undo of a rewind of the conversation alone takes with it what turns did since", async () => {
  write("f", "base\n");
  const u1 = await turn("one", () => write("f", "v1\n"));
  await chat.rewindTo(u1, { mode: "conversation" });
  const u2 = await turn("two", () => {
    write("f", "v2\n");
    write("g", "two\n");
  });
  await chat.undo();
  expect(read("f")).toBe("v1\n");
  expect(() => read("g")).toThrow("ENOENT");
  for (let round = 0; round < 2; round += 1) {
    await chat.redo();
    expect([read("f"), read("g"), (await chat.history())[0]?.id]).toEqual(["v2\n", "two\n", u2]);
    await chat.undo();
    expect([read("f"), (await chat.history())[0]?.id]).toEqual(["v1\n", u1]);
  }
});

it("[T6] a store closes whatever its turns do, and leaves no run behind", async () => {
  const live = await chat.beginTurn("hi", { id: "u" });
  const open = await live.open({ role: "assistant", content: "", id: "u" });
  open.write("text");
  await store.close();
  store = await openStore({ file: join(place, "store.db") });
  chat = await store.conversation(chat.id);
  await turn("again");
});

it("[T4] an append beside the end of its turn is part of it or refused, and the turn ends", async () => {
  for (let after = 0; after < 12; after += 1) {
    const live = await chat.beginTurn(`turn ${after}`);
    const append = () => live.append({ role: "assistant", content: "late" });
    const [ended, appended] = await together(() => live.end(), append, after * 3);
    expect(ended).toBe("done");
    const { message } = (await chat.history()).at(-1) as { message: { role: string } };
    expect(appended).toBe(message.role === "assistant" ? "done" : "run_lost");
    await requireSound();
  }
});

it("[T2] C41 a dead run ends although its folder was replaced under a store that had it open", async () => {
  await turn("one", () => write("a.txt", "1\n"));
  const dead = { ...claimHolder("elsewhere"), pid: 2 ** 22 + 1, startedAt: "0" };
  const other = await compose({
    backend: await openSqlite({ file: join(place, "store.db") }),
    openFiles,
    holder: dead,
  });
  const lost = await (await other.conversation(chat.id)).beginTurn("two");
  renameSync(folder(), `${folder()}.aside`);
  mkdirSync(folder());
  const points = await chat.rewindPoints();
  expect((await chat.rewindTo(points[0]?.nodeId as string, { mode: "conversation" })).userText).toBe("two");
  expect((await chat.runs()).at(-1)).toMatchObject({ id: lost.runId, status: "abandoned" });
  await expect(lost.append({ role: "assistant", content: "late" })).rejects.toMatchObject({ code: "run_lost" });
  await other.close();
});

it("[W13] two calls with one id at the same time are both that call's", async () => {
  const live = await chat.beginTurn("tools");
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const results = await Promise.all(
    [20, 60].map((ms) =>
      live.during("same", async () => {
        await wait(ms);
        write(`f${ms}`, "x\n");
        return ms;
      }),
    ),
  );
  expect(results).toEqual([20, 60]);
  expect((await live.end()).changes.map((change) => change.path)).toEqual(["f20", "f60"]);
});

it("[O3] C37 a request that removed nothing removes nothing again", async () => {
  await turn("one");
  const before = await chat.record();
  const first = await chat.rewindToLength(2, { requestId: "r" });
  expect(await chat.record()).toEqual(before);
  await turn("two");
  expect(await chat.rewindToLength(2, { requestId: "r" })).toEqual(first);
  expect(await chat.result("r")).toEqual(first);
  expect(await chat.history()).toHaveLength(4);
});

it("[R12] [R13] keeping goes on where a person's file took a folder's place", async () => {
  for (const options of [{ onConflict: "keep" }, { onUserEdits: "keep" }] as const) {
    rmSync(folder(), { recursive: true });
    mkdirSync(join(folder(), "d/e"), { recursive: true });
    await store.close();
    store = await openStore({ file: join(place, `${Object.keys(options)[0]}.db`) });
    chat = await store.createConversation({ workspace: { root: folder(), watch: false } });
    write("d/e/f", "old\n");
    const u1 = await turn("one", () => rmSync(join(folder(), "d"), { recursive: true }));
    write("d", "a person's file\n");
    const { files } = await chat.rewindTo(u1, options);
    expect(files).toContainEqual({ path: "d/e/f", outcome: "kept", reason: "parent_replaced" });
    expect(read("d")).toBe("a person's file\n");
  }
});

it("[L6] [O6] undo leaves a path that its move had to skip", async () => {
  write("a", "v0\n");
  const u1 = await turn("one", () => {
    write("a", "v1\n");
    write(".gitignore", "none\n");
  });
  write(".gitignore", "none\na\n");
  write("a", "a person's\n");
  const overwrite = { onConflict: "overwrite" } as const;
  await chat.rewindTo(u1, overwrite);
  for (const verb of ["undo", "redo", "undo", "redo"] as const) {
    await chat[verb](overwrite);
    expect(read("a")).toBe("a person's\n");
  }
});

it("[I4] [L7] an import that is refused leaves nothing", async () => {
  const node = (id: string, parentId: string | null, more = {}) => {
    return {
      id,
      parentId,
      createdAt: "2026-01-01T00:00:00Z",
      message: { role: "user" as const, content: id },
      ...more,
    };
  };
  for (const [nodes, headId] of [
    [[node("b", "a")], "b"],
    [[node("a", null)], "z"],
    [[node("a", null), node("b", null, { callerId: "a" })], "b"],
    [[node("a", null, { covers: ["a"] })], "a"],
    [[node("a", null, { covers: "abc" })], "a"],
    [[node("--x", null)], null],
  ] as const) {
    const input = { id: "hostile", nodes: [...nodes] as never, headId };
    await expect(store.importConversation(input)).rejects.toMatchObject({ code: "bad_input" });
    await expect(store.conversation("hostile")).rejects.toMatchObject({ code: "not_found" });
  }
});
