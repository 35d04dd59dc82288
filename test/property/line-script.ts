/**
 * Random histories as lists of steps. A step names what is done and carries numbers; what they choose (a node, a branch, a
 * slot) is looked up when it is played, so that every list is a history and a shorter one still means the same.
 *
 *     clear    every change is attributed: overlapping turns write inside `during` or to files they announced
 *     blurred  overlapping turns write as they like, rewinds leave the files, every policy is asked for
 */
import fc from "fast-check";
import { expect } from "vitest";
import type { MoveResult, Policy, RestoreOptions, RewindOptions } from "../../src/core/model.js";
import { checkLaws, shown } from "./line-laws.js";
import { type ModelNode, pathOf, type Who } from "./line-model.js";
import { type Decision, resume, rewind, switchTo, takeBack } from "./line-moves.js";
import { files, slots, type World } from "./line-world.js";

/** How sharply changes are told apart. */
export type Sight = "clear" | "blurred";

const kinds = [
  ["turn", 12],
  ["begin", 6],
  ["write", 8],
  ["append", 4],
  ["call", 2],
  ["failing", 3],
  ["checkpoint", 1],
  ["announce", 1],
  ["window", 3],
  ["end", 4],
  ["person", 5],
  ["rewind", 8],
  ["undo", 6],
  ["redo", 3],
  ["undoRedo", 2],
  ["detour", 3],
  ["createBranch", 4],
  ["switchBranch", 5],
  ["resume", 5],
  ["deleteBranch", 2],
  ["reopen", 1],
] as const;

type Kind = (typeof kinds)[number][0];

/** One step of a history. */
export interface Step {
  kind: Kind;
  who: Who;
  a: number;
  b: number;
  c: number;
}

const number = fc.nat({ max: 59 });
const kind = fc.oneof(...kinds.map(([value, weight]) => ({ arbitrary: fc.constant(value), weight })));
const stepOf = (kind: fc.Arbitrary<Kind>): fc.Arbitrary<Step> =>
  fc.record({ kind, who: fc.constantFrom("A", "B"), a: number, b: number, c: number });
const opening = fc.array(stepOf(fc.constant("turn")), { maxLength: 5, size: "max" });
const middle = fc.array(stepOf(kind), { minLength: 4, maxLength: 40, size: "max" });

/** Histories: some turns to have something to move between, then anything. */
export const script = fc.tuple(opening, middle).map(([first, rest]) => [...first, ...rest]);

const pick = <T>(list: readonly T[], at: number): T => list[at % list.length] as T;
const names = ["main", "b1", "b2", "b3"];
const policies: Policy[] = ["refuse", "keep", "overwrite"];
const edits = ["merge", "merge", "keep", "overwrite", "refuse"] as const;

/** Plays steps on a world. */
export class Player {
  readonly world: World;
  readonly sight: Sight;
  /** Set once something was asked to overwrite: from then on a person's line can be an older one. */
  overwrote = false;
  /** Slots that hold what their path does not imply, since a move left them: `file slot`. */
  readonly foreign = new Set<string>();

  constructor(world: World, sight: Sight) {
    this.world = world;
    this.sight = sight;
  }

  async play(step: Step): Promise<void> {
    const { world } = this;
    const { who, a } = step;
    const chat = world.modelChat(who);
    switch (step.kind) {
      case "turn":
        return this.turn(step);
      case "failing":
        return this.failing(step);
      case "begin":
        return this.begin(who);
      case "write":
        return this.write(step);
      case "append":
        return world.append(who);
      case "call":
        return this.call(who);
      case "checkpoint":
        return world.checkpoint(who).then(() => undefined);
      case "announce":
        return chat.run === null ? undefined : world.announce(who, pick(files, a));
      case "window":
        return chat.run === null || this.sight === "clear"
          ? undefined
          : a % 2 === 0
            ? world.openWindow(who)
            : world.closeWindow(who);
      case "end":
        return chat.run === null ? undefined : world.end(who, a % 3 > 0);
      case "person":
        return world.model.live.length > 0 ? undefined : world.write(pick(files, a), pick(["P0", "P1"], step.b));
      case "reopen":
        return world.reopen();
      default:
        return this.move(step);
    }
  }

