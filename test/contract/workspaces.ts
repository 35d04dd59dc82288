/**
 * Workspaces: found by identity, with an index that follows a sequence, a log that only grows, and blobs by their hash.
 */
import { describe, expect, test } from "vitest";
import type { Backend } from "../../src/core/backend.js";
import type { Change } from "../../src/core/change.js";
import { keyOf } from "../../src/core/dag.js";
import { isRetconError } from "../../src/core/errors.js";
import type { FileState } from "../../src/core/model.js";
import {
  absent,
  Bench,
  blobOf,
  fields,
  fileOf,
  identity,
  type Open,
  options,
  runStart,
  segment,
  stat,
} from "./bench.js";

/** What is kept of workspaces. */
export function workspaceRules(open: Open): void {
  describe("workspaces", () => {
    test("[B3] are made once for an identity, with the options they were made with", async () => {
      const bench = await Bench.open(open);
      const { backend } = bench;
      const made = {
        key: bench.workspace,
        identity,
        options,
        sequence: 0,
        syncedAtMs: null,
        rules: null,
        logNumber: 0,
      };
      expect(await backend.workspace({ key: bench.workspace })).toEqual(made);
      expect(await backend.workspace({ identity, options: { ...options, maxFileBytes: 1 } })).toEqual(made);
      const others = [{ root: "/x" }, { machine: "x" }, { device: 6 }, { inode: 2 ** 53 - 1 }];
      for (const other of others) {
        const row = await backend.workspace({ identity: { ...identity, ...other }, options });
        expect(row?.key).not.toBe(bench.workspace);
        expect(row?.identity).toEqual({ ...identity, ...other });
      }
      expect(await backend.workspace({ key: 99_999 })).toBeUndefined();
    });

    test("[B3] one sync follows another; rules are kept until others come", async () => {
      const bench = await Bench.open(open);
      const rules = { options, sources: [{ directory: "", text: "*.tmp" }], tracked: ["kept.tmp"] };
      const sync = (from: number, more: Partial<Extract<Change, { kind: "sync" }>> = {}): Change => {
        return { kind: "sync", from, startedAtMs: 10.5 + from, rules: null, ...more };
      };
      const first = await bench.done([sync(0, { rules })]);
      expect(first.sequence).toBe(1);
      expect((await bench.done([sync(1)])).sequence).toBe(2);
      expect(await bench.stale([sync(1)])).toEqual(sync(1));
      expect(await bench.backend.workspace({ key: bench.workspace })).toMatchObject({
        sequence: 2,
        syncedAtMs: 11.5,
        rules,
      });
    });

    test("[B3] every kind of state comes back as it was written, in the index and in the log", async () => {
      const bench = await Bench.open(open);
      await bench.store("one");
      const states: Record<string, FileState> = {
        file: fileOf("one", 0o4755),
        "dir/ü 😀": { kind: "directory", mode: 0o700 },
        link: { kind: "symlink", target: "../no where" },
        gone: absent,
        lost: { kind: "unknown", reason: "too_large" },
      };
      await bench.sync(states);
      const entries = await bench.backend.index(bench.workspace, { after: 0 });
      expect(Object.fromEntries(entries.map((entry) => [entry.path, entry.state]))).toEqual(states);
      for (const [path, state] of Object.entries(states)) {
        const entry = { path, state, stat, announced: false };
        expect(await bench.backend.index(bench.workspace, { path })).toEqual([entry]);
        const rows = await bench.backend.log(bench.workspace, { path, after: 0 });
        expect(rows.map(({ before, after }) => [before, after])).toEqual([[absent, state]]);
      }
      expect(await bench.backend.index(bench.workspace, { path: "none" })).toEqual([]);
    });

    test("[B3] the index tells what changed after a sequence, a newer stat included, of one workspace", async () => {
      const bench = await Bench.open(open);
      await bench.store("one");
      await bench.sync({ a: fileOf("one"), b: fileOf("one") });
      await bench.done([bench.step(), { kind: "restat", path: "b", stat: { ...stat, ino: 9 } }]);
      await bench.done([bench.step(), { kind: "path", path: "c", to: absent, stat: null }]);
      const changed = async (sequence: number, of = bench.workspace) =>
        (await bench.backend.index(of, { after: sequence })).map((entry) => `${entry.path} ${entry.stat?.ino}`).sort();
      expect(await changed(0)).toEqual(["a 44", "b 9", "c undefined"]);
      expect(await changed(1)).toEqual(["b 9", "c undefined"]);
      expect(await changed(3)).toEqual([]);
      const other = (await bench.backend.workspace({ identity: { ...identity, root: "/o" }, options }))?.key ?? 0;
      expect(await changed(-1, other)).toEqual([]);
      expect((await bench.backend.index(bench.workspace, { path: "b" }))[0]?.state).toEqual(fileOf("one"));
    });

    test("[B3] an announced path stays announced when its state changes", async () => {
      const bench = await Bench.open(open);
      await bench.store("one", "two");
      const first = await bench.chain("u1");
      const { runs } = await bench.done([runStart(keyOf(first, 0), { workspace: bench.workspace })]);
      await bench.sync({ a: fileOf("one") });
      await bench.done([bench.step(), { kind: "announce", run: runs.get(-1) as number, path: "a" }]);
      await bench.sync({ a: fileOf("two") });
      expect(await bench.backend.index(bench.workspace, { path: "a" })).toMatchObject([
        { announced: true, state: fileOf("two") },
      ]);
    });

    test("[B3] rows of the log are numbered in order, and the workspace and the commit tell the newest", async () => {
      const bench = await Bench.open(open);
      await bench.store("one", "two");
      const one = await bench.sync({ a: fileOf("one"), b: fileOf("one") });
      const two = await bench.sync({ a: fileOf("two") });
      expect(two).toBeGreaterThan(one);
      expect((await bench.backend.workspace({ key: bench.workspace }))?.logNumber).toBe(two);
      expect((await bench.done([bench.step()])).logNumber).toBe(0);
      const along = async (after: number, limit?: number) =>
        (await bench.backend.log(bench.workspace, { path: "a", after, limit })).map((row) => row.number);
      const all = await along(0);
      expect(all).toEqual([one - 1, two]);
      expect(await along(0, 1)).toEqual([one - 1]);
      expect(await along(one - 1)).toEqual([two]);
      expect(await along(two)).toEqual([]);
    });

    test("[B3] rows are found by run, by those who share them, and by operation, with whose they are", async () => {
      const bench = await Bench.open(open);
      await bench.store("one");
      const first = await bench.chain("u1");
      const { runs } = await bench.done([runStart(keyOf(first, 0), { workspace: bench.workspace })]);
      const run = runs.get(-1) as number;
      const one = await bench.sync({ a: fileOf("one") }, { kind: "run", run, toolCallId: "c1" });
      const two = await bench.sync({ b: fileOf("one") }, { kind: "shared", runs: [run, run + 1] });
      const three = await bench.sync({ c: fileOf("one") }, { kind: "move" });
      await bench.sync({ d: fileOf("one") });
      const rows = await bench.backend.log(bench.workspace, { runs: [run] });
      expect(rows.map(({ number, owner }) => [number, owner])).toEqual([
        [one, { kind: "run", run, toolCallId: "c1" }],
        [two, { kind: "shared", runs: [run, run + 1] }],
      ]);
      const shared = await bench.backend.log(bench.workspace, { runs: [run + 1, 99_999] });
      expect(shared.map((row) => row.path)).toEqual(["b"]);
      expect(await bench.backend.log(bench.workspace, { runs: [] })).toEqual([]);
      const [moved] = await bench.backend.log(bench.workspace, { path: "c", after: 0 });
      expect(moved).toMatchObject({ number: three, owner: { kind: "move" } });
      expect(await bench.backend.log(bench.workspace, { operation: moved?.operation ?? 0 })).toEqual([moved]);
    });

    test("[B3] a row of a run that the same commit starts names the run", async () => {
      const bench = await Bench.open(open);
      const first = await bench.chain("u1");
      const { runs } = await bench.done([
        bench.step(),
        runStart(keyOf(first, 0), {}, -3, { ...fields, status: "completed" }),
        { kind: "path", path: "a", to: absent, stat: null },
        { kind: "log", path: "a", before: absent, after: absent, owner: { kind: "run", run: -3 } },
      ]);
      const rows = await bench.backend.log(bench.workspace, { runs: [runs.get(-3) as number] });
      expect(rows.map((row) => row.owner)).toEqual([{ kind: "run", run: runs.get(-3) }]);
    });
  });
}

