/**
 * Plays a plan into a conversation: turns begin and end, nodes are appended, calls are enacted, and where the
 * transcript forks the conversation is moved, its files with it.
 *
 *     next node hangs under the head              append
 *     … under a node above a turn of the path     rewind to that turn: what was played after is rewound, as it was then
 *     … elsewhere                                 a branch there, made active; the one left is deleted at the end
 */
import { RetconError } from "../../../core/errors.js";
import type { NewMessage, RestoreOptions } from "../../../core/model.js";
import type { Conversation, ImportedNode, Turn } from "../../../store/surface.js";
import type { NotReplayable } from "../report.js";
import { enact, obstacleOf } from "./enact.js";
import type { Folder } from "./folder.js";
import type { ReplayStep } from "./plan.js";
import { seedFor } from "./seeds.js";

/** What a replay did. */
export interface ReplayFigures {
  added: number;
  replayed: number;
  seeded: number;
  failedCalls: number;
  notReplayable: NotReplayable[];
}

/** What a player starts from. */
export interface PlayerSetting {
  chat: Conversation;
  folder: Folder;
  nodes: readonly ImportedNode[];
  /** Where the conversation is, and which of its branches an earlier replay left. */
  head: string | null;
  branches: readonly string[];
  /** A first replay has the folder for itself. A later one may meet a person's edits, which it does not replace. */
  isFirst: boolean;
}

const noTurn = "its branch leaves another in the middle of a turn, so there is no turn to make it in";

const isPrompt = (node: ImportedNode): boolean => node.message.role === "user" && node.message.synthetic !== true;

/** The steps of the turn that starts at a step: up to the next prompt, or to where the path breaks off. */
function turnAt(steps: readonly ReplayStep[], index: number, isSide: (node: ImportedNode) => boolean): ReplayStep[] {
  const turn = steps.slice(index, index + 1);
  let last = steps[index]?.node.id;
  for (let next = index + 1; next < steps.length; next += 1) {
    const step = steps[next] as ReplayStep;
    if (!isSide(step.node)) {
      if (isPrompt(step.node) || step.node.parentId !== last) break;
      last = step.node.id;
    }
    turn.push(step);
  }
  return turn;
}

/** The conversation while it is played. */
export class Player {
  readonly figures: ReplayFigures = { added: 0, replayed: 0, seeded: 0, failedCalls: 0, notReplayable: [] };
  private readonly chat: Conversation;
  private readonly folder: Folder;
  private readonly nodes: ReadonlyMap<string, ImportedNode>;
  private readonly isFirst: boolean;
  private readonly move: RestoreOptions;
  private readonly branches: Set<string>;
  private turn: Turn | undefined;
  private head: string | null;

  constructor({ chat, folder, nodes, head, branches, isFirst }: PlayerSetting) {
    this.chat = chat;
    this.folder = folder;
    this.nodes = new Map(nodes.map((node) => [node.id, node]));
    this.head = head;
    this.isFirst = isFirst;
    // In a folder of its own, what stands in the way of a move was put there by the replay.
    this.move = isFirst ? { onConflict: "overwrite" } : {};
    this.branches = new Set(branches.filter((name) => replayBranch.test(name)));
  }

  /** Plays one step; the steps after it show what its turn will need. */
  async play(steps: readonly ReplayStep[], index: number): Promise<void> {
    const step = steps[index];
    if (step === undefined) return;
    const { node } = step;
    if (this.isSide(node)) await this.append(this.sideMessage(node));
    else {
      await this.goTo(node.parentId);
      if (isPrompt(node)) await this.begin(node, turnAt(steps, index, this.isSide));
      else await this.append({ ...node.message, id: node.id });
      this.head = node.id;
    }
    this.figures.added += 1;
    for (const call of step.calls) await this.make(call);
  }

  /** Ends the turn and puts the conversation on its live head. */
  async finish(headId: string | null): Promise<void> {
    await this.stop();
    await this.goTo(headId);
    if (this.branches.size === 0) return;
    const { activeBranch } = await this.chat.record();
    for (const name of ["main", ...this.branches]) if (name !== activeBranch) await this.chat.deleteBranch(name);
    if (activeBranch !== "main") await this.chat.renameBranch(activeBranch, "main");
  }

  /** Whether a node begins a turn, so that one can stop before it and go on from it later. */
  isStop(node: ImportedNode): boolean {
    return isPrompt(node) || this.turn === undefined;
  }

  /** Ends the turn, so that the conversation is free; with the reason, if the turn could not be played to its end. */
  async stop(failure?: string): Promise<void> {
    const { turn } = this;
    this.turn = undefined;
    await turn?.end(failure === undefined ? {} : { status: "failed", error: failure });
  }

  private readonly isSide = (node: ImportedNode): boolean => {
    let up: ImportedNode | undefined = node;
    while (up !== undefined && up.callerId === undefined) {
      up = up.parentId === null ? undefined : this.nodes.get(up.parentId);
    }
    return up !== undefined;
  };

  private sideMessage(node: ImportedNode): NewMessage {
    const place = node.callerId === undefined ? { parentId: node.parentId ?? undefined } : { callerId: node.callerId };
    return { ...node.message, id: node.id, ...place };
  }

  private async append(message: NewMessage): Promise<void> {
    await (this.turn ?? this.chat).append(message);
  }

  private async begin(node: ImportedNode, steps: readonly ReplayStep[]): Promise<void> {
    await this.stop();
    // In a folder that a person may have worked in, only what a turn captured first is written over.
    if (this.isFirst) this.figures.seeded += await seedFor(steps, this.folder);
    this.turn = await this.chat.beginTurn({ ...node.message, id: node.id }, { id: node.id });
  }

  private async make(call: ReplayStep["calls"][number]): Promise<void> {
    if (call.outcome === "failed") {
      this.figures.failedCalls += 1;
      return;
    }
    const reason = obstacleOf(call) ?? (this.turn === undefined ? noTurn : await enact(call, this.turn, this.folder));
    if (reason === undefined) this.figures.replayed += 1;
    else this.figures.notReplayable.push({ callId: call.callId, path: call.path, reason });
  }

  /** The node of the current path that hangs under a node; undefined if the node is not on the path. */
  private childOnPath(id: string | null): ImportedNode | undefined {
    let node = this.head === null ? undefined : this.nodes.get(this.head);
    while (node !== undefined && node.parentId !== id) {
      node = node.parentId === null ? undefined : this.nodes.get(node.parentId);
    }
    return node;
  }

  private async goTo(id: string | null): Promise<void> {
    if (this.head === id) return;
    await this.stop();
    const next = this.childOnPath(id);
    if (next !== undefined && isPrompt(next)) await this.chat.rewindTo(next.id, this.move);
    else {
      const name = `replay-${this.branches.size + 1}`;
      await this.chat.createBranch(name, { at: id });
      this.branches.add(name);
      await this.chat.switchBranch(name, this.move);
    }
    this.head = id;
  }
}

const replayBranch = /^replay-\d+$/;

/** Throws if the caller gave up. @throws `aborted` */
export function requireGoingOn(signal: AbortSignal | undefined): void {
  if (signal?.aborted) {
    throw new RetconError("aborted", "the import was given up", { reason: String(signal.reason) });
  }
}
