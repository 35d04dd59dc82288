/**
 * A person's edits beside the agent's: kept, merged, or in conflict; and what the caller can ask for instead.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RestoreOptions } from "../../src/core/model.js";
import { code, refusal } from "../builders/codes.js";
import type { Files } from "../builders/disk.js";
import { Scene, type Work } from "../builders/scene.js";

const five = (first: string, last = "5") => `${first}\n2\n3\n4\n${last}\n`;

/** A turn's work, then the person's, and a scene that is ready to be rewound. */
async function edited(files: Files, agent: Work, person: Work): Promise<Scene> {
  const scene = await Scene.open(files);
  await scene.turn("u1", agent);
  await scene.work(person);
  return scene;
}

describe("by default", () => {
  it("[R12] F112 F114 an edit of a person's after the agent's is not overwritten silently: in another region both hands stay", async () => {
    const scene = await edited({ "a.txt": five("1") }, { "a.txt": five("agent") }, { "a.txt": five("agent", "mine") });
    expect((await scene.chat.rewindTo("u1")).files).toEqual([{ path: "a.txt", outcome: "merged" }]);
    expect(scene.read("a.txt")).toBe(five("1", "mine"));
  });

  it("[R13] F115 where hunks overlap the result is a conflict report; the file stays as it is", async () => {
    const scene = await edited({ "a.txt": five("1") }, { "a.txt": five("agent") }, { "a.txt": five("mine") });
    const error = await refusal(scene.chat.rewindTo("u1"));
    expect(error).toMatchObject({ code: "file_conflict", data: { paths: [{ path: "a.txt", reason: "overlap" }] } });
    expect([scene.read("a.txt"), await scene.path()]).toEqual([five("mine"), "u1 a1"]);
  });

  it("[R12] F113 a file that only the person changed is not touched, whatever is asked for", async () => {
    for (const onUserEdits of ["merge", "keep", "overwrite", "refuse"] as const) {
      const scene = await edited(
        { "a.txt": "a", "mine.txt": "0" },
        { "a.txt": "b" },
        { "mine.txt": "1", "new.txt": "n" },
      );
      const { files } = await scene.chat.rewindTo("u1", { onUserEdits, onConflict: "overwrite" });
      expect(files.map((file) => file.path)).toEqual(["a.txt"]);
      expect([scene.read("mine.txt"), scene.read("new.txt")]).toEqual(["1", "n"]);
    }
  });

  it("[R13] F116 a file that the agent made and the person then edited is kept", async () => {
    const scene = await edited({}, { "new.txt": "agent\n" }, { "new.txt": "agent\nmine\n" });
    const error = await refusal(scene.chat.rewindTo("u1"));
    expect(error.data).toEqual({ paths: [{ path: "new.txt", reason: "edited_by_others" }] });
    const { files } = await scene.chat.rewindTo("u1", { onConflict: "keep" });
    expect(files).toEqual([{ path: "new.txt", outcome: "kept", reason: "edited_by_others" }]);
    expect(scene.read("new.txt")).toBe("agent\nmine\n");
  });

  it("[R12] F117 a file that the agent made and the person deleted is not resurrected", async () => {
    const scene = await edited({}, { "new.txt": "agent\n", "d/deep.txt": "x" }, "rm -r new.txt d");
    const { files } = await scene.chat.rewindTo("u1");
    expect(files.every((file) => file.outcome === "unchanged")).toBe(true);
    expect(scene.files()).toEqual({});
    await scene.chat.undo();
    expect(scene.files()).toEqual({});
  });

  it("[R13] F118 a file that the agent changed and somebody deleted is a conflict, and is restored where everything is asked for", async () => {
    for (const options of [{ onConflict: "overwrite" }, { onUserEdits: "overwrite" }] as const) {
      const scene = await edited({ "a.txt": "0\n" }, { "a.txt": "1\n" }, "rm a.txt");
      const error = await refusal(scene.chat.rewindTo("u1"));
      expect(error.data).toEqual({ paths: [{ path: "a.txt", reason: "deleted_by_others" }] });
      await scene.chat.rewindTo("u1", options);
      expect(scene.read("a.txt")).toBe("0\n");
      await scene.chat.undo();
      expect(scene.files()).toEqual({});
    }
  });

  it("[W10] a binary file, a mode and a kind that both changed are conflicts", async () => {
    const binary = (byte: number) => Uint8Array.of(0, 1, 2, byte);
    const scene = await Scene.open({ "b.bin": binary(0), "m.sh": "x\n", "k.txt": "x\n" });
    await scene.turn("u1", (turn) => {
      scene.write({ "b.bin": binary(1) });
      scene.shell("chmod 755 m.sh; echo agent > k.txt");
      return turn;
    });
    scene.write({ "b.bin": binary(2) });
    scene.shell("chmod 600 m.sh; rm k.txt; mkdir k.txt");
    const error = await refusal(scene.chat.rewindTo("u1"));
    expect(error.data).toEqual({
      paths: [
        { path: "b.bin", reason: expect.any(String) },
        { path: "k.txt", reason: "changed_by_both" },
        { path: "m.sh", reason: "mode_changed_by_both" },
      ],
    });
    await scene.chat.rewindTo("u1", { onConflict: "keep" });
    expect(scene.shell("ls -d k.txt/; stat -c %a m.sh")).toBe("k.txt/\n600\n");
  });
});

