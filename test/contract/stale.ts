/**
 * All or nothing: for every kind of change that can be stale, a list that holds a stale one writes nothing and names it.
 */
import { describe, expect, test } from "vitest";
import type { Change } from "../../src/core/change.js";
import { keyOf } from "../../src/core/dag.js";
import {
  absent,
  Bench,
  branch,
  ended,
  fields,
  fileOf,
  identity,
  node,
  type Open,
  type Over,
  options,
  runStart,
  segment,
  stat,
} from "./bench.js";

/** A change that is stale, the list it stands in, and what the commit is about. */
interface Case {
  when: string;
  stale: Change;
  /** Changes of the same list that come first. */
  first?: Change[];
  over?: Over;
}

type Kind = Change["kind"];

/** Why a change of a kind is never stale by itself. */
type Never = string;

/** What the cases speak of: a conversation with two nodes, a run that lives and one that ended, an intent, a request. */
interface Scene {
  bench: Bench;
  segment: number;
  live: number;
  ended: number;
  /** A conversation that is idle, and one with an unsettled operation, on a workspace of its own. */
  idle: number;
  busy: number;
  busyWorkspace: number;
}

async function scene(open: Open): Promise<Scene> {
  const bench = await Bench.open(open);
  await bench.store("one", "two");
  await bench.sync({ a: fileOf("one") });
  const first = await bench.chain("u1", "a1");
  const done = await bench.done([runStart(keyOf(first, 0), {}, -1, { ...fields, ...ended })]);
  const started = await bench.done([runStart(keyOf(first, 0), { workspace: bench.workspace })]);
  await bench.done([{ kind: "request", id: "taken", fingerprint: "f", result: null }]);
  const idle = await bench.create("idle");
  const busy = await bench.create("busy");
  const elsewhere = { ...identity, root: "/elsewhere" };
  const busyWorkspace = (await bench.backend.workspace({ identity: elsewhere, options }))?.key ?? 0;
  const intent = bench.intent("held", { workspace: busyWorkspace });
  await bench.done([{ kind: "intent", from: null, to: intent }], { conversation: busy, workspace: busyWorkspace });
  const [live, over] = [started.runs.get(-1) as number, done.runs.get(-1) as number];
  return { bench, segment: first, live, ended: over, idle, busy, busyWorkspace };
}

function casesOf(s: Scene): { [K in Kind]: Case[] | Never } {
  const { bench, segment: first, live, ended: over, idle, busy, busyWorkspace } = s;
  const [u1, a1] = [keyOf(first, 0), keyOf(first, 1)];
  const create = (id: string): Change => {
    const rest = { title: null, metadata: null, workspace: null, branch: "main", createdAtMs: 1 };
    return { kind: "create", scope: "default", id, ...rest };
  };
  const next: Change = { kind: "sync", from: 1, startedAtMs: 9, rules: null };
  const notLive = (of: (run: number) => Change): Case[] => [
    { when: "the run has ended", stale: of(over) },
    { when: "there is no such run", stale: of(99_999) },
  ];
  return {
    create: [{ when: "the id is taken", stale: create("chat"), over: { conversation: null } }],
    delete: [{ when: "it is gone", stale: { kind: "delete" }, over: { conversation: 99_999 } }],
    conversation: [
      { when: "the title is another", stale: { kind: "conversation", from: { title: "x" }, to: { title: "y" } } },
      { when: "the count is another", stale: { kind: "conversation", from: { rewindCount: 3 }, to: {} } },
      { when: "the metadata is other", stale: { kind: "conversation", from: { metadata: { a: 1 } }, to: {} } },
      { when: "it is gone", stale: { kind: "conversation", from: {}, to: {} }, over: { conversation: 99_999 } },
    ],
    request: [{ when: "the id is taken", stale: { kind: "request", id: "taken", fingerprint: "g", result: 1 } }],
    segment: "a new segment collides with nothing",
    node: [
      { when: "the place is taken", stale: node(a1, "a2") },
      { when: "the id is taken", stale: node(keyOf(first, 2), "a1") },
    ],
    link: "a link is content and collides with nothing",
    branch: [
      { when: "the name is taken", stale: branch("main", undefined, u1) },
      { when: "the head is another", stale: branch("main", u1, null) },
      { when: "the branch is empty no more", stale: branch("main", null, u1) },
      { when: "the head of one to delete is another", stale: branch("main", u1, undefined) },
      { when: "it is not there", stale: branch("gone", u1, a1) },
    ],
    active: [{ when: "another branch is active", stale: { kind: "active", from: "other", to: "main" } }],
    mark: [
      { when: "the mark is another", stale: { kind: "mark", segment: first, from: 1, to: 0 } },
      { when: "it is no segment of the conversation", stale: { kind: "mark", segment: 99_999, from: null, to: 0 } },
    ],
    "run-start": [{ when: "a run is live", stale: runStart(u1) }],
    "run-end": notLive((run) => ({ kind: "run-end", run, from: "running", to: ended })),
    "run-cancel": notLive((run) => ({ kind: "run-cancel", run, reason: "stop" })),
    heartbeat: notLive((run) => ({ kind: "heartbeat", run, atMs: 5 })),
    running: notLive((run) => ({ kind: "running", run })),
    idle: [
      { when: "a run is live", stale: { kind: "idle" } },
      { when: "an operation has not settled", stale: { kind: "idle" }, over: { conversation: busy, workspace: null } },
      {
        when: "one of another conversation has not settled on the workspace",
        stale: { kind: "idle" },
        over: { conversation: idle, workspace: busyWorkspace },
      },
    ],
    version: [
      { when: "somebody committed since", stale: { kind: "version", at: 0 } },
      { when: "nothing was committed yet", stale: { kind: "version", at: 1_000_000 }, over: { conversation: idle } },
    ],
    window: [
      { when: "none is open to close", stale: { kind: "window", run: live, toolCallId: "never", open: false } },
      {
        when: "it was closed before",
        first: [true, false].map((open) => ({ kind: "window", run: live, toolCallId: "twice", open }) as Change),
        stale: { kind: "window", run: live, toolCallId: "twice", open: false },
      },
    ],
    announce: [{ when: "the path has no entry", stale: { kind: "announce", run: live, path: "nowhere" } }],
    sync: [
      { when: "somebody synced before", stale: { kind: "sync", from: 0, startedAtMs: 9, rules: null } },
      { when: "it is from the future", stale: { kind: "sync", from: 7, startedAtMs: 9, rules: null } },
      {
        when: "an operation has not settled on the workspace",
        stale: { kind: "sync", from: 0, startedAtMs: 9, rules: null },
        over: { workspace: busyWorkspace },
      },
    ],
    path: "the entry of a path is written whatever it was; the sequence guards it",
    restat: [{ when: "the path has no entry", first: [next], stale: { kind: "restat", path: "nowhere", stat } }],
    log: [
      {
        when: "the path has no entry",
        first: [next],
        stale: { kind: "log", path: "nowhere", before: absent, after: absent, owner: { kind: "outside" } },
      },
    ],
    intent: [
      { when: "it is settled already", stale: { kind: "intent", from: "never", to: null } },
      {
        when: "the workspace has one",
        stale: { kind: "intent", from: null, to: bench.intent("b", { workspace: busyWorkspace }) },
        over: { conversation: idle },
      },
      {
        when: "the conversation has one",
        stale: { kind: "intent", from: null, to: bench.intent("b") },
        over: { conversation: busy },
      },
    ],
  };
}

