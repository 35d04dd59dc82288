/**
 * The feed: listeners hear of every commit after it happened, once each and in order, whichever process made it.
 */
import { describe, expect, it } from "vitest";
import type { StoreChange } from "../../src/core/model.js";
import { chat, play } from "../builders/chat.js";
import { code } from "../builders/codes.js";
import type { Scene } from "../builders/scene.js";

/** Longer than the feed takes to look for news of other processes. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 250));

function listen(scene: Scene): StoreChange[] {
  const heard: StoreChange[] = [];
  scene.store.on("change", (change) => heard.push(change));
  return heard;
}

const kinds = (heard: readonly StoreChange[]) => heard.map((change) => change.kind).join(" ");

describe("this process", () => {
  it("[R6] C38 events come after the commit, once each, in the order of the versions", async () => {
    const scene = await chat("u1 a1");
    const heard = listen(scene);
    const seen: Promise<unknown>[] = [];
    scene.store.on("change", ({ kind }) => kind === "rewind" && seen.push(scene.path()));
    await play(scene.chat, "u2 a2");
    await scene.chat.rewindTo("u2");
    await scene.chat.undo();
    await scene.chat.createBranch("side");
    await settled();
    expect(kinds(heard)).toBe("turn append end rewind undo branch");
    const versions = heard.map((change) => change.version);
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
    expect(heard.every(({ conversationId, at }) => conversationId === "chat" && !Number.isNaN(Date.parse(at)))).toBe(
      true,
    );
    expect(heard.at(-1)?.version).toBe((await scene.chat.record()).version);
    expect(seen.length).toBe(1);
  });

  it("[R6] C31 nobody hears of a refusal, or of a rewind that removed nothing", async () => {
    const scene = await chat("u1 a1");
    const heard = listen(scene);
    expect(await code(scene.chat.rewindTo("nobody"))).toBe("not_found");
    expect(await code(scene.chat.rewindTo("u1", { expectedHead: "x" }))).toBe("head_moved");
    await scene.chat.rewindToLength(5);
    await scene.chat.previewRewind("u1");
    await settled();
    expect(heard).toEqual([]);
  });

  it("[R6] C38 a listener that throws or is slow harms nobody", async () => {
    const scene = await chat("u1 a1");
    scene.store.on("change", () => {
      throw new RangeError("a listener's own fault");
    });
    scene.store.on("change", () => {
      const until = Date.now() + 30;
      while (Date.now() < until);
    });
    const heard = listen(scene);
    expect((await scene.chat.rewindTo("u1")).newHeadId).toBeNull();
    await scene.chat.undo();
    await settled();
    expect(kinds(heard)).toBe("rewind undo");
    expect(await scene.path()).toBe("u1 a1");
  });

  it("[R6] who stops listening hears nothing more, not even what happened until somebody listens again", async () => {
    const scene = await chat("u1 a1");
    const first: string[] = [];
    const stop = scene.store.on("change", ({ kind }) => {
      first.push(kind);
      stop();
    });
    const other = await (await scene.another()).conversation("chat");
    for (const content of ["1", "2", "3"]) await other.append({ role: "system", content });
    await settled();
    await scene.chat.createBranch("unheard");
    await settled();
    const heard = listen(scene);
    await scene.chat.rewindTo("u1");
    await settled();
    expect([first, kinds(heard)]).toEqual([["append"], "rewind"]);
  });

  it("[R6] each scope hears of its own conversations, deletion included", async () => {
    const scene = await chat("u1 a1");
    const tenant = scene.store.scope("tenant");
    const heard = listen(scene);
    const theirs: StoreChange[] = [];
    tenant.on("change", (change) => theirs.push(change));
    await tenant.createConversation({ id: "one" });
    await tenant.deleteConversation("one");
    await scene.chat.createBranch("side");
    await settled();
    expect([kinds(heard), kinds(theirs)]).toEqual(["branch", "create delete"]);
    expect(theirs.map((change) => change.conversationId)).toEqual(["one", "one"]);
  });
});

describe("other stores", () => {
  it("[O7] C38 what another store commits is heard once, in order", async () => {
    const scene = await chat("u1 a1");
    const heard = listen(scene);
    const other = await (await scene.another()).conversation("chat");
    await play(other, "u2 a2");
    await scene.chat.rewindTo("u2");
    await other.undo();
    await settled();
    expect(kinds(heard)).toBe("turn append end rewind undo");
    expect(heard.at(-1)?.version).toBe((await scene.chat.record()).version);
  });
});
