/**
 * A title for the conversation: the one a person gave, else the tool's own, else the start of the first prompt.
 */
import { stringIn, textIn } from "./json.js";
import type { Entry } from "./linking/entries.js";
import type { Collected } from "./reading/collected.js";
import { asTyped } from "./reading/typed.js";

const maxLength = 80;

const shortened = (text: string): string => {
  const line = text.trim().split("\n")[0]?.trim() ?? "";
  const letters = [...line];
  return letters.length > maxLength ? `${letters.slice(0, maxLength - 1).join("")}…` : line;
};

/** The title of a transcript, if anything in it can be one. */
export function titleOf(collected: Collected, entries: readonly Entry[]): string | undefined {
  const newest = (type: string, key: string): string | undefined =>
    textIn(collected.side.findLast(({ raw }) => raw.type === type && textIn(raw[key]))?.raw[key]);
  const uuids = new Set(collected.lines.map((line) => line.uuid));
  // A summary usually tells of another file: its leaf says of which. One in a file without nodes is all there is.
  const summary = collected.side.findLast(
    ({ raw }) => raw.type === "summary" && (uuids.size === 0 || uuids.has(stringIn(raw.leafUuid) ?? "")),
  );
  const prompt = entries.find((entry) => entry.kind === "prompt")?.lines[0]?.text;
  const title =
    newest("custom-title", "customTitle") ??
    newest("ai-title", "aiTitle") ??
    textIn(summary?.raw.summary) ??
    (prompt === undefined ? undefined : asTyped(prompt));
  return title === undefined ? undefined : shortened(title) || undefined;
}
