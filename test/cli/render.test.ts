import { expect, test } from "vitest";
import { failureOf, failureText } from "../../src/cli/failure.js";
import { tellingLength } from "../../src/cli/find.js";
import { previewText, questionText, rewindText } from "../../src/cli/moves.js";
import { messageLine, renderBranches, renderDiff, renderLog, renderPoints } from "../../src/cli/render.js";
import { cut, harmless, named, screenOf } from "../../src/cli/screen.js";
import { RetconError } from "../../src/core/errors.js";
import type { FileReport, Message, Node, RewindPoint, RewindPreview } from "../../src/core/model.js";

const pipe = screenOf(Object.assign({}, process.stdout, { isTTY: false }), {});
const terminal = screenOf(Object.assign({}, process.stdout, { isTTY: true, columns: 40 }), { NO_COLOR: "1" });
const colourful = screenOf(Object.assign({}, process.stdout, { isTTY: true, columns: 40 }), {});
const same = (id: string) => id;

const node = (id: string, message: Message, rewound = false): Node => ({
  id,
  conversationId: "chat",
  parentId: null,
  callerId: null,
  runId: null,
  depth: 0,
  createdAt: "2026-01-02T03:04:05.678Z",
  rewound,
  message,
});

const nodes = [
  node("aaaaaaaa", { role: "user", content: "\n  make the button blue\nplease" }),
  node("bbbbbbbb", {
    role: "assistant",
    content: [
      { type: "reasoning", text: "hm" },
      { type: "tool-call", toolCallId: "c", toolName: "edit", input: {} },
    ],
  }),
  node("cccccccc", {
    role: "user",
    synthetic: true,
    content: [{ type: "tool-result", toolCallId: "c", toolName: "edit", output: "no", isError: true }],
  }),
  node("dddddddd", { role: "assistant", content: "\u001b[2Jcleared" }, true),
];

test("[K2] a log has id, role and first line of text in columns, and nothing that steers the terminal", () => {
  expect(renderLog(nodes, pipe, { shorten: same, marks: true })).toMatchInlineSnapshot(`
    "aaaaaaaa  user                make the button blue
    bbbbbbbb  assistant           (calls edit)
    cccccccc  user*               (edit failed)
    dddddddd  assistant  rewound  \\u001b[2Jcleared"
  `);
});

test("[K2] lines are cut to the width of a terminal, and not in a pipe", () => {
  const long = [node("aaaaaaaa", { role: "user", content: "word ".repeat(40) })];
  const line = renderLog(long, terminal, { shorten: same, marks: false });
  expect(line).toMatchInlineSnapshot(`"aaaaaaaa  user  word word word word wor…"`);
  expect(renderLog(long, pipe, { shorten: same, marks: false })).toHaveLength(8 + 2 + 4 + 2 + 199);
  expect(cut("👍👍👍👍", 3)).toBe("👍👍…");
});

test("[K2] colours show on a terminal only, and not where NO_COLOR is set or the terminal is dumb", () => {
  const start = "\u001b[";
  const diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+two\n";
  expect(renderDiff(diff, colourful)).toContain(`${start}32m+two`);
  expect(renderDiff(diff, terminal)).toBe(diff);
  expect(renderDiff(diff, pipe)).toBe(diff);
  const dumb = screenOf(Object.assign({}, process.stdout, { isTTY: true }), { TERM: "dumb" });
  expect(dumb.paint("red", "x")).toBe("x");
  expect(colourful.paint("red", "x")).toBe(`${start}31mx${start}0m`);
});

test("[K2] a diff goes to a pipe byte for byte, and to a terminal without control characters", () => {
  expect(renderDiff("+\u001b[31mred\r\n", pipe)).toBe("+\u001b[31mred\r\n");
  expect(renderDiff("+\u001b[31mred\n", terminal)).toBe("+\\u001b[31mred\n");
});

test("[K2] names that would not show as they are become JSON strings", () => {
  expect(
    ["src/a b.ts", "tab\there", "line\nbreak", " edge", 'say "x"', "\u202egnp.exe"].map(named),
  ).toMatchInlineSnapshot(`
    [
      "src/a b.ts",
      ""tab\\there"",
      ""line\\nbreak"",
      "" edge"",
      ""say \\"x\\""",
      ""\\u202egnp.exe"",
    ]
  `);
  expect(harmless("a\tb\nc\u0007\u009b")).toBe("a\tb\nc\\u0007\\u009b");
});

test("[K2] a message without text says what it holds", () => {
  const line = (content: Message["content"]) => messageLine({ role: "assistant", content });
  expect(line("")).toBe("");
  expect(line([{ type: "reasoning", text: "x" }])).toBe("(reasoning)");
  expect(line([{ type: "file", mediaType: "image/png", data: "sha256:0" }])).toBe("(file image/png)");
  expect(line([{ type: "data", name: "plan", data: 1 }])).toBe("(data plan)");
  expect(line([{ type: "tool-result", toolCallId: "1", toolName: "ls", output: "" }])).toBe("(result of ls)");
});

