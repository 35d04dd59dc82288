/**
 * The first figures: what appending, loading, a turn's checkpoint and a rewind cost on a folder of 10,000 files, each
 * beside the plain work that cannot be avoided, alternating in one run. `npm run bench [-- --files 10000 --json FILE]`.
 *
 * Ratios are what to look at: absolute times are those of the machine and of what else it does.
 */
import { createHash } from "node:crypto";
import fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import Sqlite from "better-sqlite3";
import { openStore } from "../dist/index.js";

const { values } = parseArgs({ options: { files: { type: "string", default: "10000" }, json: { type: "string" } } });
const files = Number(values.files);
const root = fs.mkdtempSync(join(tmpdir(), "retcon-bench-"));
const folder = join(root, "tree");
const results = [];

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const quantile = (list, q) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * q))];
const pathOf = (i) => join(folder, `d${i % 200}`, `e${i % 7}`, `f${i}.ts`);

async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function report(name, ours, limit, what) {
  const row = { name, ours: median(ours), p99: quantile(ours, 0.99), limit: median(limit), what };
  row.ratio = row.ours / row.limit;
  results.push(row);
  const ms = (n) => `${n.toFixed(3)} ms`.padStart(12);
  console.log(`${name.padEnd(40)}${ms(row.ours)}${ms(row.p99)}${ms(row.limit)}   ${row.ratio.toFixed(2)} x ${what}`);
}

function makeTree() {
  for (let i = 0; i < files; i += 1) {
    fs.mkdirSync(dirname(pathOf(i)), { recursive: true });
    fs.writeFileSync(pathOf(i), `// file ${i}\n${`export const value${i} = "${i * 7919}";\n`.repeat(70)}`);
  }
}

/** A plain insert, a head update and an operation row in one prepared transaction: the least that an append can be. */
function rawAppender() {
  const raw = new Sqlite(join(root, "raw.db"));
  raw.pragma("journal_mode = WAL");
  raw.pragma("synchronous = NORMAL");
  raw.exec(`create table nodes (key integer primary key, conversation integer, id text, body text);
    create unique index by_id on nodes (conversation, id);
    create table branches (key integer primary key, head integer);
    create table operations (number integer primary key, conversation integer, kind text, at_ms integer, summary text);
    create index by_conversation on operations (conversation); insert into branches values (1, 0);`);
  const node = raw.prepare("insert into nodes (conversation, id, body) values (1, ?, ?)");
  const head = raw.prepare("update branches set head = ? where key = 1");
  const operation = raw.prepare(
    "insert into operations (conversation, kind, at_ms, summary) values (1, 'append', ?, 'null')",
  );
  return raw.transaction((id, body) => {
    head.run(node.run(id, body).lastInsertRowid);
    operation.run(Date.now());
  });
}

function walk(at) {
  for (const entry of fs.readdirSync(at, { withFileTypes: true })) {
    const path = join(at, entry.name);
    fs.lstatSync(path);
    if (entry.isDirectory()) walk(path);
  }
}

function restoreByHand(paths, bytes) {
  for (const path of paths) {
    createHash("sha256").update(fs.readFileSync(path)).digest();
    const temporary = `${path}.tmp`;
    const fd = fs.openSync(temporary, "w");
    fs.writeSync(fd, bytes);
    fs.fsyncSync(fd);
    fs.closeSync(fd);
    fs.renameSync(temporary, path);
  }
  for (const directory of new Set(paths.map(dirname))) {
    const fd = fs.openSync(directory, "r");
    fs.fsyncSync(fd);
    fs.closeSync(fd);
  }
}

async function appends(chat) {
  const content = "x".repeat(1400);
  const raw = rawAppender();
  const turn = await chat.beginTurn("append");
  const [ours, limit] = [[], []];
  for (let i = 0; i < 3000; i += 1) {
    ours.push(await timed(() => turn.append({ role: "assistant", content })));
    limit.push(await timed(() => raw(`n${i}`, JSON.stringify({ content }))));
  }
  await turn.end();
  report("append one node of 1.4 KB", ours, limit, "raw insert + head + operation row");
}

async function loads(store) {
  const nodes = Array.from({ length: 10_000 }, (_, i) => ({
    id: `n${i}`,
    parentId: i === 0 ? null : `n${i - 1}`,
    createdAt: new Date(i).toISOString(),
    message: { role: i % 4 === 0 ? "user" : "assistant", content: "y".repeat(1400) },
  }));
  const { conversation } = await store.importConversation({ id: "long", nodes, headId: "n9999" });
  const raw = new Sqlite(join(root, "scan.db"));
  raw.exec("create table nodes (key integer primary key, body text)");
  const add = raw.prepare("insert into nodes (body) values (?)");
  raw.transaction(() => {
    for (const node of nodes) add.run(JSON.stringify(node.message));
  })();
  const all = raw.prepare("select body from nodes where key between 1 and 10000");
  const last = raw.prepare("select body from nodes where key between 9951 and 10000");
  const parsed = (rows) => rows.map((row) => JSON.parse(row.body));
  const [ours, limit, ours50, limit50] = [[], [], [], []];
  for (let i = 0; i < 15; i += 1) {
    ours.push(await timed(() => conversation.history()));
    limit.push(await timed(() => parsed(all.all())));
    ours50.push(await timed(() => conversation.history({ limit: 50 })));
    limit50.push(await timed(() => parsed(last.all())));
  }
  report("load a branch of 10,000 nodes", ours, limit, "range scan + JSON.parse");
  report("load the last 50 of 10,000", ours50, limit50, "range scan + JSON.parse");
}

async function turns(chat, watch) {
  for (const k of [1, 10, 100]) {
    const [checkpoint, byWalk, rewind, byHand] = [[], [], [], []];
    for (let round = 0; round < 7; round += 1) {
      const turn = await chat.beginTurn(`change ${k}`);
      const paths = Array.from({ length: k }, (_, i) => pathOf((i * 37 + round * 1009) % files));
      for (const path of paths) fs.appendFileSync(path, `// ${watch} ${k} ${round}\n`);
      checkpoint.push(await timed(() => turn.end()));
      byWalk.push(await timed(() => walk(folder)));
      rewind.push(await timed(() => chat.rewindTo(turn.userNodeId)));
      byHand.push(await timed(() => restoreByHand(paths, fs.readFileSync(paths[0]))));
      await (await chat.beginTurn("settle")).end();
    }
    report(`turn checkpoint, ${k} changed (${watch})`, checkpoint, byWalk, "lstat walk of the tree");
    report(`rewind end to end, ${k} files (${watch})`, rewind, byHand, "read + hash + temp + fsync + rename");
  }
}

makeTree();
console.log(`${files} files, node ${process.version}`);
console.log(`${"".padEnd(40)}${"ours p50".padStart(12)}${"ours p99".padStart(12)}${"limit p50".padStart(12)}   ratio`);
const store = await openStore({ file: join(root, "chat.db") });
const plain = await store.createConversation();
await appends(plain);
await loads(store);
const chat = await store.createConversation({ workspace: folder });
const first = await timed(async () => (await chat.beginTurn("first capture")).end());
report("first capture", [first], [await timed(() => walk(folder))], "lstat walk of the tree");
await turns(chat, "watched");
await store.close();
const swept = await openStore({ file: join(root, "sweep.db") });
await turns(await swept.createConversation({ workspace: { root: folder, watch: false } }), "swept");
await swept.close();
if (values.json !== undefined) fs.writeFileSync(values.json, JSON.stringify(results, null, 2));
fs.rmSync(root, { recursive: true, force: true });
