/**
 * What an import says of the file that it read: nothing that was left out, mended or not re-enacted goes unsaid.
 */

/** A mend in the tree: which line, the node it became, and what was wrong with it. */
export interface Repair {
  line: number;
  id: string;
  what:
    | "unknown parent"
    | "no parent"
    | "parent in a side chain"
    | "cycle"
    | "same id twice"
    | "other content under one id"
    | "out of a damaged line"
    | "side chain without a call";
}

/** A line, or a part of one, that could not be read. */
export interface SkippedLine {
  line: number;
  reason: string;
}

/** A file call of the transcript that was not re-enacted, with the reason. */
export interface NotReplayable {
  callId: string;
  path: string;
  reason: string;
}

/** What an import did. The figures of the replay are there only where one was asked for. */
export interface ImportReport {
  conversationId: string;
  /** Lines of the file that are not blank. */
  lines: number;
  /** Nodes that the file makes, side chains included. */
  nodes: number;
  /** Nodes that the store did not have before. */
  added: number;
  /** Paths from a root to a leaf, side chains not counted. */
  branches: number;
  sideChains: number;
  skipped: number;
  repaired: number;
  skippedLines: SkippedLine[];
  repairs: Repair[];
  replayed?: number;
  notReplayable?: NotReplayable[];
  /** Write, Edit and MultiEdit calls whose result was an error; they changed nothing then and are not re-enacted. */
  failedCalls?: number;
  /** Files that an edit presupposes and that were put in place before its turn. */
  seeded?: number;
}
