/**
 * Turning messages into the changes that add them: checked, placed, with their bytes stored first.
 */
import type { Change, NodeKey } from "../core/change.js";
import {
  callerOf,
  depthOf,
  keyOf,
  offsetOf,
  placeBelow,
  type Segments,
  segmentCapacity,
  segmentOf,
} from "../core/dag.js";
import { RetconError } from "../core/errors.js";
import type { PackedBlob } from "../core/files.js";
import { checkId } from "../core/ids.js";
import { type Message, type NewMessage, type Part, roles } from "../core/model.js";
import { bodyOf } from "../core/turns.js";
import type { Environment } from "./environment.js";

const blobPrefix = "sha256:";

/** A message that passed the checks, with its id and the blobs that its parts hold. */
export interface Checked {
  id: string;
  message: Message;
  blobs: PackedBlob[];
  parentId?: string;
  callerId?: string;
}

const partFields: { readonly [T in Part["type"]]: readonly string[] } = {
  text: ["text"],
  reasoning: ["text"],
  "tool-call": ["toolCallId", "toolName"],
  "tool-result": ["toolCallId", "toolName"],
  file: ["mediaType"],
  data: ["name"],
};

function checkPart(part: Part, at: string): void {
  const isKnown = typeof part === "object" && part !== null && Object.hasOwn(partFields, part.type);
  const fields = isKnown ? partFields[part.type] : undefined;
  if (fields === undefined) {
    const reason = `a part is one of ${Object.keys(partFields).join(", ")}`;
    throw new RetconError("bad_input", `${at} is not a part: ${reason}`, { field: at, reason });
  }
  for (const field of fields) {
    if (typeof (part as Record<string, unknown>)[field] !== "string")
      throw new TypeError(`${at}.${field} must be a string`);
  }
  if (part.type === "file" && typeof part.data !== "string" && !(part.data instanceof Uint8Array)) {
    throw new TypeError(`${at}.data must be bytes or a string`);
  }
}

/** Checks a message and gives it an id. @throws `bad_input` */
export function checkMessage(env: Environment, given: NewMessage): Checked {
  if (typeof given !== "object" || given === null) throw new TypeError("a message must be an object");
  const { role, content, id, parentId, callerId, synthetic, externalId, usage, metadata } = given;
  if (!roles.includes(role)) {
    const reason = `a role is one of ${roles.join(", ")}`;
    throw new RetconError("bad_input", `role ${JSON.stringify(role)} is unknown: ${reason}`, { field: "role", reason });
  }
  if (typeof content !== "string" && !Array.isArray(content))
    throw new TypeError("content must be a string or a list of parts");
  const blobs: PackedBlob[] = [];
  const parts =
    typeof content === "string" ? content : content.map((part, i) => storedPart(env, part, `content[${i}]`, blobs));
  const message = { role, content: parts, synthetic, externalId, usage, metadata };
  return { id: id === undefined ? env.newId() : checkId("id", id), message, blobs, parentId, callerId };
}

function storedPart(env: Environment, part: Part, at: string, blobs: PackedBlob[]): Part {
  checkPart(part, at);
  if (part.type !== "file" || typeof part.data === "string") return part;
  const blob = env.tools.hash(part.data);
  blobs.push(env.tools.pack(blob, part.data));
  return { ...part, data: `${blobPrefix}${blob}` };
}

/** Stores what messages hold, and checks that what they only name is there. @throws `not_found` */
export async function storeBlobs(env: Environment, checked: readonly Checked[]): Promise<void> {
  await env.backend.putBlobs(checked.flatMap((message) => message.blobs));
  for (const id of checked.flatMap((message) => namedBlobs(message.message))) {
    const [blob] = await env.backend.blobs([id]);
    if (blob === undefined) throw new RetconError("not_found", `no blob ${id} is stored`, { what: "blob", id });
  }
}

/** The change that adds a checked message at a key. */
export function nodeChange(checked: Checked, key: NodeKey, run: number | null, createdAtMs: number): Change {
  const { id, message, blobs } = checked;
  const { role, synthetic = false } = message;
  return {
    kind: "node",
    key,
    id,
    run,
    role,
    synthetic,
    createdAtMs,
    body: bodyOf(message),
    blobs: [...new Set([...blobs.map((blob) => blob.blob), ...namedBlobs(message)])],
  };
}

function namedBlobs({ content }: Message): string[] {
  if (typeof content === "string") return [];
  return content.flatMap((part) => {
    const named = part.type === "file" && typeof part.data === "string" && part.data.startsWith(blobPrefix);
    return named ? [String(part.data).slice(blobPrefix.length)] : [];
  });
}

/** Keys for a chain of nodes below a head, with the segment that has to be opened for them, if one has. */
export function chainBelow(
  segments: Segments,
  head: NodeKey | null,
  count: number,
  caller: NodeKey | null = null,
): { keys: NodeKey[]; opens: Change[] } {
  const { key, opens } = placeBelow(segments, head);
  const room = segmentCapacity - offsetOf(key);
  if (opens !== null || count <= room) {
    const keys = Array.from({ length: count }, (_, i) => key + i);
    return { keys, opens: opens === null ? [] : [opening(-1, opens.parent, opens.depth, caller, segments)] };
  }
  const last = key + room - 1;
  const depth = depthOf(segments, head as NodeKey) + room + 1;
  const keys = Array.from({ length: count }, (_, i) => (i < room ? key + i : keyOf(-1, i - room)));
  return { keys, opens: [{ kind: "segment", segment: -1, parent: last, caller: null, depth, mark: null }] };
}

function opening(
  segment: number,
  parent: NodeKey | null,
  depth: number,
  caller: NodeKey | null,
  segments: Segments,
): Change {
  const root = parent === null ? caller : callerOf(segments, parent);
  const row = root === null ? undefined : segments.get(segmentOf(root));
  // A side chain under a rewound call is rewound from its start, like everything that hangs there.
  const mark = root !== null && row?.mark != null && offsetOf(root) >= row.mark ? 0 : null;
  return { kind: "segment", segment, parent, caller: parent === null ? caller : null, depth, mark };
}
