/**
 * The laws that hold after every step, looked at from outside: the files, the path, the marks, the branches.
 */
import { expect } from "vitest";
import type { ModelChat, Who } from "./line-model.js";
import { pathOf } from "./line-model.js";
import type { World } from "./line-world.js";

/** A conversation as it shows: marks by node and branches by name. */
export async function shown(world: World, who: Who): Promise<object> {
  const { nodes, branches } = await world.chats[who].graph();
  return {
    rewound: Object.fromEntries(nodes.map((node) => [node.id, node.rewound])),
    branches: Object.fromEntries(branches.map((branch) => [branch.name, [branch.headId, branch.active]])),
  };
}

/** The same as the model says it must be: a node is rewound exactly when no branch reaches it (law 4). */
function expected(chat: ModelChat): object {
  const reached = chat.reached();
  return {
    rewound: Object.fromEntries(chat.nodes.map((node) => [node.id, !reached.has(node)])),
    branches: Object.fromEntries(
      [...chat.branches].map(([name, node]) => [name, [node?.id ?? null, name === chat.active]]),
    ),
  };
}

/** Checks files, paths, marks and branches. */
export async function checkLaws(world: World): Promise<void> {
  expect(world.texts()).toEqual(world.expectedTexts());
  for (const who of ["A", "B"] as const) {
    const chat = world.modelChat(who);
    expect(await shown(world, who)).toEqual(expected(chat));
    const history = await world.chats[who].history();
    expect(history.map((node) => node.id)).toEqual(pathOf(chat.head).map((node) => node.id));
    expect(history.filter((node) => node.rewound)).toEqual([]);
  }
}

/** Checks that the lines are those that the head's path implies (law 5), and the person's the latest (law 6). */
export function checkImplied(world: World, foreign: ReadonlySet<string> = new Set()): void {
  for (const who of ["A", "B"] as const) {
    const chat = world.modelChat(who);
    if (chat.run !== null) continue;
    const implied = world.model.impliedAt(chat, chat.head);
    for (const [file, lines] of Object.entries(world.model.ownLines(world.model.disk, who))) {
      const own = Object.entries(lines).filter(([slot]) => !foreign.has(`${file} ${slot}`));
      expect(Object.fromEntries(own)).toEqual(Object.fromEntries(own.map(([slot]) => [slot, implied[file]?.[slot]])));
    }
  }
  checkPersonal(world);
}

/** Checks that every line of the person's is the one that the person wrote last. */
function checkPersonal(world: World): void {
  for (const [place, value] of Object.entries(world.personal)) {
    const [file, slot] = place.split(" ") as [string, string];
    expect(world.model.disk[file]?.[slot]).toBe(value);
  }
}

/** Checks that no node has changed but for its mark (law 2). */
export async function checkContent(world: World): Promise<void> {
  for (const who of ["A", "B"] as const) {
    for (const { id } of world.nodesOf(who)) {
      const born = world.born.get(id);
      if (born !== undefined) expect({ ...(await world.chats[who].node(id)), rewound: false }).toEqual(born);
    }
  }
}
