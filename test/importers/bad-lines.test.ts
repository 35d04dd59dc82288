import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RetconError } from "../../src/core/errors.js";
import { readLines } from "../../src/importers/claude-code/reading/lines.js";
import { planReplay } from "../../src/importers/claude-code/replay/plan.js";
import { arrows, chunks, type Line, readAll, readText, Session } from "./session.js";

function twoTurns(): Session {
  const session = new Session();
  session.prompt("one", { uuid: "u1" });
  session.say("yes", { uuid: "a1" });
  session.prompt("two", { uuid: "u2" });
  return session;
}

describe("bad lines", () => {
  it("[I3] are skipped and counted, and the rest is imported", async () => {
    const [first, second, third] = twoTurns().text.split("\n");
    const text = [first, "{not json", second, "42", '"text"', "[1]", '{"silly": true}', "", third].join("\n");
    const transcript = await readText(text);
    expect(arrows(transcript)).toBe("u1< a1<u1 u2<a1");
    expect(transcript.report).toMatchObject({ lines: 8, skipped: 5, nodes: 3 });
    expect(transcript.report.skippedLines.map(({ line }) => line)).toEqual([2, 4, 5, 6, 7]);
  });

  it("[I3] a message that is none costs its line, not those that hang under it", async () => {
    const session = new Session();
    session.prompt("one", { uuid: "u1" });
    session.tree("assistant", { uuid: "a1", message: "error" });
    session.prompt("two", { uuid: "u2" });
    const transcript = await session.read();
    expect(arrows(transcript)).toBe("u1< u2<u1");
    expect(transcript.report.skippedLines).toEqual([{ line: 2, reason: "a line of type assistant without a message" }]);
  });

  it("[I3] a byte order mark, CRLF, a cut last line and no end of line are accepted", async () => {
    const text = twoTurns().text;
    const cut = `\u{feff}${text.replaceAll("\n", "\r\n")}{"type":"assistant","uuid":"a9","mess`;
    const transcript = await readText(cut);
    expect(arrows(transcript)).toBe("u1< a1<u1 u2<a1");
    expect(transcript.report).toMatchObject({ lines: 4, skipped: 1 });
    expect((await readText(text.trimEnd())).report).toMatchObject({ lines: 3, skipped: 0 });
  });

  it("[I3] lines that ran into one another are taken apart", async () => {
    const [first, second, third] = twoTurns().text.split("\n");
    const transcript = await readText(`${first}${second}\n${second?.slice(0, 60)}${third}\n`);
    expect(arrows(transcript)).toBe("u1< a1<u1 u2<a1");
    expect(transcript.report.skippedLines).toEqual([{ line: 2, reason: "a part is not JSON" }]);
    expect(transcript.report.repairs).toContainEqual({ line: 2, id: "u2", what: "out of a damaged line" });
  });

  it("[I3] lone surrogates pass through", async () => {
    const session = new Session();
    session.prompt("cut \ud83d emoji");
    expect((await session.read()).nodes[0]?.message.content).toBe("cut \ud83d emoji");
  });

  it("[I3] missing and broken times are no obstacle", async () => {
    const session = twoTurns();
    for (const line of session.lines) line.timestamp = line.uuid === "a1" ? "yesterday" : undefined;
    const { nodes } = await session.read();
    expect(nodes.map(({ createdAt }) => createdAt)).toEqual(Array(3).fill("1970-01-01T00:00:00.000Z"));
  });

  it("[I3] an empty file and one with summaries only are empty conversations", async () => {
    expect(await readText("", "abc")).toMatchObject({ conversationId: "claude-code:abc", nodes: [], headId: null });
    const summaries = await readText('{"type":"summary","summary":"Old work","leafUuid":"elsewhere"}\n', "abc");
    expect(summaries).toMatchObject({ nodes: [], title: "Old work", report: { lines: 1, nodes: 0, skipped: 0 } });
    expect(summaries.metadata).toMatchObject({ claudeCode: { lines: [{ at: 1 }] } });
  });

  it("[I3] a file that is no transcript is refused with a hint", async () => {
    const refused = expect(readText('{"name":"retcon"}\nhello\n')).rejects;
    await refused.toMatchObject({ code: "bad_input", data: { field: "file" }, hint: expect.stringContaining("jsonl") });
  });

  it("[I3] the same id with the same content is one node, with other content two", async () => {
    const session = twoTurns();
    session.lines.push({ ...session.lines[1], gitBranch: "main" });
    session.tree("user", { uuid: "u2", parentUuid: "a1", message: { role: "user", content: "other" } });
    session.say("which?", { uuid: "a2" });
    const transcript = await session.read();
    expect(arrows(transcript)).toBe("u1< a1<u1 u2<a1 u2.2<a1 a2<u2");
    expect(transcript.report.repairs.map(({ what }) => what)).toEqual(["same id twice", "other content under one id"]);
  });

  it("[I3] ids that cannot be ids here are replaced, the same each time", async () => {
    const session = new Session("-odd session/");
    session.prompt("one", { uuid: "ü 1" });
    session.say("yes", { uuid: "a1" });
    const [first, second] = [await session.read(), await session.read()];
    expect(first.nodes[0]?.id).toMatch(/^line-[0-9a-f]{24}$/);
    expect(first.nodes[1]?.parentId).toBe(first.nodes[0]?.id);
    expect(first.conversationId).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._:-]{0,127}$/);
    expect(arrows(second)).toBe(arrows(first));
  });
});