/** What is kept of blobs. */
export function blobRules(open: Open): void {
  describe("blobs", () => {
    test("[B6] are kept as they were given, in the order asked for, without those that are not there", async () => {
      const bench = await Bench.open(open);
      const packed = { ...blobOf("one"), encoding: "deflate" as const, data: Buffer.from([1, 0, 255]), size: 17 };
      await bench.backend.putBlobs([packed, blobOf("two"), blobOf("")]);
      const [two, none, one, empty] = [blobOf("two").blob, blobOf("none").blob, packed.blob, blobOf("").blob];
      const read = (await bench.backend.blobs([two, none, one, empty])).map((blob) => ({
        ...blob,
        data: [...blob.data],
      }));
      expect(read).toEqual([
        { ...blobOf("two"), data: [...Buffer.from("two")] },
        { ...packed, data: [1, 0, 255] },
        { ...blobOf(""), data: [] },
      ]);
      expect(await bench.backend.blobs([])).toEqual([]);
    });

    test("[B6] are stored once and never overwritten", async () => {
      const bench = await Bench.open(open);
      await bench.store("one");
      await bench.backend.putBlobs([{ ...blobOf("one"), data: Buffer.from("other"), size: 5 }, blobOf("one")]);
      const [blob] = await bench.backend.blobs([blobOf("one").blob]);
      expect(Buffer.from(blob?.data ?? []).toString()).toBe("one");
      await bench.backend.putBlobs([]);
    });
  });
}

