import { expect, it } from "vitest";
import { arrows, Session } from "./session.js";

const side = (fields: object) => ({ isSidechain: true, ...fields });

function twoAgents(): Session {
  const session = new Session();
  session.prompt("ask two", { uuid: "u1" });
  session.block("m1", { type: "tool_use", id: "c1", name: "Task", input: { prompt: "count cats" } }, { uuid: "a1" });
  session.block("m1", { type: "tool_use", id: "c2", name: "Task", input: { prompt: "count dogs" } }, { uuid: "a2" });
  return session;
}

it("[I5] a side chain hangs from the call with its prompt", async () => {
  const session = new Session();
  session.prompt("ask one after the other", { uuid: "u1" });
  session.call("c1", "Task", { prompt: "count cats" }, { uuid: "a1" });
  session.result("c1", {}, { uuid: "r1" });
  session.call("c2", "Task", { prompt: "count dogs" }, { uuid: "a2" });
  session.prompt("count dogs", side({ uuid: "d1", parentUuid: null }));
  session.block("d", { type: "text", text: "two" }, side({ uuid: "d2", parentUuid: "d1" }));
  session.prompt("count cats", side({ uuid: "k1", parentUuid: null }));
  session.result("c2", {}, { uuid: "r2" });
  const transcript = await session.read();
  expect(arrows(transcript)).toBe("u1< a1<u1 r1<a1 a2<r1 d1^a2 d2<d1 k1^a1 r2<a2");
  expect(transcript.nodes.filter(({ message }) => message.role === "user" && !message.synthetic)).toHaveLength(1);
  expect(transcript.report).toMatchObject({ sideChains: 2, branches: 1, repaired: 0 });
});

it("[I5] a side chain hangs from the call whose result names its agent", async () => {
  const session = twoAgents();
  session.prompt("said otherwise", side({ uuid: "d1", parentUuid: null, agentId: "dogs" }));
  session.result("c1", { agentId: "cats" }, { uuid: "r1" });
  session.result("c2", { agentId: "dogs" }, { uuid: "r2" });
  expect(arrows(await session.read())).toBe("u1< a1<u1 d1^a1 r1<a1 r2<r1");
});

it("[I5] an agent's own agent hangs from the call in the side chain", async () => {
  const session = new Session();
  session.prompt("go", { uuid: "u1" });
  session.call("c1", "Task", { prompt: "outer" }, { uuid: "a1" });
  session.prompt("outer", side({ uuid: "s1", parentUuid: null }));
  session.call("c2", "Task", { prompt: "inner" }, side({ uuid: "s2", parentUuid: "s1" }));
  session.prompt("inner", side({ uuid: "t1", parentUuid: null }));
  session.result("c2", {}, side({ uuid: "s3", parentUuid: "s2" }));
  session.result("c1", {}, { uuid: "r1" });
  expect(arrows(await session.read())).toBe("u1< a1<u1 s1^a1 s2<s1 t1^s2 s3<s2 r1<a1");
});

it("[I5] a side chain whose first line names a line of the conversation hangs from a call too", async () => {
  const session = twoAgents();
  session.prompt("unlike both", side({ uuid: "d1", parentUuid: "a2" }));
  expect(arrows(await session.read())).toBe("u1< a1<u1 d1^a1");
});

it("[I5] a side chain without any call is kept and reported", async () => {
  const session = new Session();
  session.prompt("hello", { uuid: "u1" });
  session.prompt("Warmup", side({ uuid: "w1", parentUuid: null }));
  const transcript = await session.read();
  expect(arrows(transcript)).toBe("u1< w1<");
  expect(transcript.report.repairs).toEqual([{ line: 2, id: "w1", what: "side chain without a call" }]);
  expect(transcript.headId).toBe("u1");
});

it("[I5] a sub-agent's own file is a conversation of its own, without turns", async () => {
  const session = new Session("session-9");
  session.prompt("find it", side({ uuid: "s1", parentUuid: null, agentId: "c8d9" }));
  session.block("m", { type: "text", text: "found" }, side({ uuid: "s2", parentUuid: "s1", agentId: "c8d9" }));
  const transcript = await session.read();
  expect(transcript).toMatchObject({ conversationId: "claude-code:session-9:c8d9", headId: "s2" });
  expect(arrows(transcript)).toBe("s1< s2<s1");
  expect(transcript.nodes[0]?.message.synthetic).toBe(true);
});

it("[I5] two sessions in one file are one conversation, that of the first on its main path", async () => {
  const session = new Session("first");
  session.prompt("one", { uuid: "u1" });
  session.say("yes", { uuid: "a1" });
  session.prompt("two", { uuid: "u2", sessionId: "second" });
  const transcript = await session.read();
  expect(transcript.conversationId).toBe("claude-code:first");
  expect(arrows(transcript)).toBe("u1< a1<u1 u2<a1");
});
