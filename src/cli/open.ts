/**
 * From a call to an open conversation: which database, which conversation, and everything closed again.
 *
 * Only `import` makes a database. Every other verb refuses where there is none, so that a typing error in a path does
 * not leave an empty file behind. The store is loaded here and no earlier, so that `--help` stays quick.
 */
import { access } from "node:fs/promises";
import { resolve } from "node:path";
import { RetconError } from "../core/errors.js";
import type { Conversation, Store } from "../store/surface.js";
import type { Io } from "./io.js";
import { cut, harmless, named } from "./screen.js";
import type { Call } from "./verb.js";

const defaultName = "retcon.db";
const titleWidth = 50;

/** Whether there is something at a path; a path that cannot be looked at counts as one, so that opening it says why. */
export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== "ENOENT" && error.code !== "ENOTDIR",
  );
}

/** The database that a call means, and who named it. */
export function databaseOf(
  io: Io,
  given: string | undefined,
): { file: string; from: "--db" | "RETCON_DB" | "default" } {
  if (given !== undefined) return { file: resolve(io.cwd, given), from: "--db" };
  if (io.env.RETCON_DB) return { file: resolve(io.cwd, io.env.RETCON_DB), from: "RETCON_DB" };
  return { file: resolve(io.cwd, defaultName), from: "default" };
}

async function requireDatabase(call: Call): Promise<string> {
  const { file, from } = databaseOf(call.io, call.options.db);
  if (await exists(file)) return file;
  if (from !== "default") {
    throw new RetconError(
      "not_found",
      `there is no database at ${named(file)}`,
      { what: "file", id: file },
      {
        hint: `Check ${from}; \`retcon import\` and openStore() make a database.`,
      },
    );
  }
  throw new RetconError(
    "not_found",
    `there is no ${defaultName} in this folder`,
    { what: "file", id: file },
    {
      hint: "Pass --db FILE, set RETCON_DB, or change to the folder that holds it; `retcon import` makes one.",
    },
  );
}

/** Opens a database file, lets `work` have the store, and closes it whatever happens. */
export async function withStore<T>(file: string, readOnly: boolean, work: (store: Store) => Promise<T>): Promise<T> {
  const { openStore } = await import("../index.js");
  const store = await openStore({ file, readOnly });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Opens the conversation that a call means. `readOnly` is for verbs that need not even look at the workspace. */
export async function withConversation<T>(
  call: Call,
  options: { readOnly: boolean },
  work: (chat: Conversation) => Promise<T>,
): Promise<T> {
  const file = await requireDatabase(call);
  return withStore(file, options.readOnly, async (store) => work(await requireConversation(store, call, file)));
}

async function requireConversation(store: Store, call: Call, file: string): Promise<Conversation> {
  const given = call.options.conversation;
  if (given !== undefined) return store.conversation(given);
  const [newest, another] = (await store.conversations({ limit: 2 })).items;
  if (newest === undefined) {
    throw new RetconError(
      "not_found",
      `there is no conversation in ${named(file)} yet`,
      { what: "conversation", id: "" },
      {
        hint: "Make one with createConversation(), or bring one in with `retcon import`.",
      },
    );
  }
  if (another !== undefined) {
    const title = newest.title === null ? "" : ` ${harmless(JSON.stringify(cut(newest.title, titleWidth)))}`;
    call.say(`note: the conversation changed last, ${newest.id}${title}; --conversation chooses another`);
  }
  return store.conversation(newest.id);
}
