/**
 * Runs: one at a time, what is refused meanwhile, how one is stopped, what of it stands when it ends badly.
 */
import { describe, expect, it } from "vitest";
import { chat, message, play } from "../builders/chat.js";
import { code, refusal } from "../builders/codes.js";
import { damage, dump } from "../builders/database.js";
import { Scene } from "../builders/scene.js";

describe("one at a time", () => {
  it("[T1] C39 while a run is live, moves, branch changes, deletion, appends by others and other runs are refused, naming it, writing nothing", async () => {
    const scene = await Scene.open({ "a.txt": "0\n" });
    await scene.turn("u1", { "a.txt": "1\n" });
    await scene.turn("u2", { "a.txt": "2\n" });
    await scene.chat.createBranch("side", { at: "a1" });
    await scene.chat.rewindTo("u2");
    await scene.chat.undo();
    const turn = await scene.chat.beginTurn("working", { id: "u3" });
    const other = await (await scene.another()).conversation("chat");
    const [database, files] = [dump(scene.file), scene.traces()];
    for (const conversation of [scene.chat, other]) {
      const calls = [
        () => conversation.beginTurn("another"),
        () => conversation.append({ role: "system", content: "x" }),
        () => conversation.rewindTo("u2"),
        () => conversation.rewindTurns(1),
        () => conversation.rewindToLength(1),
        () => conversation.previewRewind("u2"),
        () => conversation.undo(),
        () => conversation.redo(),
        () => conversation.switchBranch("side"),
        () => conversation.resume("u2"),
        () => conversation.createBranch("new"),
        () => conversation.createBranch("new", { switch: true }),
        () => conversation.renameBranch("side", "new"),
        () => conversation.deleteBranch("side"),
        () => scene.store.deleteConversation("chat"),
        () => scene.store.importConversation({ id: "chat", nodes: [], headId: null }),
      ];
      for (const call of calls) {
        expect(await refusal(call)).toMatchObject({
          code: "run_active",
          data: { runId: turn.runId, userNodeId: "u3", status: "running" },
        });
      }
    }
    expect([dump(scene.file), scene.traces()]).toEqual([database, files]);
    await turn.end();
  });

  it("[T1] C33 of 32 callers that race to begin a turn exactly one wins; the others hear who holds it", async () => {
    const scene = await Scene.open({ "a.txt": "0\n" });
    await scene.turn("u1");
    const other = await (await scene.another()).conversation("chat");
    const racers = Array.from({ length: 32 }, (_, i) => (i % 2 ? scene.chat : other).beginTurn(`racer ${i}`));
    const outcomes = await Promise.allSettled(racers);
    const won = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    const lost = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
    expect(won.length).toBe(1);
    for (const error of lost) expect(error).toMatchObject({ code: "run_active", data: { runId: won[0]?.runId } });
    expect(await scene.chat.history()).toHaveLength(3);
    await won[0]?.end();
  });

  it("[L3] C33 of 32 callers that race to rewind one wins; the others get busy, head_moved or already_rewound", async () => {
    const scene = await Scene.open({ "a.txt": "0\n" });
    await scene.turn("u1", { "a.txt": "1\n" });
    await scene.turn("u2", { "a.txt": "2\n" });
    const other = await (await scene.another()).conversation("chat");
    const racers = Array.from({ length: 32 }, (_, i) => (i % 2 ? scene.chat : other).rewindTo("u2"));
    const outcomes = await Promise.allSettled(racers);
    const lost = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason.code] : []));
    expect(lost.length).toBe(31);
    expect(lost.filter((reason) => !["busy", "head_moved", "already_rewound"].includes(reason))).toEqual([]);
    expect([scene.read("a.txt"), await scene.path()]).toEqual(["1\n", "u1 a1"]);
    expect((await scene.chat.record()).rewindCount).toBe(1);
  });

  it("[T1] two conversations on one folder each have their run", async () => {
    const scene = await Scene.open({ "a.txt": "0" });
    const other = await scene.store.createConversation({ workspace: scene.root });
    const turns = await Promise.all([scene.chat.beginTurn("x"), other.beginTurn("y")]);
    for (const turn of turns) await turn.end();
  });
});

