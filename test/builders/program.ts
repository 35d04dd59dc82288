/**
 * Other processes: small programs that use the built package, so that two processes meet in one database.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { onTestFinished } from "vitest";

const project = fileURLToPath(new URL("../..", import.meta.url));
const built = join(project, "dist/index.js");

/** Builds the package when it was not, or when a source is newer. */
export function build(): void {
  const newest = readdirSync(join(project, "src"), { recursive: true, encoding: "utf8" })
    .map((path) => statSync(join(project, "src", path)).mtimeMs)
    .reduce((a, b) => Math.max(a, b), 0);
  if (existsSync(built) && statSync(built).mtimeMs >= newest) return;
  execFileSync("npm", ["run", "--silent", "build"], { cwd: project, stdio: ["ignore", "ignore", "inherit"] });
}

/** A process that runs a script with `store`, `chat` (conversation "chat"), `say(value)` and `code(promise)` at hand. */
export class Program {
  readonly child: ChildProcess;
  readonly said: unknown[] = [];
  private readonly waiting: ((value: unknown) => void)[] = [];
  private errors = "";
  private taken = 0;

  constructor(file: string, script: string) {
    const source = `
      const { openStore } = await import(${JSON.stringify(pathToFileURL(built).href)});
      const fs = await import("node:fs");
      const say = (value) => process.stdout.write(JSON.stringify(value ?? null) + "\\n");
      const code = (call) => call.then(() => "done", (error) => error.code ?? String(error));
      const heard = () => new Promise((resolve) => process.stdin.once("data", resolve));
      const store = await openStore({ file: ${JSON.stringify(file)} });
      const chat = await store.conversation("chat");
      ${script}
    `;
    this.child = spawn(process.execPath, ["--input-type=module", "-e", source], { stdio: "pipe" });
    let line = "";
    this.child.stdout?.on("data", (chunk: Buffer) => {
      const lines = (line + chunk).split("\n");
      line = lines.pop() as string;
      for (const text of lines) this.take(JSON.parse(text));
    });
    this.child.stderr?.on("data", (chunk: Buffer) => {
      this.errors += chunk;
    });
    onTestFinished(() => void this.child.kill("SIGKILL"));
  }

  private take(value: unknown): void {
    this.said.push(value);
    const waiting = this.waiting.shift();
    if (waiting === undefined) return;
    this.taken += 1;
    waiting(value);
  }

  /** What it says next. */
  next(): Promise<unknown> {
    if (this.taken < this.said.length) {
      this.taken += 1;
      return Promise.resolve(this.said[this.taken - 1]);
    }
    return new Promise((resolve, reject) => {
      this.waiting.push(resolve);
      this.child.once("exit", (status) => reject(new TypeError(`the program ended with ${status}: ${this.errors}`)));
    });
  }

  /** Lets it go on from `await heard()`. */
  tell(): void {
    this.child.stdin?.write("\n");
  }

  /** Ends it as a crash does, and waits until it is gone. */
  async kill(): Promise<void> {
    const gone = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.kill("SIGKILL");
    await gone;
  }
}
