/**
 * Two processes on one database: nobody's cached copy brings back what was rewound, everybody reads the newest state, and
 * what a killed process left is settled.
 */
import { beforeAll, describe, expect, it } from "vitest";
import type { StoreChange } from "../../src/core/model.js";
import { chat, play } from "../builders/chat.js";
import { code, refusal } from "../builders/codes.js";
import { build, Program } from "../builders/program.js";
import { Scene } from "../builders/scene.js";

beforeAll(build);

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("cached copies", () => {
  it("[L3] C27 a copy of the history that predates a rewind cannot be written back, in this process", async () => {
    const scene = await chat("u1 a1 u2 a2");
    const cached = await scene.chat.history();
    const head = cached.at(-1)?.id as string;
    await scene.chat.rewindTo("u2");
    const other = await (await scene.another()).conversation("chat");
    for (const conversation of [scene.chat, other]) {
      const again = cached.map(({ id, message }) => ({ ...message, id }));
      expect(await code(conversation.beginTurn("next", { expectedHead: head }))).toBe("head_moved");
      expect(await code(conversation.append({ role: "system", content: "x" }, { expectedHead: head }))).toBe(
        "head_moved",
      );
      expect(await code(conversation.append({ role: "system", content: "x", parentId: head }))).toBe("not_on_branch");
      expect(await code(conversation.append(again))).toBe("id_exists");
      expect(await code(conversation.append(again.slice(-1)))).toBe("id_exists");
      expect(await code(conversation.rewindTo("u1", { expectedHead: head }))).toBe("head_moved");
    }
    expect([await scene.path(), await scene.rewound()]).toEqual(["u1 a1", "u2 a2"]);
  });

  it("[L3] C27 C28 another process that cached the history is refused, and reads the new state at once", async () => {
    const scene = await chat("u1 a1 u2 a2");
    const program = new Program(
      scene.file,
      `
        const ids = async () => (await chat.history()).map((node) => node.id).join(" ");
        const head = (await chat.record()).headId;
        say(await ids());
        await heard();
        say(await ids());
        say((await chat.node("a2")).rewound);
        say((await chat.context()).length);
        say(await code(chat.beginTurn("next", { expectedHead: head })));
        say(await code(chat.append({ role: "system", content: "x" }, { expectedHead: head })));
        say(await code(chat.append({ role: "assistant", id: "a2", content: "again" })));
        await heard();
        say(await ids());
      `,
    );
    expect(await program.next()).toBe("u1 a1 u2 a2");
    await scene.chat.rewindTo("u2");
    program.tell();
    for (const expected of ["u1 a1", true, 2, "head_moved", "head_moved", "id_exists"]) {
      expect(await program.next()).toBe(expected);
    }
    await play(scene.chat, "u3 a3");
    program.tell();
    expect(await program.next()).toBe("u1 a1 u3 a3");
  });

  it("[L3] C28 C27 a rewind by another process is seen here at once, files included, and a turn that follows knows the new state", async () => {
    const scene = await Scene.open({ "a.txt": "0\n" });
    await scene.turn("u1", { "a.txt": "1\n" });
    await scene.turn("u2", { "a.txt": "2\n" });
    const program = new Program(
      scene.file,
      `say((await chat.rewindTo("u2")).newHeadId); await heard(); await store.close(); say("closed");`,
    );
    expect(await program.next()).toBe("a1");
    expect([await scene.path(), scene.read("a.txt")]).toEqual(["u1 a1", "1\n"]);
    expect(await code(scene.chat.beginTurn("x", { expectedHead: "a2" }))).toBe("head_moved");
    expect((await scene.turn("u3", { "b.txt": "b\n" })).changes.map((change) => change.path)).toEqual(["b.txt"]);
    program.tell();
    expect(await program.next()).toBe("closed");
    await scene.chat.rewindTo("u1");
    expect(scene.files()).toEqual({ "a.txt": "file 644 0\n" });
  });
});

