/**
 * A model of two conversations on one folder that is too simple to be wrong in the same way as the store: lines are
 * values by slot, nodes know their parent, and every node carries the whole list of own rows of its path.
 *
 *     disk   what the files hold now          seen   what the last sync found
 *     node.rows    the own rows from the root to the node, as its path says
 *     node.lines   what the conversation's own slots were at the node's capture: what any path to it implies
 */

/** The two conversations. */
export type Who = "A" | "B";

/** The lines of a file by slot. */
export type Lines = Readonly<Record<string, string>>;

/** Every file's lines. */
export type Folder = Readonly<Record<string, Lines>>;

/** One change of one file that a sync found or a restore made; of one run, of several (shared), or of none. */
export interface Row {
  file: string;
  before: Lines;
  after: Lines;
  runs: readonly ModelRun[];
}

/** A node as the model knows it. */
export interface ModelNode {
  id: string;
  parent: ModelNode | null;
  order: number;
  startsTurn: boolean;
  rows: readonly Row[];
  lines: Folder;
}

/** A run as the model knows it. */
export interface ModelRun {
  chat: ModelChat;
  user: ModelNode;
  base: readonly Row[];
  rows: Row[];
  nodes: ModelNode[];
  openCalls: Set<string>;
  coherent: ModelNode;
  windows: { opened: number; closed: number | null }[];
  announced: Set<string>;
}

/** Where a branch points; undefined where there is none. */
export type Place = ModelNode | null | undefined;

/** A move as undo needs it: what it found, and what it did to each file. */
export interface ModelMove {
  branches: { name: string; from: Place; to: Place }[];
  active: { from: string; to: string };
  head: { from: ModelNode | null; to: ModelNode | null };
  mode: "both" | "conversation" | "files";
  rows: Row[];
}

/** One conversation of the model. */
export class ModelChat {
  readonly who: Who;
  readonly nodes: ModelNode[] = [];
  readonly branches = new Map<string, ModelNode | null>([["main", null]]);
  active = "main";
  rewinds = 0;
  undo: ModelMove[] = [];
  redo: ModelMove[] = [];
  run: ModelRun | null = null;

  constructor(who: Who) {
    this.who = who;
  }

  get head(): ModelNode | null {
    return this.branches.get(this.active) ?? null;
  }

  set head(node: ModelNode | null) {
    this.branches.set(this.active, node);
  }

  /** The nodes that some branch reaches; every other one is rewound. */
  reached(): Set<ModelNode> {
    return new Set([...this.branches.values()].flatMap(pathOf));
  }

  isRewound(node: ModelNode): boolean {
    return !this.reached().has(node);
  }

  children(node: ModelNode): ModelNode[] {
    return this.nodes.filter((child) => child.parent === node);
  }

  /** The newest leaf under a node. */
  newestLeaf(node: ModelNode): ModelNode {
    const below = this.nodes.filter((one) => pathOf(one).includes(node) && this.children(one).length === 0);
    return below.reduce((newest, one) => (one.order > newest.order ? one : newest));
  }
}

/** From root to node. */
export function pathOf(node: Place): ModelNode[] {
  return node == null ? [] : [...pathOf(node.parent), node];
}

/** Whether two sets of lines are equal. */
export const sameLines = (a: Lines, b: Lines): boolean => Object.keys(a).every((slot) => a[slot] === b[slot]);

/** The folder and the conversations on it. */
export class Model {
  disk: Record<string, Lines>;
  seen: Record<string, Lines>;
  readonly chats = { A: new ModelChat("A"), B: new ModelChat("B") };
  /** Rises with each commit about the folder; says whether windows overlapped. */
  sequence = 0;
  #order = 0;

  constructor(folder: Folder) {
    this.disk = { ...folder };
    this.seen = { ...folder };
  }

  get live(): ModelRun[] {
    return [this.chats.A.run, this.chats.B.run].filter((run) => run !== null);
  }

  write(file: string, slot: string, value: string): void {
    this.disk[file] = { ...this.disk[file], [slot]: value };
  }

  /** What only one conversation's slots hold. */
  ownLines(folder: Folder, who: Who): Folder {
    const own = (lines: Lines) => Object.fromEntries(Object.entries(lines).filter(([slot]) => slot.startsWith(who)));
    return Object.fromEntries(Object.entries(folder).map(([file, lines]) => [file, own(lines)]));
  }

