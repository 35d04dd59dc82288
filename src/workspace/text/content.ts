/**
 * Content as bytes named by their hash, as it is stored: deflated where that pays, with the hash checked on the way back.
 */
import { hash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { ContentTools, PackedBlob } from "../../core/files.js";
import { merge } from "./merge.js";
import { countLines, patch } from "./patch.js";

const smallBytes = 100;
const level = 6;

/** The pure functions on content that the store is given. */
export const contentTools: ContentTools = { hash: hashOf, pack, unpack, merge, countLines, patch };

function hashOf(bytes: Uint8Array): string {
  return hash("sha256", bytes, "hex");
}

function pack(blob: string, bytes: Uint8Array): PackedBlob {
  if (bytes.length > smallBytes) {
    const data = deflateRawSync(bytes, { level });
    if (data.length < bytes.length * 0.9) return { blob, size: bytes.length, encoding: "deflate", data };
  }
  return { blob, size: bytes.length, encoding: "raw", data: bytes };
}

function unpack(packed: PackedBlob): Uint8Array | undefined {
  const bytes = packed.encoding === "raw" ? packed.data : inflated(packed);
  return bytes !== undefined && bytes.length === packed.size && hashOf(bytes) === packed.blob ? bytes : undefined;
}

function inflated({ data, size }: PackedBlob): Uint8Array | undefined {
  try {
    return inflateRawSync(data, { maxOutputLength: Math.max(size, 1) });
  } catch (error) {
    if (error instanceof Error && "code" in error && isDamage(String(error.code))) return undefined;
    throw error;
  }
}

function isDamage(code: string): boolean {
  return code.startsWith("Z_") || code === "ERR_BUFFER_TOO_LARGE";
}
