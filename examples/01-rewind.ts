/**
 * One turn that edits a file by shell, a rewind that brings it back, and an undo. Run it after a build:
 * `node --experimental-strip-types examples/01-rewind.ts` (Node.js 22.6 or later), or with any TypeScript runner.
 */
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "retcon";

const root = await mkdtemp(join(tmpdir(), "retcon-example-"));
const file = join(root, "style.css");
await writeFile(file, "button { color: red }\n");

const store = await openStore({ file: ":memory:" });
const chat = await store.createConversation({ workspace: root });

const turn = await chat.beginTurn("make the button blue");
execFileSync("sh", ["-c", "echo 'button { color: blue }' > style.css"], { cwd: root });
await turn.append({ role: "assistant", content: [{ type: "text", text: "Done." }] });
const report = await turn.end();
console.log(report.changes.map((change) => `${change.kind} ${change.path}`)); // [ 'modified style.css' ]

const back = await chat.rewindTo(turn.userNodeId);
console.log(back.userText, "|", await readFile(file, "utf8")); // make the button blue | button { color: red }

await chat.undo();
console.log(await readFile(file, "utf8")); // button { color: blue }

await store.close();
await rm(root, { recursive: true });
