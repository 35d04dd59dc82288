/**
 * One observation: what differs between the index and the disk. Without trusted hints the whole tree is swept; with them
 * only the folders where something happened, and the files of which a stat alone cannot say that they are as they were.
 *
 *     begin ── hints up to here ── sweep ── Observation ─► accept: hints forgotten, rules and exclusions remembered
 *                                                    └──► not accepted: hints kept for the next one
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { RetconError } from "../../core/errors.js";
import type {
  CoverageOptions,
  CoverageRules,
  Observation,
  ObserveRequest,
  WorkspaceIdentity,
} from "../../core/files.js";
import { ifPresent } from "../errno.js";
import { requireSame } from "../identity.js";
import { ancestorsOf, blockedParent, depthOf, parentOf } from "../paths.js";
import { steadyPace } from "../read.js";
import { Coverage } from "../rules/coverage.js";
import { firstRules } from "../rules/first.js";
import { type GitSettings, gitSettings, gitTracked } from "../rules/git-settings.js";
import { Findings } from "./findings.js";
import { type Hints, joinHints, noHints, type Watch, wasRenamed } from "./hints.js";
import { doubtful, isCurrent, type Look, type Memory } from "./memory.js";
import { requireGoing, Sweep, type SweepSetting } from "./sweep.js";

/** Observes one workspace, and remembers what was accepted. */
export class Observer {
  readonly #identity: WorkspaceIdentity;
  readonly #options: CoverageOptions;
  readonly #watch: Watch | undefined;
  readonly #never: ReadonlySet<string>;
  #held: Hints = noHints();
  #memory: Memory | undefined;
  #latest: { observation: Observation; memory: Memory | undefined } | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #tracked: { stamp: string; paths: string[] } = { stamp: "", paths: [] };

  constructor(
    identity: WorkspaceIdentity,
    options: CoverageOptions,
    watch: Watch | undefined,
    never: ReadonlySet<string> = new Set(),
  ) {
    this.#identity = identity;
    this.#options = options;
    this.#watch = watch;
    this.#never = never;
  }

