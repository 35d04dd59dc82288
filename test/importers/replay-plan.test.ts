import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyEdits, extendedFor } from "../../src/importers/claude-code/replay/edits.js";
import { Folder } from "../../src/importers/claude-code/replay/folder.js";
import { mapPath } from "../../src/importers/claude-code/replay/paths.js";
import { planReplay } from "../../src/importers/claude-code/replay/plan.js";
import { Session } from "./session.js";

const edit = (oldText: string, newText: string, all = false) => ({ oldText, newText, all });

describe("edits", () => {
  it("[I6] apply one after the other, and not at all where the old text is missing", () => {
    expect(applyEdits("a b a", [edit("a", "c"), edit("c b", "d")])).toBe("d a");
    expect(applyEdits("a b a", [edit("a", "$&", true)])).toBe("$& b $&");
    expect(applyEdits("a", [edit("z", "y")])).toBeUndefined();
    expect(applyEdits(null, [edit("", "new")])).toBe("new");
    expect(applyEdits("full", [edit("", "new")])).toBeUndefined();
  });

  it("[I6] deleting the text of a line takes the line", () => {
    expect(applyEdits("one\ntwo\nthree\n", [edit("two", "")])).toBe("one\nthree\n");
    expect(applyEdits("one two three", [edit("two", "")])).toBe("one  three");
  });

  it("[I6] a file is made up from old texts so that all edits apply", () => {
    const calls = [
      { edits: [edit("alpha", "beta")], pieces: [] },
      { edits: [edit("beta", "gamma"), edit("other", "place")], pieces: [] },
    ];
    expect(extendedFor(null, calls)).toBe("alpha\nother");
    expect(extendedFor("other here\n", calls)).toBe("other here\nalpha");
    const shown = [{ edits: [edit("middle", "m")], pieces: ["first\nmiddle\nlast"] }];
    expect(extendedFor(null, shown)).toBe("first\nmiddle\nlast");
    expect(extendedFor(null, [{ edits: [edit("x", "y", true), edit("x", "z")], pieces: [] }])).toBeUndefined();
  });

  it("[I6] whatever is made up, the edits apply to it", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "\n"), maxLength: 5 });
    const call = fc.record({
      edits: fc.array(fc.record({ oldText: text, newText: text, all: fc.boolean() }), { maxLength: 3 }),
      pieces: fc.array(text, { maxLength: 2 }),
    });
    fc.assert(
      fc.property(fc.option(text), fc.array(call, { maxLength: 4 }), (file, calls) => {
        const seed = extendedFor(file, calls);
        if (seed === undefined) return;
        expect(seed.startsWith(file ?? "")).toBe(true);
        expect(
          applyEdits(
            seed,
            calls.flatMap(({ edits }) => edits),
          ),
        ).toBeDefined();
      }),
    );
  });
});

describe("paths", () => {
  it("[I6] paths of the session's folder are mapped, others are not", () => {
    const home = "/home/ann/shop";
    expect(mapPath("/home/ann/shop/src/a.ts", home, home)).toEqual({ path: "src/a.ts" });
    expect(mapPath("src/../b.ts", home, home)).toEqual({ path: "b.ts" });
    expect(mapPath("a.ts", home, "/home/ann/shop/src")).toEqual({ path: "src/a.ts" });
    for (const path of [
      "/etc/passwd",
      "../x",
      "/home/ann/shop/../bank",
      "/home/ann/shopping/x",
      home,
      "",
      "a\0b",
      ".git/hooks/x",
      "sub/.GIT/config",
    ]) {
      expect(mapPath(path, home, home)).toHaveProperty("problem");
    }
    expect(mapPath("a.ts", home, "/elsewhere")).toHaveProperty("problem");
    expect(mapPath("/a.ts", undefined, undefined)).toHaveProperty("problem");
  });

  it("[I6] paths of another system are read by its rules", () => {
    const home = "e:\\Work\\shop";
    expect(mapPath("E:\\Work\\shop\\src\\a.ts", home, home)).toEqual({ path: "src/a.ts" });
    expect(mapPath("src\\a.ts", home, home)).toEqual({ path: "src/a.ts" });
    expect(mapPath("d:\\Work\\shop\\a.ts", home, home)).toHaveProperty("problem");
    expect(mapPath("..\\bank", home, home)).toHaveProperty("problem");
    expect(mapPath("sub\\.git\\config", home, home)).toHaveProperty("problem");
  });
});

