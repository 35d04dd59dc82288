/**
 * Where the store is tried: a temporary folder with a workspace in it and a database beside it, one store and one
 * conversation, all of it gone when the test is over.
 *
 *     const scene = await Scene.open({ "a.txt": "one\n" });
 *     await scene.turn("u1", { "a.txt": "two\n" });          user node u1, the write, answer a1, end
 *     await scene.chat.rewindTo("u1");
 *     scene.read("a.txt");                                    "one\n"
 */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { NewMessage, TurnReport } from "../../src/core/model.js";
import { openStore } from "../../src/index.js";
import type { Conversation, Store, StoreOptions, Turn, WorkspaceOptions } from "../../src/store/surface.js";
import { contents, type Files, shell, traces, writeFiles } from "./disk.js";

/** What a turn does: files to write, a shell line to run, or anything with its hand on the turn. */
export type Work = Files | string | ((turn: Turn) => unknown);

/** How a scene is set. `workspace: false` makes a conversation without files. */
export interface Setting {
  workspace?: false | Omit<WorkspaceOptions, "root">;
  store?: Partial<StoreOptions>;
  id?: string;
}

/** A folder that goes away with the test. */
function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "retcon-store-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The id of the answer to a turn. */
export const answerOf = (id: string): string => id.replace("u", "a").replace("v", "b");

/** One store with one conversation and its files. */
export class Scene {
  readonly home = temporaryFolder();
  readonly root = join(this.home, "work");
  readonly file = join(this.home, "chat.db");
  store!: Store;
  chat!: Conversation;
  private readonly setting: Setting;

  private constructor(setting: Setting) {
    this.setting = setting;
  }

  static async open(files: Files = {}, setting: Setting = {}): Promise<Scene> {
    const scene = new Scene(setting);
    mkdirSync(scene.root);
    writeFiles(scene.root, files);
    scene.store = await scene.another();
    const { id = "chat", workspace = { watch: false } } = setting;
    scene.chat = await scene.store.createConversation({
      id,
      ...(workspace === false ? {} : { workspace: { root: scene.root, ...workspace } }),
    });
    return scene;
  }

  /** A further store on the same database, as another process has. It closes with the test. */
  async another(options: Partial<StoreOptions> = {}): Promise<Store> {
    const store = await openStore({ file: this.file, ...this.setting.store, ...options });
    onTestFinished(() => store.close());
    return store;
  }

  /** Closes the store and opens it again, as a restart does. */
  async reopen(): Promise<void> {
    await this.store.close();
    this.store = await this.another();
    this.chat = await this.store.conversation(this.chat.id);
  }

  /** One whole turn: `u1` is answered by `a1`, `v1` by `b1`. */
  async turn(id: string, work: Work = {}, message: Partial<NewMessage> = {}, chat = this.chat): Promise<TurnReport> {
    const turn = await chat.beginTurn({ role: "user", content: `text of ${id}`, id, ...message });
    await this.work(work, turn);
    await turn.append({ role: "assistant", id: answerOf(id), content: `answer to ${id}` });
    return turn.end();
  }

  /** Does what a turn, or a person between turns, does. */
  async work(work: Work, turn?: Turn): Promise<void> {
    if (typeof work === "string") shell(this.root, work);
    else if (typeof work === "function") await work(turn as Turn);
    else this.write(work);
  }

  write(files: Files): void {
    writeFiles(this.root, files);
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), "utf8");
  }

  place(path: string): string {
    return join(this.root, path);
  }

  remove(path: string): void {
    rmSync(join(this.root, path), { recursive: true });
  }

  shell(command: string): string {
    return shell(this.root, command);
  }

  /** The files by content. */
  files(): Record<string, string> {
    return contents(this.root);
  }

  /** The files with times and inodes. */
  traces(): Record<string, string> {
    return traces(this.root);
  }

  /** The ids of a branch's path, root first. */
  async path(branch?: string): Promise<string> {
    return (await this.chat.history({ branch })).map((node) => node.id).join(" ");
  }

  /** The ids of the nodes that are marked as rewound, in the order in which they were made. */
  async rewound(): Promise<string> {
    const { nodes } = await this.chat.graph();
    return nodes
      .filter((node) => node.rewound)
      .map((node) => node.id)
      .join(" ");
  }
}
