/**
 * The lease of a run: a heartbeat while its process lives, and the ear for a request to stop.
 *
 * The timer does not keep the process alive. A heartbeat that finds the run no longer live aborts the signal: whoever
 * took it over has said what became of it.
 */
import type { Chat } from "./chat.js";

const longestBeatMs = 1_000;

/** A lease that is renewed until `stop`. */
export class Lease {
  private readonly chat: Chat;
  private readonly run: number;
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private beating = false;

  constructor(chat: Chat, run: number, leaseMs: number) {
    this.chat = chat;
    this.run = run;
    const beat = () => {
      if (this.beating) return;
      this.beating = true;
      this.beat()
        .catch((error: unknown) => chat.env.logger.warn("a heartbeat failed; the lease runs on", { error }))
        .finally(() => {
          this.beating = false;
        });
    };
    this.timer = setInterval(beat, Math.min(longestBeatMs, Math.max(50, leaseMs / 3))).unref();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  abort(reason: string): void {
    this.controller.abort(reason);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private async beat(): Promise<void> {
    const { chat, run } = this;
    const atMs = chat.env.now().getTime();
    const commit = { conversation: chat.key, workspace: null, operation: null };
    const outcome = await chat.env.backend.commit({ ...commit, changes: [{ kind: "heartbeat", run, atMs }] });
    if (!outcome.ok) {
      this.stop();
      this.abort("the run is no longer live");
      return;
    }
    const [row] = await chat.env.backend.runs({ runs: [run] });
    if (row?.cancelRequested != null) this.abort(row.cancelRequested);
  }
}