/** Every member of the port, called once. */
const calls = (backend: Backend): { [K in Exclude<keyof Backend, "close">]: () => Promise<unknown> } => ({
  conversations: () => backend.conversations({ key: 1 }),
  structure: () => backend.structure(1),
  nodes: () => backend.nodes(1, { ids: ["a"] }),
  runs: () => backend.runs({ liveAnywhere: true }),
  operations: () => backend.operations({ newest: 1 }),
  intents: () => backend.intents({ all: true }),
  workspace: () => backend.workspace({ key: 1 }),
  index: () => backend.index(1, { after: 0 }),
  log: () => backend.log(1, { runs: [1] }),
  blobs: () => backend.blobs([blobOf("a").blob]),
  putBlobs: () => backend.putBlobs([blobOf("a")]),
  commit: () => backend.commit({ conversation: 1, workspace: null, operation: null, changes: [segment()] }),
  generation: () => backend.generation(),
});

/** What holds of a backend as a whole. */
export function lifeRules(open: Open): void {
  describe("a backend", () => {
    test("[B3] refuses every call once it is closed, and closes twice", async () => {
      const { backend } = await open();
      await backend.close();
      await backend.close();
      for (const [name, call] of Object.entries(calls(backend))) {
        const error = await call().then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        expect(isRetconError(error, "closed"), name).toBe(true);
      }
    });

    test("[B1] commits that race each hold all or nothing, one after the other", async () => {
      const bench = await Bench.open(open);
      const first = await bench.chain("u1");
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, i) => bench.commit([segment(), runStart(keyOf(first, 0), { found: i })])),
      );
      expect(outcomes.filter((outcome) => outcome.ok)).toHaveLength(1);
      expect((await bench.backend.structure(bench.conversation)).segments).toHaveLength(2);
    });
  });
}
