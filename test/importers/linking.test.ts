import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arrows, type Line, readAll, Session } from "./session.js";

/** Two turns, parallel calls, a hook's progress, a note, a rewound branch and a side chain. */
function busySession(): Session {
  const session = new Session();
  const root = session.prompt("one", { uuid: "u1" });
  const first = session.block("m1", { type: "text", text: "Two at once." }, { uuid: "a1" });
  const second = session.block("m1", { type: "tool_use", id: "c1", name: "Read", input: {} }, { uuid: "a2" });
  session.block("m1", { type: "tool_use", id: "c2", name: "Task", input: { prompt: "look" } }, { uuid: "a3" });
  session.tree("user", { uuid: "s1", parentUuid: null, isSidechain: true, message: { role: "user", content: "look" } });
  session.block("s", { type: "text", text: "seen" }, { uuid: "s2", parentUuid: "s1", isSidechain: true });
  session.result("c2", {}, { uuid: "r2" });
  session.backTo(second).tree("progress", { uuid: "p1", data: { type: "hook_progress" } });
  session.backTo(second).result("c1", {}, { uuid: "r1" });
  session.say("Both read.", { uuid: "b1", parentUuid: "r2" });
  session.system("took a while", { uuid: "n1" });
  session.prompt("two", { uuid: "u2" });
  session.say("fine", { uuid: "b2" });
  session.backTo("n1").prompt("two, but other", { uuid: "u3" });
  session.say("fine too", { uuid: "b3" });
  expect([root, first]).toEqual(["u1", "a1"]);
  return session;
}

const sortedArrows = async (lines: readonly Line[]): Promise<string[]> =>
  arrows(await readAll(lines))
    .split(" ")
    .sort();

