import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import ts from "typescript";
import { afterAll, expect, it } from "vitest";
import { verbs } from "../src/cli/verbs.js";
import { errorHints } from "../src/core/errors.js";

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(ending))
    .map((path) => `${folder}/${path}`)
    .sort();
}

const documents = [...readdirSync(root).filter((name) => name.endsWith(".md")), ...filesBelow("docs", ".md")];

// A folder in which "retcon" is this checkout, as it is for somebody who installed it.
const place = mkdtempSync(join(tmpdir(), "retcon-docs-"));
mkdirSync(join(place, "node_modules"));
symlinkSync(root, join(place, "node_modules", "retcon"), "dir");
afterAll(() => rmSync(place, { recursive: true, force: true }));

interface Block {
  name: string;
  code: string;
}

function codeBlocks(path: string): Block[] {
  const found = [...read(path).matchAll(/^```ts\n(.*?)^```$/gms)];
  return found.map(([, code], i) => ({ name: `${path} block ${i + 1}`, code: code as string }));
}

async function run({ code }: Block): Promise<string> {
  const folder = mkdtempSync(join(place, "run-"));
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
  });
  writeFileSync(join(folder, "block.mjs"), outputText);
  return (await promisify(execFile)(process.execPath, ["block.mjs"], { cwd: folder, timeout: 30_000 })).stdout;
}

/** The names of all tests; one that is filled in from a table stands for the names that the table gives. */
function testNames(path: string): string[] {
  const names: string[] = [];
  const titles: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /^(it|test)\b/.test(node.expression.getText())) {
      const [name] = node.arguments;
      if (name !== undefined && ts.isStringLiteralLike(name)) names.push(name.text);
      if (name !== undefined && ts.isTemplateExpression(name)) names.push(name.head.text);
    }
    if (ts.isStringLiteralLike(node) && /^\[[A-Z]\d+\]/.test(node.text)) titles.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, read(path), ts.ScriptTarget.ES2023, true));
  return names.flatMap((name) => (/^[%$]/.test(name) && titles.length > 0 ? titles : [name]));
}

const rules = [...read("SPEC.md").matchAll(/^- \*\*([A-Z]\d+)\*\* /gm)].map(([, id]) => id as string);
const testFiles = filesBelow("test", ".ts");
const named = testFiles.flatMap((path) => testNames(path).map((name) => ({ path, name })));
const idsOf = (name: string) => [...(/^(\[[A-Z]\d+\])+/.exec(name)?.[0] ?? "").matchAll(/[A-Z]\d+/g)].map(([id]) => id);

for (const block of documents.flatMap(codeBlocks)) {
  it(`[P4] ${block.name} runs as it stands`, async () => {
    await run(block);
  });
}

for (const name of filesBelow("examples", ".ts")) {
  it(`[P4] ${name} runs and is short`, async () => {
    const code = read(name);
    expect(code.split("\n").length).toBeLessThanOrEqual(41);
    await run({ name, code });
  });
}

it("[P4] README's example says what its comments say", async () => {
  const [example] = codeBlocks("README.md");
  expect(await run(example as Block)).toContain("make the button blue [ 'style.css' ]");
});

it("[P4] README is short, and names the two commands that a newcomer needs", () => {
  const lines = read("README.md").trimEnd().split("\n");
  expect(lines.length).toBeLessThanOrEqual(150);
  expect(lines).toContain("npm ci && npm run demo");
  expect(lines).toContain("npm ci && npm test");
});

it("[P4] links between documents lead somewhere", () => {
  const broken = documents.flatMap((path) =>
    [...read(path).matchAll(/\]\((?!https?:)([^)#]+)/g)]
      .map(([, target]) => join(dirname(path), target as string))
      .filter((target) => !existsSync(join(root, target)))
      .map((target) => `${path} -> ${relative(root, join(root, target))}`),
  );
  expect(broken).toEqual([]);
});

it("[P4] every error code is documented", () => {
  const documented = [...read("docs/errors.md").matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code);
  expect(documented.sort()).toEqual(Object.keys(errorHints).sort());
});

it("[P4] every error code occurs in a test", () => {
  const text = testFiles
    .filter((path) => path !== "test/docs.test.ts")
    .map(read)
    .join("\n");
  expect(Object.keys(errorHints).filter((code) => !new RegExp(`\\b${code}\\b`).test(text))).toEqual([]);
});

it("[P4] every verb of the command line is documented with its options", () => {
  const [common = "", ...sections] = read("docs/cli.md").split(/^## /m);
  expect(sections.map((section) => section.split("\n", 1)[0])).toEqual(verbs.map((verb) => verb.name));
  for (const [i, verb] of verbs.entries()) {
    const missing = verb.flags.filter(({ flags }) => !`${common}${sections[i]}`.includes(`\`${flags}\``));
    expect(missing, verb.name).toEqual([]);
  }
});

it("[P4] rules have ids of their own", () => {
  expect(rules.filter((id, i) => rules.indexOf(id) !== i)).toEqual([]);
  expect(rules.length).toBeGreaterThan(50);
});

it("[P4] every rule is quoted by a test", () => {
  const quoted = new Set(named.flatMap(({ name }) => idsOf(name)));
  expect(rules.filter((id) => !quoted.has(id))).toEqual([]);
});

it("[P4] every test begins with the id of a rule", () => {
  const strangers = named.filter(({ name }) => !idsOf(name).some((id) => rules.includes(id)));
  expect(strangers).toEqual([]);
});
