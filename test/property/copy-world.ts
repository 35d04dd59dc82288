/**
 * The world of the copies oracle: an agent's tree with a full copy at every capture, and a person's corner that the agent
 * leaves alone. Branches and marks are the line model's; a node's `lines` hold the whole tree instead of single lines.
 */
import { lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect } from "vitest";
import { isRetconError } from "../../src/core/errors.js";
import type { MoveResult } from "../../src/core/model.js";
import { openStore } from "../../src/index.js";
import type { Conversation, Store, Turn } from "../../src/store/surface.js";
import { contents, writeFiles } from "../builders/disk.js";
import { ModelChat, type ModelNode, pathOf } from "./line-model.js";
import { type Decision, resume, rewind, switchTo, takeBack } from "./line-moves.js";
import { historyFolder } from "./runs.js";
import { editTree, type TreeEdit, treeEdits } from "./tree-edits.js";

type Copy = Record<string, string>;

const plain = ["begin", "append", "checkpoint", "end", "person", "rewind", "rewind", "files", "undo", "undo", "redo"];
const branchy = ["undoRedo", "create", "createAndSwitch", "switch", "switch", "resume", "resume", "delete", "reopen"];

/** Random histories. */
export const copySteps = fc.array(
  fc.record({
    kind: fc.oneof(
      { weight: 3, arbitrary: fc.constant("turn") },
      { weight: 2, arbitrary: fc.constant("edit") },
      { weight: 7, arbitrary: fc.constantFrom(...plain, ...branchy) },
    ),
    edits: fc.array(treeEdits, { minLength: 1, maxLength: 6 }),
    a: fc.nat({ max: 59 }),
    b: fc.nat({ max: 59 }),
  }),
  { minLength: 6, maxLength: 24, size: "max" },
);

type CopyStep = { kind: string; edits: TreeEdit[]; a: number; b: number };

const pick = <T>(list: readonly T[], at: number): T => list[at % list.length] as T;

/** The store on a folder, and the copies. */
export class CopyWorld {
  private readonly home = historyFolder();
  private readonly root = join(this.home, "work");
  private readonly model = new ModelChat("A");
  private readonly initial: Copy;
  private store!: Store;
  private chat!: Conversation;
  private turn: Turn | undefined;
  private made: ModelNode[] = [];
  private captured: Copy;
  private count = 0;

  constructor() {
    writeFiles(this.root, { a: "first\n", "d/x": "second\n", "d/e/": "", "person/notes": "mine\n", still: "still\n" });
    this.initial = this.tree();
    this.captured = this.initial;
  }

  async open(): Promise<this> {
    this.store = await openStore({ file: join(this.home, "chat.db"), durability: "normal" });
    this.chat = await this.store.createConversation({ id: "A", workspace: { root: this.root, watch: false } });
    await this.begin();
    await this.end();
    return this;
  }

  async close(): Promise<void> {
    await this.store.close();
    rmSync(this.home, { recursive: true, force: true });
  }

  /** The agent's tree; the person's corner is looked at by its times. */
  private tree(): Copy {
    return Object.fromEntries(Object.entries(contents(this.root)).filter(([path]) => !path.startsWith("person")));
  }

  /** Times and inodes of everything that is not a folder. */
  private stamps(): Copy {
    const paths = Object.entries(contents(this.root)).filter(([, content]) => !content.startsWith("folder"));
    const stamp = (path: string) => lstatSync(join(this.root, path), { bigint: true });
    return Object.fromEntries(
      paths.map(([path, content]) => [path, `${content} ${stamp(path).mtimeNs} ${stamp(path).ino}`]),
    );
  }

  private node(startsTurn: boolean, id: string, copy: Copy): ModelNode {
    this.count += 1;
    const node = { id, parent: this.model.head, order: this.count, startsTurn, rows: [], lines: { tree: copy } };
    this.model.nodes.push(node);
    this.model.head = node;
    return node;
  }

  private copyAt = (node: ModelNode | null): Copy => node?.lines.tree ?? this.initial;

