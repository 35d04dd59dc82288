/**
 * What one look leaves for the next. Hints say what happened since a look that was accepted, so they are of use only to a
 * look that builds on it: same rules, same settings of git, and no announced path that nobody watched.
 *
 *     look ── accepted ──► Memory ──► next look: is it current? ── yes: hints ── no: sweep
 */
import type { Observation, ObserveRequest } from "../../core/files.js";
import { Coverage } from "../rules/coverage.js";
import type { GitSettings } from "../rules/git-settings.js";
import { isRacy } from "./sweep.js";

/** What the last accepted observation knew, and the next one may build on. */
export interface Memory {
  rules: string;
  settings: string;
  notCaptured: Observation["notCaptured"];
  linked: Set<string>;
  announced: Set<string>;
}

/** One look, as it was asked for. */
export interface Look {
  request: ObserveRequest;
  settings: GitSettings;
  announced: string[];
  startedAtMs: number;
}

/** Whether what was accepted last is what the caller builds on, and everything that is not watched is as it was. */
export function isCurrent(memory: Memory, { request, settings, announced }: Look): boolean {
  if (request.rules === null || JSON.stringify(request.rules) !== memory.rules) return false;
  if (JSON.stringify(settings) !== memory.settings) return false;
  const fresh = announced.filter((path) => !memory.announced.has(path));
  if (fresh.length === 0) return true;
  const plain = new Coverage(request.rules);
  return fresh.every((path) => plain.covers(path, true) && plain.covers(path, false));
}

/** Paths to look at whatever was heard: racy files, files with other names elsewhere, and what was in motion. */
export function doubtful({ request }: Look, memory: Memory): string[] {
  const paths: string[] = [];
  for (const { path, state, stat } of request.index.values()) {
    if (state.kind === "unknown" ? state.reason === "changing" : false) paths.push(path);
    else if (state.kind === "file" && (stat === null || isRacy(stat, request.previousMs))) paths.push(path);
    else if (memory.linked.has(path)) paths.push(path);
  }
  return paths;
}
