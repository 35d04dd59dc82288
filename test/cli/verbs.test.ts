import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Stage } from "./stage.js";

const read = (stage: Stage, path: string) => readFileSync(join(stage.root, path), "utf8");

test("[K2] log prints the history newest last", async () => {
  const stage = await new Stage().twoTurns();
  expect(await stage.run("log")).toMatchInlineSnapshot(`
    {
      "code": 0,
      "stderr": "",
      "stdout": "user-1-f  user       make a
    answer-1  assistant  Done 1-first-turn.
    user-2-s  user       change a, make b
    answer-2  assistant  Done 2-second-turn.
    ",
    }
  `);
  const last = await stage.run("log --limit 1");
  expect(last.stdout.trim().split("\n")).toHaveLength(1);
  expect(last.stdout).toContain("Done 2");
});

test("[K2] points prints a numbered list", async () => {
  const stage = await new Stage().twoTurns();
  const { code, stdout, stderr } = await stage.run("points");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.replace(/\d\d:\d\d:\d\dZ/g, "HH:MM:SSZ")).toMatchInlineSnapshot(`
    "@1  user-2-s  2026-01-02 HH:MM:SSZ  2 files  +2 -0  change a, make b
    @2  user-1-f  2026-01-02 HH:MM:SSZ  1 file   +1 -0  make a
    "
  `);
});

test("[K2] diff prints what a turn did, and of one path if asked", async () => {
  const stage = await new Stage().twoTurns();
  const { code, stdout, stderr } = await stage.run("diff @1 --path a.txt");
  expect({ code, stderr }).toMatchInlineSnapshot(`
    {
      "code": 0,
      "stderr": "1 file changed, +1 -0
    ",
    }
  `);
  expect(stdout).toContain("--- a/a.txt\n+++ b/a.txt\n@@");
  expect(stdout).toContain("\n+two\n");
  expect(stdout).not.toContain("b.txt");
  expect((await stage.run("diff @1")).stdout).toContain("+++ b/b.txt");
  expect(await stage.run("diff @1 --path none.txt")).toEqual({
    code: 0,
    stdout: "",
    stderr: "none.txt did not change there\n",
  });
});

test("[K2] preview lists the files and changes nothing", async () => {
  const stage = await new Stage().twoTurns();
  expect(await stage.run("preview @1")).toMatchInlineSnapshot(`
    {
      "code": 0,
      "stderr": "",
      "stdout": "rewinds 1 turn, 2 nodes; then the head of main is answer-1
      restored   a.txt
      deleted    b.txt
    ",
    }
  `);
  expect(existsSync(join(stage.root, "b.txt"))).toBe(true);
});

test("[K2] rewind prints the person's text on stdout and the summary on stderr; undo and redo follow", async () => {
  const stage = await new Stage().twoTurns();
  expect(await stage.run("rewind @1 --yes")).toMatchInlineSnapshot(`
    {
      "code": 0,
      "stderr": "rewound 1 turn, 2 nodes; the head of main is answer-1
    files: 1 restored, 1 deleted
      restored   a.txt
      deleted    b.txt
    \`retcon undo\` takes this back
    ",
      "stdout": "change a, make b
    ",
    }
  `);
  expect(read(stage, "a.txt")).toBe("one\n");
  expect(existsSync(join(stage.root, "b.txt"))).toBe(false);
  expect(await stage.run("log --all")).toMatchInlineSnapshot(`
    {
      "code": 0,
      "stderr": "",
      "stdout": "user-1-f  user                make a
    answer-1  assistant           Done 1-first-turn.
    user-2-s  user       rewound  change a, make b
    answer-2  assistant  rewound  Done 2-second-turn.
    ",
    }
  `);
  expect(await stage.run("undo")).toMatchInlineSnapshot(`
    {
      "code": 0,
      "stderr": "undone; the head of main is answer-2
    files: 1 restored, 1 created
      restored   a.txt
      created    b.txt
    ",
      "stdout": "",
    }
  `);
  expect(read(stage, "a.txt")).toBe("one\ntwo\n");
  expect(await stage.run("redo")).toMatchObject({ code: 0, stdout: "" });
  expect(read(stage, "a.txt")).toBe("one\n");
});

test("[K2] rewind --mode conversation leaves the files alone", async () => {
  const stage = await new Stage().twoTurns();
  const { code, stdout } = await stage.run("rewind @2 --yes --mode conversation");
  expect({ code, stdout }).toEqual({ code: 0, stdout: "make a\nplease\n" });
  expect(read(stage, "a.txt")).toBe("one\ntwo\n");
  expect((await stage.run("log")).stderr).toBe("this branch is empty\n");
});

test("[K2] resume prints the branch it made; branches and switch go between", async () => {
  const stage = await new Stage().twoTurns();
  await stage.run("rewind @1 --yes");
  const resumed = await stage.run("resume user-2-s --name again");
  expect(resumed).toMatchObject({ code: 0, stdout: "again\n" });
  expect(read(stage, "b.txt")).toBe("b\n");
  const listed = (await stage.run("branches")).stdout;
  expect(listed).toMatch(/^\* again {2}answer-2\S* {2}\d{4}-/m);
  expect(listed).toMatch(/^ {2}main {3}answer-1/m);
  expect(await stage.run("switch main")).toMatchInlineSnapshot(`
    {
      "code": 0,
      "stderr": "switched to main; the head of main is answer-1
    files: 1 restored, 1 deleted
      restored   a.txt
      deleted    b.txt
    ",
      "stdout": "",
    }
  `);
  expect(existsSync(join(stage.root, "b.txt"))).toBe(false);
});

test("[K2] each verb prints with --json what the library returns, and nothing else on stdout", async () => {
  const stage = await new Stage().twoTurns();
  const json = async (line: string) => {
    const { code, stdout, stderr } = await stage.run(`${line} --json`);
    expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: "" });
    return JSON.parse(stdout);
  };
  await stage.store(async (store) => {
    const chat = await store.conversation("chat-one");
    expect(await json("log")).toEqual(await chat.history());
    expect(await json("points")).toEqual(await chat.rewindPoints());
    expect(await json("branches")).toEqual(await chat.branches());
    const nodeId = "user-2-second-turn";
    const [diff, changes] = [await chat.diff(nodeId), await chat.changes(nodeId)];
    expect(await json("diff @1")).toEqual({ nodeId, diff, changes });
  });
  const preview = await json("preview @1");
  expect(preview).toMatchObject({ turnsReverted: 1, userText: "change a, make b", newHeadId: "answer-1-first-turn" });
  const rewound = await json("rewind @1 --yes");
  expect(rewound).toMatchObject({ branch: "main", nodesRewound: expect.arrayContaining(["user-2-second-turn"]) });
  expect(rewound.restoredPaths.sort()).toEqual(["a.txt", "b.txt"]);
  expect(rewound.files).toEqual(preview.files);
  expect(await json("undo")).toMatchObject({ newHeadId: "answer-2-second-turn" });
  expect(await json("redo")).toMatchObject({ newHeadId: "answer-1-first-turn" });
  expect(await json("resume user-2 --name again")).toMatchObject({ branch: "again" });
  expect(await json("switch main")).toMatchObject({ branch: "main" });
});
