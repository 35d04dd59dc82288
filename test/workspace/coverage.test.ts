import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { covers } from "../../src/workspace/rules/coverage.js";
import { Folder, quiet, shell, temporaryFolder, write } from "./folder.js";

let home: string;

beforeEach(() => {
  home = temporaryFolder();
  const before = { HOME: process.env.HOME, XDG_CONFIG_HOME: process.env.XDG_CONFIG_HOME };
  process.env.HOME = home;
  delete process.env.XDG_CONFIG_HOME;
  onTestFinished(() => {
    process.env.HOME = before.HOME;
    if (before.XDG_CONFIG_HOME !== undefined) process.env.XDG_CONFIG_HOME = before.XDG_CONFIG_HOME;
  });
});

async function captured(folder: Folder): Promise<string[]> {
  await folder.sync();
  return [...folder.index.values()].filter((entry) => entry.state.kind === "file").map((entry) => entry.path);
}

describe("rules", () => {
  test("[W1] F23 rule files of every level, the private and the global excludes hold, and .retconignore", async () => {
    const folder = await Folder.open({
      ".gitignore": "*.log\n/out\n!keep.log\n",
      ".retconignore": "secret\n",
      ".git/info/exclude": "private.txt\n",
      "a.log": "",
      "keep.log": "",
      "out/x": "",
      "sub/out/x": "",
      "sub/.gitignore": "!*.log\n/only-here\n",
      "sub/b.log": "",
      "sub/only-here": "",
      "only-here": "",
      "private.txt": "",
      "global.txt": "",
      secret: "",
      "node_modules/m/index.js": "",
    });
    write(home, { ".config/git/ignore": "global.txt\n" });
    expect(await captured(folder)).toEqual([
      ".gitignore",
      ".retconignore",
      "keep.log",
      "only-here",
      "sub/.gitignore",
      "sub/b.log",
      "sub/out/x",
    ]);
  });

  test("[W1] F23 F41 core.excludesFile is read from the user's file, and GIT_ variables have no effect", async () => {
    write(home, {
      ".gitconfig": '[user]\n\tname = x\n[core]\n\texcludesFile = "~/my ignores"\n',
      "my ignores": "mine\n",
    });
    const other = temporaryFolder();
    write(other, { config: `[core]\n excludesFile = ${other}/all\n`, all: "*\n" });
    process.env.GIT_CONFIG_GLOBAL = join(other, "config");
    process.env.GIT_DIR = other;
    onTestFinished(() => {
      delete process.env.GIT_CONFIG_GLOBAL;
      delete process.env.GIT_DIR;
    });
    expect(await captured(await Folder.open({ mine: "", yours: "" }))).toEqual(["yours"]);
  });

  test("[W1] F33 F34 a folder without git is captured, and goes on when it becomes a repository", async () => {
    const folder = await Folder.open({ "a.txt": "a" });
    expect(await captured(folder)).toEqual(["a.txt"]);
    shell(folder.root, "git init -q && git add -A");
    expect(await folder.sync()).toEqual({});
    folder.write({ "b.txt": "" });
    expect(await folder.sync()).toEqual({ "b.txt": "absent → file" });
  });

  test("[W1] F28 F57 the files of nested repositories are captured, their .git folders never", async () => {
    const folder = await Folder.open({ "nested/x": "x", "deep/.GIT/config": "", "plain/.git": "gitdir: elsewhere" });
    shell(folder.root, "cd nested && git init -q");
    expect(await captured(folder)).toEqual(["nested/x"]);
  });

  test("[W1] options: ignore takes out, include brings back, also from an ignored folder", async () => {
    const folder = await Folder.open(
      {
        ".gitignore": ".env\nbuild/\n",
        ".env": "precious",
        "sub/.env": "precious",
        "build/.env": "left",
        "build/keep/a.txt": "kept",
        "build/keep/b.bin": "left",
        "build/other/c.txt": "left",
        "node_modules/mine/x/y.js": "kept",
        "node_modules/theirs/x.js": "left",
        "tmp/x": "left",
      },
      { ignore: ["tmp"], include: [".env", "build/keep/*.txt", "/node_modules/mine"] },
    );
    const paths = await captured(folder);
    expect(paths).toEqual([".env", ".gitignore", "build/keep/a.txt", "node_modules/mine/x/y.js", "sub/.env"]);
    const rules = folder.rules;
    if (rules === null) throw new TypeError("no rules");
    for (const path of [...paths, "build/", "build/keep/", "build/keep/new.txt"])
      expect(covers(rules, path)).toBe(true);
    for (const path of ["build/.env", "build/other/", "build/other/c.txt", "tmp/x", "node_modules/theirs/"]) {
      expect(covers(rules, path), path).toBe(false);
    }
  });

  test("[W1] an announced path is covered although it is ignored", async () => {
    const folder = await Folder.open({ ".gitignore": "build/\n", "build/a": "a", "build/b": "b" });
    await folder.sync();
    folder.index.set("build/a", { path: "build/a", state: { kind: "absent" }, stat: null, announced: true });
    expect(await folder.sync()).toEqual({
      build: "unknown not_covered_before → directory",
      "build/a": "absent → file",
    });
  });

  test("[W1] rules survive being stored as JSON, and two looks have the same", async () => {
    const folder = await Folder.open({ ".gitignore": "x", "b/.gitignore": "y", "a/.retconignore": "z" });
    await folder.sync();
    await quiet();
    folder.rules = JSON.parse(JSON.stringify(folder.rules));
    expect((await folder.observe()).rulesChanged).toBe(false);
    folder.write({ "b/.gitignore": "other" });
    expect((await folder.observe()).rulesChanged).toBe(true);
  });
});