test("[K2] points are numbered from the newest", () => {
  const point = (ordinal: number, text: string, notCaptured = 0): RewindPoint => {
    const createdAt = "2026-01-02T03:04:05.678Z";
    return {
      nodeId: `node${ordinal}`,
      ordinal,
      text,
      createdAt,
      filesChanged: ordinal - 1,
      added: 10,
      removed: 2,
      notCaptured,
    };
  };
  expect(renderPoints([point(3, "three\nmore", 2), point(2, "two")], pipe, same)).toMatchInlineSnapshot(`
    "@1  node3  2026-01-02 03:04:05Z  2 files (2 not captured)  +10 -2  three
    @2  node2  2026-01-02 03:04:05Z  1 file                    +10 -2  two"
  `);
});

test("[K2] branches carry a star at the active one and say when they are empty", () => {
  const createdAt = "2026-01-02T03:04:05.678Z";
  const branches = [
    { name: "main", headId: "aaaaaaaa", active: false, createdAt },
    { name: "second try", headId: null, active: true, createdAt },
  ];
  expect(renderBranches(branches, pipe, same)).toMatchInlineSnapshot(`
    "  main        aaaaaaaa  2026-01-02 03:04:05Z
    * second try  (empty)   2026-01-02 03:04:05Z"
  `);
});

const files: FileReport[] = [
  { path: "a.ts", outcome: "restored" },
  { path: "notes.md", outcome: "kept", reason: "shared with run r7" },
  { path: "same.ts", outcome: "unchanged" },
];

const preview: RewindPreview = {
  conversationId: "chat",
  newHeadId: "bbbbbbbb",
  branch: "main",
  restoredPaths: ["a.ts"],
  files,
  errors: [],
  userText: "again",
  userMessage: null,
  turnsReverted: 2,
  nodesRewound: ["a", "b", "c"],
  planId: "p",
};

test("[K2] a preview lists every file with outcome and reason", () => {
  expect(previewText(preview, undefined, pipe, same)).toMatchInlineSnapshot(`
    "rewinds 2 turns, 3 nodes; then the head of main is bbbbbbbb
      restored   a.ts
      kept       notes.md  (shared with run r7)
      unchanged  same.ts"
  `);
});

test("[K2] a rewind's summary leaves out what did not change and lists what failed", () => {
  const errors = [{ path: "x", code: "restore_failed", message: "read-only file system" }];
  const result = { ...preview, newHeadId: null, operationId: "9", version: 4, errors };
  expect(rewindText(result, undefined, same)).toMatchInlineSnapshot(`
    "rewound 2 turns, 3 nodes; main is empty now
    files: 1 restored, 1 kept, 1 unchanged
      kept       notes.md  (shared with run r7)
      restored   a.ts
    1 error:
      x: read-only file system [restore_failed]
    \`retcon undo\` takes this back"
  `);
});

test("[K2] a long list of files is cut, but what was left for a reason comes first", () => {
  const many = Array.from({ length: 60 }, (_, i): FileReport => ({ path: `f${i}`, outcome: "deleted" }));
  const text = questionText({ ...preview, files: [...many, ...files] }, "files", pipe, same);
  expect(text.split("\n").slice(0, 4)).toEqual([
    "rewinds the files alone; then the head of main is bbbbbbbb",
    "files: 60 deleted, 1 restored, 1 kept, 1 unchanged",
    "  kept       notes.md  (shared with run r7)",
    "  deleted    f0",
  ]);
  expect(text).toMatch(/\n {2}… and 42 more files$/);
});

test("[K1] a failure names its code, what it is about and what to do in words of the command line", () => {
  const conflict = new RetconError("file_conflict", "1 file is in conflict", {
    paths: [{ path: "src/a.ts", reason: "both sides changed line 3" }],
  });
  expect(failureText(conflict)).toMatchInlineSnapshot(`
    "retcon: 1 file is in conflict [file_conflict]
      src/a.ts: both sides changed line 3
    hint: Pass --on-conflict keep to leave these files as they are, or --on-conflict overwrite to replace them."
  `);
  const custom = new RetconError(
    "busy",
    "a restore is unsettled",
    { operation: "3" },
    { hint: "Wait for process 12." },
  );
  expect(failureText(custom)).toContain("hint: Wait for process 12.");
  const full = Object.assign(new TypeError("EACCES: permission denied"), {
    code: "EACCES",
    syscall: "open",
    path: "/x",
  });
  expect(failureText(full)).toBe(
    "retcon: EACCES: permission denied [system]\nhint: Mend that (rights, space) and try again.",
  );
  expect(failureOf(full).data).toEqual({ code: "EACCES", syscall: "open", path: "/x" });
  expect(failureText(new TypeError("x is not a function"))).toMatch(
    /^retcon: x is not a function \[unexpected\]\nTypeError: /,
  );
});

test("[K3] ids are shown long enough to tell all nodes of the conversation apart, and no shorter than eight", () => {
  expect(tellingLength([])).toBe(8);
  expect(tellingLength(["a", "ab", "b"])).toBe(8);
  expect(tellingLength(["0123456789abcd", "0123456789abce", "x"])).toBe(14);
  expect(tellingLength(["0123456789", "0123456789ab", "0123456789cd"])).toBe(11);
});
