/**
 * Runs, their windows and announcements; operations and what a request returned.
 */
import { describe, expect, test } from "vitest";
import type { Change } from "../../src/core/change.js";
import { keyOf } from "../../src/core/dag.js";
import type { OperationKind } from "../../src/core/model.js";
import {
  Bench,
  ended,
  fields,
  fileOf,
  holder,
  identity,
  node,
  type Open,
  options,
  runStart,
  segment,
} from "./bench.js";

/** What is kept of runs. */
export function runRules(open: Open): void {
  describe("runs", () => {
    test("[B3] a run is read as it started and as it ended", async () => {
      const bench = await Bench.open(open);
      const first = await bench.chain("u1", "a1");
      const key = keyOf(first, 0);
      const { runs } = await bench.done([runStart(key, { workspace: bench.workspace, found: 3, rowsOf: 2 })]);
      const run = runs.get(-1) as number;
      const started = {
        run,
        conversation: bench.conversation,
        workspace: bench.workspace,
        firstKey: key,
        userKey: key,
        lastKey: null,
        status: "running",
        holder,
        leaseMs: 30_000,
        startedAtMs: 50,
        heartbeatAtMs: 50,
        endedAtMs: null,
        found: 3,
        left: null,
        usage: null,
        error: null,
        report: null,
        cancelRequested: null,
        rowsOf: 2,
        windows: [],
        announced: [],
      };
      expect(await bench.backend.runs({ runs: [run] })).toEqual([started]);
      await bench.done([{ kind: "heartbeat", run, atMs: 60 }], { operation: false });
      await bench.done([{ kind: "run-cancel", run, reason: "enough" }]);
      const report = { filesChanged: 1, added: 2, removed: 3, notCaptured: 4 };
      const to = { ...ended, lastKey: keyOf(first, 1), usage: { inputTokens: 5 }, error: "late", report };
      await bench.done([{ kind: "run-end", run, from: "running", to }]);
      expect(await bench.backend.runs({ runs: [run] })).toEqual([
        { ...started, ...to, heartbeatAtMs: 60, cancelRequested: "enough" },
      ]);
    });

    test("[T1] at most one is live in a conversation; others may be, and one that ended makes room", async () => {
      const bench = await Bench.open(open);
      const first = await bench.chain("u1");
      const start = runStart(keyOf(first, 0));
      const { runs } = await bench.done([start]);
      expect(await bench.stale([start])).toEqual(start);
      const other = await bench.create("other");
      const beside = await bench.done([start], { conversation: other });
      await bench.done([{ kind: "run-end", run: runs.get(-1) as number, from: "running", to: ended }]);
      const again = await bench.done([start]);
      const live = async (query: Parameters<typeof bench.backend.runs>[0]) =>
        (await bench.backend.runs(query)).map((run) => run.run);
      expect(await live({ liveInConversation: bench.conversation })).toEqual([again.runs.get(-1)]);
      expect(await live({ conversation: bench.conversation })).toEqual([runs.get(-1), again.runs.get(-1)]);
      expect(await live({ liveAnywhere: true })).toEqual([beside.runs.get(-1), again.runs.get(-1)]);
      await bench.done([runStart(keyOf(first, 0), {}, -1, { ...fields, status: "completed" })]);
    });

    test("[B3] live ones are found by workspace, and all of them by where they started", async () => {
      const bench = await Bench.open(open);
      const a = await bench.chain("a0", "a1", "a2");
      const other = await bench.create("other", { workspace: bench.workspace });
      const on = { workspace: bench.workspace };
      const one = (await bench.done([runStart(keyOf(a, 0), on)])).runs.get(-1) as number;
      const two = (await bench.done([runStart(keyOf(a, 2), on)], { conversation: other })).runs.get(-1) as number;
      const three = (
        await bench.done([runStart(keyOf(a, 1), {}, -1, { ...fields, status: "failed" })], { conversation: other })
      ).runs.get(-1) as number;
      const found = async (query: Parameters<typeof bench.backend.runs>[0]) =>
        (await bench.backend.runs(query)).map((run) => run.run);
      expect(await found({ liveInWorkspace: bench.workspace })).toEqual([one, two]);
      expect(await found({ liveInWorkspace: 99_999 })).toEqual([]);
      expect(await found({ startedIn: [{ from: keyOf(a, 1), to: keyOf(a, 2) }] })).toEqual([two, three]);
      expect(await found({ runs: [three, one, 99_999] })).toEqual([one, three]);
    });

    test("[B3] guards see a run of this conversation, an intent of it, and one on its workspace", async () => {
      const bench = await Bench.open(open);
      const first = await bench.chain("u1");
      await bench.done([{ kind: "idle" }]);
      const { runs } = await bench.done([{ kind: "idle" }, runStart(keyOf(first, 0))]);
      const run = runs.get(-1) as number;
      await bench.done([{ kind: "running", run }]);
      const other = await bench.create("other");
      await bench.done([{ kind: "idle" }], { conversation: other });
      await bench.done([{ kind: "run-end", run, from: "running", to: ended }, { kind: "idle" }]);
      expect(await bench.stale([{ kind: "running", run }])).toEqual({ kind: "running", run });
    });

    test("[B3] windows and announced paths belong to a run while it is live", async () => {
      const bench = await Bench.open(open);
      await bench.store("one");
      const first = await bench.chain("u1");
      await bench.sync({ a: fileOf("one"), b: fileOf("one") });
      const { runs } = await bench.done([runStart(keyOf(first, 0), { workspace: bench.workspace })]);
      const run = runs.get(-1) as number;
      const window = (toolCallId: string, opens: boolean): Change => ({ kind: "window", run, toolCallId, open: opens });
      const about = { operation: false };
      await bench.done([window("c1", true)], about);
      await bench.sync({ a: fileOf("one", 0o755) });
      await bench.done([window("c1", false), window("c2", true)], about);
      await bench.done([bench.step(), { kind: "announce", run, path: "b" }, { kind: "announce", run, path: "b" }]);
      const [row] = await bench.backend.runs({ runs: [run] });
      expect(row?.windows).toEqual([
        { toolCallId: "c1", opened: 1, closed: 2 },
        { toolCallId: "c2", opened: 2, closed: null },
      ]);
      expect(row?.announced).toEqual(["b"]);
      const index = await bench.backend.index(bench.workspace, { after: 2 });
      expect(index.map(({ path, announced }) => [path, announced])).toEqual([["b", true]]);
      await bench.done([{ kind: "run-end", run, from: "running", to: ended }]);
      expect((await bench.backend.runs({ runs: [run] }))[0]).toMatchObject({ windows: [], announced: [] });
    });
  });
}

