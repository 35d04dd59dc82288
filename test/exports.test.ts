import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const json = (path: string) => JSON.parse(readFileSync(join(root, path), "utf8"));

it("[P2] the names that a program can import are these", async () => {
  const face = join(root, "dist/index.js");
  expect(Object.keys(await import(face)).sort()).toMatchInlineSnapshot(`
    [
      "RetconError",
      "isRetconError",
      "openStore",
    ]
  `);
});

it("[P2] the types that a program can import are these", () => {
  const face = join(root, "dist/index.d.ts");
  const program = ts.createProgram([face], {
    module: ts.ModuleKind.NodeNext,
    noLib: true,
    types: [],
    skipLibCheck: true,
  });
  const checker = program.getTypeChecker();
  const symbol = checker.getSymbolAtLocation(program.getSourceFile(face) as ts.SourceFile) as ts.Symbol;
  const isType = (name: ts.Symbol) => (checker.getAliasedSymbol(name).flags & ts.SymbolFlags.Value) === 0;
  const names = checker.getExportsOfModule(symbol).filter((name) => name.flags & ts.SymbolFlags.Alias && isType(name));
  expect(names.map((name) => name.name).sort()).toMatchInlineSnapshot(`
    [
      "AnyRetconError",
      "AppendOptions",
      "Branch",
      "Conversation",
      "ConversationRecord",
      "Edge",
      "ErrorCode",
      "ErrorData",
      "FileChange",
      "FileOutcome",
      "FileReport",
      "FileState",
      "ImportInput",
      "ImportedNode",
      "Json",
      "Logger",
      "Message",
      "MoveResult",
      "NewMessage",
      "Node",
      "NodeSummary",
      "OpenNode",
      "Operation",
      "OperationKind",
      "Page",
      "Part",
      "Policy",
      "RestoreOptions",
      "RewindOptions",
      "RewindPoint",
      "RewindPreview",
      "RewindResult",
      "Role",
      "RunRecord",
      "RunStatus",
      "Store",
      "StoreChange",
      "StoreOptions",
      "Turn",
      "TurnReport",
      "Usage",
      "WorkspaceOptions",
    ]
  `);
});

it("[P1] every dependency is pinned", () => {
  const { dependencies, devDependencies } = json("package.json");
  const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
    ([, range]) => !/^\d+\.\d+\.\d+$/.test(String(range)),
  );
  expect(loose).toEqual([]);
});

it("[P1] every install script is allowed or denied by name", () => {
  const decided = Object.keys(json("package.json").allowScripts);
  const packages: Record<string, { hasInstallScript?: boolean }> = json("package-lock.json").packages;
  const withScript = Object.keys(packages).filter((path) => packages[path]?.hasInstallScript);
  const undecided = withScript
    .map((path) => path.replace(/^.*node_modules\//, ""))
    .filter((name) => !decided.includes(name));
  expect(undecided).toEqual([]);
});

it("[P1] the package carries what it reads when it runs", () => {
  expect(json("package.json").files).toEqual(expect.arrayContaining(["dist", "migrations", "README.md", "LICENSE"]));
});
