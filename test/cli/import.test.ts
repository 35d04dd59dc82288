import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folder, retcon } from "./stage.js";

/** A transcript of one turn: a person asks, the program writes a file, and says so. */
function transcript(cwd: string): string {
  const session = "11111111-1111-4111-8111-111111111111";
  const uuid = (n: number) => `${n}0000000-0000-4000-8000-000000000000`;
  const line = (n: number, message: { role: string; content: unknown; id?: string }, more: object = {}) => {
    const timestamp = `2026-01-02T10:00:0${n}.000Z`;
    const parentUuid = n === 1 ? null : uuid(n - 1);
    const place = { uuid: uuid(n), parentUuid, sessionId: session, timestamp, cwd: "/project", isSidechain: false };
    return JSON.stringify({ type: message.role, ...place, version: "2.1.0", userType: "external", message, ...more });
  };
  const input = { file_path: "/project/hello.txt", content: "hello\n" };
  const result = { type: "create", filePath: input.file_path, content: input.content, structuredPatch: [] };
  const lines = [
    line(1, { role: "user", content: "write hello" }),
    line(2, {
      role: "assistant",
      id: "msg_1",
      content: [{ type: "tool_use", id: "toolu_1", name: "Write", input }],
    }),
    line(
      3,
      { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "ok" }] },
      {
        toolUseResult: result,
      },
    ),
    line(4, { role: "assistant", id: "msg_2", content: [{ type: "text", text: "Written." }] }),
    "{ this line is cut",
  ];
  const file = join(cwd, `${session}.jsonl`);
  writeFileSync(file, `${lines.join("\n")}\n`);
  return file;
}

test("[K5] import makes the database, prints the conversation's id, and says what it read", async () => {
  const cwd = folder();
  const file = transcript(cwd);
  const first = await retcon(cwd, ["import", "claude-code", file]);
  expect({ ...first, stderr: first.stderr.replaceAll(cwd, "CWD") }).toMatchInlineSnapshot(`
    {
      "code": 0,
      "stderr": "note: making the database CWD/retcon.db
    read 5 lines: 4 nodes on 1 branch and 0 side chains, 4 of them new
    1 line skipped:
      line 5: not a JSON object
    ",
      "stdout": "claude-code:11111111-1111-4111-8111-111111111111
    ",
    }
  `);
  const again = await retcon(cwd, ["import", "claude-code", file, "--json"]);
  expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(again.stdout)).toMatchObject({ conversationId: first.stdout.trim(), added: 0, skipped: 1 });
  expect((await retcon(cwd, ["log"])).stdout).toContain("write hello");
});

test("[K2] import --replay makes the files again, so that the turns can be rewound with them", async () => {
  const cwd = folder();
  const file = transcript(cwd);
  const imported = await retcon(cwd, ["import", "claude-code", file, "--replay", "again", "--db", "chats.db"]);
  expect(imported.code).toBe(0);
  expect(imported.stderr).toContain("1 edit replayed\n");
  expect(readFileSync(join(cwd, "again/hello.txt"), "utf8")).toBe("hello\n");
  const { stdout } = await retcon(cwd, ["rewind", "@1", "--yes", "--db", "chats.db"]);
  expect(stdout).toBe("write hello\n");
  expect(existsSync(join(cwd, "again/hello.txt"))).toBe(false);
});

test("[K1] a transcript that is not there is refused, and no database is made", async () => {
  const cwd = folder();
  const { code, stderr } = await retcon(cwd, ["import", "claude-code", "none.jsonl"]);
  expect(code).toBe(3);
  expect(stderr).toContain(`there is no file ${join(cwd, "none.jsonl")} [not_found]`);
  expect(readdirSync(cwd)).toEqual([]);
});

test("[K1] an import whose signal is aborted brings nothing in and exits with 130", async () => {
  const cwd = folder();
  const file = transcript(cwd);
  const { code, stdout } = await retcon(cwd, ["import", "claude-code", file], { signal: AbortSignal.abort() });
  expect({ code, stdout }).toEqual({ code: 130, stdout: "" });
  expect((await retcon(cwd, ["log"])).stderr).toContain("there is no conversation in ");
});