/** What is kept of operations and requests. */
export function operationRules(open: Open): void {
  describe("operations", () => {
    test("[O1] each commit is one, as it was given, numbered in order", async () => {
      const bench = await Bench.open(open);
      const { number } = await bench.done([segment()], { kind: "import", atMs: 7, summary: "of it" });
      const [row] = await bench.backend.operations({ newest: 1 });
      expect(row).toEqual({
        number,
        conversation: bench.conversation,
        kind: "import",
        author: "tester",
        atMs: 7,
        summary: "of it",
        request: null,
      });
      const later = await bench.done([segment()], { about: "store" });
      expect(later.number).toBeGreaterThan(number);
      expect((await bench.backend.operations({ newest: 1 }))[0]?.conversation).toBeNull();
    });

    test("[O1] those of a conversation come newest first; everybody's come from a number on, oldest first", async () => {
      const bench = await Bench.open(open);
      const other = await bench.create("other");
      const one = (await bench.done([segment()])).number;
      const two = (await bench.done([segment()], { conversation: other })).number;
      const three = (await bench.done([segment()])).number;
      const numbers = async (query: Parameters<typeof bench.backend.operations>[0]) =>
        (await bench.backend.operations(query)).map((row) => row.number);
      expect(await numbers({ conversation: bench.conversation, limit: 2 })).toEqual([three, one]);
      expect((await numbers({ conversation: bench.conversation, limit: -1 })).slice(0, 2)).toEqual([three, one]);
      expect(await numbers({ after: one - 1, limit: 9 })).toEqual([one, two, three]);
      expect(await numbers({ after: one, limit: 1 })).toEqual([two]);
      expect(await numbers({ after: three, limit: 9 })).toEqual([]);
      expect(await numbers({ newest: 2 })).toEqual([three, two]);
    });

    test("[B3] a limit counts those of the kinds that were asked for", async () => {
      const bench = await Bench.open(open);
      const kinds: OperationKind[] = ["rewind", "append", "undo", "turn", "turn", "append"];
      for (const kind of kinds) await bench.done([segment()], { kind });
      const read = async (limit: number, ...of: OperationKind[]) =>
        (await bench.backend.operations({ conversation: bench.conversation, limit, kinds: of }))
          .map((row) => row.kind)
          .join(" ");
      expect(await read(9, "rewind", "undo", "turn")).toBe("turn turn undo rewind");
      expect(await read(1, "rewind")).toBe("rewind");
      expect(await read(2, "rewind", "undo")).toBe("undo rewind");
      expect(await read(1, "append")).toBe("append");
      expect(await read(9, "create", "rewind")).toBe("rewind create");
    });

    test("[O3] a request id finds what its write returned, in its own conversation only", async () => {
      const bench = await Bench.open(open);
      const request: Change = { kind: "request", id: "r1", fingerprint: "f", result: { deep: [1] } };
      const { number } = await bench.done([segment(), request]);
      const other = await bench.create("other");
      await bench.done([request], { conversation: other });
      const query = { conversation: bench.conversation, request: "r1" };
      const kept = { id: "r1", fingerprint: "f", result: { deep: [1] } };
      expect(await bench.backend.operations(query)).toMatchObject([{ number, request: kept }]);
      expect((await bench.backend.operations({ conversation: bench.conversation, limit: 1 }))[0]?.request).toEqual(
        kept,
      );
      expect(await bench.backend.operations({ ...query, request: "r2" })).toEqual([]);
    });

    test("[O4] an intent is kept whole until it settles, one for a workspace and one for a conversation", async () => {
      const bench = await Bench.open(open);
      const intent = bench.intent("t1");
      await bench.done([{ kind: "intent", from: null, to: intent }]);
      const row = { ...intent, conversation: bench.conversation, startedAtMs: 77 };
      expect(await bench.backend.intents({ all: true })).toEqual([row]);
      expect(await bench.backend.intents({ workspace: bench.workspace })).toEqual([row]);
      expect(await bench.backend.intents({ conversation: bench.conversation })).toEqual([row]);
      expect(await bench.backend.intents({ conversation: 99_999 })).toEqual([]);
      const other = await bench.create("other");
      const second: Change = { kind: "intent", from: null, to: bench.intent("t2") };
      expect(await bench.stale([second], { conversation: other })).toEqual(second);
      const elsewhere = (await bench.backend.workspace({ identity: { ...identity, inode: 7 }, options }))?.key ?? 0;
      const third: Change = { kind: "intent", from: null, to: bench.intent("t3", { workspace: elsewhere }) };
      expect(await bench.stale([third])).toEqual(third);
      await bench.done([{ kind: "intent", from: "t1", to: null }, { kind: "idle" }]);
      expect(await bench.backend.intents({ all: true })).toEqual([]);
      await bench.done([second], { conversation: other });
    });

    test("[O7] the generation rises with a commit and with nothing else", async () => {
      const bench = await Bench.open(open);
      const before = await bench.backend.generation();
      expect(await bench.backend.generation()).toBe(before);
      await bench.backend.conversations({ key: bench.conversation });
      expect(await bench.backend.generation()).toBe(before);
      await bench.stale([{ kind: "running", run: 1 }]);
      expect(await bench.backend.generation()).toBe(before);
      await bench.done([segment(), node(keyOf(-1, 0), "u1")]);
      expect(await bench.backend.generation()).toBeGreaterThan(before);
    });

    test("[B3] what another connection committed is seen at once, and raises the generation", async ({ skip }) => {
      const bench = await Bench.open(open);
      if (bench.another === undefined) return skip("this database has one connection");
      const second = await bench.another();
      const before = await second.generation();
      const first = await bench.chain("u1");
      expect((await second.nodes(bench.conversation, { ids: ["u1"] })).map((row) => row.key)).toEqual([
        keyOf(first, 0),
      ]);
      const between = await second.generation();
      expect(between).toBeGreaterThan(before);
      expect(await second.generation()).toBe(between);
      await bench.done([{ kind: "idle" }]);
      expect(await second.generation()).toBeGreaterThan(between);
      await second.close();
    });
  });
}