  private async begin(who: Who): Promise<void> {
    await this.world.begin(who);
    // A run that never opened a window counts as one that is open all the time.
    if (this.sight === "clear") await this.emptyWindow(who);
  }

  private async emptyWindow(who: Who): Promise<void> {
    await this.world.openWindow(who);
    await this.world.closeWindow(who);
  }

  private async turn({ who, a, b, c }: Step): Promise<void> {
    const { world } = this;
    if (world.modelChat(who).run === null) await this.begin(who);
    for (let part = 0; part <= c % 3; part += 1) {
      await this.write({ kind: "write", who, a: a + part * (b % 2), b: b + part, c: c + part });
      if ((a + part) % 3 === 0) await world.checkpoint(who);
      if ((b + part) % 3 > 0) await world.append(who);
    }
    await world.end(who, a % 7 > 0);
  }

  /** A turn that fails below an open call, with captures between the nodes that it drops. */
  private async failing({ who, a, b, c }: Step): Promise<void> {
    const { world } = this;
    if (world.modelChat(who).run === null) await this.begin(who);
    if (a % 2 === 0) await world.append(who);
    for (let part = 0; part < 3; part += 1) {
      await this.write({ kind: "write", who, a: a + part, b, c });
      await world.checkpoint(who);
      await (part === 0 ? this.call(who) : world.append(who));
    }
    await world.end(who, false);
  }

  private async call(who: Who): Promise<void> {
    const { run } = this.world.modelChat(who);
    if (run === null) return;
    const [open] = run.openCalls;
    await this.world.append(who, open === undefined ? { made: this.world.token("call") } : { answered: open });
  }

  private async write({ who, a, b, c }: Step): Promise<void> {
    const { world, sight } = this;
    const { model } = world;
    const { run } = world.modelChat(who);
    if (run === null) return;
    const slot = pick(
      slots.filter((one) => one.startsWith(who)),
      b,
    );
    const file = pick(files, a);
    const inside = c % 3 === 0 || (sight === "clear" && model.live.length > 1);
    if (inside) await world.openWindow(who);
    // Who writes to a file that only another run announced, or outside of every window, is taken for that other one.
    const owners = model.ownersOf(file);
    if (owners.includes(run) && (sight === "blurred" || owners.length === 1)) world.write(file, slot);
    if (inside && (sight === "clear" || c % 2 === 0)) await world.closeWindow(who);
  }

  private async move(step: Step): Promise<void> {
    const { who, a } = step;
    const chat = this.world.modelChat(who);
    const name = pick([...chat.branches.keys()], a);
    switch (step.kind) {
      case "rewind":
        return this.rewind(step);
      case "undo":
      case "redo":
        return this.takeBack(who, step.kind, this.options(step));
      case "undoRedo":
        return this.undoRedo(who, this.options(step));
      case "detour":
        return this.detour(step);
      case "createBranch":
        return this.createBranch(step);
      case "switchBranch":
        await this.carry(who, switchTo(chat, name), this.options(step), (chosen) =>
          this.world.chats[who].switchBranch(name, chosen),
        );
        return;
      case "resume":
        return this.resume(step);
      default:
        return this.deleteBranch(who, name);
    }
  }

  private options({ b, c }: Step): RestoreOptions {
    if (this.sight === "clear") return {};
    return { onConflict: pick(policies, b), onUserEdits: pick(edits, c) };
  }

