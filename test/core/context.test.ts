/**
 * What a model sees of a path, drawn as words: `c1` a call, `r1` its result, `s` a summary; `!1` an error result that was
 * put in for a call that was interrupted.
 */
import { describe, expect, test } from "vitest";
import { contextOf, type Link } from "../../src/core/context.js";
import type { Message, Part } from "../../src/core/model.js";
import { coherentLength, textOf } from "../../src/core/turns.js";
import { nodeRow } from "./rows.js";

/** `c1+2` is one message with two calls, `r1+2` one with two results. */
function message(word: string): Message {
  const ids = word.slice(1).split("+");
  const parts = (make: (toolCallId: string) => Part) => ids.map(make);
  const tool = { toolName: "shell" };
  if (word[0] === "c")
    return { role: "assistant", content: parts((id) => ({ type: "tool-call", toolCallId: id, ...tool, input: null })) };
  if (word[0] === "r")
    return { role: "tool", content: parts((id) => ({ type: "tool-result", toolCallId: id, ...tool, output: "ok" })) };
  if (word[0] === "s") return { role: "summary", content: word };
  return { role: word[0] === "u" ? "user" : "assistant", content: word };
}

function word({ content }: Message): string {
  if (typeof content === "string") return content;
  const ids = content.map((part) => ("toolCallId" in part ? part.toolCallId : "")).join("+");
  const [first] = content;
  if (first?.type === "tool-call") return `c${ids}`;
  return first?.type === "tool-result" && first.isError ? `!${ids}` : `r${ids}`;
}

const context = (line: string, links: Link[] = []): string =>
  contextOf(
    line.split(" ").map((one, i) => nodeRow(i, message(one))),
    links,
  )
    .map(word)
    .join(" ");

describe("calls and results", () => {
  test.each([
    ["u1 a1 u2", "u1 a1 u2"],
    ["u1 c1 r1 a1", "u1 c1 r1 a1"],
    ["u1 c1+2 r1+2 a1", "u1 c1+2 r1+2 a1"],
    ["u1 c1+2 r2 r1 a1", "u1 c1+2 r2 r1 a1"],
    ["u1 c1", "u1 c1 !1"],
    ["u1 c1 u2", "u1 c1 !1 u2"],
    ["u1 c1+2 r1 u2", "u1 c1+2 r1 !2 u2"],
    ["u1 r9 a1", "u1 a1"],
    ["u1 c1 r1+9 a1", "u1 c1 r1 a1"],
    ["u1 c1 r1 r1 a1", "u1 c1 r1 a1"],
    ["u1 c1 c2 r2 a1", "u1 c1 !1 c2 r2 a1"],
  ])("[N7] %s is seen as %s", (line, seen) => expect(context(line)).toBe(seen));
});

describe("summaries", () => {
  const covers = (from: number, ...to: number[]): Link[] => to.map((key) => ({ link: "covers", from, to: key }));

  test("[N7] a summary stands where the first node that it covers stood", () => {
    expect(context("u1 a1 u2 a2 s1 u3", covers(4, 0, 1, 2))).toBe("s1 a2 u3");
    expect(context("u1 a1 u2 a2 s1 u3", covers(4, 1, 2))).toBe("u1 s1 a2 u3");
  });

  test("[N7] one that another covers is not seen, and one without its nodes stands where it is", () => {
    expect(context("u1 a1 s1 u2 s2 u3", [...covers(2, 0, 1), ...covers(4, 0, 1, 2, 3)])).toBe("s2 u3");
    expect(context("u1 s1 u2", covers(1, 99))).toBe("u1 s1 u2");
  });

  test("[N7] rewinding behind a summary brings back what it covered", () => {
    expect(context("u1 a1", covers(4, 0, 1))).toBe("u1 a1");
  });

  test("[N7] links that merge two lines change nothing", () => {
    expect(context("u1 a1", [{ link: "merges", from: 1, to: 0 }])).toBe("u1 a1");
  });
});

describe("what can stand", () => {
  test.each([
    ["", 0],
    ["u1", 1],
    ["u1 c1", 1],
    ["u1 c1 r1", 3],
    ["u1 c1+2 r1", 1],
    ["u1 c1+2 r1 r2 a1", 5],
    ["u1 a1 c1 r1 c2", 4],
    ["u1 r9 a1", 3],
  ])("[T3] of %j the first %i", (line, length) => {
    const messages = line === "" ? [] : line.split(" ").map(message);
    expect(coherentLength(messages)).toBe(length);
  });

  test("[R5] the text of a message is that of its text parts", () => {
    expect(textOf({ content: "whole" })).toBe("whole");
    const parts: Part[] = [
      { type: "text", text: "one" },
      { type: "data", name: "n", data: 1 },
      { type: "text", text: "two" },
    ];
    expect(textOf({ content: parts })).toBe("one\ntwo");
    expect(textOf({ content: [] })).toBe("");
  });
});
