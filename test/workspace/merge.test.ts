import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { contentTools } from "../../src/workspace/index.js";
import { temporaryFolder } from "./folder.js";

function merge(base: string, theirs: string, ours: string): string {
  const result = contentTools.merge(Buffer.from(base), Buffer.from(theirs), Buffer.from(ours));
  return result.clean ? Buffer.from(result.bytes).toString() : `! ${result.reason}`;
}

describe("merge", () => {
  test("[W10] F114 changes in different places both come through", () => {
    expect(merge("a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n")).toBe("A\nb\nc\nd\nE\n");
    expect(merge("a\nb\nc\n", "x\na\nb\nc\n", "a\nb\nc\ny\n")).toBe("x\na\nb\nc\ny\n");
  });

  test("[W10] F115 changes of the same lines, and different insertions at one place, are no clean merge", () => {
    expect(merge("a\nb\nc\n", "a\nB\nc\n", "a\nX\nc\n")).toBe("! overlap");
    expect(merge("a\nb\n", "a\nx\nb\n", "a\ny\nb\n")).toBe("! overlap");
    expect(merge("", "x\n", "y\n")).toBe("! overlap");
  });

  test("[W10] what both changed alike is clean", () => {
    expect(merge("a\nb\nc\n", "a\nB\nc\n", "a\nB\nc\n")).toBe("a\nB\nc\n");
    expect(merge("a\nb\nc\nd\ne\n", "a\nB\nc\nd\nE\n", "A\nB\nc\nd\ne\n")).toBe("! overlap");
    expect(merge("a\nx\nb\nc\nd\ne\n", "a\nx\nB\nc\nd\nE\n", "A\nx\nB\nc\nd\ne\n")).toBe("A\nx\nB\nc\nd\nE\n");
  });

  test("[W10] F89 line endings, a byte order mark and a missing last newline come through", () => {
    expect(merge("a\r\nb\nc\r\nd", "A\r\nb\nc\r\nd", "a\r\nb\nc\r\nD")).toBe("A\r\nb\nc\r\nD");
    expect(merge("\uFEFFa\nb\nc\n", "\uFEFFa\nb\nC\n", "\uFEFFA\nb\nc\n")).toBe("\uFEFFA\nb\nC\n");
    expect(merge("a\nb\nc", "a\nb\nc\n", "A\nb\nc")).toBe("A\nb\nc\n");
    expect(merge("é\n–\n", "é\n–\nя\n", "É\n–\n")).toBe("É\n–\nя\n");
  });

  test("[W10] F7 binary content is not merged, nor is what is too large", () => {
    expect(merge("a\0b", "a\0c", "a\0d")).toBe("! binary");
    const sides = [
      [0xff, 0xfe, 0x61, 0x00],
      [0x61, 0xc3],
      [0x62, 0xc3],
    ].map((bytes) => Buffer.from(bytes));
    expect(contentTools.merge(sides[0] as Buffer, sides[1] as Buffer, sides[2] as Buffer)).toEqual({
      clean: false,
      reason: "binary",
    });
    const large = "x\n".repeat(5 << 20);
    expect(merge(large, `${large}y\n`, `z\n${large}`)).toBe("! too_large");
    const blank = "\n".repeat(100_000);
    expect(merge(`a\n${blank}b\n`, `A\n${blank}B\n`, `b\n${blank}${blank}a\n`)).toBe("! too_large");
  });

  test("[W10] a side that did not change gives the other side, binary or not", () => {
    expect(merge("a\0", "a\0", "b\0")).toBe("b\0");
    expect(merge("a\0", "b\0", "a\0")).toBe("b\0");
    expect(merge("x", "", "")).toBe("");
  });

  test("[W10] random texts: what git merges cleanly and we do too is the same text", () => {
    const folder = temporaryFolder();
    const line = fc.constantFrom("a\n", "b\n", "c\r\n", "d\n", "e\n");
    const text = fc.array(line, { maxLength: 12 }).map((lines) => lines.join(""));
    fc.assert(
      fc.property(text, text, text, (base, theirs, ours) => {
        const names = ["theirs", "base", "ours"].map((name) => join(folder, name));
        for (const [i, content] of [theirs, base, ours].entries()) writeFileSync(names[i] as string, content);
        const result = merge(base, theirs, ours);
        const git = gitMerge(names);
        if (git !== undefined && !result.startsWith("!")) expect(result).toBe(git);
        // Nobody's lines appear from nowhere.
        const known = new Set([base, theirs, ours].join("\n").split("\n"));
        if (!result.startsWith("!")) for (const one of result.split("\n")) expect(known.has(one)).toBe(true);
      }),
      { numRuns: 60 },
    );
  }, 30_000);
});

function gitMerge(names: string[]): string | undefined {
  try {
    return execFileSync("git", ["merge-file", "-p", ...names], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch (error) {
    if ((error as { status?: number }).status === undefined) throw error;
    return undefined;
  }
}

describe("stored content", () => {
  test("[W15] content is deflated where that pays, and comes back byte for byte", () => {
    for (const bytes of [
      Buffer.alloc(0),
      Buffer.from("short"),
      Buffer.alloc(5_000, "ab"),
      Buffer.from(Array.from({ length: 400 }, (_, i) => (i * i * 31) & 255)),
    ]) {
      const blob = contentTools.hash(bytes);
      const packed = contentTools.pack(blob, bytes);
      expect(packed.size).toBe(bytes.length);
      expect(packed.encoding).toBe(bytes.length === 5_000 ? "deflate" : packed.encoding);
      expect(Buffer.from(contentTools.unpack(packed) ?? "?").equals(bytes)).toBe(true);
    }
    expect(contentTools.hash(Buffer.alloc(0))).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  });

  test("[W15] F153 damaged content gives undefined, whatever was damaged", () => {
    const bytes = Buffer.alloc(5_000, "ab");
    const packed = contentTools.pack(contentTools.hash(bytes), bytes);
    for (let at = 0; at < packed.data.length; at += 1) {
      const data = Buffer.from(packed.data);
      data[at] = (data[at] as number) ^ 0x55;
      const back = contentTools.unpack({ ...packed, data });
      expect(back === undefined || Buffer.from(back).equals(bytes)).toBe(true);
    }
    expect(contentTools.unpack({ ...packed, data: packed.data.slice(0, 3) })).toBeUndefined();
    expect(contentTools.unpack({ ...packed, encoding: "raw" })).toBeUndefined();
    expect(contentTools.unpack({ ...packed, size: 4_999 })).toBeUndefined();
    expect(contentTools.unpack({ ...packed, size: 10 })).toBeUndefined();
  });
});
