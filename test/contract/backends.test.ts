/**
 * Every backend that there is, under the one contract. Only this table knows which exist.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, onTestFinished } from "vitest";
import { openSqlite } from "../../src/backends/sqlite/index.js";
import type { Open } from "./bench.js";
import { backendSuite } from "./suite.js";

const backends: Record<string, Open> = {
  "SQLite in memory": async () => ({ backend: await openSqlite({ file: ":memory:" }) }),
  "SQLite on a file": async () => {
    const folder = mkdtempSync(join(tmpdir(), "retcon-contract-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "chat.db");
    return { backend: await openSqlite({ file }), another: () => openSqlite({ file }) };
  },
};

describe.each(Object.entries(backends))("%s", (_name, open) => backendSuite(open));