describe("stopping", () => {
  it("[T5] C40 cancel, resolve, rewind in three steps: the signal aborts with the reason, and the record keeps it", async () => {
    const scene = await Scene.open({ "a.txt": "0\n" });
    const turn = await scene.chat.beginTurn("go", { id: "u1" });
    scene.write({ "a.txt": "1\n" });
    turn.signal.addEventListener("abort", () => turn.end({ status: "cancelled" }));
    const record = await scene.chat.cancelRun({ reason: "no longer needed" });
    expect(turn.signal.reason).toBe("no longer needed");
    expect(record).toMatchObject({ id: turn.runId, status: "cancelled", cancelRequested: "no longer needed" });
    expect(await scene.chat.cancelRun()).toBeUndefined();
    await scene.chat.rewindTo("u1");
    expect(scene.read("a.txt")).toBe("0\n");
  });

  it("[T5] C40 as one call: rewindTo with cancelRun, through another store as well", async () => {
    const scene = await Scene.open({ "a.txt": "0\n" });
    const other = await (await scene.another()).conversation("chat");
    for (const conversation of [scene.chat, other]) {
      const turn = await scene.chat.beginTurn("go");
      scene.write({ "a.txt": "1\n" });
      turn.signal.addEventListener("abort", () => turn.end({ status: "cancelled" }));
      await conversation.rewindTo(turn.userNodeId, { cancelRun: true, timeoutMs: 10_000 });
      expect([scene.read("a.txt"), await scene.path()]).toEqual(["0\n", ""]);
    }
  });

  it("[T5] C40 a run that does not resolve in time is a clear error; it stays live and can still end", async () => {
    const scene = await chat("u1 a1");
    const turn = await scene.chat.beginTurn("deaf", { id: "u2" });
    const error = await refusal(scene.chat.rewindTo("u1", { cancelRun: true, timeoutMs: 60 }));
    expect(error).toMatchObject({ code: "cancel_timeout", data: { runId: turn.runId, timeoutMs: 60 } });
    expect(await refusal(scene.chat.rewindTo("u1"))).toMatchObject({ data: { status: "cancelling" } });
    expect((await scene.chat.record()).headId).toBe("u2");
    await turn.end();
    await scene.chat.rewindTo("u1");
  });

  it("[T2] C36 a late write of a run that was ended is refused and cannot move the head", async () => {
    const scene = await Scene.open({ "a.txt": "0\n" });
    const turn = await scene.chat.beginTurn("go", { id: "u1" });
    await turn.end({ status: "cancelled" });
    await scene.turn("u2");
    const late = message("a9");
    for (const call of [() => turn.append(late), () => turn.end(), () => turn.willChange("a.txt")]) {
      expect(await refusal(call)).toMatchObject({ code: "run_lost", data: { runId: turn.runId, status: "cancelled" } });
    }
    expect((await scene.chat.record()).headId).toBe("a2");
    expect(await scene.chat.node("a9")).toBeUndefined();
  });

  it("[T2] C36 a run whose lease ran out on another machine is settled as abandoned, and fenced off", async () => {
    const scene = await chat("u1 a1");
    const turn = await scene.chat.beginTurn("far away", { id: "u2", leaseMs: 60_000 });
    await turn.append(message("a2"));
    // As if another machine held it, whose clock and ours agree that it was last heard of an hour ago.
    damage(scene.file, "update runs set holder = json_set(holder, '$.machine', 'elsewhere') where status = 'running'");
    const other = await (await scene.another()).conversation("chat");
    expect(await code(other.beginTurn("mine"))).toBe("run_active");
    const late = await scene.another({ now: () => new Date(Date.now() + 3_600_000) });
    await play(await late.conversation("chat"), "u3 a3");
    expect(await refusal(turn.append(message("a9")))).toMatchObject({
      code: "run_lost",
      data: { status: "abandoned" },
    });
    expect(await code(turn.end())).toBe("run_lost");
    expect(await scene.path()).toBe("u1 a1 u2 a2 u3 a3");
  });
});

