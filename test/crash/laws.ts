/**
 * What must hold after a kill and a restart, wherever the process was killed.
 */
import { readdirSync } from "node:fs";
import { expect } from "vitest";
import type { Conversation } from "../../src/store/surface.js";
import { dump } from "../builders/database.js";
import type { Bytes, Ground } from "./ground.js";

/** Marks follow heads, so no head rests on a rewound node. */
export async function marksFollowHeads(chat: Conversation): Promise<void> {
  const { nodes, branches } = await chat.graph();
  const reached = new Set<string>();
  const parents = new Map(nodes.map((node) => [node.id, node.parentId]));
  for (const { headId } of branches) {
    for (let id: string | null | undefined = headId; id != null; id = parents.get(id)) reached.add(id);
  }
  const marked = nodes.filter((node) => node.rewound).map((node) => node.id);
  const unreached = nodes.filter((node) => !reached.has(node.id)).map((node) => node.id);
  expect(marked, "marks follow heads").toEqual(unreached);
}

/** No temporary file, no unsettled operation, no live run, no byte that is nowhere any more. */
export function nothingIsLeft(ground: Ground, had: Bytes): void {
  const names = readdirSync(ground.root, { recursive: true, encoding: "utf8" });
  expect(
    names.filter((name) => name.includes(".retcon-")),
    "no temporary file stays behind",
  ).toEqual([]);
  const { intents = [], runs = [] } = dump(ground.file);
  expect(intents, "no operation is unsettled").toEqual([]);
  expect(
    runs.filter((run) => String(run).includes('"status":"running"')),
    "no dead run counts as live",
  ).toEqual([]);
  const has = ground.bytes();
  expect(
    [...had].filter((blob) => !has.has(blob)),
    "no byte is lost",
  ).toEqual([]);
}

/** Adds where the process was killed to whatever fails. */
export async function at(place: string, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (error instanceof Error) error.message = `killed at ${place}: ${error.message}`;
    throw error;
  }
}

/** The ids of the active branch's path. */
export const pathOf = async (chat: Conversation): Promise<string> =>
  (await chat.history()).map((node) => node.id).join(" ");
