/**
 * Makes fixtures/databases/schema-<n>.db.gz, once for each schema that is released, with the build of that version:
 *
 *     npm run build && node test/backends/make-database.mjs 1
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import Sqlite from "better-sqlite3";
import { openStore } from "../../dist/index.js";

const version = process.argv[2];
const home = mkdtempSync(join(tmpdir(), "retcon-fixture-"));
const [file, root] = [join(home, "chat.db"), join(home, "work")];
mkdirSync(root);
writeFileSync(join(root, "a.txt"), "first\n");

let clock = Date.parse("2025-01-01T00:00:00Z");
const now = () => {
  clock += 1000;
  return new Date(clock);
};
const store = await openStore({ file, now });
const chat = await store.createConversation({
  id: "kept",
  title: "A kept conversation",
  metadata: { color: "blue" },
  workspace: { root, watch: false },
});

for (const [id, text] of [
  ["u1", "second\n"],
  ["u2", "third\n"],
]) {
  const turn = await chat.beginTurn({ role: "user", id, content: `text of ${id}` });
  writeFileSync(join(root, "a.txt"), text);
  const call = { toolCallId: `call-${id}`, toolName: "write" };
  await turn.append([
    { role: "assistant", id: `c-${id}`, content: [{ type: "tool-call", ...call, input: { path: "a.txt" } }] },
    { role: "tool", id: `r-${id}`, content: [{ type: "tool-result", ...call, output: "written" }] },
    { role: "assistant", id: `a-${id}`, content: `answer to ${id}`, usage: { inputTokens: 7 } },
  ]);
  await turn.end();
}
const picture = { type: "file", mediaType: "image/png", data: new Uint8Array([137, 80, 78, 71]) };
await chat.append({ role: "assistant", id: "aside", content: [picture], callerId: "c-u1" });
await chat.createBranch("other", { at: "a-u1" });
await chat.rewindTo("u2", { requestId: "back" });
await store.close();

const database = new Sqlite(file);
if (String(database.pragma("user_version", { simple: true })) !== version) {
  throw new TypeError(`this build makes schema ${database.pragma("user_version", { simple: true })}`);
}
// The folder was a temporary one; a fixture names nothing of the machine that made it.
database.exec("update workspaces set root = '/gone/work', machine = 'gone'; update runs set holder = '{}'; vacuum");
database.close();
writeFileSync(
  new URL(`../../fixtures/databases/schema-${version}.db.gz`, import.meta.url),
  gzipSync(readFileSync(file)),
);
rmSync(home, { recursive: true });
