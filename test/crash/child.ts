/**
 * The process that is killed. It puts a store together as src/index.ts does, but with a probe that ends the process with
 * SIGKILL at the n-th step: of a move, of an edit on disk, before and after each write to the database.
 */
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openSqlite } from "../../src/backends/sqlite/index.js";
import type { Backend } from "../../src/core/backend.js";
import type { RewindOptions } from "../../src/core/model.js";
import type { Conversation, Store } from "../../src/store/surface.js";
import { createFiles } from "../../src/workspace/files.js";
import { compose } from "../builders/compose.js";

/** What the child is told to do, and at which step it dies; 0 lets it finish. */
export interface Job {
  verb: "open" | "rewind" | "undo" | "switch" | "turn";
  id?: string;
  branch?: string;
  options?: RewindOptions;
  /** Counts every statement that writes as a step too, so that it dies inside transactions. */
  inside?: boolean;
}

interface Order extends Job {
  file: string;
  root: string;
  stopAt: number;
}

const points: string[] = [];
let stopAt = 0;

function probe(point: string): void {
  points.push(point);
  if (points.length === stopAt) process.kill(process.pid, "SIGKILL");
}

/** A backend that tells the probe before and after each write. */
function watched(backend: Backend): Backend {
  const around = async <T>(name: string, write: () => Promise<T>): Promise<T> => {
    probe(`${name}:before`);
    const result = await write();
    probe(`${name}:after`);
    return result;
  };
  return {
    ...backend,
    commit: (commit) => around("commit", () => backend.commit(commit)),
    putBlobs: (blobs) => around("putBlobs", () => backend.putBlobs(blobs)),
  };
}

const onStatement = (sql: string): void => {
  if (/^(insert|update|delete|begin|commit)\b/i.test(sql)) probe("statement");
};

async function openStore({ file, inside }: Order): Promise<Store> {
  return compose({
    backend: watched(await openSqlite({ file, ...(inside ? { onStatement } : {}) })),
    openFiles: (root, options) => createFiles(root, { ...options, watch: false }, probe),
    probe,
  });
}

const verbs: { [V in Job["verb"]]: (chat: Conversation, order: Order) => Promise<unknown> } = {
  open: async () => undefined,
  rewind: (chat, { id = "", options }) => chat.rewindTo(id, options),
  undo: (chat, { options }) => chat.undo(options),
  switch: (chat, { branch = "" }) => chat.switchBranch(branch),
  async turn(chat, { root }) {
    const write = (path: string, text: string) => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    };
    const turn = await chat.beginTurn({ role: "user", id: "u9", content: "text of u9" });
    write("text.txt", "rewritten in u9\n");
    probe("wrote");
    const call = { toolCallId: "c9", toolName: "shell" };
    await turn.append({ role: "assistant", id: "c9", content: [{ type: "tool-call", ...call, input: null }] });
    await turn.during("c9", async () => {
      write("made/in-a-call.txt", "u9");
      chmodSync(join(root, "script.sh"), 0o700);
      probe("called");
      rmSync(join(root, "bin.dat"), { force: true });
    });
    await turn.append({ role: "tool", id: "r9", content: [{ type: "tool-result", ...call, output: "done" }] });
    await turn.willChange("announced.txt");
    write("announced.txt", "u9");
    await turn.append({ role: "assistant", id: "a9", content: "done" });
    await turn.end();
  },
};

process.once("message", async (order: Order) => {
  stopAt = order.stopAt;
  try {
    const store = await openStore(order);
    const chat = await store.conversation("chat");
    await verbs[order.verb](chat, order);
    await store.close();
    process.send?.({ points });
  } catch (error) {
    process.send?.({ points, error: error instanceof Error ? error.stack : String(error) });
  }
  process.disconnect();
});
process.send?.("ready");
