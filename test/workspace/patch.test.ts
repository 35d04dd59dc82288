import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FileState } from "../../src/core/model.js";
import { contentTools } from "../../src/workspace/index.js";
import { manifest, temporaryFolder, write } from "./folder.js";

const absent: FileState = { kind: "absent" };

function file(text: string, mode = 0o644): FileState {
  return { kind: "file", blob: contentTools.hash(Buffer.from(text)), mode, size: text.length };
}

function diff(
  path: string,
  before: string | null,
  after: string | null,
  modes: [number, number] = [0o644, 0o644],
): string {
  const change = {
    path,
    before: before === null ? absent : file(before, modes[0]),
    after: after === null ? absent : file(after, modes[1]),
  };
  const bytes = [before, after].map((text) => (text === null ? null : Buffer.from(text)));
  return contentTools.patch(change, bytes[0] ?? null, bytes[1] ?? null);
}

/** What git itself shows, without its index line and the text it puts after a hunk's ranges. */
function gitDiff(path: string, before: string | null, after: string | null): string {
  const root = temporaryFolder();
  for (const [side, text] of [
    ["a", before],
    ["b", after],
  ] as const) {
    mkdirSync(`${root}/${side}`);
    if (text !== null) write(root, { [`${side}/${path}`]: text });
  }
  const args = ["diff", "--no-index", "--no-renames", "--no-prefix", "--diff-algorithm=myers", "a", "b"];
  const found = run("git", args, root).replace(/^index .*\n/m, "");
  return found.replace(/^(@@ .*? @@).*$/gm, "$1");
}

function run(command: string, args: string[], cwd: string): string {
  try {
    return execFileSync(command, args, { cwd, encoding: "utf8" });
  } catch (error) {
    const { status, stdout } = error as { status?: number; stdout?: string };
    if (status !== 1 || stdout === undefined) throw error;
    return stdout;
  }
}

describe("patch", () => {
  test("[W11] a modified, a new and a deleted file, with and without a last newline", () => {
    expect(diff("d/x.txt", "a\nb\nc", "a\nB\nc\n")).toBe(
      "diff --git a/d/x.txt b/d/x.txt\n--- a/d/x.txt\n+++ b/d/x.txt\n@@ -1,3 +1,3 @@\n a\n-b\n-c\n\\ No newline at end of file\n+B\n+c\n",
    );
    expect(diff("n", null, "x\n")).toBe(
      "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n",
    );
    expect(diff("n", "x\n", null)).toBe(
      "diff --git a/n b/n\ndeleted file mode 100644\n--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
    );
    expect(diff("n", null, "")).toBe("diff --git a/n b/n\nnew file mode 100644\n");
  });

  test("[W11] F7 F18 binary content is said to differ, and a mode alone is shown as git shows it", () => {
    expect(diff("b", "a\0", "b\0")).toBe("diff --git a/b b/b\nBinary files a/b and b/b differ\n");
    expect(diff("x", "a\n", "a\n", [0o644, 0o755])).toBe("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n");
    expect(diff("x", "a\n", "a\n", [0o644, 0o600])).toBe("");
  });

  test("[W11] F84 links are their targets, a change of kind is a deletion and a creation, folders do not show", () => {
    const link: FileState = { kind: "symlink", target: "to" };
    expect(contentTools.patch({ path: "l", before: link, after: file("x\n") }, null, Buffer.from("x\n"))).toBe(
      "diff --git a/l b/l\ndeleted file mode 120000\n--- a/l\n+++ /dev/null\n@@ -1 +0,0 @@\n-to\n\\ No newline at end of file\n" +
        "diff --git a/l b/l\nnew file mode 100644\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+x\n",
    );
    const folder: FileState = { kind: "directory", mode: 0o755 };
    expect(contentTools.patch({ path: "d", before: absent, after: folder }, null, null)).toBe("");
    expect(contentTools.patch({ path: "d", before: folder, after: link }, null, null)).toContain(
      "new file mode 120000",
    );
  });

  test.each(["a b", 'q"uote', "tab\t", "new\nline", "back\\slash", "é", "😀", "[x]*?", "-rf", "d e/f"])(
    "[W11] F12 the name %j is quoted as git quotes it",
    (name) => {
      expect(diff(name, "a\n", "b\n")).toBe(gitDiff(name, "a\n", "b\n"));
    },
  );

  test("[W11] random texts: git applies the patch, and its result is the new text", () => {
    const line = fc.constantFrom("a\n", "b\n", "c\n", "\n", "d\r\n", "é\n", " \n");
    const text = fc
      .tuple(fc.array(line, { maxLength: 40 }), fc.constantFrom("", "end"))
      .map(([lines, end]) => lines.join("") + end);
    fc.assert(
      fc.property(text, text, (before, after) => {
        const shown = diff("f", before, after);
        if (before === after) {
          expect(shown).toBe("");
          return;
        }
        const root = temporaryFolder();
        write(root, { f: before, patch: shown });
        run("git", ["apply", "--unidiff-zero", "--whitespace=nowarn", "patch"], root);
        expect(manifest(root).f).toBe(`file 644 ${Buffer.from(after).toString("latin1")}`);
        const { added, removed } = contentTools.countLines(Buffer.from(before), Buffer.from(after));
        expect(added - removed).toBe(countOf(after) - countOf(before));
        expect(added).toBe([...shown.matchAll(/^\+(?!\+\+ )/gm)].length);
      }),
      { numRuns: 30 },
    );
  }, 60_000);

  test("[W11] F6 F166 lines are counted, blank ones too, and binary content has none", () => {
    const count = (before: string, after: string) => contentTools.countLines(Buffer.from(before), Buffer.from(after));
    expect(count("a\nb\n", "a\nc\nd\n")).toEqual({ binary: false, added: 2, removed: 1 });
    expect(count("", "a\n\n\n")).toEqual({ binary: false, added: 3, removed: 0 });
    expect(count("a\n", "a \n")).toEqual({ binary: false, added: 1, removed: 1 });
    expect(count("a\0", "b\n")).toEqual({ binary: true, added: 0, removed: 0 });
    const other = Array.from({ length: 30_000 }, (_, i) => `${i}\n`).join("");
    expect(count(other, other.replaceAll("\n", "x\n"))).toEqual({ binary: false, added: 30_000, removed: 30_000 });
  });
});

function countOf(text: string): number {
  return text.match(/[^\n]*\n|[^\n]+$/g)?.length ?? 0;
}
