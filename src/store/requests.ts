/**
 * Request ids: the same id twice returns the first result and writes nothing.
 *
 * What was asked is kept as a fingerprint, so that the same id with other content is refused. The result is committed
 * with the write itself; after a lost acknowledgement it can be looked up.
 */
import type { Change } from "../core/change.js";
import { RetconError } from "../core/errors.js";
import type { Json } from "../core/model.js";
import type { Chat } from "./chat.js";

/** A request as it came in. */
export interface Request {
  id: string | undefined;
  fingerprint: string;
}

/** The request that a call makes: its id, and a fingerprint of its verb and arguments. */
export function requestOf(chat: Chat, id: string | undefined, verb: string, args: unknown): Request {
  if (id !== undefined && (typeof id !== "string" || id === "")) throw new TypeError("requestId must be a string");
  const text = id === undefined ? "" : JSON.stringify([verb, args], (_key, value: unknown) => plain(chat, value));
  return { id, fingerprint: id === undefined ? "" : chat.env.tools.hash(new TextEncoder().encode(text)) };
}

function plain(chat: Chat, value: unknown): unknown {
  if (value instanceof Uint8Array) return chat.env.tools.hash(value);
  return typeof value === "function" || value instanceof AbortSignal ? undefined : value;
}

/** What the first call with this id returned, with the operation's number. @throws `request_reused` */
export async function firstResult<T>(
  chat: Chat,
  { id, fingerprint }: Request,
): Promise<{ result: T; version: number } | undefined> {
  if (id === undefined) return undefined;
  const [row] = await chat.env.backend.operations({ conversation: chat.key, request: id });
  if (row?.request == null) return undefined;
  if (row.request.fingerprint !== fingerprint) {
    throw new RetconError("request_reused", `request ${id} was made before with other content`, { requestId: id });
  }
  return { result: resultAt(row.request.result as T, row.number), version: row.number };
}

/** The change that keeps a result under its request id. */
export function requestChange({ id, fingerprint }: Request, result: Json): Change[] {
  return id === undefined ? [] : [{ kind: "request", id, fingerprint, result }];
}

/** A kept result with the number of the operation that it belongs to. A move that changed nothing has no operation. */
export function resultAt<T>(result: T, number: number): T {
  const isMove = typeof result === "object" && result !== null && "operationId" in result && "version" in result;
  return isMove && result.version === 0 ? { ...result, operationId: String(number), version: number } : result;
}
