import { existsSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ImportReport, importClaudeCode } from "../../src/importers/claude-code.js";
import { openStore, type Store } from "../../src/index.js";

const folder = resolve(import.meta.dirname, "../../../shared/transcripts/claude-code");
const isThere = existsSync(folder);
if (!isThere) console.warn(`SKIPPED: no real transcripts in ${folder}; their tests did not run`);
const files = isThere ? readdirSync(folder).filter((name) => name.endsWith(".jsonl")) : [];

describe.runIf(isThere)("real transcripts", () => {
  const reports = new Map<string, ImportReport>();
  let store: Store;
  beforeAll(async () => {
    store = await openStore({ file: ":memory:" });
  });
  afterAll(() => store.close());

  it.each(files)("[I3] [I4] %s imports, and a second time adds nothing", async (name) => {
    const own = await openStore({ file: ":memory:" });
    const first = await importClaudeCode(own, join(folder, name));
    const chat = await own.conversation(first.conversationId);
    const before = await chat.graph();
    expect(before.nodes).toHaveLength(first.nodes);
    expect((await importClaudeCode(own, join(folder, name))).added).toBe(0);
    expect(await chat.graph()).toEqual(before);
    await own.close();
  });

  it("[I1] the rewound branch of a real session is there, and nothing else forks", async () => {
    const report = await importClaudeCode(store, join(folder, "ccl-real-rewind-branch-03eb5929.jsonl"));
    expect(report).toMatchObject({ lines: 61, branches: 2, skipped: 0, repaired: 0 });
    const chat = await store.conversation(report.conversationId);
    expect(await chat.rewindPoints()).toHaveLength(4);
    expect((await chat.graph()).nodes.filter(({ rewound }) => rewound)).toHaveLength(9);
  });

  it.each(files)("[I6] %s is replayed", async (name) => {
    const own = await openStore({ file: ":memory:" });
    const place = join(mkdtempSync(join(tmpdir(), "retcon-real-")), "work");
    const report = await importClaudeCode(own, join(folder, name), { replay: place });
    reports.set(basename(name), report);
    const plain = await openStore({ file: ":memory:" });
    await importClaudeCode(plain, join(folder, name));
    const marks = async (from: Store) =>
      (await (await from.conversation(report.conversationId)).graph().then(({ nodes }) => nodes))
        .map(({ id, parentId, callerId, rewound }) => ({ id, parentId, callerId, rewound }))
        .sort((a, b) => (a.id < b.id ? -1 : 1));
    expect(await marks(own)).toEqual(await marks(plain));
    await own.close();
    await plain.close();
  });

  it("[I6] of the 61 calls that changed a file, at least 58 are replayed", () => {
    const replayed = [...reports.values()].reduce((sum, report) => sum + (report.replayed ?? 0), 0);
    expect(replayed).toBeGreaterThanOrEqual(58);
    expect(
      [...reports.values()].flatMap(({ notReplayable }) => notReplayable ?? []).map(({ reason }) => reason),
    ).toEqual([
      "the path is outside the session's folder",
      "the path is outside the session's folder",
      "the path is outside the session's folder",
      "the transcript does not hold its result, so it may not have happened",
    ]);
  });
});
