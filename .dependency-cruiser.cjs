/**
 * The floors of ARCHITECTURE.md. Arrows only point down, folders on one floor do not import each other, there are no
 * circles, and a type import counts as an import.
 */
const floor2 = "^src/(backends|workspace|store)/";
const floor3 = "^src/(importers|adapters|testing|server|client)/";
const floor4 = "^src/(cli|demo|react|web)/";

/** Forbids imports from `from` to anything in src but itself and `allowed`. */
const only = (name, from, allowed) => ({
  name,
  severity: "error",
  from: { path: from },
  to: { path: "^src/", pathNot: [from, ...allowed] },
});

module.exports = {
  forbidden: [
    {
      name: "no-circles",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "nothing-unresolved",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: "no-dev-packages",
      comment: "What is shipped may only import what is installed with it.",
      severity: "error",
      from: { path: "^src/" },
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"], dependencyTypesNot: ["type-only"] },
    },
    {
      name: "core-is-pure",
      comment: "No node builtin and no package, not even for its types.",
      severity: "error",
      from: { path: "^src/core/" },
      to: { pathNot: "^src/core/" },
    },
    only("backends-on-core", "^src/backends/", ["^src/core/"]),
    only("workspace-on-core", "^src/workspace/", ["^src/core/"]),
    only("store-on-core", "^src/store/", ["^src/core/"]),
    {
      name: "one-backend-each",
      comment: "Backends do not know of each other.",
      severity: "error",
      from: { path: "^src/backends/([^/]+)/" },
      to: { path: "^src/backends/", pathNot: "^src/backends/$1/" },
    },
    only("importers-on-store", "^src/importers/", ["^src/core/", "^src/store/"]),
    only("adapters-on-store", "^src/adapters/", ["^src/core/", "^src/store/"]),
    only("testing-on-store", "^src/testing/", ["^src/core/", "^src/store/"]),
    {
      name: "face-joins",
      comment: "src/index.ts is the only file that joins backend, workspace and store.",
      severity: "error",
      from: { path: floor4 },
      to: { path: "^src/(backends|workspace)/" },
    },
    {
      name: "top-floor-apart",
      comment: "Folders of the top floor do not import each other.",
      severity: "error",
      from: { path: "^src/(cli|demo|react|web)/" },
      to: { path: floor4, pathNot: "^src/$1/" },
    },
    {
      name: "face-stays-low",
      comment: "The face joins floors 1 to 3; the command line and the demo stand on it.",
      severity: "error",
      from: { path: "^src/[^/]+\\.ts$" },
      to: { path: floor4 },
    },
    {
      name: "nothing-imports-the-face",
      comment: "Only the top floor stands on the face.",
      severity: "error",
      from: { path: [floor2, floor3, "^src/core/"] },
      to: { path: "^src/index\\.ts$" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "types", "node", "default"] },
  },
};
