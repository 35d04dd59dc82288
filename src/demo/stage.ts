/**
 * Where the demo plays: a temporary folder, the hands that change it, and the checks that look at its bytes.
 */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Every path of a folder with its kind, its mode and its bytes, so that two of them can be compared whole. */
export type Manifest = Map<string, string>;

/** A temporary folder with a project in it, and a database beside it. */
export class Stage {
  readonly root: string;
  readonly database: string;
  readonly #home = mkdtempSync(join(tmpdir(), "retcon-demo-"));
  #steps = 0;
  #checks = 0;
  #failed = 0;

  constructor() {
    this.root = join(this.#home, "project");
    this.database = join(this.#home, "chat.db");
    mkdirSync(this.root);
  }

  /** Copies the project that is kept with the repository. */
  copyProject(): void {
    cpSync(fileURLToPath(new URL("../../fixtures/project", import.meta.url)), this.root, { recursive: true });
  }

  /** Opens a step. */
  step(title: string): void {
    this.#steps += 1;
    console.log(`\n${this.#steps}. ${title}`);
  }

  /** Says what happened. */
  say(line: string): void {
    console.log(`   ${line}`);
  }

  /** Checks a claim and says how it went. */
  check(claim: string, holds: boolean): void {
    this.#checks += 1;
    if (!holds) this.#failed += 1;
    console.log(`   ${holds ? "ok    " : "FAILED"} ${claim}`);
  }

  /** Checks that the folder is byte for byte what it should be, and names what is not. */
  checkFolder(claim: string, expected: Manifest): void {
    const actual = this.manifest();
    const paths = [...new Set([...expected.keys(), ...actual.keys()])].sort();
    const wrong = paths.filter((path) => expected.get(path) !== actual.get(path));
    this.check(wrong.length === 0 ? claim : `${claim}; but not ${wrong.join(", ")}`, wrong.length === 0);
  }

  /** The folder as it is now. */
  manifest(): Manifest {
    const found: Manifest = new Map();
    const walk = (directory: string) => {
      for (const name of readdirSync(join(this.root, directory)).sort()) {
        const path = directory === "" ? name : `${directory}/${name}`;
        const stat = lstatSync(join(this.root, path));
        const mode = (stat.mode & 0o777).toString(8);
        if (stat.isDirectory()) {
          found.set(path, `directory ${mode}`);
          walk(path);
        } else if (stat.isSymbolicLink()) found.set(path, `symlink ${readlinkSync(join(this.root, path))}`);
        else found.set(path, `file ${mode} ${readFileSync(join(this.root, path), "latin1")}`);
      }
    };
    walk("");
    return found;
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), "utf8");
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  /** Runs a command line in the folder, as an agent's shell tool does. */
  shell(command: string): void {
    execFileSync("sh", ["-ec", command], { cwd: this.root, stdio: ["ignore", "ignore", "inherit"] });
  }

  /** Removes the folder, sums up, and returns the exit code. */
  close(): number {
    rmSync(this.#home, { recursive: true, force: true });
    console.log(`\n${this.#checks - this.#failed} of ${this.#checks} checks hold. The temporary folder is removed.`);
    return this.#failed === 0 && this.#checks > 0 ? 0 : 1;
  }
}
