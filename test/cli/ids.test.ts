import { expect, test } from "vitest";
import { Stage } from "./stage.js";

test("[K3] a node is found by id, by unique prefix and by @n", async () => {
  const stage = await new Stage().twoTurns();
  const outputs = await Promise.all(["user-2-second-turn", "user-2", "@1"].map((id) => stage.run(`diff ${id}`)));
  expect(outputs[0]?.stdout).toContain("+++ b/b.txt");
  expect(outputs[1]).toEqual(outputs[0]);
  expect(outputs[2]).toEqual(outputs[0]);
});

test("[K3] @n counts on the branch that is asked for", async () => {
  const stage = await new Stage().twoTurns();
  await stage.store(async (store) => {
    const chat = await store.conversation("chat-one");
    await chat.createBranch("older", { at: "answer-1-first-turn" });
  });
  const preview = await stage.run("preview @1 --branch older --json");
  expect(JSON.parse(preview.stdout)).toMatchObject({ userText: "make a\nplease", branch: "older" });
});

test("[K3] a prefix of several ids is refused, and they are listed", async () => {
  const stage = await new Stage().twoTurns();
  const { code, stdout, stderr } = await stage.run("diff user");
  expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  expect(stderr).toContain("[ambiguous_id]\n");
  expect(stderr).toContain("\n  user-1-first-turn\n  user-2-second-turn\n");
});

test("[K1] an unknown id exits with 3 and names its code", async () => {
  const stage = await new Stage().twoTurns();
  expect(await stage.run("rewind nowhere --yes")).toMatchInlineSnapshot(`
    {
      "code": 3,
      "stderr": "retcon: no node of this conversation has the id "nowhere" [not_found]
    hint: Ids are those that \`retcon log --all\` and \`retcon points\` show.
    ",
      "stdout": "",
    }
  `);
  const { code, stdout } = await stage.run("rewind nowhere --yes --json");
  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toMatchInlineSnapshot(`
    {
      "error": {
        "code": "not_found",
        "data": {
          "id": "nowhere",
          "what": "node",
        },
        "hint": "Ids are those that \`retcon log --all\` and \`retcon points\` show.",
        "message": "no node of this conversation has the id "nowhere"",
      },
    }
  `);
});

test("[K3] a rewind point that is not there is refused with the number of those that are", async () => {
  const stage = await new Stage().twoTurns();
  expect((await stage.run("diff @3")).stderr).toContain(
    "retcon: there is no @3: this branch has only 2 rewind points [not_found]",
  );
  for (const text of ["@0", "@", "@x"]) expect(await stage.run(`diff ${text}`)).toMatchObject({ code: 2 });
});

test("[K1] refusals of the store exit with 3", async () => {
  const stage = await new Stage().twoTurns();
  const codeOf = async (line: string) => {
    const { code, stdout } = await stage.run(`${line} --json`);
    return `${code} ${JSON.parse(stdout).error.code}`;
  };
  expect(await codeOf("undo")).toBe("3 nothing_to_undo");
  expect(await codeOf("switch nowhere")).toBe("3 not_found");
  expect(await codeOf("rewind answer-1 --yes")).toBe("3 not_a_turn");
  expect(await codeOf("log --conversation other")).toBe("3 not_found");
  await stage.run("rewind @1 --yes");
  expect(await codeOf("rewind user-2 --yes")).toMatch(/^3 (already_rewound|not_on_branch)$/);
});

test("[K1] a file in conflict is refused before anything happens, and an option decides it", async () => {
  const stage = await new Stage().twoTurns();
  stage.write("a.txt", "one\nmine instead of two\n");
  const refused = await stage.run("rewind @1 --yes");
  expect(refused).toMatchObject({ code: 3, stdout: "" });
  expect(refused.stderr).toContain("[file_conflict]\n  a.txt: ");
  expect(refused.stderr).toContain("hint: Pass --on-conflict keep");
  expect((await stage.run("log")).stdout).toContain("change a, make b");
  const kept = await stage.run("rewind @1 --yes --on-conflict keep");
  expect(kept).toMatchObject({ code: 0, stdout: "change a, make b\n" });
  expect(kept.stderr).toMatch(/kept +a\.txt/);
});

test("[K1] a live run refuses a rewind with 3", async () => {
  const stage = await new Stage().twoTurns();
  await stage.store(async (store) => {
    const chat = await store.conversation("chat-one");
    const turn = await chat.beginTurn("still at work");
    const { code, stderr } = await stage.run("rewind @2 --yes");
    expect(code).toBe(3);
    expect(stderr).toContain("[run_active]\nhint: Wait for the run to end, or stop the program that runs it.\n");
    await turn.end();
  });
});

test("[K5] without --conversation the newest one is meant, and stderr says which if there are several", async () => {
  const stage = await new Stage().twoTurns();
  await stage.store((store) => store.createConversation({ id: "chat-two" }));
  const newest = await stage.run("log");
  expect(newest.stderr).toContain("note: the conversation changed last, chat-two; --conversation chooses another\n");
  const named = await stage.run("log --conversation chat-o");
  expect(named.stderr).toBe("");
  expect(named.stdout).toContain("make a");
});

test("[K5] a database without a conversation is refused with what to do", async () => {
  const stage = new Stage();
  await stage.store(async () => undefined);
  const { code, stderr } = await stage.run("log");
  expect(code).toBe(3);
  expect(stderr).toContain("there is no conversation in ");
  expect(stderr).toContain("hint: Make one with createConversation(), or bring one in with `retcon import`.");
});
