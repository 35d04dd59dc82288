/**
 * Conversations and their DAG as a backend keeps them: found by id, prefix, page; nodes by range, key and id.
 */
import { describe, expect, test } from "vitest";
import type { Change } from "../../src/core/change.js";
import { keyOf, segmentOf } from "../../src/core/dag.js";
import { Bench, blobOf, branch, fields, fileOf, node, type Open, runStart, segment } from "./bench.js";

const ids = (rows: readonly { id: string }[]) => rows.map((row) => row.id).join(" ");

/** What is read of conversations. */
export function conversationRules(open: Open): void {
  describe("conversations", () => {
    test("[B3] are read as they were written, with what follows from their operations", async () => {
      const bench = await Bench.open(open);
      const metadata = { deep: [1, null, "ü"] };
      const key = await bench.create("one", { title: "A title", metadata, branch: "trunk", createdAtMs: 5 }, 6);
      const { number } = await bench.done([segment()], { conversation: key, atMs: 44 });
      const row = {
        key,
        id: "one",
        scope: "default",
        title: "A title",
        metadata,
        workspace: null,
        activeBranch: "trunk",
        rewindCount: 0,
        version: number,
        createdAtMs: 5,
        updatedAtMs: 44,
      };
      expect(await bench.backend.conversations({ key })).toEqual([row]);
      expect(await bench.backend.conversations({ scope: "default", id: "one" })).toEqual([row]);
      expect((await bench.backend.structure(key)).branches).toEqual([{ name: "trunk", head: null, createdAtMs: 5 }]);
    });

    test("[B3] an id or a prefix is looked up inside one scope, byte for byte", async () => {
      const bench = await Bench.open(open);
      for (const [scope, id] of [
        ["a", "same"],
        ["b", "same"],
        ["a", "Same"],
        ["a", "sand"],
        ["a", "s_m"],
      ]) {
        await bench.create(id as string, { scope });
      }
      const find = async (query: { scope: string; id: string } | { scope: string; prefix: string; limit: number }) =>
        ids(await bench.backend.conversations(query));
      expect(await find({ scope: "b", id: "same" })).toBe("same");
      expect(await find({ scope: "c", id: "same" })).toBe("");
      expect(await find({ scope: "a", prefix: "sa", limit: 9 })).toBe("same sand");
      expect(await find({ scope: "a", prefix: "sa", limit: 1 })).toBe("same");
      expect(await find({ scope: "a", prefix: "s_", limit: 9 })).toBe("s_m");
      expect(await find({ scope: "b", prefix: "sa", limit: 9 })).toBe("same");
    });

    test("[B3] are listed newest first, in pages that neither lose nor repeat one where times are equal", async () => {
      const bench = await Bench.open(open);
      for (const [id, atMs] of [
        ["a", 5],
        ["b", 9],
        ["c", 5],
        ["d", 5],
      ] as const) {
        await bench.create(id, { scope: "pages" }, atMs);
      }
      const pages: string[] = [];
      for (let before: number | undefined; ; ) {
        const rows = await bench.backend.conversations({ scope: "pages", limit: 2, before });
        const last = rows.at(-1);
        if (last === undefined) break;
        pages.push(ids(rows));
        before = last.version;
      }
      expect(pages).toEqual(["d c", "b a"]);
    });

    test("[B3] a search looks into titles and ids and takes every character as it is", async () => {
      const bench = await Bench.open(open);
      const titles = { one: "100 % wool", two: "snake_case", three: "back\\slash", wool: null };
      for (const [id, title] of Object.entries(titles)) await bench.create(id, { scope: "s", title });
      const search = async (text: string) =>
        ids(await bench.backend.conversations({ scope: "s", search: text, limit: 9 }));
      expect(await search("wool")).toBe("wool one");
      expect(await search("0 %")).toBe("one");
      expect(await search("e_c")).toBe("two");
      expect(await search("k\\s")).toBe("three");
      expect(await search("%")).toBe("one");
      expect(await search("none")).toBe("");
    });

    test("[B3] fields change from what they were to what is asked, and the version is the newest operation's", async () => {
      const bench = await Bench.open(open);
      const change: Change = {
        kind: "conversation",
        from: { title: null, rewindCount: 0 },
        to: { title: "t", rewindCount: 1 },
      };
      const { number } = await bench.done([change, { kind: "active", from: "main", to: "other" }]);
      const [row] = await bench.backend.conversations({ key: bench.conversation });
      expect(row).toMatchObject({ title: "t", rewindCount: 1, activeBranch: "other", version: number });
    });

    test("[O7] an operation about the store or about nothing raises no conversation's version", async () => {
      const bench = await Bench.open(open);
      const version = async () => (await bench.backend.conversations({ key: bench.conversation }))[0]?.version;
      const before = await version();
      await bench.done([segment()], { about: "store" });
      await bench.done([segment()], { operation: false });
      expect(await version()).toBe(before);
    });

    test("[B3] deleting takes rows of the conversation and of nothing else; rows of the log stay", async () => {
      const bench = await Bench.open(open);
      await bench.store("one");
      await bench.sync({ a: fileOf("one") });
      const first = await bench.chain("u1", "a1");
      const start = { workspace: bench.workspace };
      const { runs } = await bench.done([runStart(keyOf(first, 0), start)]);
      const run = runs.get(-1) as number;
      await bench.done([{ kind: "request", id: "r", fingerprint: "f", result: null }]);
      await bench.sync({ b: fileOf("one") }, { kind: "run", run });
      await bench.done([{ kind: "run-end", run, from: "running", to: { ...fields, status: "failed" } }]);
      const other = await bench.create("other");
      const { segments } = await bench.done([segment(), node(keyOf(-1, 0), "u1")], { conversation: other });
      const gone = bench.conversation;
      await bench.done([{ kind: "idle" }, { kind: "delete" }], { about: "store", kind: "delete" });
      const { backend } = bench;
      expect(await backend.conversations({ key: gone })).toEqual([]);
      expect(await backend.structure(gone)).toEqual({ segments: [], branches: [], links: [] });
      expect(await backend.nodes(gone, { ids: ["u1"] })).toEqual([]);
      expect(await backend.runs({ conversation: gone })).toEqual([]);
      expect(await backend.operations({ conversation: gone, request: "r" })).toEqual([]);
      expect(ids(await backend.nodes(other, { ids: ["u1"] }))).toBe("u1");
      expect((await backend.structure(other)).segments.map((row) => row.segment)).toEqual([segments.get(-1)]);
      expect((await backend.log(bench.workspace, { path: "b", after: 0 })).map((row) => row.owner)).toEqual([
        { kind: "run", run },
      ]);
      expect(await bench.create("chat")).toBeGreaterThan(other);
    });

    test("[O2] a conversation that was deleted takes no more nodes", async () => {
      const bench = await Bench.open(open);
      const first = await bench.chain("u1");
      await bench.done([{ kind: "delete" }], { about: "store" });
      const move = branch("main", keyOf(first, 0), keyOf(first, 1));
      expect(await bench.stale([node(keyOf(first, 1), "a1"), move])).toEqual(move);
    });
  });
}

