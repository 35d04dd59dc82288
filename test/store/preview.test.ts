/**
 * Preview: the same planner, the same lists, nothing written; and its plan id, which makes the rewind do exactly that.
 */
import { describe, expect, it } from "vitest";
import { code, refusal } from "../builders/codes.js";
import { dump } from "../builders/database.js";
import { Scene } from "../builders/scene.js";

async function mixed(): Promise<Scene> {
  const scene = await Scene.open({
    "modified.txt": "0\n",
    "deleted.txt": "d\n",
    "merged.txt": "1\n2\n3\n4\n5\n",
    "clash.txt": "0\n",
    "mode.sh": "x",
  });
  await scene.turn(
    "u1",
    "echo 1 > modified.txt; rm deleted.txt; sed -i s/1/ONE/ merged.txt; echo 1 > clash.txt; chmod 755 mode.sh",
  );
  await scene.turn("u2", "mkdir -p new/dir; echo n > new/dir/n.txt");
  scene.write({ "merged.txt": "ONE\n2\n3\n4\nmine\n", "clash.txt": "mine\n", "mine.txt": "m" });
  return scene;
}

describe("preview", () => {
  it("[R8] F163 preview equals execution: same paths, same outcomes, same counts, same text", async () => {
    for (const mode of ["both", "conversation", "files"] as const) {
      const scene = await mixed();
      const options = { mode, onConflict: "keep" } as const;
      const { planId, ...preview } = await scene.chat.previewRewind("u1", options);
      const { operationId, version, ...result } = await scene.chat.rewindTo("u1", { ...options, planId });
      expect(planId).toMatch(/^[0-9a-f]{32}$/);
      expect(operationId).toBe(String(version));
      if (mode === "files") expect({ ...result, newHeadId: preview.newHeadId }).toEqual(preview);
      else expect(result).toEqual(preview);
      if (mode === "both") {
        expect(result.files.map(({ path, outcome }) => `${path} ${outcome}`)).toEqual([
          "clash.txt kept",
          "deleted.txt created",
          "merged.txt merged",
          "mode.sh restored",
          "modified.txt restored",
          "new/dir/n.txt deleted",
        ]);
      }
    }
  });

  it("[R8] a preview writes nothing: neither to the database nor to the files", async () => {
    const scene = await mixed();
    const [database, files] = [dump(scene.file), scene.traces()];
    await scene.chat.previewRewind("u1", { onConflict: "overwrite" });
    await scene.chat.previewRewind("u2");
    expect([dump(scene.file), scene.traces()]).toEqual([database, files]);
  });

  it("[R8] it shows conflicts where the rewind would refuse, and refuses itself as the rewind would", async () => {
    const scene = await mixed();
    const { files } = await scene.chat.previewRewind("u1");
    expect(files.filter((file) => file.outcome === "conflict")).toEqual([
      { path: "clash.txt", outcome: "conflict", reason: "overlap" },
    ]);
    expect(await code(scene.chat.rewindTo("u1"))).toBe("file_conflict");
    expect(await code(scene.chat.previewRewind("nobody"))).toBe("not_found");
    expect(await code(scene.chat.previewRewind("a1"))).toBe("not_a_turn");
    expect(await code(scene.chat.previewRewind("u1", { expectedHead: "a1" }))).toBe("head_moved");
  });

  it("[R8] the same preview has the same plan id, another one another", async () => {
    const scene = await mixed();
    const id = async (...args: Parameters<typeof scene.chat.previewRewind>) =>
      (await scene.chat.previewRewind(...args)).planId;
    const ids = [
      await id("u1"),
      await id("u2"),
      await id("u1", { mode: "conversation" }),
      await id("u1", { onConflict: "overwrite" }),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    expect(await id("u1")).toBe(ids[0]);
    await scene.reopen();
    expect(await id("u1")).toBe(ids[0]);
  });
});

describe("plan_stale", () => {
  it("[R8] F111 a file that changes between preview and execution makes the plan stale; nothing is done", async () => {
    const changes = [
      (scene: Scene) => scene.write({ "modified.txt": "mine\n" }),
      (scene: Scene) => scene.shell("chmod 600 modified.txt"),
      (scene: Scene) => scene.remove("new/dir/n.txt"),
    ];
    for (const change of changes) {
      const scene = await mixed();
      const options = { onConflict: "keep" } as const;
      const { planId } = await scene.chat.previewRewind("u1", options);
      change(scene);
      const [database, files] = [dump(scene.file), scene.traces()];
      const error = await refusal(scene.chat.rewindTo("u1", { ...options, planId }));
      expect(error).toMatchObject({ code: "plan_stale", data: { planId, actual: expect.not.stringMatching(planId) } });
      expect([dump(scene.file), scene.traces()]).toEqual([database, files]);
    }
  });

  it("[R8] a conversation that moved makes the plan stale, also where no file is concerned", async () => {
    const scene = await mixed();
    const options = { onConflict: "keep" } as const;
    const [both, alone] = [
      await scene.chat.previewRewind("u2", options),
      await scene.chat.previewRewind("u2", { mode: "conversation" }),
    ];
    await scene.chat.append({ role: "system", content: "note" });
    expect(await code(scene.chat.rewindTo("u2", { ...options, planId: both.planId }))).toBe("plan_stale");
    expect(await code(scene.chat.rewindTo("u2", { mode: "conversation", planId: alone.planId }))).toBe("plan_stale");
    expect(await code(scene.chat.rewindTo("u2", { planId: "made up" }))).toBe("plan_stale");
  });

  it("[R8] what does not concern the plan does not make it stale", async () => {
    const scene = await mixed();
    const { planId } = await scene.chat.previewRewind("u2");
    scene.write({ "mine.txt": "changed", "other.txt": "new" });
    expect((await scene.chat.rewindTo("u2", { planId })).restoredPaths).toEqual(["new/dir/n.txt"]);
  });
});