describe("what can be asked for", () => {
  const clash = () =>
    edited(
      { "a.txt": five("1"), "b.txt": five("1"), "c.txt": five("1") },
      { "a.txt": five("agent"), "b.txt": five("agent"), "c.txt": five("agent") },
      { "a.txt": five("mine"), "b.txt": five("mine"), "c.txt": five("agent", "mine") },
    );
  const cases: [string, RestoreOptions, Record<string, string>][] = [
    ["onConflict keep", { onConflict: "keep" }, { a: five("mine"), b: five("mine"), c: five("1", "mine") }],
    ["onConflict overwrite", { onConflict: "overwrite" }, { a: five("1"), b: five("1"), c: five("1", "mine") }],
    [
      "onConflict path by path",
      { onConflict: { default: "keep", paths: { "b.txt": "overwrite" } } },
      { a: five("mine"), b: five("1"), c: five("1", "mine") },
    ],
    ["onUserEdits keep", { onUserEdits: "keep" }, { a: five("mine"), b: five("mine"), c: five("agent", "mine") }],
    ["onUserEdits overwrite", { onUserEdits: "overwrite" }, { a: five("1"), b: five("1"), c: five("1") }],
  ];
  for (const [name, options, expected] of cases) {
    it(`[R13] ${name}; and undo brings the person's bytes back`, async () => {
      const scene = await clash();
      const before = scene.files();
      const { files } = await scene.chat.rewindTo("u1", options);
      const found = Object.fromEntries(["a", "b", "c"].map((file) => [file, scene.read(`${file}.txt`)]));
      expect(found).toEqual(expected);
      const kept = files.filter((file) => file.outcome === "kept");
      expect(kept.every((file) => file.reason !== undefined)).toBe(true);
      await scene.chat.undo();
      expect(scene.files()).toEqual(before);
    });
  }

  it("[R13] path by path with refuse as the default names only the paths that nobody decided", async () => {
    const scene = await clash();
    const onConflict = { default: "refuse", paths: { "a.txt": "keep", constructor: "keep" } } as const;
    const error = await refusal(scene.chat.rewindTo("u1", { onConflict }));
    expect(error.data).toEqual({ paths: [{ path: "b.txt", reason: "overlap" }] });
    const deciding = { default: "refuse", paths: { "a.txt": "keep", "b.txt": "overwrite" } } as const;
    expect((await scene.chat.rewindTo("u1", { onConflict: deciding })).restoredPaths).toEqual(["b.txt", "c.txt"]);
  });

  it("[R12] onUserEdits refuse lists every path that somebody else touched, mergeable or not", async () => {
    const scene = await clash();
    const error = await refusal(scene.chat.rewindTo("u1", { onUserEdits: "refuse" }));
    expect((error.data as { paths: { path: string }[] }).paths.map(({ path }) => path)).toEqual([
      "a.txt",
      "b.txt",
      "c.txt",
    ]);
  });
});

