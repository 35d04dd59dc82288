/** The built program as people run it: in a shell, in a pipe, and in front of a terminal. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hasTerminal, Stage, shell, terminal } from "./stage.js";

const history = async (stage: Stage) => (await stage.run("log")).stdout;

test("[K2] data goes to stdout and talk to stderr, so that a rewind's text can be kept in a file", async () => {
  const stage = await new Stage().twoTurns();
  const { code, stdout, stderr } = shell(stage.cwd, "retcon rewind @1 --yes > prompt.txt");
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect(stderr).toContain("rewound 1 turn, 2 nodes");
  expect(readFileSync(join(stage.cwd, "prompt.txt"), "utf8")).toBe("change a, make b\n");
});

test("[K1] the exit code reaches the shell", async () => {
  const stage = await new Stage().twoTurns();
  expect(shell(stage.cwd, "retcon log").code).toBe(0);
  expect(shell(stage.cwd, "retcon lgo").code).toBe(2);
  expect(shell(stage.cwd, "retcon diff nowhere").code).toBe(3);
  expect(shell(stage.cwd, "echo no database > bad.db; retcon log --db bad.db")).toMatchObject({ code: 3, stdout: "" });
  expect(shell(stage.cwd, "retcon --version").stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test("[K2] a reader that closes the pipe early is no failure", async () => {
  const stage = await new Stage().twoTurns();
  await stage.store(async (store) => {
    const chat = await store.conversation("chat-one");
    const content = "x".repeat(4000);
    await chat.append(Array.from({ length: 300 }, () => ({ role: "system" as const, content })));
  });
  const { code, stdout, stderr } = shell(stage.cwd, "set -o pipefail; retcon log | head -1");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("make a");
});

/** Gives a stage to a user for whom rights count; root's own uid would read and write everything. */
function handOver(stage: Stage): number | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const nobody = 65534;
  execFileSync("chown", ["-R", `${nobody}:${nobody}`, stage.cwd]);
  return nobody;
}

test("[K1] a rewind that cannot write a file fails with 1; told to go on, it does, names the file, and still exits with 1", async () => {
  const stage = new Stage();
  const locked = join(stage.root, "locked");
  mkdirSync(locked);
  await stage.store(async (store) => {
    const chat = await store.createConversation({ workspace: { root: stage.root, watch: false } });
    await stage.turn(chat, "1", "make two", () => {
      stage.write("locked/x.txt", "x\n");
      stage.write("y.txt", "y\n");
    });
  });
  const uid = handOver(stage);
  chmodSync(locked, 0o555);
  const stopped = shell(stage.cwd, "retcon rewind @1 --yes", uid);
  expect(stopped).toMatchObject({ code: 1, stdout: "" });
  expect(stopped.stderr).toContain("[restore_failed]\n  locked/x.txt: ");
  expect(existsSync(join(stage.root, "y.txt"))).toBe(true);
  const wentOn = shell(stage.cwd, "retcon rewind @1 --yes --on-file-error continue", uid);
  expect(wentOn).toMatchObject({ code: 1, stdout: "make two\n" });
  expect(wentOn.stderr).toMatch(/failed +locked\/x\.txt/);
  expect(existsSync(join(stage.root, "y.txt"))).toBe(false);
  chmodSync(locked, 0o755);
});

test("[K4] without a terminal a rewind needs --yes, and says so before it looks at anything", async () => {
  const stage = await new Stage().twoTurns();
  const before = await history(stage);
  const { code, stdout, stderr } = shell(stage.cwd, "retcon rewind @1 < /dev/null");
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatchInlineSnapshot(`
    "retcon: nobody can be asked before files change: stdin and stderr are not both terminals [bad_input]
    hint: Look with \`retcon preview\`, then pass --yes.
    "
  `);
  expect(await history(stage)).toBe(before);
});

describe.runIf(hasTerminal())("in a terminal", () => {
  test("[K4] a rewind shows its plan, asks, and does it on yes", async () => {
    const stage = await new Stage().twoTurns();
    const { code, stdout } = terminal(stage.cwd, "rewind @1 > prompt.txt", "y\n");
    expect(code).toBe(0);
    expect(stdout).toContain("back to just before: change a, make b");
    expect(stdout).toMatch(/deleted\S* +b\.txt/);
    expect(stdout.indexOf("b.txt")).toBeLessThan(stdout.indexOf("Rewind? [y/N]"));
    expect(readFileSync(join(stage.cwd, "prompt.txt"), "utf8")).toBe("change a, make b\n");
    expect(existsSync(join(stage.root, "b.txt"))).toBe(false);
  });

  test.each([
    ["no", "n\n", 1],
    ["an empty line", "\n", 1],
    ["Ctrl-D", "\u0004", 1],
    ["Ctrl-C", "\u0003", 130],
  ])("[K4] %s changes nothing", async (_, keys, exit) => {
    const stage = await new Stage().twoTurns();
    const before = await history(stage);
    const { code, stdout } = terminal(stage.cwd, "rewind @1", keys);
    expect(code).toBe(exit);
    expect(stdout).toContain("nothing was changed [aborted]");
    expect(await history(stage)).toBe(before);
    expect(existsSync(join(stage.root, "b.txt"))).toBe(true);
  });

  test("[K4] --yes asks nothing in a terminal either", async () => {
    const stage = await new Stage().twoTurns();
    const { code, stdout } = terminal(stage.cwd, "rewind @1 --yes", "");
    expect(code).toBe(0);
    expect(stdout).not.toContain("[y/N]");
    expect(stdout).toContain("change a, make b\n");
  });

  test("[K4] a conflict is refused before the question", async () => {
    const stage = await new Stage().twoTurns();
    stage.write("a.txt", "one\nmine instead of two\n");
    const { code, stdout } = terminal(stage.cwd, "rewind @1", "");
    expect(code).toBe(3);
    expect(stdout).toContain("[file_conflict]");
    expect(stdout).not.toContain("[y/N]");
  });

  test("[K4] what changed while the question stood is not overrun", async () => {
    const stage = await new Stage().twoTurns();
    const edit = `echo new > '${join(stage.root, "a.txt")}'`;
    const { code, stdout } = terminal(stage.cwd, "rewind @1", "y\n", edit);
    expect(code).toBe(3);
    expect(stdout).toContain("[plan_stale]");
    expect(readFileSync(join(stage.root, "a.txt"), "utf8")).toBe("new\n");
  });
});
