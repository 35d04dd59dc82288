/**
 * The face of the package, and the only file that joins the backend, the workspace and the store.
 */
import { randomBytes } from "node:crypto";
import { openSqlite } from "./backends/sqlite/index.js";
import { idFrom } from "./core/ids.js";
import { claimHolder, isAlive } from "./store/holder.js";
import { createStore } from "./store/store.js";
import type { Logger, Store, StoreOptions } from "./store/surface.js";
import { contentTools, openFiles, openFilesBeside } from "./workspace/index.js";

export { type AnyRetconError, type ErrorCode, type ErrorData, isRetconError, RetconError } from "./core/errors.js";
export type {
  Branch,
  ConversationRecord,
  Edge,
  FileChange,
  FileOutcome,
  FileReport,
  FileState,
  Json,
  Message,
  MoveResult,
  NewMessage,
  Node,
  NodeSummary,
  Operation,
  OperationKind,
  Page,
  Part,
  Policy,
  RestoreOptions,
  RewindOptions,
  RewindPoint,
  RewindPreview,
  RewindResult,
  Role,
  RunRecord,
  RunStatus,
  StoreChange,
  TurnReport,
  Usage,
} from "./core/model.js";
export type {
  AppendOptions,
  Conversation,
  ImportedNode,
  ImportInput,
  Logger,
  OpenNode,
  Store,
  StoreOptions,
  Turn,
  WorkspaceOptions,
} from "./store/surface.js";

const silent: Logger = { debug: () => undefined, warn: () => undefined };
const durabilities = new Set([undefined, "normal", "full"]);

function check(options: StoreOptions): void {
  if (typeof options !== "object" || options === null) throw new TypeError("openStore needs options");
  if (typeof options.file !== "string" || options.file === "") throw new TypeError("file must be a path, or :memory:");
  if (!durabilities.has(options.durability)) throw new TypeError("durability must be 'normal' or 'full'");
}

/**
 * Opens a store, made if absent, and finishes what a dead process left in it.
 * @throws `database_newer`, `database_foreign`, `corrupt`, `read_only`, `bad_input`, `not_found`
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  check(options);
  const { file, durability, readOnly = false, scope = "default", logger = silent, now = () => new Date() } = options;
  const backend = await openSqlite({ file, durability, readOnly });
  const newId = () => idFrom(randomBytes(16));
  const holder = claimHolder(newId());
  const probe = () => undefined;
  return createStore(
    {
      backend,
      openFiles: file === ":memory:" ? openFiles : openFilesBeside(file),
      tools: contentTools,
      now,
      newId,
      holder,
      isAlive,
      logger,
      probe,
    },
    { scope, readOnly },
  );
}
