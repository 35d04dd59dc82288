import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { asNobody, Folder, folderInMemory, manifest } from "./folder.js";

type Tree =
  | { kind: "file"; text: string; mode: number }
  | { kind: "link"; target: string }
  | { kind: "folder"; mode: number; children: Record<string, Tree> };

const names = fc.constantFrom("a", "b", "c", "é", "d e");
const { tree } = fc.letrec<{ tree: Tree; folder: Tree; leaf: Tree }>((tie) => ({
  tree: fc.oneof({ maxDepth: 3 }, tie("leaf"), tie("folder")),
  leaf: fc.oneof(
    fc.record({
      kind: fc.constant("file" as const),
      text: fc.constantFrom("", "x", "y\n", "\0"),
      mode: fc.constantFrom(0o644, 0o600, 0o755, 0o444),
    }),
    fc.record({ kind: fc.constant("link" as const), target: fc.constantFrom("a", "../b", "nowhere", "/etc", "b/c") }),
  ),
  folder: fc.record({
    kind: fc.constant("folder" as const),
    mode: fc.constantFrom(0o755, 0o755, 0o700, 0o555),
    children: fc.dictionary(names, tie("tree"), { maxKeys: 4 }),
  }),
}));
const root = fc.dictionary(names, tree, { maxKeys: 5 });

function build(place: string, children: Record<string, Tree>): void {
  for (const [name, one] of Object.entries(children)) {
    const at = join(place, name);
    if (one.kind === "link") symlinkSync(one.target, at);
    else if (one.kind === "file") writeFileSync(at, one.text);
    else {
      mkdirSync(at);
      build(at, one.children);
    }
    if (one.kind !== "link") chmodSync(at, one.mode);
  }
}

test("[W9] F122 random trees A and B: the edits from A to B give exactly B, and back exactly A", async () => {
  await fc.assert(
    fc.asyncProperty(root, root, async (a, b) => {
      const folder = await Folder.open({}, { root: folderInMemory() });
      await asNobody(folder, async () => {
        build(folder.root, a);
        await folder.sync();
        const wanted = { states: folder.states(), manifest: manifest(folder.root) };
        clear(folder.root, a);
        build(folder.root, b);
        await folder.sync();
        const there = { states: folder.states(), manifest: manifest(folder.root) };
        for (const { states, manifest: expected } of [wanted, there, wanted]) {
          const outcomes = await folder.apply(folder.editsTo(states));
          expect(outcomes.filter(({ result }) => result !== "done")).toEqual([]);
          for (const { path, state } of outcomes) expect(state).toEqual(states.get(path) ?? { kind: "absent" });
          expect(manifest(folder.root)).toEqual(expected);
          await folder.sync();
          for (const [path, entry] of folder.index) expect(entry.state).toEqual(states.get(path) ?? { kind: "absent" });
        }
        clear(folder.root, a);
      });
    }),
    { numRuns: 20 },
  );
}, 120_000);

function clear(place: string, children: Record<string, Tree>): void {
  const open = (at: string, below: Record<string, Tree>) => {
    for (const [name, one] of Object.entries(below)) {
      if (one.kind !== "folder") continue;
      chmodSync(join(at, name), 0o700);
      open(join(at, name), one.children);
    }
  };
  open(place, children);
  for (const name of Object.keys(children)) rmSync(join(place, name), { recursive: true });
}
