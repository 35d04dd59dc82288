import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { asNobody, Folder, quiet, shell } from "./folder.js";

describe("limits", () => {
  test("[W6] F9 a file at the limit is captured, one byte more is not and is named", async () => {
    const folder = await Folder.open({ at: "x".repeat(100), over: "x".repeat(101) }, { maxFileBytes: 100 });
    expect(await folder.sync()).toEqual({
      at: "unknown first_capture → file",
      over: "unknown first_capture → unknown too_large",
    });
    expect(folder.notCaptured()).toEqual({ over: "too_large" });
    expect(await folder.sync()).toEqual({});
    expect(folder.notCaptured()).toEqual({ over: "too_large" });
  });

  test("[W6] F10 F11 growing over the limit makes a file unknown, shrinking captures it again, a new big one is seen", async () => {
    const folder = await Folder.open({ a: "small" }, { maxFileBytes: 10 });
    await folder.sync();
    folder.write({ a: "larger than ten", big: "also more than ten" });
    expect(await folder.sync()).toEqual({ a: "file → unknown too_large", big: "absent → unknown too_large" });
    folder.write({ a: "small again and yet too large" });
    expect(await folder.sync()).toEqual({});
    folder.write({ a: "tiny" });
    folder.remove("big");
    expect(await folder.sync()).toEqual({ a: "unknown too_large → file", big: "unknown too_large → absent" });
  });
});

describe("what cannot be read", () => {
  test("[W6] F20 fifos and sockets are skipped without blocking, and named", async () => {
    const folder = await Folder.open({ f: "f" });
    await folder.sync();
    shell(folder.root, "mkfifo pipe && rm f && mkfifo f");
    expect(await folder.sync()).toEqual({ f: "file → unknown special_file" });
    expect(folder.notCaptured()).toEqual({ f: "special_file", pipe: "special_file" });
  });

  test("[W6] F21 an unreadable file does not abort, is unknown and named, and comes back when it can be read", async () => {
    const folder = await Folder.open({ a: "a", b: "b" });
    await folder.sync();
    folder.chmod("a", 0);
    await asNobody(folder, async () => {
      expect(await folder.sync()).toEqual({ a: "file → unknown unreadable" });
      expect(folder.notCaptured()).toEqual({ a: "unreadable" });
      folder.write({ b: "more" });
      expect(await folder.sync()).toEqual({ b: "file → file" });
    });
    folder.chmod("a", 0o644);
    expect(await folder.sync()).toEqual({ a: "unknown unreadable → file" });
  });

  test("[W6] F21 a folder whose names can be read but not what they are makes what lies in it unknown", async () => {
    const folder = await Folder.open({ "d/a": "a", "d/e/b": "b" });
    await folder.sync();
    folder.chmod("d", 0o444);
    await asNobody(folder, async () => {
      expect(await folder.sync()).toEqual({
        d: "directory → directory",
        "d/a": "file → unknown unreadable",
        "d/e": "directory → unknown unreadable",
        "d/e/b": "file → unknown unreadable",
      });
    });
  });

  test("[W6] F103 a rule file that cannot be read keeps the text it had", async () => {
    const folder = await Folder.open({ "d/.gitignore": "*.log\n", "d/a.log": "a" });
    await folder.sync();
    folder.chmod("d/.gitignore", 0);
    await asNobody(folder, async () => {
      expect(await folder.sync()).toEqual({ "d/.gitignore": "file → unknown unreadable" });
    });
  });

  test("[W6] F22 a name that is not UTF-8 is named with escapes, and the rest is captured", async () => {
    const folder = await Folder.open({ good: "g", "\uFFFD": "a good name" });
    shell(folder.root, "printf x > \"$(printf 'bad\\377')\"; mkdir \"$(printf '\\370')\"");
    await folder.sync();
    expect([...folder.index.keys()]).toEqual(["good", "\uFFFD"]);
    expect(folder.notCaptured()).toEqual({ "bad\\xff": "not_utf8", "\\xf8": "not_utf8" });
  });
});

describe("what changes", () => {
  test("[W3] F42 files that are rewritten during looks are never torn, and the looks end", async () => {
    const folder = await Folder.open({ steady: "s" });
    // In place and in one call, so that whatever mix is found was made by the look.
    folder.write({ f0: Buffer.alloc(65_536, "Z"), f1: Buffer.alloc(65_536, "Z"), f2: Buffer.alloc(65_536, "Z") });
    const writer = `
      const fs = require("fs"); let n = 0;
      const fds = [0, 1, 2].map((i) => fs.openSync("f" + i, "r+"));
      const write = () => {
        for (const fd of fds) fs.writeSync(fd, Buffer.alloc(65536, 65 + (n % 25)), 0, 65536, 0);
        setTimeout(write, ++n % 20 === 0 ? 120 : 1);
      };
      write(); console.log("up");`;
    const child = spawn(process.execPath, ["-e", writer], { cwd: folder.root });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout, "data");
    let read = 0;
    for (let i = 0; i < 10; i += 1) {
      await folder.sync();
      for (const name of ["f0", "f1", "f2"]) {
        const state = folder.index.get(name)?.state;
        if (state?.kind === "unknown") continue;
        if (state?.kind !== "file") throw new TypeError(`${name} is ${state?.kind}`);
        const bytes = folder.blobs.get(state.blob) as Buffer;
        expect(bytes.length).toBe(65_536);
        expect(bytes.every((byte) => byte === bytes[0])).toBe(true);
        read += 1;
      }
    }
    expect(read).toBeGreaterThan(0);
  }, 30_000);

  test("[W3] F42 a file that never rests is unknown and named, and is captured once it does", {
    retry: 5,
  }, async () => {
    const folder = await Folder.open({ log: "" });
    const writing = setInterval(() => folder.write({ log: String(Math.random()) }), 1);
    onTestFinished(() => clearInterval(writing));
    await quiet();
    expect(await folder.sync()).toEqual({ log: "unknown first_capture → unknown changing" });
    expect(folder.notCaptured()).toEqual({ log: "changing" });
    clearInterval(writing);
    expect(await folder.sync()).toEqual({ log: "unknown changing → file" });
  });

  test("[W3] a look that is given up stops with aborted", async () => {
    const folder = await Folder.open({ a: "a" });
    await expect(folder.observe(AbortSignal.abort("enough"))).rejects.toMatchObject({ code: "aborted" });
  });
});
