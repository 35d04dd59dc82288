/**
 * Every refusal of a rewind, in the order in which they are looked for, and for each that nothing was written: the rows of
 * every table, the bytes of the database file, the bytes, modes and times of every file.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { RetconError } from "../../src/core/errors.js";
import type { StoreChange } from "../../src/core/model.js";
import { refusal } from "../builders/codes.js";
import { damage, dump } from "../builders/database.js";
import { traces } from "../builders/disk.js";
import { Scene } from "../builders/scene.js";

/** Two turns with files of every kind, a sibling branch, and a person's own file. */
async function stage(): Promise<Scene> {
  const scene = await Scene.open({ "a.txt": "0\n", "run.sh": "x", "d/e.txt": "e" });
  await scene.turn("u1", "echo 1 > a.txt; chmod 755 run.sh; ln -s a.txt link; mkdir made; echo n > made/n.txt");
  await scene.turn("u2", { "a.txt": "2\n", "b.txt": "b\n" });
  scene.write({ "mine.txt": "m" });
  return scene;
}

const bytesOf = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");

/** Requires that a call is refused with a code and leaves database, files and listeners as they were. */
async function refused(
  scene: Scene,
  code: string,
  call: () => Promise<unknown>,
  root = scene.root,
): Promise<RetconError> {
  await scene.reopen();
  await scene.store.close();
  const bytes = bytesOf(scene.file);
  await scene.reopen();
  const heard: StoreChange[] = [];
  scene.store.on("change", (change) => heard.push(change));
  const [database, files] = [dump(scene.file), traces(root)];
  const error = await refusal(call);
  expect(error.code).toBe(code);
  expect(error.hint).not.toBe("");
  expect([dump(scene.file), traces(root)]).toEqual([database, files]);
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(heard).toEqual([]);
  await scene.store.close();
  expect(bytesOf(scene.file)).toBe(bytes);
  await scene.reopen();
  return error;
}