describe("the folder", () => {
  function place() {
    const outer = mkdtempSync(join(tmpdir(), "retcon-folder-"));
    const root = join(outer, "in");
    mkdirSync(root);
    writeFileSync(join(outer, "secret"), "untouched");
    return { outer, root, secret: () => readFileSync(join(outer, "secret"), "utf8") };
  }

  it("[I6] writes and reads inside, folders included, and leaves nothing else behind", async () => {
    const { root } = place();
    const folder = await Folder.at(root);
    expect(await folder.write("a/b/c.txt", "one")).toBeUndefined();
    expect(await folder.read("a/b/c.txt")).toEqual({ text: "one" });
    expect(await folder.read("a/b/none")).toEqual({ text: null });
    expect(readdirSync(root, { recursive: true }).sort()).toEqual(["a", "a/b", "a/b/c.txt"]);
  });

  it("[I6] never writes outside through .., a link to a file, or a link to a folder", async () => {
    const { outer, root, secret } = place();
    const folder = await Folder.at(root);
    symlinkSync(join(outer, "secret"), join(root, "link"));
    symlinkSync(outer, join(root, "door"));
    symlinkSync(join(outer, "not-yet"), join(root, "dangling"));
    for (const path of ["../secret", "link", "door/secret", "door/new/x", "dangling", "a/../../secret", "/secret"]) {
      expect(await folder.write(path, "broken"), path).toBeTypeOf("string");
      expect(await folder.read(path), path).toHaveProperty("problem");
    }
    expect(secret()).toBe("untouched");
    expect(readdirSync(outer).sort()).toEqual(["in", "secret"]);
  });

  it("[I6] another name of the same file keeps its bytes, and the mode stays", async () => {
    const { outer, root, secret } = place();
    const folder = await Folder.at(root);
    linkSync(join(outer, "secret"), join(root, "twin"));
    expect(await folder.write("twin", "changed")).toBeUndefined();
    expect([secret(), readFileSync(join(root, "twin"), "utf8")]).toEqual(["untouched", "changed"]);
    writeFileSync(join(root, "tool.sh"), "old", { mode: 0o755 });
    await folder.write("tool.sh", "new");
    expect(statSync(join(root, "tool.sh")).mode & 0o777).toBe(0o755);
  });

  it("[I6] what stands in the way is said", async () => {
    const { root } = place();
    const folder = await Folder.at(root);
    mkdirSync(join(root, "dir"));
    writeFileSync(join(root, "file"), "");
    expect(await folder.write("dir", "x")).toBe("a directory is in the way");
    expect(await folder.write("file/x", "x")).toBe("a file stands where a folder should be");
  });
});

describe("the plan", () => {
  const befores = async (session: Session) =>
    planReplay(await session.read()).flatMap(({ calls }) => calls.map(({ callId, before }) => [callId, before]));

  it("[I6] what a file was comes from the result, else from what was read or written before", async () => {
    const session = new Session();
    session.prompt("go");
    session.edit("c1", "a.txt", "two", "2", { originalFile: "one\ntwo\n" });
    session.edit("c2", "a.txt", "one", "1");
    session.call("c3", "Read", { file_path: "b.txt" });
    session.result("c3", {}, { content: "     1→red\n     2→green\n\n<system-reminder>be careful</system-reminder>" });
    session.edit("c4", "b.txt", "green", "blue");
    session.edit("c5", "c.txt", "unseen", "seen");
    session.edit("c6", "b.txt", "never there", "x");
    expect(await befores(session)).toEqual([
      ["c1", "one\ntwo\n"],
      ["c2", "one\n2\n"],
      ["c4", "red\ngreen"],
      ["c5", undefined],
      ["c6", undefined],
    ]);
  });

  it("[I6] what one branch did to a file is not known on another", async () => {
    const session = new Session();
    session.prompt("go", { uuid: "u1" });
    session.write("c1", "a.txt", "one\n");
    const fork = session.say("made");
    session.prompt("left");
    session.edit("c2", "a.txt", "one", "left");
    session.backTo(fork).prompt("right");
    session.edit("c3", "a.txt", "one", "right");
    session.edit("c4", "a.txt", "right", "further right");
    expect(await befores(session)).toEqual([
      ["c1", null],
      ["c2", "one\n"],
      ["c3", "one\n"],
      ["c4", "right\n"],
    ]);
  });

  it("[I6] what a sub-agent did to a file is known to its caller", async () => {
    const session = new Session();
    session.prompt("go", { uuid: "u1" });
    session.call("c1", "Task", { prompt: "make it" });
    const chain = { isSidechain: true };
    session.prompt("make it", { ...chain, uuid: "s1", parentUuid: null });
    session.call(
      "c2",
      "Write",
      { file_path: `${session.cwd}/a.txt`, content: "one\n" },
      { ...chain, uuid: "s2", parentUuid: "s1" },
    );
    session.result("c2", { type: "create" }, { ...chain, parentUuid: "s2" });
    session.result("c1");
    session.edit("c3", "a.txt", "one", "two");
    expect(await befores(session)).toEqual([
      ["c2", null],
      ["c3", "one\n"],
    ]);
  });

  it("[I6] turns that two terminals wrote into one another are played one after the other", async () => {
    const session = new Session();
    const root = session.prompt("root", { uuid: "u0" });
    session.prompt("left", { uuid: "l1" });
    session.backTo(root).prompt("right", { uuid: "r1" });
    session.backTo("l1").say("left on", { uuid: "l2" });
    session.backTo("r1").say("right on", { uuid: "r2" });
    const steps = planReplay(await session.read());
    expect(steps.map(({ node }) => node.id)).toEqual(["u0", "l1", "l2", "r1", "r2"]);
  });

  it("[I6] what a person changed in an edit before allowing it is what is replayed", async () => {
    const session = new Session();
    session.prompt("go");
    const kept = { userModified: true, oldString: "one", newString: "mine", originalFile: "one\n" };
    session.edit("c1", "a.txt", "one", "theirs", kept);
    const [call] = planReplay(await session.read()).flatMap(({ calls }) => calls);
    expect(call?.effect).toEqual({ kind: "edit", edits: [edit("one", "mine")] });
  });
});