describe("git", () => {
  const git = (root: string, ...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd: root, encoding: "utf8" });

  test.each(["2", "3", "4"])(
    "[W1] F24 F32 F36 a force-added but ignored file is covered, index version %s",
    async (version) => {
      const folder = await Folder.open({
        ".gitignore": "*.log\nbuild/\n",
        "a.log": "",
        "b.log": "",
        "build/deep/é.o": "",
        "build/x.o": "",
      });
      git(folder.root, "init", "-q");
      git(folder.root, "add", "-f", "a.log", "build/deep/é.o", ".gitignore");
      if (version === "3") {
        folder.write({ "later.txt": "" });
        git(folder.root, "add", "-N", "later.txt");
      } else git(folder.root, "update-index", "--index-version", version);
      const before = git(folder.root, "ls-files", "--stage", "--debug");
      expect(await captured(folder)).toEqual([
        ".gitignore",
        "a.log",
        "build/deep/é.o",
        ...(version === "3" ? ["later.txt"] : []),
      ]);
      expect(folder.rules?.tracked).toEqual(["a.log", "build/deep/é.o"]);
      expect(git(folder.root, "ls-files", "--stage", "--debug")).toBe(before);
      if (folder.rules !== null) {
        expect(covers(folder.rules, "a.log")).toBe(true);
        expect(covers(folder.rules, "b.log")).toBe(false);
      }
    },
  );

  test("[W1] F31 F35 F37 F40 the user's git is not asked, not changed, and cannot hide a change", async () => {
    const folder = await Folder.open({ a: "a\n", b: "b\n", c: "c\n" });
    git(folder.root, "init", "-qb", "main");
    git(folder.root, "add", "-A");
    git(folder.root, "commit", "-qm", "one");
    git(folder.root, "checkout", "-qb", "side");
    folder.write({ a: "side\n" });
    git(folder.root, "commit", "-qam", "two");
    git(folder.root, "checkout", "-q", "main");
    folder.write({ a: "main\n" });
    git(folder.root, "commit", "-qam", "three");
    shell(folder.root, "git -c user.name=t -c user.email=t@t merge side || true");
    git(folder.root, "update-index", "--assume-unchanged", "b");
    git(folder.root, "update-index", "--skip-worktree", "c");
    shell(
      folder.root,
      "git config core.fsmonitor /bin/false; git config commit.gpgsign true; git config core.autocrlf true",
    );
    const look = () =>
      shell(
        folder.root,
        "git --no-optional-locks status --porcelain -b; git for-each-ref; git ls-files --stage; cat .git/index | sha256sum",
      );
    const before = look();
    await folder.sync();
    folder.write({ b: "B\n", c: "C\n" });
    expect(await folder.sync()).toEqual({ b: "file → file", c: "file → file" });
    folder.write({ b: "b\n", c: "c\n" });
    expect(look()).toBe(before);
  });

  test("[W1] F148 a git index that cannot be parsed tracks nothing and does no harm", async () => {
    const folder = await Folder.open({ ".gitignore": "*.log\n", "a.log": "" });
    git(folder.root, "init", "-q");
    git(folder.root, "add", "-f", "a.log");
    writeFileSync(folder.place(".git/index"), "DIRC\0\0\0\x02\0\0\0\u0039 rubbish");
    expect(await captured(folder)).toEqual([".gitignore"]);
  });

  test("[W1] F38 a linked worktree has its own tracked files and the repository's private excludes", async () => {
    const main = await Folder.open({ ".gitignore": "*.log\n" });
    git(main.root, "init", "-q");
    git(main.root, "add", "-A");
    git(main.root, "commit", "-qm", "x");
    const place = join(temporaryFolder(), "linked");
    git(main.root, "worktree", "add", "-q", place);
    writeFileSync(join(main.root, ".git/info/exclude"), "private\n");
    const linked = await Folder.open({ private: "", "a.log": "", "b.log": "" }, { root: place });
    git(place, "add", "-f", "a.log");
    expect(await captured(linked)).toEqual([".gitignore", "a.log"]);
    expect(await captured(main)).toEqual([".gitignore"]);
  });

  test("[W1] F23 random rule files cover what git does not ignore", async () => {
    const name = fc.constantFrom("a", "b", "c", "ab", "a.log", "b.log", "x y", "[a]", "!a", "#b");
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
    const glob = fc.constantFrom(
      "a",
      "b",
      "*",
      "*.log",
      "a*",
      "?",
      "[ab]",
      "\\[a]",
      "\\!a",
      "\\#b",
      "**",
      "x y",
      "c",
      "[!a]",
    );
    const pattern = fc
      .record({
        not: fc.constantFrom("", "", "!"),
        lead: fc.constantFrom("", "/"),
        globs: fc.array(glob, { minLength: 1, maxLength: 3 }),
        tail: fc.constantFrom("", "/"),
      })
      .map(({ not, lead, globs, tail }) => not + lead + globs.join("/") + tail);
    const rules = fc.array(pattern, { maxLength: 5 }).map((lines) => lines.join("\n"));
    const folders = fc.constantFrom("", "a", "b", "a/b", "x y", "[a]", "!a", "#b");
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(path, { maxLength: 12 }),
        fc.dictionary(folders, rules, { maxKeys: 3 }),
        async (paths, texts) => {
          const root = temporaryFolder();
          git(root, "init", "-q");
          for (const file of paths) tryWrite(root, file);
          for (const [folder, text] of Object.entries(texts)) tryWrite(root, `${folder}/.gitignore`, text);
          const folder = await Folder.open({}, { root });
          const expected = git(root, "ls-files", "-oz", "--exclude-standard").split("\0").filter(Boolean);
          expect((await captured(folder)).sort()).toEqual(expected.sort());
        },
      ),
      { numRuns: 20 },
    );
  }, 60_000);
});

/** Writes a file unless another one is in the way. */
function tryWrite(root: string, path: string, text = ""): void {
  try {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), text);
  } catch (error) {
    if (!["EEXIST", "ENOTDIR", "EISDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}
