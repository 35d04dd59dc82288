/**
 * One commit is one short immediate transaction; every change in it is a conditional write.
 *
 * Each kind of change has one function that writes it and tells whether what it expected still held. The first that
 * says no rolls the whole transaction back, and the commit answers with that change. Nothing here is awaited.
 */
import type { CommitOutcome } from "../../core/backend.js";
import type { Change, Commit } from "../../core/change.js";
import { resolve } from "../../core/resolve.js";
import * as t from "./schema.js";
import { type Db, once, p } from "./statement.js";
import { conversationWriters } from "./write/conversations.js";
import { nodeWriters } from "./write/nodes.js";
import { runWriters } from "./write/runs.js";
import { workspaceWriters } from "./write/workspaces.js";
import type { Writers, Writing } from "./write/writing.js";

/** Thrown inside a transaction to roll it back; never leaves this file. */
class Stale {
  readonly change: Change;
  constructor(change: Change) {
    this.change = change;
  }
}

/** Makes the function that commits. */
export function commits(db: Db, transaction: <T>(run: () => T) => T): (commit: Commit) => CommitOutcome {
  const writers: Writers = {
    ...conversationWriters(db),
    ...nodeWriters(db),
    ...runWriters(db),
    ...workspaceWriters(db),
  };
  const operation = once(() =>
    db
      .insert(t.operations)
      .values({
        conversation: p("conversation"),
        workspace: p("workspace"),
        kind: p("kind"),
        author: p("author"),
        atMs: p("atMs"),
        summary: p("summary"),
      })
      .prepare(),
  );
  const write = (change: Change, at: Writing): void => {
    const resolved = resolve(at, change);
    const writer = writers[resolved.kind] as (change: Change, at: Writing) => boolean;
    if (!writer(resolved, at)) throw new Stale(change);
  };
  const run = (commit: Commit): CommitOutcome => {
    const at: Writing = {
      conversation: commit.conversation ?? -1,
      workspace: commit.workspace ?? -1,
      number: 0,
      atMs: commit.operation?.atMs ?? 0,
      sequence: 0,
      logNumber: null,
      segments: new Map(),
      runs: new Map(),
    };
    const [first, ...rest] = commit.changes;
    if (first?.kind === "create") write(first, at);
    if (commit.operation !== null) {
      const { kind, author, atMs, summary } = commit.operation;
      const conversation = at.conversation < 0 || commit.operation.about === "store" ? null : at.conversation;
      const values = {
        conversation,
        workspace: commit.workspace,
        kind,
        author,
        atMs,
        summary: JSON.stringify(summary),
      };
      at.number = Number(operation().run(values).lastInsertRowid);
    }
    for (const change of first?.kind === "create" ? rest : commit.changes) write(change, at);
    const { number, conversation, segments, runs, sequence } = at;
    return { ok: true, number, conversation, segments, runs, logNumber: at.logNumber ?? 0, sequence };
  };
  return (commit) => {
    try {
      return transaction(() => run(commit));
    } catch (error) {
      if (error instanceof Stale) return { ok: false, stale: error.change };
      throw error;
    }
  };
}