  /** Whose a change of a file is that a sync would find now. */
  ownersOf(file: string): ModelRun[] {
    const { live } = this;
    if (live.length < 2) return live;
    const announced = live.filter((run) => run.announced.has(file));
    if (announced.length === 1) return announced;
    const opened = (run: ModelRun) => run.windows.find((window) => window.closed === null)?.opened;
    const inside = live.filter((run) => run.windows.length === 0 || opened(run) !== undefined);
    const [one] = inside;
    const since = one && opened(one);
    if (one === undefined || inside.length > 1 || since === undefined) return live;
    const overlapped = live.some((run) => run !== one && run.windows.some(({ closed }) => (closed ?? 0) > since));
    return overlapped ? live : [one];
  }

  /** The folder is looked at: each changed file becomes a row. */
  sync(): void {
    let news = false;
    for (const [file, after] of Object.entries(this.disk)) {
      const before = this.seen[file] as Lines;
      if (sameLines(before, after)) continue;
      news = true;
      const row = { file, before, after, runs: this.ownersOf(file) };
      for (const run of row.runs) run.rows.push(row);
    }
    this.seen = { ...this.disk };
    if (news) this.sequence += 1;
  }

  begin(chat: ModelChat, id: string): void {
    this.sync();
    const base = chat.head?.rows ?? [];
    const user = this.#node(chat, id, { startsTurn: true, rows: base, lines: this.ownLines(this.seen, chat.who) });
    const none = { rows: [], openCalls: new Set<string>(), windows: [], announced: new Set<string>() };
    chat.run = { chat, user, base, nodes: [user], coherent: user, ...none };
    chat.redo = [];
  }

  /** A node of the live run, or a note outside of one. */
  append(chat: ModelChat, id: string, call: { made?: string; answered?: string } = {}): void {
    const { run, head } = chat;
    if (run === null) {
      const lines = head?.lines ?? this.ownLines(this.#initial(), chat.who);
      this.#node(chat, id, { startsTurn: false, rows: head?.rows ?? [], lines });
      return;
    }
    const lines = this.ownLines(this.seen, chat.who);
    const node = this.#node(chat, id, { startsTurn: false, rows: [...run.base, ...run.rows], lines });
    run.nodes.push(node);
    if (call.made !== undefined) run.openCalls.add(call.made);
    if (call.answered !== undefined) run.openCalls.delete(call.answered);
    if (run.openCalls.size === 0) run.coherent = node;
  }

  /** Ends the run; returns the ids of the nodes that it drops. */
  end(chat: ModelChat, completed: boolean): string[] {
    this.sync();
    const run = chat.run as ModelRun;
    const last = completed ? (run.nodes.at(-1) as ModelNode) : run.coherent;
    const from = run.nodes.indexOf(last);
    for (const node of run.nodes.slice(from)) {
      node.rows = [...run.base, ...run.rows];
      node.lines = this.ownLines(this.seen, chat.who);
    }
    chat.head = last;
    chat.run = null;
    return run.nodes.slice(from + 1).map((node) => node.id);
  }

  openWindow(run: ModelRun): void {
    this.sync();
    run.windows.push({ opened: this.sequence, closed: null });
  }

  closeWindow(run: ModelRun): void {
    this.sync();
    for (const window of run.windows) window.closed ??= this.sequence;
  }

  announce(run: ModelRun, file: string): void {
    this.sync();
    this.sequence += 1;
    run.announced.add(file);
  }

  /** A node that a restore of files alone adds: it stands for the files as they were above the turn. */
  addRestore(chat: ModelChat, id: string, rows: readonly Row[], lines: Folder): ModelNode {
    return this.#node(chat, id, { startsTurn: false, rows: [...(chat.head?.rows ?? []), ...rows], lines });
  }

  /** What the slots were at the start. */
  #initial(): Folder {
    const first = (lines: Lines) => Object.fromEntries(Object.keys(lines).map((slot) => [slot, `${slot}-0`]));
    return Object.fromEntries(Object.entries(this.disk).map(([file, lines]) => [file, first(lines)]));
  }

  /** What the lines of a conversation are where its head is: those of a node, or the first ones. */
  impliedAt(chat: ModelChat, node: ModelNode | null): Folder {
    return node?.lines ?? this.ownLines(this.#initial(), chat.who);
  }

  #node(chat: ModelChat, id: string, part: Pick<ModelNode, "startsTurn" | "rows" | "lines">): ModelNode {
    this.#order += 1;
    const node = { id, parent: chat.head, order: this.#order, ...part };
    chat.nodes.push(node);
    chat.head = node;
    return node;
  }
}