describe("a folder in the way", () => {
  it("[R13] F98 a file whose folder became a file is a conflict; kept, the rest goes on", async () => {
    const scene = await edited(
      { "d/a.txt": "0\n", "b.txt": "0\n" },
      { "d/a.txt": "1\n", "b.txt": "1\n" },
      "rm -r d; echo mine > d",
    );
    expect(await code(scene.chat.rewindTo("u1"))).toBe("file_conflict");
    const { files } = await scene.chat.rewindTo("u1", { onConflict: "overwrite" });
    expect(files.find((file) => file.path === "d/a.txt")).toMatchObject({ outcome: "kept", reason: "parent_replaced" });
    expect([scene.read("d"), scene.read("b.txt")]).toEqual(["mine\n", "0\n"]);
  });

  it("[R13] a folder that somebody removed is made again for the file that comes back", async () => {
    const scene = await edited({ "d/e/a.txt": "0\n" }, "rm d/e/a.txt", "rm -r d");
    await scene.chat.rewindTo("u1");
    expect(scene.read("d/e/a.txt")).toBe("0\n");
  });

  it("[W9] F105 F106 onFileError continue: what cannot be done is listed as failed, the rest and the conversation go on", async () => {
    const scene = await Scene.open({ "a.txt": "0\n", "d/x.txt": "0\n" });
    await scene.turn("u1", { "a.txt": "1\n", "d/x.txt": "1\n" });
    let moved = false;
    const result = await scene.chat.rewindTo("u1", {
      onFileError: "continue",
      onProgress: () => {
        // Somebody replaces the second file while the first is written.
        if (!moved) scene.write({ [scene.read("a.txt") === "0\n" ? "d/x.txt" : "a.txt"]: "raced\n" });
        moved = true;
      },
    });
    expect(result.newHeadId).toBeNull();
    expect(result.errors).toMatchObject([{ code: "restore_failed" }]);
    expect(result.files.map((file) => file.outcome).sort()).toEqual(["failed", "restored"]);
    expect([scene.read("a.txt"), scene.read("d/x.txt")].sort()).toEqual(["0\n", "raced\n"]);
  });

  it("[W9] F145 onFileError rollback: the edits made are taken back, the person's bytes and the conversation stay", async () => {
    const scene = await Scene.open({ "a.txt": "0\n", "d/x.txt": "0\n" });
    await scene.turn("u1", { "a.txt": "1\n", "d/x.txt": "1\n" });
    let moved = false;
    const error = await refusal(
      scene.chat.rewindTo("u1", {
        onProgress: () => {
          if (!moved) scene.write({ [scene.read("a.txt") === "0\n" ? "d/x.txt" : "a.txt"]: "raced\n" });
          moved = true;
        },
      }),
    );
    expect(error).toMatchObject({ code: "restore_failed", data: { rolledBack: true } });
    expect([scene.read("a.txt"), scene.read("d/x.txt")].sort()).toEqual(["1\n", "raced\n"]);
    expect(await scene.path()).toBe("u1 a1");
    expect((await scene.chat.rewindTo("u1", { onConflict: "overwrite" })).newHeadId).toBeNull();
  });
});

it("[R12] F122 random edits of person and agent: rewinding all turns leaves the baseline plus the person's edits", async () => {
  // Each line has one owner, and they never touch, so that every merge is clean and the answer is known.
  const step = fc.record({
    who: fc.constantFrom("agent", "person"),
    line: fc.nat(4),
    file: fc.nat(1),
    text: fc.nat(99),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { maxLength: 4 }), { minLength: 1, maxLength: 4 }), async (turns) => {
      const lines = [0, 1].map(() => Array.from({ length: 30 }, (_, i) => `line ${i}`));
      const personal = lines.map((file) => [...file]);
      const files = (from: string[][]) => ({
        "f0.txt": `${from[0]?.join("\n")}\n`,
        "f1.txt": `${from[1]?.join("\n")}\n`,
      });
      const scene = await Scene.open(files(lines));
      for (const [t, steps] of turns.entries()) {
        for (const { file, line, text } of steps.filter(({ who }) => who === "person")) {
          for (const side of [lines, personal]) (side[file] as string[])[line * 6] = `mine ${t} ${text}`;
        }
        scene.write(files(lines));
        await scene.turn(`u${t + 1}`, () => {
          for (const { file, line, text } of steps.filter(({ who }) => who === "agent")) {
            (lines[file] as string[])[line * 6 + 3] = `agent ${t} ${text}`;
          }
          scene.write(files(lines));
        });
      }
      const after = scene.files();
      await scene.chat.rewindTo("u1");
      expect([scene.read("f0.txt"), scene.read("f1.txt")]).toEqual(Object.values(files(personal)));
      await scene.chat.undo();
      expect(scene.files()).toEqual(after);
      await scene.store.close();
    }),
    { numRuns: 12 },
  );
});
