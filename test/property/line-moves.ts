/**
 * Moves in the model: which branch goes where, and what that does to each file, slot by slot.
 *
 *     back    the own rows of the path that is left, newest first       forth   those of the path that is taken, oldest first
 *
 * Both are read off the two lists that the heads carry, below their common beginning. Each is a step `base → ours`; a
 * slot that nobody else touched takes it, a slot that somebody did keeps theirs, and a slot that both changed conflicts.
 */
import type { Policy, RestoreOptions } from "../../src/core/model.js";
import {
  type Lines,
  type Model,
  type ModelChat,
  type ModelMove,
  type ModelNode,
  type Place,
  pathOf,
  type Row,
  sameLines,
} from "./line-model.js";

/** What is to become of the files that a move concerns. */
export interface ModelPlan {
  after: Map<string, Lines>;
  kept: string[];
  conflicts: string[];
}

/** A move that was decided, with the heads between which the files go. */
export interface Decided extends ModelMove {
  files: { from: ModelNode | null; to: ModelNode | null; of?: ModelMove } | null;
  /** What becomes of the stacks. */
  stack: "push" | "undo" | "redo";
}

/** A move, or the code with which it is refused. */
export type Decision = Decided | { code: string };

/** The steps of a file between two heads. */
function stepsOf(from: readonly Row[], to: readonly Row[]): { rows: Row[]; steps: { base: Lines; ours: Lines }[] } {
  let common = 0;
  while (common < Math.min(from.length, to.length) && from[common] === to[common]) common += 1;
  const [back, forth] = [from.slice(common).reverse(), to.slice(common)];
  const steps = [
    ...back.map((row) => ({ base: row.after, ours: row.before })),
    ...forth.map((row) => ({ base: row.before, ours: row.after })),
  ];
  return { rows: [...back, ...forth], steps };
}

function mergeLines(base: Lines, theirs: Lines, ours: Lines): Lines | undefined {
  const merged: Record<string, string> = {};
  for (const slot of Object.keys(base)) {
    const [b, t, o] = [base[slot], theirs[slot], ours[slot]];
    if (t !== b && o !== b && t !== o) return undefined;
    merged[slot] = (t === b ? o : t) as string;
  }
  return merged;
}

/** Steps that continue one another count as one, so what lies between them cannot conflict. */
function collapse(steps: { base: Lines; ours: Lines }[]): { base: Lines; ours: Lines }[] {
  const whole: { base: Lines; ours: Lines }[] = [];
  for (const step of steps) {
    const last = whole.at(-1);
    if (last !== undefined && sameLines(last.ours, step.base)) last.ours = step.ours;
    else whole.push({ ...step });
  }
  return whole;
}

/** What a move between two heads does to the files. */
function planFiles(model: Model, files: NonNullable<Decided["files"]>, options: RestoreOptions): ModelPlan {
  const plan: ModelPlan = { after: new Map(), kept: [], conflicts: [] };
  const { onUserEdits = "merge", onConflict = "refuse" } = options;
  const { from, to, of } = files;
  const all = stepsOf(from?.rows ?? [], to?.rows ?? []).rows;
  const undone = of !== undefined && to === of.head.from ? of.rows : [];
  for (const file of new Set([...all, ...undone].map((row) => row.file))) {
    const mine = (rows: readonly Row[]) => rows.filter((row) => row.file === file);
    const { rows, steps } = stepsOf(mine(from?.rows ?? []), mine(to?.rows ?? []));
    const disk = model.disk[file] as Lines;
    const was = undone.find((row) => row.file === file);
    if (rows.some((row) => row.runs.length > 1)) plan.kept.push(file);
    else if (was !== undefined && sameLines(disk, was.after)) plan.after.set(file, was.before);
    else {
      const taken = takeSteps(disk, collapse(steps), onUserEdits, onConflict as Policy);
      if (typeof taken !== "string") plan.after.set(file, taken);
      else (taken === "keep" ? plan.kept : plan.conflicts).push(file);
    }
  }
  return plan;
}

function takeSteps(
  disk: Lines,
  steps: { base: Lines; ours: Lines }[],
  edits: NonNullable<RestoreOptions["onUserEdits"]>,
  policy: Policy,
): Lines | "keep" | "refuse" {
  let current = disk;
  for (const { base, ours } of steps) {
    if (sameLines(base, ours)) continue;
    if (sameLines(current, base) || sameLines(current, ours) || edits === "overwrite") {
      current = ours;
      continue;
    }
    if (edits === "keep" || edits === "refuse") return edits;
    const merged = mergeLines(base, current, ours);
    if (merged === undefined && policy !== "overwrite") return policy;
    current = merged ?? ours;
  }
  return current;
}

const still = (chat: ModelChat) => ({ from: chat.active, to: chat.active });

/** Decides a rewind of a branch to before a turn. */
export function rewind(chat: ModelChat, user: ModelNode, branch: string, mode: ModelMove["mode"]): Decision {
  const head = chat.branches.get(branch) ?? null;
  if (!pathOf(head).includes(user)) return { code: chat.isRewound(user) ? "already_rewound" : "not_on_branch" };
  if (chat.run !== null) return { code: "run_active" };
  const isActive = branch === chat.active;
  const to = mode === "files" ? head : user.parent;
  return {
    branches: mode === "files" ? [] : [{ name: branch, from: head, to }],
    active: still(chat),
    head: { from: head, to },
    mode: isActive ? mode : "conversation",
    rows: [],
    files: isActive && mode !== "conversation" ? { from: head, to: user.parent } : null,
    stack: "push",
  };
}