/** What is read of a DAG. */
export function dagRules(open: Open): void {
  describe("a DAG", () => {
    test("[B3] placeholders become numbers wherever a key can stand, and the commit tells which", async () => {
      const bench = await Bench.open(open);
      const { segments, runs, number } = await bench.done([
        segment(-1),
        runStart(keyOf(-1, 0), {}, -5, { ...fields, lastKey: keyOf(-1, 1) }),
        node(keyOf(-1, 0), "u1", { run: -5 }),
        node(keyOf(-1, 1), "a1", { run: -5, role: "assistant" }),
        segment(-2, keyOf(-1, 0), { depth: 1, mark: 0 }),
        node(keyOf(-2, 0), "b1"),
        segment(-3, null, { caller: keyOf(-1, 1) }),
        node(keyOf(-3, 0), "s1"),
        { kind: "link", link: "covers", from: keyOf(-2, 0), to: keyOf(-1, 0) },
        branch("side", undefined, keyOf(-2, 0)),
        branch("main", null, keyOf(-1, 1)),
      ]);
      const [one, two, three] = [-1, -2, -3].map((placeholder) => segments.get(placeholder) as number);
      const structure = await bench.backend.structure(bench.conversation);
      expect(structure.segments).toEqual([
        { segment: one, parent: null, caller: null, depth: 0, mark: null, last: 1 },
        { segment: two, parent: keyOf(one as number, 0), caller: null, depth: 1, mark: 0, last: 0 },
        { segment: three, parent: null, caller: keyOf(one as number, 1), depth: 0, mark: null, last: 0 },
      ]);
      expect(structure.links).toEqual([{ link: "covers", from: keyOf(two as number, 0), to: keyOf(one as number, 0) }]);
      expect(structure.branches.map(({ name, head }) => [name, head])).toEqual([
        ["main", keyOf(one as number, 1)],
        ["side", keyOf(two as number, 0)],
      ]);
      const [run] = await bench.backend.runs({ conversation: bench.conversation });
      expect(run).toMatchObject({
        run: runs.get(-5),
        firstKey: keyOf(one as number, 0),
        userKey: keyOf(one as number, 0),
        lastKey: keyOf(one as number, 1),
      });
      const [a1] = await bench.backend.nodes(bench.conversation, { ids: ["a1"] });
      expect(a1).toMatchObject({ key: keyOf(one as number, 1), run: runs.get(-5), operation: number });
    });

    test("[N6] numbers only rise, so what was made later has the greater one", async () => {
      const bench = await Bench.open(open);
      const first = await bench.chain("u1");
      const { segments } = await bench.done([segment(-1), segment(-2)]);
      expect(segments.get(-1)).toBeGreaterThan(first);
      expect(segments.get(-2)).toBeGreaterThan(segments.get(-1) as number);
    });

    test("[B3] a node comes back as it was written", async () => {
      const bench = await Bench.open(open);
      await bench.store("picture");
      const body = JSON.stringify({ content: [{ type: "text", text: "‘quoted’ \u0000 \\ 😀" }], usage: { a: 1 } });
      const given = node(keyOf(-1, 0), "u1", {
        role: "summary",
        synthetic: true,
        createdAtMs: 1234,
        body,
        blobs: [blobOf("picture").blob],
      });
      const { number, segments } = await bench.done([segment(), given]);
      const rows = await bench.backend.nodes(bench.conversation, { ids: ["u1"] });
      expect(
        rows.map(({ conversation: _key, ...row }: (typeof rows)[number] & { conversation?: number }) => row),
      ).toEqual([
        {
          key: keyOf(segments.get(-1) as number, 0),
          id: "u1",
          run: null,
          role: "summary",
          synthetic: true,
          createdAtMs: 1234,
          position: 0,
          operation: number,
          body,
        },
      ]);
    });

    test("[B3] ranges come whole, in the order asked for; a limit keeps the newest across them", async () => {
      const bench = await Bench.open(open);
      const a = await bench.chain("a0", "a1", "a2", "a3");
      const { segments } = await bench.done([
        segment(-1, keyOf(a, 1), { depth: 2 }),
        node(keyOf(-1, 0), "b0"),
        node(keyOf(-1, 1), "b1"),
      ]);
      const b = segments.get(-1) as number;
      const ranges = [
        { from: keyOf(a, 0), to: keyOf(a, 1) },
        { from: keyOf(b, 0), to: keyOf(b, 1) },
      ];
      const read = async (limit?: number) => ids(await bench.backend.nodes(bench.conversation, { ranges, limit }));
      expect(await read()).toBe("a0 a1 b0 b1");
      expect(await read(9)).toBe("a0 a1 b0 b1");
      expect(await read(3)).toBe("a1 b0 b1");
      expect(await read(2)).toBe("b0 b1");
      expect(await read(1)).toBe("b1");
      expect(await read(0)).toBe("");
      expect(await bench.backend.nodes(bench.conversation, { ranges: [] })).toEqual([]);
    });

    test("[B3] by key, by id and by the start of an id; ids are those of one conversation", async () => {
      const bench = await Bench.open(open);
      const first = await bench.chain("u1", "u10", "u2", "U1");
      const other = await bench.create("other");
      await bench.done([segment(), node(keyOf(-1, 0), "u1"), node(keyOf(-1, 1), "u11")], { conversation: other });
      const read = async (query: Parameters<typeof bench.backend.nodes>[1], of = bench.conversation) =>
        ids(await bench.backend.nodes(of, query));
      expect(await read({ keys: [keyOf(first, 2), keyOf(first, 0), keyOf(first, 77)] })).toBe("u1 u2");
      expect(await read({ ids: ["u2", "none", "u10"] })).toBe("u10 u2");
      expect(await read({ prefix: "u1", limit: 9 })).toBe("u1 u10");
      expect(await read({ prefix: "u1", limit: 1 })).toBe("u1");
      expect(await read({ prefix: "u", limit: 9 }, other)).toBe("u1 u11");
      const [row] = await bench.backend.nodes(other, { ids: ["u1"] });
      expect(segmentOf(row?.key ?? 0)).not.toBe(first);
    });

    test("[B3] marks, branches and the active branch are what the last commit made them", async () => {
      const bench = await Bench.open(open);
      const first = await bench.chain("u1", "a1", "u2");
      await bench.done(
        [
          branch("main", keyOf(first, 2), keyOf(first, 1)),
          branch("late", undefined, null),
          { kind: "mark", segment: first, from: null, to: 2 },
        ],
        { atMs: 321 },
      );
      const structure = await bench.backend.structure(bench.conversation);
      expect(structure.segments[0]).toMatchObject({ mark: 2, last: 2 });
      expect(structure.branches).toEqual([
        { name: "late", head: null, createdAtMs: 321 },
        { name: "main", head: keyOf(first, 1), createdAtMs: 1 },
      ]);
      await bench.done([branch("late", null, undefined), { kind: "mark", segment: first, from: 2, to: null }]);
      const after = await bench.backend.structure(bench.conversation);
      expect(after.branches.map((row) => row.name)).toEqual(["main"]);
      expect(after.segments[0]?.mark).toBeNull();
    });

    test("[B3] a node's position is the log's number when it was sealed, unless it was copied with one", async () => {
      const bench = await Bench.open(open);
      await bench.store("one");
      const zero = await bench.chain("n0");
      const log = await bench.sync({ a: fileOf("one") });
      await bench.done([node(keyOf(zero, 1), "n1")]);
      await bench.done([node(keyOf(zero, 2), "n2", { position: 3 })]);
      await bench.done([node(keyOf(zero, 3), "n3")], { workspace: null });
      const { logNumber } = await bench.done([
        bench.step(),
        { kind: "log", path: "a", before: fileOf("one"), after: fileOf("one"), owner: { kind: "outside" } },
        node(keyOf(zero, 4), "n4"),
      ]);
      const rows = await bench.backend.nodes(bench.conversation, { ids: ["n0", "n1", "n2", "n3", "n4"] });
      expect(rows.map((row) => row.position)).toEqual([0, log, 3, null, logNumber]);
      expect(logNumber).toBeGreaterThan(log);
    });
  });
}