describe("another process's run", () => {
  it("[T1] C33 C39 it is named, with the process that holds it, and can be cancelled from here", async () => {
    const scene = await chat("u1 a1");
    const program = new Program(
      scene.file,
      `
        const turn = await chat.beginTurn("mine", { id: "u2" });
        turn.signal.addEventListener("abort", () => turn.end({ status: "cancelled" }).then(() => say(turn.signal.reason)));
        say(turn.runId);
        setInterval(() => undefined, 1000);
      `,
    );
    const runId = await program.next();
    const error = await refusal(scene.chat.rewindTo("u1"));
    expect(error).toMatchObject({ code: "run_active", data: { runId, userNodeId: "u2" } });
    expect(error.message).toContain(String(program.child.pid));
    const result = await scene.chat.rewindTo("u1", { cancelRun: true, timeoutMs: 10_000 });
    expect(result.nodesRewound).toEqual(["u1", "a1", "u2"]);
  });

  it("[T2] C41 C42 a killed process's run frees the conversation at once; what it changed up to its last heartbeat is its turn's", async () => {
    const scene = await Scene.open({ "a.txt": "0\n", "mine.txt": "0\n" });
    await scene.turn("u1");
    const program = new Program(
      scene.file,
      `
        const turn = await chat.beginTurn("doomed", { id: "u2" });
        await turn.append({ role: "assistant", id: "a2", content: "working" });
        await turn.append({ role: "assistant", id: "c2", content: [{ type: "tool-call", toolCallId: "t", toolName: "x", input: null }] });
        fs.writeFileSync(${JSON.stringify(scene.place("a.txt"))}, "agent\\n");
        fs.writeFileSync(${JSON.stringify(scene.place("new.txt"))}, "agent\\n");
        say("written");
        setInterval(() => undefined, 1000);
      `,
    );
    await program.next();
    // A renewal of the lease after it wrote tells that the process still lived then.
    const written = Date.now();
    while (Date.parse((await scene.chat.runs())[1]?.heartbeatAt as string) <= written) await sleep(50);
    await program.kill();
    await sleep(50);
    scene.write({ "mine.txt": "mine, after the crash\n" });
    await scene.turn("u3", { "later.txt": "l\n" });
    const [, doomed] = await scene.chat.runs();
    expect(doomed).toMatchObject({ userNodeId: "u2", status: "abandoned", error: expect.stringContaining("process") });
    expect(await scene.path()).toBe("u1 a1 u2 a2 u3 a3");
    expect(await scene.rewound()).toBe("c2");
    expect((await scene.chat.changes("u2")).map((change) => change.path)).toEqual(["a.txt", "new.txt"]);
    expect((await scene.chat.changes("u3")).map((change) => change.path)).toEqual(["later.txt"]);
    await scene.chat.rewindTo("u2");
    expect(scene.files()).toEqual({ "a.txt": "file 644 0\n", "mine.txt": "file 644 mine, after the crash\n" });
  });

  it("[T2] C41 opening the store settles it as well", async () => {
    const scene = await Scene.open({ "a.txt": "0\n" });
    await scene.store.close();
    const script = `await chat.beginTurn("doomed", { id: "u1" }); say("begun"); setInterval(() => undefined, 1000);`;
    const program = new Program(scene.file, script);
    await program.next();
    await program.kill();
    await scene.reopen();
    expect(await scene.chat.runs()).toMatchObject([{ status: "abandoned" }]);
    expect(await code(scene.chat.cancelRun().then(() => scene.chat.rewindTo("nobody")))).toBe("not_found");
    expect((await scene.chat.rewindTo("u1")).userText).toBe("doomed");
  });
});

describe("the feed", () => {
  it("[O7] C38 what another process commits is heard here, and what happens here is heard there, once each and in order", async () => {
    const scene = await chat("u1 a1");
    const heard: StoreChange[] = [];
    scene.store.on("change", (change) => heard.push(change));
    const program = new Program(
      scene.file,
      `
        store.on("change", (change) => say(change.kind + " " + change.version));
        say("listening");
        await heard();
        const turn = await chat.beginTurn("from there", { id: "u2" });
        await turn.end();
      `,
    );
    await program.next();
    await scene.chat.createBranch("side");
    expect(await program.next()).toMatch(/^branch /);
    program.tell();
    await program.next();
    await program.next();
    await sleep(250);
    await scene.chat.rewindTo("u2");
    await sleep(250);
    expect(heard.map((change) => change.kind).join(" ")).toBe("branch turn end rewind");
    expect(program.said.slice(1)).toEqual(heard.map(({ kind, version }) => `${kind} ${version}`));
  });
});