  private async begin(): Promise<void> {
    if (this.turn !== undefined) return;
    const id = `u${this.count + 1}`;
    this.turn = await this.chat.beginTurn(`text of ${id}`, { id });
    this.captured = this.tree();
    this.made = [this.node(true, id, this.captured)];
    this.model.run = { nodes: this.made } as ModelChat["run"];
    this.model.redo = [];
  }

  private async append(): Promise<void> {
    const id = `n${this.count + 1}`;
    await (this.turn ?? this.chat).append({ id, role: "assistant", content: `text of ${id}` });
    const copy = this.turn === undefined ? this.copyAt(this.model.head) : this.captured;
    const node = this.node(false, id, copy);
    if (this.turn !== undefined) this.made.push(node);
  }

  private async end(): Promise<void> {
    if (this.turn === undefined) return;
    const report = await this.turn.end();
    expect(report.notCaptured).toEqual([]);
    this.ended();
  }

  private ended(): void {
    this.captured = this.tree();
    (this.made.at(-1) as ModelNode).lines = { tree: this.captured };
    this.turn = undefined;
    this.model.run = null;
  }

  /** Plays one step and looks at everything. */
  async play(step: CopyStep): Promise<void> {
    await this.step(step);
    if (this.turn === undefined) expect(this.tree()).toEqual(this.copyAt(this.model.head));
    const reached = this.model.reached();
    const { nodes } = await this.chat.graph();
    expect(nodes.map(({ id, rewound }) => [id, rewound])).toEqual(
      this.model.nodes.map((node) => [node.id, !reached.has(node)]),
    );
    expect((await this.chat.history()).map((node) => node.id)).toEqual(pathOf(this.model.head).map((node) => node.id));
  }

  private async step(step: CopyStep): Promise<void> {
    const edit = () => {
      for (const one of step.edits) editTree(this.root, one);
    };
    switch (step.kind) {
      case "turn":
        await this.begin();
        edit();
        if (step.a % 2 === 0) await this.step({ ...step, kind: "checkpoint" });
        if (step.b % 2 === 0) await this.append();
        for (const one of step.edits.slice(step.a % 4).reverse()) editTree(this.root, one);
        return this.end();
      case "edit":
        return this.turn === undefined ? undefined : edit();
      case "begin":
        return this.begin();
      case "append":
        return this.append();
      case "checkpoint":
        if (this.turn === undefined) return;
        await this.turn.checkpoint();
        this.captured = this.tree();
        return;
      case "end":
        return this.end();
      case "person":
        return this.turn === undefined ? this.person(step) : undefined;
      case "reopen":
        return this.reopen();
      default:
        return this.move(step);
    }
  }

  private person({ a, b }: CopyStep): void {
    mkdirSync(join(this.root, "person"), { recursive: true });
    writeFileSync(join(this.root, "person", pick(["notes", "plan"], a)), `${a} ${b}\n`);
  }

  private async reopen(): Promise<void> {
    const live = this.turn !== undefined;
    await this.store.close();
    if (live) this.ended();
    this.store = await openStore({ file: join(this.home, "chat.db"), durability: "normal" });
    this.chat = await this.store.conversation("A");
  }

  private async move({ kind, a, b }: CopyStep): Promise<void> {
    const { model, chat } = this;
    const name = pick([...model.branches.keys()], a);
    const place = pick([null, ...model.nodes], b);
    const made = pick(["b1", "b2", "b3"], a);
    switch (kind) {
      case "rewind":
      case "files":
        return this.rewind(a, kind === "files" ? "files" : "both", b % 4 === 0 ? name : model.active);
      case "undo":
      case "redo":
        return this.carry(takeBack(model, kind), () => chat[kind]());
      case "undoRedo":
        return this.undoRedo();
      case "switch":
        return this.carry(switchTo(model, name), () => chat.switchBranch(name));
      case "createAndSwitch":
        return this.carry(switchTo(model, made, { place }), () =>
          chat.createBranch(made, { at: place?.id ?? null, switch: true }).then(() => null),
        );
      case "create":
        if (model.run !== null || model.branches.has(made)) return;
        await chat.createBranch(made, { at: place?.id ?? null });
        return void model.branches.set(made, place);
      case "delete":
        if (model.run !== null || name === model.active) return;
        await chat.deleteBranch(name);
        return void model.branches.delete(name);
      default:
        return place === null ? undefined : this.resume(place, made);
    }
  }