describe("[L7] C10 C31 a rewind is refused before the first write, with its code", () => {
  it("[R1] F95 F96 F137 not_found: an unknown id, one of another conversation or scope, one that looks like an option", async () => {
    const scene = await stage();
    const [other, tenant] = [
      await scene.store.createConversation({ id: "other" }),
      await scene.store.scope("tenant").createConversation({ id: "theirs" }),
    ];
    await scene.turn("v1", {}, {}, other);
    await scene.turn("v2", {}, {}, tenant);
    for (const id of ["nobody", "v1", "v2", "", "--force", "-rf /", "u1; rm -rf .", "../u1", "%", "main"]) {
      const error = await refusal(scene.chat.rewindTo(id));
      expect(error).toMatchObject({ code: "not_found", data: { what: "node", id } });
    }
    await refused(scene, "not_found", () => scene.chat.rewindTo("nobody"));
  });

  it("[R1] not_a_turn: an answer, a tool result, a system node, a summary, a synthetic user node", async () => {
    const scene = await stage();
    await scene.chat.append([
      { role: "system", id: "s1", content: "x" },
      { role: "summary", id: "m1", content: "x" },
      { role: "user", id: "y1", content: "reminder", synthetic: true },
    ]);
    for (const id of ["a1", "s1", "m1", "y1"]) expect((await refusal(scene.chat.rewindTo(id))).code).toBe("not_a_turn");
    const error = await refused(scene, "not_a_turn", () => scene.chat.rewindTo("y1"));
    expect(error.data).toEqual({ nodeId: "y1", role: "user", synthetic: true });
  });

  it("[R1] not_on_branch: a turn of a branch that is not the one asked for", async () => {
    const scene = await stage();
    await scene.chat.createBranch("side", { at: "a1" });
    const error = await refused(scene, "not_on_branch", () => scene.chat.rewindTo("u2", { branch: "side" }));
    expect(error.data).toEqual({ nodeId: "u2", branch: "side" });
  });

  it("[R1] already_rewound: once is enough", async () => {
    const scene = await stage();
    await scene.chat.rewindTo("u2");
    const error = await refused(scene, "already_rewound", () => scene.chat.rewindTo("u2"));
    expect(error).toMatchObject({ data: { nodeId: "u2" }, hint: expect.stringContaining("resume") });
    expect((await refusal(scene.chat.previewRewind("u2"))).code).toBe("already_rewound");
  });

  it("[R1] run_active: the run is named, with its state, and goes on", async () => {
    const scene = await stage();
    const turn = await scene.chat.beginTurn("working", { id: "u3" });
    scene.write({ "half.txt": "half" });
    const [database, files] = [dump(scene.file), scene.traces()];
    const error = await refusal(scene.chat.rewindTo("u2"));
    expect(error).toMatchObject({
      code: "run_active",
      data: { runId: turn.runId, userNodeId: "u3", status: "running", heartbeatAt: expect.any(String) },
    });
    expect([dump(scene.file), scene.traces()]).toEqual([database, files]);
    await turn.append({ role: "assistant", content: "still here" });
    await turn.end();
  });

  it("[R1] F66 busy: another operation has not settled, in this process or in another store; it is named and goes on", async () => {
    const scene = await Scene.open();
    await scene.turn("u1", Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`f${i}.txt`, `${i}`])));
    const [here, there] = [scene.chat, await (await scene.another()).conversation("chat")];
    const refusals: Promise<unknown>[] = [];
    let done = 0;
    const tryAll = async (database: object) => {
      const calls = [
        () => there.rewindTo("u1"),
        () => here.rewindTo("u1"),
        () => there.beginTurn("x"),
        () => there.undo(),
      ];
      for (const call of calls) {
        expect(await refusal(call)).toMatchObject({ code: "busy", data: { holder: expect.any(String) } });
      }
      expect([done < 80, dump(scene.file)]).toEqual([true, database]);
    };
    await here.rewindTo("u1", {
      onProgress: (progress) => {
        done = progress.done;
        if (done === 1) refusals.push(tryAll(dump(scene.file)));
      },
    });
    expect(await Promise.all(refusals)).toHaveLength(1);
    expect([scene.files(), (await here.record()).headId]).toEqual([{}, null]);
  });

  it("[R1] C32 head_moved: the expected head, or the expected text, is no longer true", async () => {
    const scene = await stage();
    const byHead = await refused(scene, "head_moved", () => scene.chat.rewindTo("u2", { expectedHead: "a1" }));
    expect(byHead.data).toEqual({ expected: "a1", actual: "a2", field: "head" });
    const byText = await refused(scene, "head_moved", () => scene.chat.rewindTo("u2", { expectedText: "text of u3" }));
    expect(byText.data).toEqual({ expected: "text of u3", actual: "text of u2", field: "text" });
    const both = { expectedHead: "a2", expectedText: "text of u2" };
    expect((await scene.chat.rewindTo("u2", both)).newHeadId).toBe("a1");
  });

  it("[R1] file_conflict: the paths are listed with their reasons", async () => {
    const scene = await stage();
    scene.write({ "a.txt": "mine, over the agent's\n", "b.txt": "mine too\n" });
    const error = await refused(scene, "file_conflict", () => scene.chat.rewindTo("u2"));
    expect(error.data).toEqual({
      paths: [
        { path: "a.txt", reason: "overlap" },
        { path: "b.txt", reason: "edited_by_others" },
      ],
    });
  });

  it("[R1] F147 F153 F155 blob_missing: content that the plan needs is damaged, or gone", async () => {
    for (const [sql, reason] of [
      ["update blobs set data = cast('damaged' as blob) where size = 2", "damaged"],
      ["delete from blobs where key in (select before_blob from log_rows where run is not null)", "missing"],
    ] as const) {
      const scene = await stage();
      await scene.store.close();
      damage(scene.file, sql);
      await scene.reopen();
      const error = await refused(scene, "blob_missing", () => scene.chat.rewindTo("u2"));
      expect(error.data).toMatchObject({ blobs: [{ path: "a.txt", reason }] });
      const { errors } = await scene.chat.rewindTo("u2", { onFileError: "continue" });
      expect(errors).toMatchObject([{ path: "a.txt", code: "restore_failed" }]);
      expect([scene.read("a.txt"), await scene.path()]).toEqual(["2\n", "u1 a1"]);
    }
  });

  it("[R1] F143 F160 workspace_changed: the folder is gone, or another one is in its place; back again it works", async () => {
    const scene = await stage();
    const aside = `${scene.root}.aside`;
    const open = scene.chat;
    renameSync(scene.root, aside);
    expect((await refusal(open.rewindTo("u2"))).code).toBe("workspace_changed");
    const gone = await refused(scene, "workspace_changed", () => scene.chat.rewindTo("u2"), aside);
    expect(gone.data).toMatchObject({ root: scene.root });
    mkdirSync(scene.root);
    scene.write({ "a.txt": "2\n", "b.txt": "b\n" });
    await refused(scene, "workspace_changed", () => scene.chat.rewindTo("u2"));
    expect(scene.read("a.txt")).toBe("2\n");
    expect((await scene.chat.rewindTo("u2", { mode: "conversation" })).newHeadId).toBe("a1");
    await scene.chat.undo();
    rmSync(scene.root, { recursive: true });
    renameSync(aside, scene.root);
    await scene.reopen();
    expect((await scene.chat.rewindTo("u2")).restoredPaths).toEqual(["a.txt", "b.txt"]);
  });

  it("[R1] C58 crosses_thread: nodes without posts pass whatever thread is asked for", async () => {
    const scene = await stage();
    const threadScope = { platform: "telegram", chatId: "1", threadId: "2" };
    expect((await scene.chat.rewindTo("u2", { threadScope })).newHeadId).toBe("a1");
  });

  it("[R1] the first reason in the order of the rule is the one that is named", async () => {
    const scene = await stage();
    scene.write({ "a.txt": "clash\n" });
    const turn = await scene.chat.beginTurn("working");
    const stale = { expectedHead: "nobody", expectedText: "other" };
    expect((await refusal(scene.chat.rewindTo("nobody", stale))).code).toBe("not_found");
    expect((await refusal(scene.chat.rewindTo("a1", stale))).code).toBe("not_a_turn");
    expect((await refusal(scene.chat.rewindTo("u1", stale))).code).toBe("run_active");
    await turn.end();
    expect((await refusal(scene.chat.rewindTo("u2", stale))).code).toBe("head_moved");
    expect((await refusal(scene.chat.rewindTo("u2"))).code).toBe("file_conflict");
  });

  it("[R1] L7 with cancelRun, what would be refused all the same is refused before the run is asked to stop", async () => {
    const scene = await stage();
    const turn = await scene.chat.beginTurn("working", { id: "u3" });
    const [database, cancelRun] = [dump(scene.file), true];
    expect((await refusal(scene.chat.rewindTo("nobody", { cancelRun }))).code).toBe("not_found");
    expect((await refusal(scene.chat.rewindTo("a1", { cancelRun }))).code).toBe("not_a_turn");
    expect((await refusal(scene.chat.rewindTo("u2", { cancelRun, expectedText: "x" }))).code).toBe("head_moved");
    expect((await refusal(scene.chat.rewindTo("u2", { cancelRun, expectedHead: "a1" }))).code).toBe("head_moved");
    expect([turn.signal.aborted, dump(scene.file)]).toEqual([false, database]);
    await turn.end();
  });
});

describe("[L7] other moves", () => {
  it("[R1] switch, resume, undo and redo refuse a conflict and leave everything as it was", async () => {
    const scene = await stage();
    await scene.chat.createBranch("side", { at: "a1" });
    await scene.chat.rewindTo("u2");
    scene.write({ "b.txt": "mine\n" });
    await refused(scene, "file_conflict", () => scene.chat.undo());
    await refused(scene, "file_conflict", () => scene.chat.resume("u2"));
    await refused(scene, "nothing_to_undo", () => scene.chat.redo());
    await scene.chat.resume("u2", { onConflict: "overwrite" });
    scene.write({ "b.txt": "mine again\n" });
    await refused(scene, "file_conflict", () => scene.chat.switchBranch("side"));
  });

  it("[R1] a call that is given up by its signal beforehand does nothing", async () => {
    const scene = await stage();
    const signal = AbortSignal.abort("changed my mind");
    await refused(scene, "aborted", () => scene.chat.rewindTo("u1", { signal }));
  });
});
