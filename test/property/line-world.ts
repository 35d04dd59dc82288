/**
 * The real side of the line oracle: a folder, a database, a store, and the hands of two agents and a person. Each
 * method does one thing for real and the same in the model, and says so loudly if the two disagree.
 */
import { lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { isRetconError } from "../../src/core/errors.js";
import type { MoveResult, NewMessage, RestoreOptions } from "../../src/core/model.js";
import { openStore } from "../../src/index.js";
import type { Conversation, Store, Turn } from "../../src/store/surface.js";
import { type Lines, Model, type ModelChat, type ModelNode, type ModelRun, type Who } from "./line-model.js";
import { carryOut, type Decision, type ModelPlan } from "./line-moves.js";
import { historyFolder } from "./runs.js";

/** Who a slot belongs to is its first letter; P is the person. */
export const slots = ["A0", "B0", "P0", "A1", "B1", "P1"];
export const files = ["a.txt", "dir/b.txt", "c.txt"];

/** A file as text: each slot is a line, with three lines between that nobody touches, so that merges are clean. */
function textOf(file: string, lines: Lines): string {
  const between = (slot: string) => ["first", "second", "third"].map((nth) => `${file} ${nth} below ${slot}`);
  return slots.flatMap((slot) => [`${slot} = ${lines[slot]}`, ...between(slot), ""]).join("\n");
}

/** A call's result, or the code and data with which it was refused. */
async function attempt<T>(call: () => Promise<T>): Promise<{ value: T } | { code: string; data: unknown }> {
  try {
    return { value: await call() };
  } catch (error) {
    if (isRetconError(error)) return { code: error.code, data: error.data };
    throw error;
  }
}

/** The folder, the store and the model beside them. */
export class World {
  readonly home = historyFolder();
  readonly root = join(this.home, "work");
  readonly model: Model;
  readonly chats = {} as Record<Who, Conversation>;
  readonly turns: Partial<Record<Who, Turn>> = {};
  /** Every node as it was when it was made. */
  readonly born = new Map<string, unknown>();
  readonly personal: Record<string, string> = {};
  store!: Store;
  #held: Partial<Record<Who, () => Promise<void>>> = {};
  #tokens = 0;

  constructor() {
    const lines = Object.fromEntries(slots.map((slot) => [slot, `${slot}-0`]));
    this.model = new Model(Object.fromEntries(files.map((file) => [file, lines])));
    for (const file of files) {
      mkdirSync(dirname(join(this.root, file)), { recursive: true });
      writeFileSync(join(this.root, file), textOf(file, lines));
    }
  }

  /** Opens the store, makes both conversations, and waits for the first capture. */
  async open(): Promise<this> {
    this.store = await openStore({ file: join(this.home, "chat.db"), durability: "normal" });
    for (const who of ["A", "B"] as const) {
      this.chats[who] = await this.store.createConversation({ id: who, workspace: { root: this.root, watch: false } });
    }
    await this.begin("A");
    await this.end("A", true);
    return this;
  }

  async close(): Promise<void> {
    for (const who of ["A", "B"] as const) await this.closeWindow(who);
    await this.store.close();
    rmSync(this.home, { recursive: true, force: true });
  }

  token(prefix: string): string {
    this.#tokens += 1;
    return `${prefix}${this.#tokens}`;
  }

  modelChat = (who: Who): ModelChat => this.model.chats[who];

  /** Reads, replaces one line and writes, as a shell would. */
  write(file: string, slot: string): void {
    const value = this.token(`${slot}-`);
    const place = join(this.root, file);
    const text = readFileSync(place, "utf8");
    const old = this.model.disk[file]?.[slot];
    expect(text).toContain(`${slot} = ${old}\n`);
    writeFileSync(place, text.replace(`${slot} = ${old}\n`, `${slot} = ${value}\n`));
    this.model.write(file, slot, value);
    if (slot.startsWith("P")) this.personal[`${file} ${slot}`] = value;
  }

  async begin(who: Who): Promise<void> {
    const chat = this.modelChat(who);
    const id = this.token(`u${who}`);
    const begun = await attempt(() => this.chats[who].beginTurn(`text of ${id}`, { id }));
    if (chat.run !== null) return void expect(begun).toMatchObject({ code: "run_active" });
    if (!("value" in begun)) return void expect(begun).toEqual("a turn");
    this.model.begin(chat, id);
    this.turns[who] = begun.value;
    await this.remember(who, id);
  }

  async append(who: Who, call: { made?: string; answered?: string } = {}): Promise<void> {
    const id = this.token(`n${who}`);
    const writer = this.turns[who] ?? this.chats[who];
    const { made, answered } = call;
    const part = { toolName: "shell" } as const;
    const message: NewMessage =
      made !== undefined
        ? { id, role: "assistant", content: [{ type: "tool-call", toolCallId: made, ...part, input: {} }] }
        : answered !== undefined
          ? { id, role: "tool", content: [{ type: "tool-result", toolCallId: answered, ...part, output: id }] }
          : { id, role: "assistant", content: `text of ${id}` };
    await writer.append(message);
    this.model.append(this.modelChat(who), id, call);
    await this.remember(who, id);
  }

  private async remember(who: Who, id: string): Promise<void> {
    this.born.set(id, { ...(await this.chats[who].node(id)), rewound: false });
  }

  async checkpoint(who: Who): Promise<void> {
    await this.turns[who]?.checkpoint();
    this.model.sync();
  }

  async announce(who: Who, file: string): Promise<void> {
    await this.turns[who]?.willChange(file);
    this.model.announce(this.modelChat(who).run as ModelRun, file);
  }

  /** Opens a window and leaves it open. */
  async openWindow(who: Who): Promise<void> {
    if (this.#held[who] !== undefined) return;
    const { promise: released, resolve: release } = promised();
    const { promise: entered, resolve: enter } = promised();
    const whole = (this.turns[who] as Turn).during(this.token("call"), async () => {
      enter();
      await released;
    });
    await Promise.race([entered, whole]);
    this.model.openWindow(this.modelChat(who).run as ModelRun);
    this.#held[who] = async () => {
      release();
      await whole;
      this.model.closeWindow(this.modelChat(who).run as ModelRun);
    };
  }

  async closeWindow(who: Who): Promise<void> {
    const close = this.#held[who];
    delete this.#held[who];
    await close?.();
  }

  async end(who: Who, completed: boolean): Promise<void> {
    await this.closeWindow(who);
    const report = await (this.turns[who] as Turn).end({ status: completed ? "completed" : "failed" });
    delete this.turns[who];
    const dropped = this.model.end(this.modelChat(who), completed);
    expect(report.dropped.map((node) => node.id)).toEqual(dropped);
    expect(report.notCaptured).toEqual([]);
  }

  /** Closes the store, which ends live turns as cancelled, and opens it again. */
  async reopen(): Promise<void> {
    for (const who of ["A", "B"] as const) await this.closeWindow(who);
    await this.store.close();
    this.store = await openStore({ file: join(this.home, "chat.db"), durability: "normal" });
    for (const who of ["A", "B"] as const) {
      if (this.turns[who] !== undefined) this.model.end(this.modelChat(who), false);
      delete this.turns[who];
      this.chats[who] = await this.store.conversation(who);
    }
  }

  /** Carries out a move both ways and compares what came of it. */
  async move<R extends MoveResult | null>(
    who: Who,
    decision: Decision,
    options: RestoreOptions,
    call: () => Promise<R>,
  ): Promise<{ result: R; plan: ModelPlan | null } | undefined> {
    if ("code" in decision) return void expect(await attempt(call)).toMatchObject(decision);
    const before = this.stamps();
    const came = carryOut(this.model, this.modelChat(who), decision, options);
    const done = await attempt(call);
    if ("code" in came) {
      expect(done).toMatchObject({ code: came.code });
      const { paths } = (done as { data: { paths: { path: string }[] } }).data;
      expect(paths.map(({ path }) => path).sort()).toEqual([...came.conflicts].sort());
      return undefined;
    }
    if (!("value" in done)) return void expect(done).toEqual(came);
    const result = done.value;
    if (result !== null) {
      expect(result.restoredPaths).toEqual([...came.changed].sort());
      const kept = result.files.filter(({ outcome }) => outcome === "kept").map(({ path }) => path);
      expect(kept).toEqual([...(came.plan?.kept ?? [])].sort());
    }
    const after = this.stamps();
    for (const file of files) if (!came.changed.includes(file)) expect(after[file]).toBe(before[file]);
    return { result, plan: came.plan };
  }

  /** Times and inodes, which show a file that was written although it was right. */
  private stamps(): Record<string, string> {
    const stamp = (file: string) => lstatSync(join(this.root, file), { bigint: true });
    return Object.fromEntries(files.map((file) => [file, `${stamp(file).mtimeNs} ${stamp(file).ino}`]));
  }

  /** The contents of the folder. */
  texts(): Record<string, string> {
    return Object.fromEntries(files.map((file) => [file, readFileSync(join(this.root, file), "utf8")]));
  }

  /** What the files must be. */
  expectedTexts(): Record<string, string> {
    return Object.fromEntries(files.map((file) => [file, textOf(file, this.model.disk[file] as Lines)]));
  }

  nodesOf(who: Who): ModelNode[] {
    return this.modelChat(who).nodes;
  }
}

function promised(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
