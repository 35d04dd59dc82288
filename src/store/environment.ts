/**
 * Everything the store needs from outside: a backend, the files, a clock, ids, the identity of this process.
 *
 * Only `src/index.ts` puts the real ones together; tests put in a clock that stands still or a probe that kills.
 */
import type { Backend } from "../core/backend.js";
import type { Holder } from "../core/change.js";
import type { ContentTools, OpenFiles } from "../core/files.js";
import type { Logger } from "./surface.js";

/** What the store is made of. */
export interface Environment {
  backend: Backend;
  openFiles: OpenFiles;
  tools: ContentTools;
  now(): Date;
  newId(): string;
  holder: Holder;
  /** Whether a holder lives; undefined where that cannot be known from here. */
  isAlive(holder: Holder): boolean | undefined;
  logger: Logger;
  /** Called with the name of each step of an operation before it is taken; does nothing outside crash tests. */
  probe(point: string): void;
}