/** Every kind of change, and whether it can be stale. */
export function staleRules(open: Open): void {
  describe("a stale change", () => {
    test("[B1] writes nothing of its list, whichever kind it is of", async () => {
      const s = await scene(open);
      for (const [kind, cases] of Object.entries(casesOf(s))) {
        for (const { when, stale, first = [], over } of typeof cases === "string" ? [] : cases) {
          const before = await s.bench.everything();
          const sure: Change[] = over?.conversation === undefined ? [segment(-9), node(keyOf(-9, 0), "sure")] : [];
          const list = kind === "create" ? [stale] : [...sure, ...first, stale, segment(-8)];
          expect(await s.bench.commit(list, over), `${kind}: ${when}`).toMatchObject({ ok: false });
          expect(await s.bench.everything(), `${kind}: ${when}`).toEqual(before);
        }
      }
    });

    test("[B2] is what the commit answers with, as it was given", async () => {
      const s = await scene(open);
      for (const [kind, cases] of Object.entries(casesOf(s))) {
        for (const { when, stale, first = [], over } of typeof cases === "string" ? [] : cases) {
          expect(await s.bench.stale([...first, stale], over), `${kind}: ${when}`).toEqual(stale);
        }
      }
    });

    test("[B2] the first of two is named, with its placeholders", async () => {
      const bench = await Bench.open(open);
      await bench.chain("u1");
      const stale = branch("main", keyOf(5, 5), keyOf(-1, 0));
      const list = [segment(), node(keyOf(-1, 0), "u2"), stale, branch("main", keyOf(6, 6), null)];
      expect(await bench.stale(list)).toEqual(stale);
    });

    test("[B1] a placeholder that nothing gave a number is a caller's bug, and nothing is written", async () => {
      const bench = await Bench.open(open);
      const before = await bench.everything();
      await expect(bench.commit([segment(-1), node(keyOf(-2, 0), "u1")])).rejects.toBeInstanceOf(TypeError);
      expect(await bench.everything()).toEqual(before);
    });

    test("[B1] a state whose content is not stored is a caller's bug, and nothing is written", async () => {
      const bench = await Bench.open(open);
      const before = await bench.everything();
      await expect(bench.sync({ a: fileOf("never stored") })).rejects.toBeInstanceOf(TypeError);
      expect(await bench.everything()).toEqual(before);
    });

    test("[O2] a list holds only together: what it expects is looked at as the changes before it left it", async () => {
      const bench = await Bench.open(open);
      const first = await bench.chain("u1", "u2");
      const [u1, u2] = [keyOf(first, 0), keyOf(first, 1)];
      await bench.done([branch("main", u2, u1), branch("main", u1, null), branch("main", null, u2)]);
      expect((await bench.backend.structure(bench.conversation)).branches[0]?.head).toBe(u2);
    });
  });
}