describe("linking", () => {
  it("[I1] forks only where two continuations are", async () => {
    const transcript = await busySession().read();
    expect(arrows(transcript)).toBe("u1< a1<u1 s1^a1 s2<s1 r2<a1 r1<r2 b1<r1 n1<b1 u2<n1 b2<u2 u3<n1 b3<u3");
    expect(transcript.report).toMatchObject({ branches: 2, sideChains: 1, repaired: 0, skipped: 0, nodes: 12 });
    expect(transcript.headId).toBe("b3");
  });

  it("[I1] C64 any order of parents and children gives the same DAG", async () => {
    const { lines } = busySession();
    const expected = await sortedArrows(lines);
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(lines, { minLength: lines.length }), async (shuffled) => {
        expect(await sortedArrows(shuffled)).toEqual(expected);
      }),
    );
  });

  it("[I1] C64 any tree of prompts and answers survives any order", async () => {
    const parents = fc.array(fc.nat(), { minLength: 1, maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(parents, fc.infiniteStream(fc.nat()), async (choices, order) => {
        const session = new Session();
        for (const [index, choice] of choices.entries()) {
          if (index > 0) session.backTo(`t${choice % index}`);
          if (choice % 3 === 0) session.say(`answer ${index}`, { uuid: `t${index}` });
          else session.prompt(`prompt ${index}`, { uuid: `t${index}` });
        }
        const first = session.lines[0] as Line;
        first.type = "user";
        first.message = { role: "user", content: "root" };
        const keyed = session.lines.map((line) => ({ line, key: order.next().value as number }));
        const shuffled = keyed.sort((a, b) => a.key - b.key).map(({ line }) => line);
        expect(await sortedArrows(shuffled)).toEqual(await sortedArrows(session.lines));
      }),
    );
  });

  it("[I1] parents stand before their children, whatever the file does", async () => {
    const { nodes } = await readAll([...busySession().lines].reverse());
    const seen = new Set<string>();
    for (const node of nodes) {
      for (const before of [node.parentId, node.callerId ?? null]) if (before !== null) expect(seen).toContain(before);
      seen.add(node.id);
    }
  });

  it("[I1] C64 a missing parent is reported, and the line goes under the one before it", async () => {
    const session = new Session();
    session.prompt("one", { uuid: "u1" });
    session.say("yes", { uuid: "a1" });
    session.prompt("two", { uuid: "u2", parentUuid: "never-written" });
    const transcript = await session.read();
    expect(arrows(transcript)).toBe("u1< a1<u1 u2<a1");
    expect(transcript.report.repairs).toEqual([{ line: 3, id: "u2", what: "unknown parent" }]);
  });

  it("[I1] a result whose parent is missing goes under its call", async () => {
    const session = new Session();
    session.prompt("one", { uuid: "u1" });
    session.call("c1", "Read", {}, { uuid: "a1" });
    session.system("note", { uuid: "n1" });
    session.result("c1", {}, { uuid: "r1", parentUuid: "never-written" });
    session.say("done", { uuid: "a2" });
    expect(arrows(await session.read())).toBe("u1< a1<u1 r1<a1 n1<r1 a2<n1");
  });

  it("[I1] C64 a cycle is cut at its later line and reported", async () => {
    const session = new Session();
    session.prompt("one", { uuid: "u1", parentUuid: "a2" });
    session.say("yes", { uuid: "a1" });
    session.say("and more", { uuid: "a2" });
    const transcript = await session.read();
    expect(arrows(transcript)).toBe("a2< u1<a2 a1<u1");
    expect(transcript.report.repairs).toEqual([{ line: 3, id: "a2", what: "cycle" }]);
  });

  it("[I1] a line that names itself goes under the one before it and is reported", async () => {
    const session = new Session();
    session.prompt("one", { uuid: "u1" });
    session.say("yes", { uuid: "a1", parentUuid: "a1" });
    const transcript = await session.read();
    expect(arrows(transcript)).toBe("u1< a1<u1");
    expect(transcript.report.repairs).toEqual([{ line: 2, id: "a1", what: "cycle" }]);
  });

  it("[I1] progress, attachments and unknown lines are linked past and kept with the node that follows", async () => {
    const session = new Session();
    session.side({ type: "file-history-snapshot", messageId: "u1", snapshot: {} });
    session.prompt("one", { uuid: "u1" });
    session.tree("progress", { uuid: "p1" });
    session.tree("attachment", { uuid: "t1", attachment: { type: "hook_success" } });
    session.tree("hologram", { uuid: "h1" });
    session.say("yes", { uuid: "a1" });
    session.side({ type: "last-prompt", lastPrompt: "one" });
    const { nodes } = await session.read();
    expect(nodes.map(({ id, parentId }) => [id, parentId])).toEqual([
      ["u1", null],
      ["a1", "u1"],
    ]);
    const kept = nodes.flatMap(({ message }) => (message.metadata as never as Kept).claudeCode.lines);
    expect(kept.map(({ at }) => at)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(kept.map(({ raw }) => raw)).toEqual(session.lines);
  });

  it("[I1] a compaction's summary hangs where the conversation was and covers what went before", async () => {
    const session = new Session();
    session.prompt("one", { uuid: "u1" });
    session.say("yes", { uuid: "a1" });
    session.backTo(null).system("Conversation compacted", {
      uuid: "c1",
      subtype: "compact_boundary",
      logicalParentUuid: "a1",
      compactMetadata: { trigger: "auto", preTokens: 9000 },
    });
    session.prompt("So far: one, yes.", { uuid: "s1", isCompactSummary: true });
    session.prompt("two", { uuid: "u2" });
    const transcript = await session.read();
    expect(arrows(transcript)).toBe("u1< a1<u1 c1<a1 s1<c1 u2<s1");
    expect(transcript.nodes.find(({ id }) => id === "s1")).toMatchObject({
      covers: ["u1", "a1"],
      message: { role: "summary", content: "So far: one, yes." },
    });
  });
});

interface Kept {
  claudeCode: { lines: { at: number; raw: unknown }[] };
}