  private async carry(
    who: Who,
    decision: Decision,
    options: RestoreOptions,
    call: (options: RestoreOptions) => Promise<MoveResult | null>,
  ): Promise<string | null | undefined> {
    const { world, sight } = this;
    if (options.onConflict === "overwrite" || options.onUserEdits === "overwrite") this.overwrote = true;
    const others = (who === "A" ? ["B", "P"] : ["A", "P"]).map(
      (other) => () => world.model.ownLines(world.model.disk, other as Who),
    );
    const before = others.map((lines) => lines());
    const done = await world.move(who, decision, options, () => call(options));
    if (done !== undefined && sight === "clear") expect(done.plan?.kept ?? []).toEqual([]);
    if (done === undefined && sight === "clear" && !("code" in decision)) expect(decision).toEqual("not refused");
    if (!this.overwrote) expect(others.map((lines) => lines())).toEqual(before);
    if (done !== undefined) this.noteForeign(who, decision, done.plan?.kept ?? []);
    return done?.result?.newHeadId;
  }

  /** What a move kept, or left since it was of the conversation alone, is nobody's from then on. */
  private noteForeign(who: Who, decision: Decision, kept: readonly string[]): void {
    const { model } = this.world;
    const chat = this.world.modelChat(who);
    const isLeft = !("code" in decision) && decision.mode === "conversation";
    const implied = model.impliedAt(chat, chat.head);
    for (const [file, lines] of Object.entries(model.ownLines(model.disk, who))) {
      for (const [slot, value] of Object.entries(lines)) {
        if (kept.includes(file) || (isLeft && implied[file]?.[slot] !== value)) this.foreign.add(`${file} ${slot}`);
      }
    }
  }

  private async rewind(step: Step): Promise<void> {
    const { who, a, b, c } = step;
    const { world } = this;
    const chat = world.modelChat(who);
    const branch = c % 5 === 0 ? pick([...chat.branches.keys()], b) : chat.active;
    const onPath = pathOf(chat.branches.get(branch));
    const turns = (c % 7 === 0 ? chat.nodes : onPath).filter((node) => node.startsTurn);
    if (turns.length === 0) return;
    const user = pick(turns, a);
    const modes = ["both", "both", "both", "files", ...(this.sight === "blurred" ? ["conversation"] : [])] as const;
    const mode = pick(modes, b) as "both" | "files" | "conversation";
    const decision = rewind(chat, user, branch, mode);
    const options: RewindOptions = { ...this.options(step), mode, ...(branch === chat.active ? {} : { branch }) };
    const reachedBefore = chat.reached();
    const head = chat.head;
    let seen: { nodesRewound: string[]; userText: string | null; files: object } | undefined;
    const newHeadId = await this.carry(who, decision, options, async () => {
      const preview = await world.chats[who].previewRewind(user.id, options);
      const result = await world.chats[who].rewindTo(user.id, { ...options, planId: preview.planId });
      const { operationId: _operation, version: _version, newHeadId, ...came } = result;
      const { planId: _plan, newHeadId: foreseenHead, ...foreseen } = preview;
      expect(came).toEqual(foreseen);
      // A restore of files adds a node that a preview cannot name: it names the head that is there.
      const addsNode = !("code" in decision) && decision.mode === "files";
      expect(foreseenHead).toBe(addsNode ? (head?.id ?? null) : newHeadId);
      seen = result;
      return result;
    });
    if (seen === undefined || "code" in decision || newHeadId === undefined) return;
    chat.rewinds += 1;
    if (mode === "files") return this.addRestore(who, decision, head, user, newHeadId);
    const marked = [...reachedBefore].filter((node) => chat.isRewound(node)).sort((x, y) => x.order - y.order);
    expect(seen.nodesRewound).toEqual(marked.map((node) => node.id));
    expect(seen.userText).toBe(`text of ${user.id}`);
    expect(newHeadId).toBe(user.parent?.id ?? null);
  }

