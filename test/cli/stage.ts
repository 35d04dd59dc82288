/**
 * Where the command line is tried: a temporary folder with a workspace and a database, calls in process or as a real
 * program, and a pseudo-terminal from python's `pty` for what only happens in front of a person.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { Io } from "../../src/cli/io.js";
import { run } from "../../src/cli/run.js";
import type { Conversation, Store } from "../../src/store/surface.js";

/** The built program; `npm test` builds it. */
const program = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** What a call left behind. */
export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Makes a folder that goes away with the test. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "retcon-cli-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Runs a command line in this process. */
export async function retcon(cwd: string, argv: string[], io: Partial<Io> = {}): Promise<Outcome> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const streams = { stdout: Object.assign(stdout, io.stdout), stderr: Object.assign(stderr, io.stderr) };
  const code = await run(argv, { stdin: new PassThrough(), env: {}, cwd, ...io, ...streams });
  const text = (stream: PassThrough) => ((stream.read() as Buffer | null) ?? "").toString();
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

function requireProgram(): string {
  if (existsSync(program)) return program;
  throw new TypeError(`${program} is missing: run \`npm run build\` first`);
}

/** Runs the built program through a shell, as `retcon`; as another user if one is given. */
export function shell(cwd: string, line: string, uid?: number): Outcome {
  const script = `retcon() { "${process.execPath}" "${requireProgram()}" "$@"; }\n${line}`;
  const env = { PATH: process.env.PATH ?? "", HOME: cwd };
  const { status, stdout, stderr } = spawnSync("bash", ["-c", script], {
    cwd,
    env,
    uid,
    gid: uid,
    encoding: "utf8",
    timeout: 50_000,
  });
  return { code: status, stdout, stderr };
}

/** Runs a line in a pseudo-terminal; once `prompt` shows, does `meanwhile` and types `keys`. Prints what was seen. */
const pty = `
import os, pty, sys, select, time
prompt, keys, line, meanwhile = sys.argv[1], sys.argv[2].encode(), sys.argv[3], sys.argv[4]
pid, fd = pty.fork()
if pid == 0:
    os.execvp("bash", ["bash", "-c", line])
seen, typed, end = b"", False, time.time() + 45
while time.time() < end:
    if not select.select([fd], [], [], 0.5)[0]:
        continue
    try:
        piece = os.read(fd, 65536)
    except OSError:
        break
    if not piece:
        break
    seen += piece
    if not typed and prompt.encode() in seen:
        typed = True
        os.system(meanwhile)
        time.sleep(0.2)
        os.write(fd, keys)
else:
    os.kill(pid, 9)
_, status = os.waitpid(pid, 0)
sys.stdout.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 255)
`;

/** Whether there is a python3 with a pty; says so loudly where there is none. */
export function hasTerminal(): boolean {
  try {
    execFileSync("python3", ["-c", "import pty"]);
    return true;
  } catch (cause) {
    console.warn("SKIPPED: the confirmation in a real terminal, since python3 with pty is not here:", cause);
    return false;
  }
}

/** Runs the built program in front of a person who types `keys` when asked. stdout may be redirected. */
export function terminal(cwd: string, line: string, keys: string, meanwhile = ":"): Outcome {
  const command = `exec "${process.execPath}" "${requireProgram()}" ${line}`;
  const env = { PATH: process.env.PATH ?? "", HOME: cwd, TERM: "xterm" };
  const child = spawnSync("python3", ["-c", pty, "[y/N]", keys, command, meanwhile], {
    cwd,
    env,
    encoding: "utf8",
    timeout: 55_000,
  });
  return { code: child.status, stdout: child.stdout.replaceAll("\r\n", "\n"), stderr: child.stderr };
}

/** A folder with `retcon.db` and a workspace in it. */
export class Stage {
  readonly cwd = folder();
  readonly root = join(this.cwd, "work");
  #seconds = 0;

  constructor() {
    mkdirSync(this.root);
  }

  /** Opens the store of this stage, lets work have it, closes it. */
  async store<T>(work: (store: Store) => Promise<T>): Promise<T> {
    const now = () => new Date(Date.UTC(2026, 0, 2, 10, 0, this.#seconds++));
    const { openStore } = await import("../../src/index.js");
    const store = await openStore({ file: join(this.cwd, "retcon.db"), now });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.root, path), text);
  }

  /** One turn: the person's text, what changes on disk, the answer. */
  async turn(chat: Conversation, id: string, text: string, change: () => void): Promise<void> {
    const turn = await chat.beginTurn({ role: "user", content: text, id: `user-${id}` });
    change();
    await turn.append({ role: "assistant", content: [{ type: "text", text: `Done ${id}.` }], id: `answer-${id}` });
    await turn.end();
  }

  /** A conversation of two turns: the first makes a.txt, the second changes it and makes b.txt. */
  async twoTurns(): Promise<this> {
    await this.store(async (store) => {
      const chat = await store.createConversation({
        id: "chat-one",
        title: "Buttons",
        workspace: { root: this.root, watch: false },
      });
      await this.turn(chat, "1-first-turn", "make a\nplease", () => this.write("a.txt", "one\n"));
      await this.turn(chat, "2-second-turn", "change a, make b", () => {
        this.write("a.txt", "one\ntwo\n");
        this.write("b.txt", "b\n");
      });
    });
    return this;
  }

  run(line: string, io: Partial<Io> = {}): Promise<Outcome> {
    return retcon(this.cwd, line.split(" "), io);
  }
}
