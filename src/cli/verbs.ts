/**
 * The table of verbs, in the order in which `--help` and docs/cli.md list them.
 *
 * To add a verb: one file under `commands/`, one row here.
 */
import { branches } from "./commands/branches.js";
import { diff } from "./commands/diff.js";
import { importVerb } from "./commands/import.js";
import { log } from "./commands/log.js";
import { points } from "./commands/points.js";
import { preview } from "./commands/preview.js";
import { redo } from "./commands/redo.js";
import { resume } from "./commands/resume.js";
import { rewind } from "./commands/rewind.js";
import { switchVerb } from "./commands/switch.js";
import { undo } from "./commands/undo.js";
import type { Verb } from "./verb.js";

/** Every verb of the command line. */
export const verbs: readonly Verb[] = [
  log,
  points,
  diff,
  preview,
  rewind,
  undo,
  redo,
  branches,
  switchVerb,
  resume,
  importVerb,
];
