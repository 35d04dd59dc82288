/**
 * Reading stored content, verified against its name each time it is going to be used.
 */
import { RetconError } from "../core/errors.js";
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
