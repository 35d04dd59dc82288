/**
 * Conversations from a line of words: `chat("s1 u1 a1 u2 a2")`.
 *
 *     u  a person's message: begins a turn, which lasts to the next one     s  a system node, outside turns
 *     a  an answer         c  an answer that calls a tool                    r  the result of the call before it
 *     y  a synthetic user node                                              t  a result that a provider sends as user
 */
import type { NewMessage } from "../../src/core/model.js";
import type { Conversation, Turn } from "../../src/store/surface.js";
import { Scene, type Setting } from "./scene.js";

/** The message that a word stands for. */
export function message(word: string): NewMessage {
  const call = { toolCallId: `call-${word.slice(1)}`, toolName: "shell" };
  switch (word[0]) {
    case "u":
      return { id: word, role: "user", content: `text of ${word}` };
    case "a":
      return { id: word, role: "assistant", content: [{ type: "text", text: `answer ${word}` }] };
    case "c":
      return { id: word, role: "assistant", content: [{ type: "tool-call", ...call, input: { line: "ls" } }] };
    case "r":
      return { id: word, role: "tool", content: [{ type: "tool-result", ...call, output: "done" }] };
    case "t":
      return { id: word, role: "user", synthetic: true, content: [{ type: "tool-result", ...call, output: "done" }] };
    case "y":
      return { id: word, role: "user", synthetic: true, content: `reminder ${word}` };
    case "s":
      return { id: word, role: "system", content: `system ${word}` };
    default:
      throw new TypeError(`no message is written ${word}`);
  }
}

/** Plays a line of words at the head of a conversation. */
export async function play(conversation: Conversation, line: string): Promise<void> {
  let turn: Turn | undefined;
  for (const word of line.split(" ")) {
    if (word.startsWith("u")) {
      await turn?.end();
      turn = await conversation.beginTurn(message(word));
    } else await (turn ?? conversation).append(message(word));
  }
  await turn?.end();
}

/** A scene without files whose conversation is this line. */
export async function chat(line: string, setting: Setting = {}): Promise<Scene> {
  const scene = await Scene.open({}, { workspace: false, ...setting });
  await play(scene.chat, line);
  return scene;
}