describe("mutilated files", () => {
  const session = new Session();
  session.prompt("one", { uuid: "u1" });
  session.write("c1", "a.txt", "one\ntwo\n");
  session.edit("c2", "a.txt", "one", "1", { originalFile: "one\ntwo\n" });
  session.call("c3", "Task", { prompt: "look" });
  session.prompt("look", { isSidechain: true, parentUuid: null });
  session.result("c3", {});
  session.system("compacted", { subtype: "compact_boundary", logicalParentUuid: "u1", compactMetadata: {} });
  session.prompt("so far", { isCompactSummary: true });

  /** Puts any value at any place of a line. */
  const mutilated = (line: Line, path: number[], value: unknown): Line => {
    const copy = structuredClone(line);
    let at: Record<string, unknown> = copy;
    for (const [depth, choice] of path.entries()) {
      const keys = Object.keys(at);
      const key = keys[choice % Math.max(1, keys.length)] ?? "extra";
      const next = at[key];
      if (depth === path.length - 1 || typeof next !== "object" || next === null) {
        at[key] = value;
        break;
      }
      at = next as Record<string, unknown>;
    }
    return copy;
  };

  it("[I3] no value at any place stops an import, and what comes out is a DAG", async () => {
    const path = fc.array(fc.nat(12), { minLength: 1, maxLength: 4 });
    const wounds = fc.array(
      fc.record({ line: fc.nat(), path, value: fc.oneof(fc.jsonValue(), fc.constantFrom("n1", "n3")) }),
      { maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(wounds, async (list) => {
        const lines = [...session.lines];
        for (const { line, path: place, value } of list) {
          const index = line % lines.length;
          lines[index] = mutilated(lines[index] as Line, place, value);
        }
        const transcript = await readAll(lines);
        planReplay(transcript);
        const seen = new Set<string | null>([null]);
        for (const { id, parentId, callerId } of transcript.nodes) {
          expect(seen).not.toContain(id);
          expect(seen).toContain(parentId);
          expect(seen).toContain(callerId ?? null);
          seen.add(id);
        }
        expect(seen).toContain(transcript.headId);
      }),
      { numRuns: 500 },
    );
  });

  it("[I3] no text stops an import but one that has no record in it", async () => {
    const whole = session.text;
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length), fc.nat(80), fc.string(), async (at, length, text) => {
        const torn = whole.slice(0, at) + text + whole.slice(at + length);
        const result = await readText(torn).catch((error: unknown) => error);
        if (result instanceof Error) expect(result).toBeInstanceOf(RetconError);
      }),
      { numRuns: 300 },
    );
  });
});

describe("reading lines", () => {
  const linesOf = async (text: string, size: number, max?: number) => {
    const lines = [];
    for await (const line of readLines(chunks(text, size), max)) lines.push(line);
    return lines;
  };

  it("[I3] lines are the same however the file is cut into chunks", async () => {
    const text = "\u{feff}one\r\ntwo é 🎉\n\nlast";
    for (const size of [1, 2, 3, 7, 100]) {
      expect((await linesOf(text, size)).map((line) => line.text)).toEqual(["one", "two é 🎉", "", "last"]);
    }
  });

  it("[I3] a line over the limit is skipped without being held", async () => {
    const lines = await linesOf(`ok\n${"x".repeat(5000)}\nok\n`, 100, 1000);
    expect(lines).toEqual([
      { at: 1, text: "ok" },
      { at: 2, text: undefined },
      { at: 3, text: "ok" },
    ]);
  });
});