  private resume(node: ModelNode, name: string): Promise<void> {
    return this.carry(resume(this.model, node, name), () => this.chat.resume(node.id, { name }));
  }

  private async rewind(at: number, mode: "both" | "files", branch: string): Promise<void> {
    const { model } = this;
    const turns = pathOf(model.branches.get(branch)).filter((node) => node.startsTurn);
    if (turns.length === 0) return;
    const user = pick(turns, at);
    const options = { mode, ...(branch === model.active ? {} : { branch }) };
    const decision = rewind(model, user, branch, mode);
    const { head } = model;
    await this.carry(decision, async () => {
      const result = await this.chat.rewindTo(user.id, options);
      if (!("code" in decision) && decision.mode === "files") {
        const node = this.node(false, result.newHeadId as string, this.copyAt(user.parent));
        Object.assign(decision, { branches: [{ name: branch, from: head, to: node }], head: { from: head, to: node } });
      }
      return result;
    });
  }

  private async undoRedo(): Promise<void> {
    if (this.model.run !== null || this.model.undo.length === 0) return;
    const look = async () => [this.tree(), (await this.chat.graph()).nodes, (await this.chat.record()).headId];
    const start = await look();
    await this.carry(takeBack(this.model, "undo"), () => this.chat.undo());
    const undone = await look();
    for (const [direction, there] of [
      ["redo", start],
      ["undo", undone],
      ["redo", start],
    ] as const) {
      await this.carry(takeBack(this.model, direction), () => this.chat[direction]());
      expect(await look()).toEqual(there);
    }
  }

  /** Carries out a move; what was right already must not have been touched. */
  private async carry(decision: Decision, call: () => Promise<MoveResult | null>): Promise<void> {
    const { model } = this;
    if ("code" in decision) {
      const refused = await call().catch((error: unknown) => (isRetconError(error) ? error.code : error));
      return void expect(refused).toBe(decision.code);
    }
    const before = this.stamps();
    const tree = this.tree();
    const result = await call();
    expect(
      result?.files.filter(({ outcome }) => ["kept", "skipped", "conflict", "failed"].includes(outcome)) ?? [],
    ).toEqual([]);
    for (const { name, to } of decision.branches) {
      if (to === undefined) model.branches.delete(name);
      else model.branches.set(name, to);
    }
    model.active = decision.active.to;
    if (decision.stack === "redo") model.redo.pop();
    if (decision.stack === "undo") model.undo.pop();
    model[decision.stack === "undo" ? "redo" : "undo"].push(decision);
    const expected = this.copyAt(model.head);
    expect(this.tree()).toEqual(expected);
    const after = this.stamps();
    for (const [path, stamp] of Object.entries(before)) {
      if (path.startsWith("person") || tree[path] === expected[path])
        expect([path, after[path]]).toEqual([path, stamp]);
    }
  }

  /** Every leaf is resumed, and then all of it is taken back again. */
  async everywhere(): Promise<void> {
    await this.end();
    for (const leaf of this.model.nodes.filter((node) => this.model.children(node).length === 0)) {
      await this.resume(leaf, "last");
    }
    await this.carry(switchTo(this.model, "empty", { place: null }), () =>
      this.chat.createBranch("empty", { at: null, switch: true }).then(() => null),
    );
    for (const direction of ["undo", "redo"] as const) {
      while (this.model[direction].length > 0) {
        const decision = takeBack(this.model, direction);
        await this.carry(decision, () => this.chat[direction]());
        // Refused, as where a branch of the same name was made since, it stays the next one to take back.
        if ("code" in decision) break;
      }
    }
  }
}
