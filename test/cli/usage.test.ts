import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exitCodeOf, exitCodes } from "../../src/cli/exit.js";
import { verbs } from "../../src/cli/verbs.js";
import { RetconError } from "../../src/core/errors.js";
import { folder, retcon } from "./stage.js";

test("[K1] every error code has its exit code", () => {
  const codesOf = (exit: number) =>
    Object.entries(exitCodes)
      .flatMap(([code, found]) => (found === exit ? [code] : []))
      .sort()
      .join(" ");
  expect({ 1: codesOf(1), 2: codesOf(2), 3: codesOf(3) }).toMatchInlineSnapshot(`
    {
      "1": "aborted cancel_timeout closed corrupt restore_failed run_lost storage_full",
      "2": "bad_input",
      "3": "already_rewound ambiguous_id blob_missing branch_active branch_exists busy crosses_thread database_foreign database_newer file_conflict head_moved id_exists not_a_turn not_found not_on_branch not_supported nothing_to_undo path_outside plan_stale read_only request_reused run_active workspace_changed workspace_refused",
    }
  `);
});

test("[K1] a call that its signal ended exits with 130, one that was given up otherwise with 1", () => {
  const error = new RetconError("aborted", "stopped", {});
  expect(exitCodeOf(error, AbortSignal.abort())).toBe(130);
  expect(exitCodeOf(error, undefined)).toBe(1);
  expect(exitCodeOf(new TypeError("a fault"), undefined)).toBe(1);
});

test.each(verbs.map((verb) => verb.name))("[K1] %s --help exits with 0 and shows an example", async (name) => {
  const { code, stdout, stderr } = await retcon(folder(), [name, "--help"]);
  expect(code).toBe(0);
  expect(stderr).toBe("");
  expect(stdout).toContain(`Usage: retcon ${name} `);
  expect(stdout).toContain(`Examples:\n  retcon ${name}`);
  expect(stdout).toContain("--json");
});

test("[K1] --help lists the verbs and exits with 0; no verb at all is wrong usage", async () => {
  const help = await retcon(folder(), ["--help"]);
  expect(help).toMatchObject({ code: 0, stderr: "" });
  expect(help.stdout).toMatchInlineSnapshot(`
    "Usage: retcon <verb> [options]

    Rewinds a conversation together with its files.

    Options:
      -V, --version                     output the version number
      -h, --help                        display help for command

    Commands:
      log [options]                     show the history of a branch, newest last
      points [options]                  list the rewind points, newest first
      diff [options] <node>             show what a turn did to the files
      preview [options] <node>          show what a rewind would do, without doing it
      rewind [options] <node>           take the conversation and its files back to before a message
      undo [options]                    take back the newest rewind, switch or resume
      redo [options]                    do again what undo took back
      branches [options]                list the branches, with a star at the active one
      switch [options] <branch>         make another branch the active one; the files follow
      resume [options] <node>           go on from an abandoned or rewound node, on a branch of its own
      import [options] <format> <file>  import a transcript as a conversation
      help [command]                    display help for command

    Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused, 130 interrupted.
    Nodes are named by id, by a unique prefix of it, or as @1 (the newest rewind point), @2 and so on.

    Example:
      retcon rewind @1
          take back the newest turn, files included, and print its text
    "
  `);
  const nothing = await retcon(folder(), []);
  expect(nothing).toMatchObject({ code: 2, stdout: "" });
  expect(nothing.stderr).toContain("Usage: retcon <verb>");
});

test("[K1] an unknown verb exits with 2 and suggests the nearest", async () => {
  expect(await retcon(folder(), ["rewnd"])).toMatchInlineSnapshot(`
    {
      "code": 2,
      "stderr": "retcon: unknown command 'rewnd' (Did you mean rewind?) [bad_input]
    hint: See \`retcon --help\`, or \`retcon <verb> --help\`; options stand behind the verb.
    ",
      "stdout": "",
    }
  `);
});

test.each([
  ["rewind"],
  ["log extra"],
  ["log --limit none"],
  ["log --nonsense"],
  ["log --db "],
  ["diff "],
  ["--db chat.db log"],
  ["rewind @1 --yes --mode all"],
  ["import codex file.jsonl"],
])("[K1] %s is wrong usage", async (line) => {
  const cwd = folder();
  const { code, stdout, stderr } = await retcon(cwd, line.split(" "));
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(/^retcon: .* \[\w+\]\nhint: .*\n$/);
  expect(readdirSync(cwd)).toEqual([]);
});

test("[K2] wrong usage with --json is an error object on stdout", async () => {
  const { code, stdout, stderr } = await retcon(folder(), ["log", "--json", "--limit", "0"]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: "" });
  expect(JSON.parse(stdout)).toMatchInlineSnapshot(`
    {
      "error": {
        "code": "bad_input",
        "data": {
          "field": "argv",
          "reason": "option '--limit <n>' argument '0' is invalid. It must be a whole number from 1.",
        },
        "hint": "See \`retcon --help\`, or \`retcon <verb> --help\`; options stand behind the verb.",
        "message": "option '--limit <n>' argument '0' is invalid. It must be a whole number from 1.",
      },
    }
  `);
});

test("[K5] where there is no database a verb that reads or moves refuses, says what to do and makes none", async () => {
  for (const line of [
    "log",
    "points",
    "diff @1",
    "preview @1",
    "rewind @1 --yes",
    "undo",
    "redo",
    "branches",
    "switch main",
  ]) {
    const cwd = folder();
    const { code, stderr } = await retcon(cwd, line.split(" "));
    expect(code).toBe(3);
    expect(stderr).toBe(
      "retcon: there is no retcon.db in this folder [not_found]\n" +
        "hint: Pass --db FILE, set RETCON_DB, or change to the folder that holds it; `retcon import` makes one.\n",
    );
    expect(readdirSync(cwd)).toEqual([]);
  }
});

test("[K5] a database that was named but is not there is refused by its name", async () => {
  const cwd = folder();
  const byFlag = await retcon(cwd, ["log", "--db", "other.db"]);
  expect(byFlag.code).toBe(3);
  expect(byFlag.stderr).toContain(`there is no database at ${join(cwd, "other.db")} [not_found]\nhint: Check --db;`);
  const byEnv = await retcon(cwd, ["log"], { env: { RETCON_DB: "env.db" } });
  expect(byEnv.stderr).toContain(`${join(cwd, "env.db")} [not_found]\nhint: Check RETCON_DB;`);
  expect(existsSync(join(cwd, "other.db"))).toBe(false);
});