  /** A restore of files alone has a node of its own, which undo takes back with it. */
  private addRestore(who: Who, move: Decision, head: ModelNode | null, user: ModelNode, id: string | null): void {
    const chat = this.world.modelChat(who);
    if ("code" in move || move.mode !== "files") return;
    const above = this.world.model.impliedAt(chat, user.parent);
    const node = this.world.model.addRestore(chat, id as string, move.rows, above);
    move.branches = [{ name: chat.active, from: head, to: node }];
    move.head = { from: head, to: node };
  }

  private async takeBack(who: Who, stack: "undo" | "redo", options: RestoreOptions): Promise<void> {
    const decision = takeBack(this.world.modelChat(who), stack);
    await this.carry(who, decision, options, (chosen) => this.world.chats[who][stack](chosen));
  }

  private async undoRedo(who: Who, options: RestoreOptions): Promise<void> {
    const chat = this.world.modelChat(who);
    if (chat.run !== null || chat.undo.length === 0) return;
    const look = async () => ({ texts: this.world.texts(), shown: await shown(this.world, who) });
    const start = await look();
    const depth = chat.undo.length;
    await this.takeBack(who, "undo", options);
    if (chat.undo.length === depth) return;
    const undone = await look();
    for (const [direction, there] of [
      ["redo", start],
      ["undo", undone],
      ["redo", start],
    ] as const) {
      await this.takeBack(who, direction, options);
      expect(await look()).toEqual(there);
      await checkLaws(this.world);
    }
  }

  /** Undo, a move of some branch, redo: what comes again finds other branches than it knew. */
  private async detour(step: Step): Promise<void> {
    const { who, a, b } = step;
    await this.takeBack(who, "undo", this.options(step));
    await (a % 2 === 0 ? this.resume({ ...step, b: b * 3 }) : this.rewind({ ...step, c: 0 }));
    await this.takeBack(who, "redo", this.options(step));
  }

  private async createBranch({ who, a, b, c }: Step): Promise<void> {
    const chat = this.world.modelChat(who);
    const name = pick(names, a);
    const place = pick([null, ...chat.nodes], b);
    const at = place?.id ?? null;
    if (c % 2 === 0) {
      await this.carry(who, switchTo(chat, name, { place }), {}, async () => {
        await this.world.chats[who].createBranch(name, { at, switch: true });
        return null;
      });
      return;
    }
    const call = this.world.chats[who].createBranch(name, { at });
    const code = await call.then(
      () => undefined,
      (error: { code: string }) => error.code,
    );
    expect(code).toBe(chat.run !== null ? "run_active" : chat.branches.has(name) ? "branch_exists" : undefined);
    if (code === undefined) chat.branches.set(name, place);
  }

  private async resume(step: Step): Promise<void> {
    const { who, a, b } = step;
    const chat = this.world.modelChat(who);
    if (chat.nodes.length === 0) return;
    const node = pick(chat.nodes, a);
    const leaf = chat.newestLeaf(node);
    const given = b % 3 === 0 ? pick(names, b) : undefined;
    const onLeaf = (await this.world.chats[who].branches()).find((branch) => branch.headId === leaf.id)?.name;
    const free = ["resumed", ...Array.from({ length: 99 }, (_, i) => `resumed-${i + 2}`)].find(
      (n) => !chat.branches.has(n),
    );
    const name = given ?? onLeaf ?? (free as string);
    await this.carry(who, resume(chat, node, name), this.options(step), (chosen) =>
      this.world.chats[who].resume(node.id, { ...chosen, ...(given === undefined ? {} : { name: given }) }),
    );
  }

  private async deleteBranch(who: Who, name: string): Promise<void> {
    const chat = this.world.modelChat(who);
    const code = await this.world.chats[who].deleteBranch(name).then(
      () => undefined,
      (error: { code: string }) => error.code,
    );
    expect(code).toBe(chat.run !== null ? "run_active" : name === chat.active ? "branch_active" : undefined);
    if (code === undefined) chat.branches.delete(name);
  }
}
