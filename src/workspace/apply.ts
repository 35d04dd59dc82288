/**
 * Making the edits of a restore. They come in any order and are made in one that works:
 *
 *     open      folders that must be writable meanwhile            shallowest first
 *     remove    what goes, or changes from or to a folder          deepest first
 *     make      folders                                            shallowest first
 *     write     files and links
 *     finish    modes of folders                                   deepest first
 *
 * Each step looks at the disk just before: a path that already is `after` is not touched, and one that is neither `before`
 * nor `after` is left. So the list can be made again after a crash at any point; what lies between the two steps of a
 * change from or to a folder (nothing there, or a folder whose mode is not final) counts as ours only when recovering.
 */
import { hash } from "node:crypto";
import { isRetconError, RetconError } from "../core/errors.js";
import type { ApplyRequest, Edit, EditOutcome } from "../core/files.js";
import type { FileState } from "../core/model.js";
import { Editor, EditRefused, type Probe } from "./edit.js";
import { systemCode } from "./errno.js";
import { sightOf } from "./look.js";
import { depthOf, parentOf, requireInside } from "./paths.js";
import { steadyPace } from "./read.js";
import { absent, sameState } from "./state.js";

/** What a folder's owner needs to put things in and take them out. */
const openMode = 0o300;

/** One edit on its way. */
interface Job {
  edit: Edit;
  place: number;
  /** The first of the two steps of a change of kind was made. */
  removed?: boolean;
  /** The mode to set at the end: of a folder that was made or opened. */
  finalMode?: number;
  settled?: { result: EditOutcome["result"]; reason?: string };
}

/**
 * Makes edits below a root, in an order of its own, and says what became of each, in the order given.
 * @throws path_outside, aborted before the first edit
 */
export async function applyEdits(root: string, request: ApplyRequest, probe: Probe): Promise<EditOutcome[]> {
  if (!/^[A-Za-z0-9_-]+$/.test(request.token)) throw new TypeError("A token consists of letters, digits, _ and -.");
  for (const { path } of request.edits) requireInside(path);
  const { signal } = request;
  if (signal?.aborted)
    throw new RetconError("aborted", "The call was given up by its signal.", { reason: String(signal.reason) });
  return new Application(root, request, probe).run();
}

class Application {
  readonly #root: string;
  readonly #request: ApplyRequest;
  readonly #editor: Editor;
  readonly #jobs: Job[];
  readonly #pace = steadyPace();
  #stopped = false;
  #done = 0;
  #bytes = 0;

  constructor(root: string, request: ApplyRequest, probe: Probe) {
    this.#root = root;
    this.#request = request;
    this.#editor = new Editor(root, request.token, probe);
    this.#jobs = request.edits.map((edit, place) => ({ edit, place }));
  }