/** Decides a switch to a branch, which is made first if a place is given. */
export function switchTo(chat: ModelChat, name: string, at?: { place: ModelNode | null }): Decision {
  if (at !== undefined && chat.branches.has(name)) return { code: "branch_exists" };
  if (at === undefined && !chat.branches.has(name)) return { code: "not_found" };
  if (chat.run !== null) return { code: "run_active" };
  const to = at === undefined ? (chat.branches.get(name) ?? null) : at.place;
  const branches = at === undefined ? [] : [{ name, from: undefined, to }];
  return moving(chat, { branches, to, activeTo: name, stack: "push" });
}

/** Decides a resume under a node; `name` is the branch that the store chose or was given. */
export function resume(chat: ModelChat, node: ModelNode, name: string): Decision {
  if (chat.run !== null) return { code: "run_active" };
  const to = chat.newestLeaf(node);
  const from = chat.branches.get(name);
  return moving(chat, { branches: from === to ? [] : [{ name, from, to }], to, activeTo: name, stack: "push" });
}

/** Decides an undo or a redo: back to what the newest move of that stack found. */
export function takeBack(chat: ModelChat, stack: "undo" | "redo"): Decision {
  if (chat.run !== null) return { code: "run_active" };
  const of = chat[stack].at(-1);
  if (of === undefined) return { code: "nothing_to_undo" };
  // One of the same name that was made since is not the move's to replace.
  if (of.branches.some(({ name, to }) => to === undefined && chat.branches.has(name))) return { code: "branch_exists" };
  const activeTo = of.active.from;
  const branches = of.branches
    .map(({ name, from: to }) => ({ name, from: chat.branches.get(name), to }))
    .filter(({ from, to }) => from !== to);
  // A branch that was deleted since is made again where the move found it.
  if (!chat.branches.has(activeTo) && !branches.some(({ name }) => name === activeTo)) {
    branches.push({ name: activeTo, from: undefined, to: of.head.from });
  }
  const moved = branches.find(({ name }) => name === activeTo);
  const to = (moved === undefined ? chat.branches.get(activeTo) : moved.to) ?? null;
  return { ...moving(chat, { branches, to, activeTo, stack }), ...filesBack(chat, of, activeTo, to) };
}

/** A move of the conversation alone left the files; its way back takes them to where it left the head, no further. */
function filesBack(
  chat: ModelChat,
  of: ModelMove,
  activeTo: string,
  to: ModelNode | null,
): Pick<Decided, "mode" | "files"> {
  if (of.mode !== "conversation") return { mode: of.mode, files: { from: chat.head, to, of } };
  const left = of.branches.some(({ name }) => name === activeTo) ? of.head.to : to;
  return left === chat.head
    ? { mode: "conversation", files: null }
    : { mode: "both", files: { from: chat.head, to: left } };
}

function moving(
  chat: ModelChat,
  part: {
    branches: { name: string; from: Place; to: Place }[];
    to: ModelNode | null;
    activeTo: string;
    stack: Decided["stack"];
  },
): Decided {
  const { branches, to, activeTo, stack } = part;
  const head = { from: chat.head, to };
  return { branches, active: { from: chat.active, to: activeTo }, head, mode: "both", rows: [], files: head, stack };
}

/** Carries a move out: the files, the branches, the stacks. Returns what became of the files, or the code of a refusal. */
export function carryOut(
  model: Model,
  chat: ModelChat,
  move: Decided,
  options: RestoreOptions,
): { plan: ModelPlan | null; changed: string[] } | { code: string; conflicts: string[] } {
  const plan = move.files === null ? null : planFiles(model, move.files, options);
  if (plan !== null && plan.conflicts.length > 0) return { code: "file_conflict", conflicts: plan.conflicts };
  if (plan !== null) model.sync();
  const changed: string[] = [];
  for (const [file, after] of plan?.after ?? []) {
    const before = model.disk[file] as Lines;
    move.rows.push({ file, before, after, runs: [] });
    if (sameLines(before, after)) continue;
    changed.push(file);
    model.disk[file] = after;
    model.seen[file] = after;
  }
  for (const file of plan?.kept ?? []) {
    const lines = model.disk[file] as Lines;
    move.rows.push({ file, before: lines, after: lines, runs: [] });
  }
  for (const file of plan === null ? [] : Object.keys(model.disk)) {
    // What the move left alone it found as it left it.
    const lines = model.disk[file] as Lines;
    if (!move.rows.some((row) => row.file === file)) move.rows.push({ file, before: lines, after: lines, runs: [] });
  }
  if (plan !== null) model.sequence += changed.length > 0 ? 2 : 1;
  for (const { name, to } of move.branches) {
    if (to === undefined) chat.branches.delete(name);
    else chat.branches.set(name, to);
  }
  chat.active = move.active.to;
  if (move.stack === "redo") chat.redo.pop();
  if (move.stack === "undo") {
    chat.undo.pop();
    chat.redo.push(move);
  } else chat.undo.push(move);
  return { plan, changed };
}