  /**
   * Observes the workspace; one observation at a time.
   * @throws workspace_changed, aborted
   */
  observe(request: ObserveRequest): Promise<Observation> {
    const turn = this.#queue.then(() => this.#observe(request));
    // The caller hears of a failure through `turn`; the queue only waits for it to be over.
    this.#queue = turn.then(
      () => undefined,
      () => undefined,
    );
    return turn;
  }

  /** Forgets the hints that led to the latest observation. An older one leaves them: they may tell of later changes. */
  accept(observation: Observation): void {
    if (this.#latest?.observation !== observation) return;
    this.#memory = this.#latest.memory;
    this.#held = noHints();
    this.#latest = undefined;
  }

  /** Stops watching. */
  close(): void {
    this.#watch?.close();
  }

  async #observe(request: ObserveRequest): Promise<Observation> {
    requireGoing(request.signal);
    requireSame(this.#identity);
    const startedAtMs = Date.now();
    const { root } = this.#identity;
    const settings = gitSettings(root);
    const heard = (await this.#watch?.settle()) ?? false;
    if (this.#watch !== undefined) this.#held = joinHints(this.#held, this.#watch.take());
    const memory = heard && this.#watch?.working && !this.#held.everything ? this.#memory : undefined;
    const announced = [...request.index.values()].filter((entry) => entry.announced).map((entry) => entry.path);
    const look = { request, settings, announced, startedAtMs };
    const trusted = memory !== undefined && isCurrent(memory, look);
    const { observation, sweep } = trusted ? await this.#partly(look, memory) : await this.#wholly(look);
    requireSame(this.#identity);
    const next = {
      rules: JSON.stringify(observation.rules),
      settings: JSON.stringify(settings),
      notCaptured: observation.notCaptured,
      linked: trusted ? new Set([...memory.linked, ...sweep.linked]) : sweep.linked,
      announced: new Set(announced),
    };
    // A second device below the root is another file system, which may be one that does not tell of its changes.
    const reliable = this.#watch?.working && [...sweep.devices].every((device) => device === this.#identity.device);
    this.#latest = { observation, memory: reliable ? next : undefined };
    return observation;
  }

  async #wholly(look: Look): Promise<Swept> {
    const { root } = this.#identity;
    const { request, settings, announced } = look;
    const tracked = this.#trackedPaths(settings);
    const coverage = new Coverage(firstRules(root, this.#options, settings, tracked), announced);
    const { sweep, findings } = this.#start(request, coverage, (directory, stats) => {
      this.#watch?.follow(directory, stats);
      return true;
    });
    const stats = lstatSync(root);
    this.#watch?.follow("", stats);
    await sweep.folder("", stats, false);
    requireRootSeen(this.#identity, findings);
    await sweep.finish();
    for (const entry of request.index.values()) if (!findings.met.has(entry.path)) findings.miss(root, entry, coverage);
    return { sweep, observation: observed(look, findings, coverage.toRules(tracked, findings.met)) };
  }

  async #partly(look: Look, memory: Memory): Promise<Swept> {
    const { root } = this.#identity;
    const { request, announced } = look;
    const rules = request.rules as CoverageRules;
    const coverage = new Coverage(rules, announced);
    const hints = this.#held;
    // A folder that came or was replaced is gone through whole, also when a look that was not accepted already followed it.
    const fresh = new Set<string>();
    const { sweep, findings } = this.#start(request, coverage, (directory, stats) => {
      const known = request.index.get(directory)?.state.kind === "directory" && !wasRenamed(hints, directory);
      if (known && !fresh.has(parentOf(directory)) && this.#watch?.follows(directory, stats)) return false;
      fresh.add(directory);
      this.#watch?.follow(directory, stats);
      return true;
    });
    for (const directory of [...hints.folders.keys()].sort((a, b) => depthOf(a) - depthOf(b))) {
      await this.#again(sweep, coverage, directory);
    }
    const gone = goneFolders(look, sweep, findings);
    for (const directory of gone) this.#watch?.unfollow(directory);
    for (const path of doubtful(look, memory)) {
      if (findings.met.has(path) || isBelow(path, gone) || blockedParent(root, path) !== undefined) continue;
      if (!(await this.#again(sweep, coverage, path))) await sweep.single(path);
    }
    await sweep.finish();
    for (const entry of request.index.values()) {
      if (findings.met.has(entry.path)) continue;
      if (sweep.listed.has(parentOf(entry.path)) || isBelow(entry.path, gone)) findings.miss(root, entry, coverage);
    }
    for (const kept of memory.notCaptured) {
      const lookedAt = sweep.listed.has(parentOf(kept.path)) || findings.met.has(kept.path) || isBelow(kept.path, gone);
      if (!lookedAt) findings.notCaptured.set(kept.path, kept.reason);
    }
    return { sweep, observation: observed(look, findings, rules) };
  }

  /** Lists a folder in which something happened, unless it was listed on the way; false if it is none. */
  async #again(sweep: Sweep, coverage: Coverage, directory: string): Promise<boolean> {
    const { root } = this.#identity;
    if (sweep.listed.has(directory)) return true;
    if (directory !== "" && blockedParent(root, directory) !== undefined) return false;
    const stats = ifPresent(() => lstatSync(join(root, directory), { throwIfNoEntry: false }));
    if (!stats?.isDirectory()) return false;
    const standing = coverage.folder(directory);
    if (standing === "ignored") return true;
    if (!this.#watch?.follows(directory, stats)) this.#watch?.follow(directory, stats);
    await sweep.folder(directory, stats, standing === "way");
    return true;
  }

  #start(
    request: ObserveRequest,
    coverage: Coverage,
    enter: SweepSetting["enter"],
  ): { sweep: Sweep; findings: Findings } {
    const findings = new Findings(request);
    const { root } = this.#identity;
    const { maxFileBytes } = this.#options;
    const never = this.#never;
    const sweep = new Sweep({ root, request, coverage, maxFileBytes, never, findings, pace: steadyPace(), enter });
    return { sweep, findings };
  }

  #trackedPaths(settings: GitSettings): string[] {
    if (this.#tracked.stamp !== settings.indexStamp) {
      this.#tracked = { stamp: settings.indexStamp, paths: gitTracked(this.#identity.root) };
    }
    return this.#tracked.paths;
  }
}

interface Swept {
  sweep: Sweep;
  observation: Observation;
}

/** Folders of the index that lay directly in a folder just listed and are none any more. */
function goneFolders({ request }: Look, sweep: Sweep, findings: Findings): Set<string> {
  const gone = new Set<string>();
  for (const { path, state } of request.index.values()) {
    if (state.kind !== "directory" || !sweep.listed.has(parentOf(path))) continue;
    if (!findings.met.has(path) || (findings.differences.get(path)?.after.kind ?? "directory") !== "directory")
      gone.add(path);
  }
  return gone;
}

function isBelow(path: string, folders: ReadonlySet<string>): boolean {
  if (folders.size === 0) return false;
  for (const above of ancestorsOf(path)) if (folders.has(above)) return true;
  return false;
}

function requireRootSeen(identity: WorkspaceIdentity, findings: Findings): void {
  if (!findings.shut.has("")) return;
  requireSame(identity);
  const { root } = identity;
  throw new RetconError("workspace_changed", `The workspace ${root} cannot be read.`, { root, reason: "unreadable" });
}

function observed(look: Look, findings: Findings, rules: CoverageRules): Observation {
  const rulesChanged = JSON.stringify(rules) !== JSON.stringify(look.request.rules);
  return { ...findings.inOrder(), rules, rulesChanged, startedAtMs: look.startedAtMs };
}
