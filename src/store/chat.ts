/**
 * What the methods of one conversation share: where it is, its workspace, and who may write at the moment.
 *
 * One `Chat` exists for a conversation in a store, whatever number of handles users hold, so that two calls in this
 * process meet here before they meet in the database.
 */
import type { RunRow } from "../core/backend.js";
import type { Change, Commit } from "../core/change.js";
import { RetconError } from "../core/errors.js";
import { runId } from "../core/ids.js";
import type { Json, OperationKind } from "../core/model.js";
import type { Environment } from "./environment.js";
import type { Feed } from "./feed.js";
import { holderName } from "./holder.js";
import { readState, type State } from "./state.js";
import type { Turn } from "./surface.js";
import type { Workspace, Workspaces } from "./workspace.js";

const author = "retcon";

/** A live turn as the conversation holds it. */
export interface HeldTurn extends Turn {
  readonly run: number;
  /** Asks the run to stop. */
  cancel(reason: string): void;
  /** Lets go of the lease without ending the run. */
  release(): void;
}

/** One conversation inside one store. */
export class Chat {
  readonly env: Environment;
  readonly key: number;
  readonly id: string;
  readonly scope: string;
  readonly feed: Feed;
  /** Set while a move of this process is under way. */
  moving = false;
  /** The live turns of this process, by run. */
  readonly turns = new Map<number, HeldTurn>();
  readonly workspaceKey: number | null;
  readonly sibling: (key: number) => Promise<Chat>;
  private readonly workspaces: Workspaces;

  constructor(parts: {
    env: Environment;
    key: number;
    id: string;
    scope: string;
    feed: Feed;
    workspaceKey: number | null;
    workspaces: Workspaces;
    /** The chat of another conversation of the same store. */
    sibling: (key: number) => Promise<Chat>;
  }) {
    this.env = parts.env;
    this.key = parts.key;
    this.id = parts.id;
    this.scope = parts.scope;
    this.feed = parts.feed;
    this.workspaceKey = parts.workspaceKey;
    this.workspaces = parts.workspaces;
    this.sibling = parts.sibling;
  }

  /** The conversation as it is now. */
  read(): Promise<State> {
    return readState(this.env, this.key, this.id);
  }

  /** Its workspace, or null. @throws `workspace_changed` */
  async workspace(): Promise<Workspace | null> {
    return this.workspaceKey === null ? null : this.workspaces.openKey(this.workspaceKey);
  }

  /** A commit about this conversation. */
  commit(kind: OperationKind, changes: Change[], summary: Json = null): Commit {
    const operation = { kind, author, atMs: this.env.now().getTime(), summary, about: "conversation" as const };
    return { conversation: this.key, workspace: this.workspaceKey, operation, changes };
  }

  /** @throws `run_active` when a run is live, `busy` when an operation has not settled */
  async requireIdle(): Promise<void> {
    const [run] = await this.env.backend.runs({ liveInConversation: this.key });
    if (run !== undefined) throw await this.runActive(run);
    const intents = await this.env.backend.intents({ conversation: this.key });
    const others = this.workspaceKey === null ? [] : await this.env.backend.intents({ workspace: this.workspaceKey });
    const [intent] = [...intents, ...others];
    if (intent !== undefined) throw busy(intent.settle.operation?.kind ?? "move", holderName(intent.holder));
  }

  /** The error that names a live run. */
  async runActive(run: RunRow): Promise<RetconError<"run_active">> {
    const [user] = await this.env.backend.nodes(this.key, { keys: [run.userKey] });
    const heartbeatAt = new Date(run.heartbeatAtMs).toISOString();
    const status = run.cancelRequested === null ? run.status : "cancelling";
    const message = `run ${runId(run.run)} is ${status}, held by ${holderName(run.holder)}`;
    const data = { runId: runId(run.run), userNodeId: user?.id ?? "", status, heartbeatAt };
    return new RetconError("run_active", message, data);
  }
}

/** The error that says what is in the way. */
export function busy(operation: string, holder?: string): RetconError<"busy"> {
  const by = holder === undefined ? "" : ` by ${holder}`;
  return new RetconError("busy", `a ${operation}${by} is in progress`, {
    operation,
    ...(holder === undefined ? {} : { holder }),
  });
}

/** The error that says that the conversation moved on under a caller. */
export function headMoved(expected?: string | null, actual?: string | null, field = "head"): RetconError<"head_moved"> {
  const what = expected === undefined ? "the conversation moved meanwhile" : `${field} is not what was expected`;
  return new RetconError("head_moved", what, { expected, actual, field });
}