describe("ending badly", () => {
  const bad = ["failed", "cancelled"] as const;

  it("[T3] C42 an interrupted run keeps its longest coherent prefix and says what it dropped", async () => {
    for (const status of bad) {
      const scene = await chat("u1 a1");
      const turn = await scene.chat.beginTurn("go", { id: "u2" });
      for (const word of ["a2", "c3", "r3", "a3", "c4", "a5"]) await turn.append(message(word));
      const { dropped } = await turn.end({ status, error: "boom" });
      expect(dropped.map((node) => node.id)).toEqual(["c4", "a5"]);
      expect(await scene.path()).toBe("u1 a1 u2 a2 c3 r3 a3");
      expect(await scene.rewound()).toBe("c4 a5");
      expect((await scene.chat.runs())[1]).toMatchObject({ status, error: "boom" });
      await play(scene.chat, "u6 a6");
      expect(await scene.path()).toBe("u1 a1 u2 a2 c3 r3 a3 u6 a6");
    }
  });

  it("[T3] C42 a run that only called and never got a result keeps its question alone", async () => {
    const scene = await chat("u1 a1");
    const turn = await scene.chat.beginTurn("go", { id: "u2" });
    await turn.append(message("c2"));
    expect((await turn.end({ status: "failed" })).dropped.map((node) => node.id)).toEqual(["c2"]);
    expect(await scene.path()).toBe("u1 a1 u2");
    expect((await scene.chat.rewindTo("u2")).userText).toBe("go");
  });

  it("[T3] what a run that ended badly did to the files is its own, and is taken back with its turn", async () => {
    const scene = await Scene.open({ "a.txt": "0\n" });
    await scene.turn("u1", { "a.txt": "1\n" });
    const turn = await scene.chat.beginTurn("go", { id: "u2" });
    await turn.append(message("c2"));
    scene.write({ "a.txt": "2\n", "b.txt": "b\n" });
    const { changes } = await turn.end({ status: "failed" });
    expect(changes.map((change) => change.path)).toEqual(["a.txt", "b.txt"]);
    await scene.chat.rewindTo("u2");
    expect(scene.files()).toEqual({ "a.txt": "file 644 1\n" });
    await scene.chat.undo();
    expect([scene.read("a.txt"), scene.read("b.txt")]).toEqual(["2\n", "b\n"]);
  });

  it("[R11] C45 a run keeps its figures when its turn is rewound", async () => {
    const scene = await chat("u1 a1");
    const turn = await scene.chat.beginTurn("go", { id: "u2" });
    await turn.end({ usage: { inputTokens: 5, cost: 0.25 }, status: "failed", error: "late" });
    const before = await scene.chat.runs();
    await scene.chat.rewindTo("u1");
    expect(await scene.chat.runs()).toEqual(before);
    expect(before[1]).toMatchObject({ usage: { inputTokens: 5, cost: 0.25 }, status: "failed", error: "late" });
  });

  it("[T2] C44 a run that renews its lease is not taken over, however short the lease", async () => {
    const scene = await chat("u1 a1");
    const turn = await scene.chat.beginTurn("slow", { leaseMs: 150 });
    const other = await (await scene.another()).conversation("chat");
    for (let i = 0; i < 8; i += 1) {
      await new Promise((resolve) => setTimeout(resolve, 60));
      expect(await code(other.beginTurn("mine"))).toBe("run_active");
    }
    await turn.append(message("a2"));
    await turn.end();
  });
});
