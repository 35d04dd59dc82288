/**
 * Blocks of the provider's messages as parts of ours.
 *
 * What has no part of its own (a server's search result, a block of a kind that came later) is kept whole as a data
 * part. Files given as base64 become bytes, which the store keeps as blobs.
 */
import type { Json, Part, Usage } from "../../../core/model.js";
import { type JsonObject, objectIn, stringIn } from "../json.js";

/** Names of the tools by the ids of their calls; results do not repeat them. */
export type ToolNames = ReadonlyMap<string, string>;

function filePart(block: JsonObject): Part | undefined {
  const source = objectIn(block.source);
  const filename = stringIn(block.title) ?? stringIn(block.filename);
  const named = filename === undefined ? {} : { filename };
  const fallback = block.type === "image" ? "image/png" : "application/octet-stream";
  const mediaType = stringIn(source?.media_type) ?? fallback;
  const content = stringIn(source?.data);
  if (source?.type === "url" && typeof source.url === "string") {
    return { type: "file", mediaType, ...named, data: source.url };
  }
  if (content === undefined) return undefined;
  if (source?.type === "base64") return { type: "file", mediaType, ...named, data: Buffer.from(content, "base64") };
  if (source?.type !== "text") return undefined;
  return { type: "file", mediaType: "text/plain", ...named, data: Buffer.from(content, "utf8") };
}

function resultPart(block: JsonObject, tools: ToolNames): Part {
  const toolCallId = stringIn(block.tool_use_id) ?? "";
  const part: Part = {
    type: "tool-result",
    toolCallId,
    toolName: tools.get(toolCallId) ?? "unknown",
    output: block.content ?? null,
  };
  return block.is_error === true ? { ...part, isError: true } : part;
}

function knownPart(block: JsonObject, tools: ToolNames): Part | undefined {
  switch (block.type) {
    case "text":
      return typeof block.text === "string" ? { type: "text", text: block.text } : undefined;
    case "thinking": {
      if (typeof block.thinking !== "string") return undefined;
      const providerData: Json = typeof block.signature === "string" ? { signature: block.signature } : {};
      return { type: "reasoning", text: block.thinking, providerData };
    }
    case "redacted_thinking":
      return { type: "reasoning", text: "", providerData: { redacted: block.data ?? null } };
    case "tool_use":
      if (typeof block.id !== "string" || typeof block.name !== "string") return undefined;
      return { type: "tool-call", toolCallId: block.id, toolName: block.name, input: block.input ?? {} };
    case "tool_result":
      return typeof block.tool_use_id === "string" ? resultPart(block, tools) : undefined;
    case "image":
    case "document":
      return filePart(block);
    default:
      return undefined;
  }
}

/** The parts of a message's blocks. */
export function partsFrom(blocks: readonly JsonObject[], tools: ToolNames): Part[] {
  return blocks.map(
    (block) => knownPart(block, tools) ?? { type: "data", name: `claude-code:${String(block.type)}`, data: block },
  );
}

/** The provider's figures, with the two that every provider has under their common names. */
export function usageFrom(usage: JsonObject): Usage {
  const { input_tokens, output_tokens, ...others } = usage;
  return {
    ...(typeof input_tokens === "number" ? { inputTokens: input_tokens } : {}),
    ...(typeof output_tokens === "number" ? { outputTokens: output_tokens } : {}),
    ...others,
  };
}