  async run(): Promise<EditOutcome[]> {
    if (this.#request.recovering) {
      for (const directory of new Set(this.#jobs.map(({ edit }) => parentOf(edit.path)))) {
        this.#editor.sweepLeftovers(directory);
      }
    }
    for (const job of this.#jobs) if (isUnknown(job.edit)) this.#settle(job, "failed", "unknown_state");
    const shallow = [...this.#jobs].sort((a, b) => depthOf(a.edit.path) - depthOf(b.edit.path));
    const deep = [...shallow].reverse();
    for (const job of shallow) if (job.edit.before.kind === "directory") await this.#step(job, () => this.#open(job));
    for (const job of deep) if (isRemoval(job.edit)) await this.#step(job, () => this.#remove(job));
    for (const job of shallow) if (job.edit.after.kind === "directory") await this.#step(job, () => this.#make(job));
    for (const job of shallow) await this.#step(job, () => this.#write(job));
    // Modes of folders already made or opened are set even after a stop: they are part of what was done.
    for (const job of deep) if (job.finalMode !== undefined) await this.#attempt(job, () => this.#finish(job));
    const unflushed = this.#editor.flush();
    const outcomes: EditOutcome[] = [];
    for (const job of this.#jobs) outcomes.push(await this.#outcome(job, unflushed));
    return outcomes;
  }

  async #step(job: Job, work: () => Promise<void>): Promise<void> {
    if (job.settled === undefined && !this.#stopped) await this.#attempt(job, work);
  }

  async #attempt(job: Job, work: () => Promise<void>): Promise<void> {
    if (this.#pace.due()) await this.#pace.rest();
    try {
      await work();
    } catch (error) {
      if (error instanceof EditRefused) this.#settle(job, error.result, error.reason);
      else {
        const code = systemCode(error);
        if (code === undefined) throw error;
        this.#settle(job, "failed", code.toLowerCase());
      }
    }
  }

  /** Makes a folder writable in which others of the edits remove or make something. */
  async #open(job: Job): Promise<void> {
    const { path, before, after } = job.edit;
    const now = await this.#now(path);
    if (now.kind !== "directory" || before.kind !== "directory") return;
    if (after.kind === "directory" && sameState(now, before)) job.finalMode = after.mode;
    else if (after.kind !== "directory") job.finalMode = now.mode;
    if (job.finalMode !== undefined && (now.mode & openMode) !== openMode) this.#editor.mode(path, now.mode | openMode);
  }

  async #remove(job: Job): Promise<void> {
    const { path, before, after } = job.edit;
    const now = await this.#now(path);
    if (sameState(now, after)) return this.#settle(job, "done");
    if (now.kind === "absent" && this.#request.recovering) {
      job.removed = true;
      return;
    }
    // What made an opened folder differ from `before` is its mode alone, which goes with it.
    const expected = before.kind === "directory" ? now.kind === "directory" : sameState(now, before);
    if (!expected && this.#request.recovering && this.#isUnfinished(job.edit, now)) return;
    if (!expected) throw new EditRefused("changed", "changed");
    if (now.kind === "directory") this.#editor.rmdir(path);
    else this.#editor.unlink(path);
    job.removed = true;
    job.finalMode = undefined;
    if (after.kind === "absent") this.#settle(job, "done");
  }

  async #make(job: Job): Promise<void> {
    const { path, before, after } = job.edit;
    if (after.kind !== "directory") return;
    const now = await this.#now(path);
    if (sameState(now, after)) return this.#settle(job, "done");
    if (job.finalMode !== undefined) return;
    if (this.#isUnfinished(job.edit, now)) {
      job.finalMode = after.mode;
      return;
    }
    const expected = job.removed ? absent : before;
    if (!sameState(now, expected) || now.kind !== "absent") throw new EditRefused("changed", "changed");
    this.#editor.directory(path, after.mode);
    job.finalMode = after.mode;
  }

  async #write(job: Job): Promise<void> {
    const { path, before, after } = job.edit;
    if (after.kind === "directory" || after.kind === "absent" || after.kind === "unknown") return;
    const now = await this.#now(path);
    if (sameState(now, after)) return this.#settle(job, "done");
    const expected = job.removed ? absent : before;
    const check = async () => {
      if (!sameState(await this.#now(path), expected)) throw new EditRefused("changed", "changed");
    };
    await check();
    if (after.kind === "symlink") await this.#editor.symlink(path, after.target, check);
    else if (now.kind === "file" && now.blob === after.blob) this.#editor.mode(path, after.mode);
    else await this.#editor.file(path, await this.#content(after.blob), after.mode, check);
    this.#settle(job, "done");
  }

  async #finish(job: Job): Promise<void> {
    const { path } = job.edit;
    const now = await this.#now(path);
    if (now.kind !== "directory") throw new EditRefused("changed", "changed");
    if (now.mode !== job.finalMode) this.#editor.mode(path, job.finalMode as number);
    if (job.settled === undefined && job.edit.after.kind === "directory") this.#settle(job, "done");
  }

  async #content(blob: string): Promise<Uint8Array> {
    const bytes = await this.#request.read(blob).catch(refuseMissing);
    if (hash("sha256", bytes, "hex") !== blob) throw new EditRefused("blob_damaged");
    this.#bytes += bytes.length;
    return bytes;
  }

  /** The state on disk. A path below a link is not there as far as removing goes; for writing, the walk refuses it. */
  async #now(path: string): Promise<FileState> {
    const { state } = await sightOf(this.#root, path, false);
    if (state.kind === "unknown" && state.reason === "symlinked_parent") return absent;
    if (state.kind !== "unknown") return state;
    if (state.reason === "unreadable") throw new EditRefused("eacces");
    throw new EditRefused(state.reason, "changed");
  }

  /** Whether a folder is one that this restore made or opened before it died, its mode not yet final. */
  #isUnfinished({ before, after }: Edit, now: FileState): boolean {
    if (!this.#request.recovering || after.kind !== "directory" || now.kind !== "directory") return false;
    if (before.kind !== "directory") return true;
    return now.mode === (before.mode | openMode) || now.mode === (after.mode | openMode);
  }

  #settle(job: Job, result: EditOutcome["result"], reason?: string): void {
    const isFirst = job.settled === undefined;
    job.settled = { result, reason };
    if ((result === "failed" || result === "changed") && this.#request.stopOnError) this.#stopped = true;
    if (!isFirst) return;
    this.#done += 1;
    this.#request.onProgress?.({ done: this.#done, total: this.#jobs.length, bytes: this.#bytes });
  }

  async #outcome(job: Job, unflushed: Map<string, string>): Promise<EditOutcome> {
    const { path, after } = job.edit;
    if (this.#pace.due()) await this.#pace.rest();
    const settled = job.settled ?? { result: "untried" };
    const sight = await sightOf(this.#root, path, false);
    // What was removed stays absent although a link came where its folder was.
    const isBehindLink = settled.result === "done" && after.kind === "absent" && sight.state.kind === "unknown";
    const { state, stat } = isBehindLink ? { state: absent, stat: null } : sight;
    const lost = settled.result === "done" ? unflushed.get(parentOf(path)) : undefined;
    if (lost !== undefined) return { path, result: "failed", state, stat, reason: lost };
    return { path, ...settled, state, stat };
  }
}

/** Content that is gone is an edit that cannot be made, like any other. */
function refuseMissing(error: unknown): never {
  throw isRetconError(error, "blob_missing") ? new EditRefused("blob_missing") : error;
}

/** Whether what is there has to go first: for good, or because a folder cannot be renamed over a file or back. */
function isRemoval({ before, after }: Edit): boolean {
  if (after.kind === "absent") return true;
  return before.kind !== "absent" && (before.kind === "directory") !== (after.kind === "directory");
}

/** Whether an edit would apply a state that was never captured, which is never done. */
function isUnknown({ before, after }: Edit): boolean {
  return before.kind === "unknown" || after.kind === "unknown";
}
