/**
 * Listeners hear of every commit once, in order, after it happened, whichever process made it.
 *
 * The operations are the feed: a listener's place in it is a number. Commits of this process wake it at once; those of
 * others are noticed by the backend's generation, looked at every tenth of a second while somebody listens.
 */
import type { OperationRow } from "../core/backend.js";
import type { StoreChange } from "../core/model.js";
import type { Environment } from "./environment.js";

const pollMs = 100;
const batch = 500;

type Listener = (change: StoreChange) => void;

/** A stretch of time in which somebody listens: how far it has heard, counted from when it began. */
interface Watching {
  timer: NodeJS.Timeout;
  last: number | Promise<number>;
  generation: number;
}

/** The changes of one database. */
export class Feed {
  private readonly env: Environment;
  private readonly listeners = new Set<{ scope: string; listener: Listener }>();
  private readonly names = new Map<number, { scope: string; id: string }>();
  private watching: Watching | undefined;
  private pumping: Promise<void> | undefined;
  private again = false;

  constructor(env: Environment) {
    this.env = env;
  }

  /** Adds a listener; the first one starts the watch. Returns the way to stop. */
  on(scope: string, listener: Listener): () => void {
    if (typeof listener !== "function") throw new TypeError("listener must be a function");
    const entry = { scope, listener };
    this.listeners.add(entry);
    if (this.watching === undefined) {
      const timer = setInterval(() => this.wake(), pollMs).unref();
      this.watching = { timer, last: this.newest(), generation: -1 };
      this.wake();
    }
    return () => {
      this.listeners.delete(entry);
      if (this.listeners.size === 0) this.stop();
    };
  }

  /** Looks for news soon; called after each commit of this process. */
  wake(): void {
    if (this.watching === undefined) return;
    if (this.pumping !== undefined) {
      this.again = true;
      return;
    }
    this.pumping = this.pump()
      .catch((error: unknown) => this.env.logger.warn("the change feed could not read the database", { error }))
      .finally(() => {
        this.pumping = undefined;
        if (this.again) {
          this.again = false;
          this.wake();
        }
      });
  }

  /** Stops the watch and waits for what is being delivered. */
  async close(): Promise<void> {
    this.listeners.clear();
    this.stop();
    await this.pumping;
  }

  private stop(): void {
    clearInterval(this.watching?.timer);
    this.watching = undefined;
  }

  private async pump(): Promise<void> {
    const { watching } = this;
    if (watching === undefined) return;
    let last = await watching.last;
    const generation = await this.env.backend.generation();
    if (generation === watching.generation) return;
    for (;;) {
      const rows = await this.env.backend.operations({ after: last, limit: batch });
      for (const row of rows) {
        // A listener may have been the last one to stop: the rest is not for those who come later.
        if (this.watching !== watching) return;
        last = row.number;
        watching.last = last;
        await this.deliver(row);
      }
      if (rows.length < batch) break;
    }
    watching.generation = generation;
  }

  private async newest(): Promise<number> {
    return (await this.env.backend.operations({ newest: 1 }))[0]?.number ?? 0;
  }

  private async deliver(row: OperationRow): Promise<void> {
    const named = await this.nameOf(row);
    if (named === undefined) return;
    const { number: version, kind, atMs } = row;
    const change: StoreChange = { conversationId: named.id, version, kind, at: new Date(atMs).toISOString() };
    for (const { scope, listener } of [...this.listeners]) {
      if (scope !== named.scope) continue;
      try {
        listener(change);
      } catch (error) {
        // A listener's failure is its own: the commit stands, and the other listeners still hear of it.
        this.env.logger.warn("a change listener threw", { error });
      }
    }
  }

  private async nameOf(row: OperationRow): Promise<{ scope: string; id: string } | undefined> {
    if (row.kind === "delete") return row.summary as { scope: string; id: string };
    if (row.conversation === null) return undefined;
    let name = this.names.get(row.conversation);
    if (name === undefined) {
      const [found] = await this.env.backend.conversations({ key: row.conversation });
      if (found === undefined) return undefined;
      name = { scope: found.scope, id: found.id };
      this.names.set(row.conversation, name);
    }
    return name;
  }
}
