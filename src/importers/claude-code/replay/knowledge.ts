/**
 * What the transcript tells of the files at each node: from results of Read calls, and from what edits made of it.
 *
 * Knowledge follows the path, not the file: what one branch did to a file is not known on another. It is a list that
 * grows at its end and is shared by all nodes above, so that a fork costs nothing. A side chain works in the same
 * folder as its caller, so what it learns the caller's path knows too.
 */

import type { Effect } from "./calls.js";
import { applyEdits } from "./edits.js";

/** One fact about one path, and all that were known before. */
interface Fact {
  path: string;
  /** The whole file; undefined where only a piece is known, or nothing since an edit of unknown ground. */
  text: string | undefined;
  piece: string | undefined;
  earlier: Fact | undefined;
}

/** How many pieces of a file are looked at to rebuild it. */
const maxPieces = 20;

/** The files as known at one place of the conversation. */
export class Knowledge {
  private newest: Fact | undefined;

  constructor(from?: Knowledge) {
    this.newest = from?.newest;
  }

  /** The whole file as last known; undefined if it is not. */
  text(path: string): string | undefined {
    for (let fact = this.newest; fact !== undefined; fact = fact.earlier) {
      if (fact.path === path && fact.piece === undefined) return fact.text;
    }
    return undefined;
  }

  /** Pieces of the file that were seen since it was last known whole, newest first. */
  pieces(path: string): string[] {
    const pieces: string[] = [];
    for (let fact = this.newest; fact !== undefined && pieces.length < maxPieces; fact = fact.earlier) {
      if (fact.path === path && fact.piece !== undefined) pieces.push(fact.piece);
    }
    return pieces;
  }

  /** Learns what a file, or a piece of it, was. */
  see(path: string, content: string, isWhole: boolean): void {
    this.add(path, isWhole ? content : undefined, isWhole ? undefined : content);
  }

  /** Learns what became of a file; `before` is what it was, if that is known. */
  change(path: string, before: string | null | undefined, effect: Effect): void {
    if (effect.kind === "write") this.add(path, effect.content, undefined);
    else this.add(path, before === undefined ? undefined : applyEdits(before, effect.edits), undefined);
  }

  private add(path: string, text: string | undefined, piece: string | undefined): void {
    this.newest = { path, text, piece, earlier: this.newest };
  }
}
