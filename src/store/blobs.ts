/**
 * Reading stored content, verified against its name each time it is going to be used.
 */
import { RetconError } from "../core/errors.js";
import type { Chat } from "./chat.js";
import type { Environment } from "./environment.js";

/** The verified bytes of a blob, or why there are none. */
export async function findBlob(env: Environment, blob: string): Promise<Uint8Array | "missing" | "damaged"> {
  const [packed] = await env.backend.blobs([blob]);
  if (packed === undefined) return "missing";
  return env.tools.unpack(packed) ?? "damaged";
}

/** The verified bytes of a blob. @throws `blob_missing` */
export async function readBlob(env: Environment, blob: string, path = ""): Promise<Uint8Array> {
  const found = await findBlob(env, blob);
  if (typeof found !== "string") return found;
  const blobs = [{ blob, path, reason: found }];
  throw new RetconError("blob_missing", `stored content of ${path || blob.slice(0, 12)} is ${found}`, { blobs });
}

/** The verified bytes of a blob that a conversation names. @throws `not_found`, `blob_missing` */
export async function blobOf({ env, key, workspaceKey }: Chat, id: string): Promise<Uint8Array> {
  if (typeof id !== "string") throw new TypeError("a blob id must be a string");
  const hex = id.replace(/^sha256:/, "");
  const within = { conversation: key, workspace: workspaceKey };
  const [packed] = /^[0-9a-f]{64}$/.test(hex) ? await env.backend.blobs([hex], within) : [];
  if (packed === undefined) {
    throw new RetconError("not_found", `this conversation names no blob ${id}`, { what: "blob", id });
  }
  const bytes = env.tools.unpack(packed);
  if (bytes !== undefined) return bytes;
  const blobs = [{ blob: hex, path: "", reason: "damaged" }];
  throw new RetconError("blob_missing", `stored content of ${id} is damaged`, { blobs });
}
