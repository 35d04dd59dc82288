/**
 * The DAG as anybody would draw it: nodes that know their parent, and for the first node of a side chain its caller.
 * It is grown together with the segments that src/core/dag.ts works on, so that both can be asked the same question.
 */
import fc from "fast-check";
import type { SegmentRow } from "../../src/core/backend.js";
import { keyOf, placeBelow, segmentsOf } from "../../src/core/dag.js";

/** A node of the drawing; `key` is where the segments have it. */
export interface Drawn {
  key: number;
  parent: Drawn | null;
  caller: Drawn | null;
}

/** A drawing with its segments. Nodes stand in the order in which they were made. */
class Drawing {
  readonly nodes: Drawn[] = [];
  readonly rows: SegmentRow[] = [];

  get segments() {
    return segmentsOf(this.rows);
  }

  /** Adds a node below another, or a root, or a side chain under a caller. */
  add(parent: Drawn | null, caller: Drawn | null): void {
    const { key, opens } = placeBelow(this.segments, parent?.key ?? null);
    if (opens === null) {
      const row = this.rows.find(
        ({ segment }) => keyOf(segment, 0) <= key && key === keyOf(segment, 0) + this.#length(segment),
      );
      if (row === undefined) throw new TypeError(`no segment ends before ${key}`);
      row.last += 1;
      this.nodes.push({ key, parent, caller: null });
      return;
    }
    const segment = this.rows.length + 1;
    this.rows.push({
      segment,
      parent: opens.parent,
      caller: caller?.key ?? null,
      depth: opens.depth,
      mark: null,
      last: 0,
    });
    this.nodes.push({ key: keyOf(segment, 0), parent, caller });
  }

  #length(segment: number): number {
    return (this.rows.find((row) => row.segment === segment)?.last ?? -1) + 1;
  }

  /** From the root to a node. */
  path(node: Drawn | null): Drawn[] {
    return node === null ? [] : [...this.path(node.parent), node];
  }

  children(parent: Drawn | null): Drawn[] {
    return this.nodes.filter((node) => node.parent === parent && (parent !== null || node.caller === null));
  }

  /** The node that called the side chain which a node belongs to. */
  caller(node: Drawn): Drawn | null {
    return (this.path(node)[0] as Drawn).caller;
  }

  leaves(node: Drawn): Drawn[] {
    const below = this.children(node);
    return below.length === 0 ? [node] : below.flatMap((child) => this.leaves(child));
  }

  /** Whether no head reaches a node; a side chain shares the fate of its caller. */
  isRewound(node: Drawn, heads: readonly (Drawn | null)[]): boolean {
    const caller = this.caller(node);
    if (caller !== null) return this.isRewound(caller, heads);
    return !heads.some((head) => this.path(head).includes(node));
  }
}

/** Random drawings, with heads on nodes that are no side chain's, and two nodes to ask about. */
export const drawings = fc
  .record({
    growth: fc.array(
      fc.record({ at: fc.nat({ max: 40 }), how: fc.constantFrom("tip", "tip", "tip", "any", "root", "side") }),
      {
        minLength: 1,
        maxLength: 40,
        size: "max",
      },
    ),
    heads: fc.array(fc.nat({ max: 40 }), { maxLength: 4 }),
    a: fc.nat({ max: 40 }),
    b: fc.nat({ max: 40 }),
  })
  .map(({ growth, heads, a, b }) => {
    const drawing = new Drawing();
    for (const { at, how } of growth) {
      const any = drawing.nodes[at % Math.max(1, drawing.nodes.length)] ?? null;
      const last = drawing.nodes.at(-1) ?? null;
      if (how === "side" && any !== null) drawing.add(null, any);
      else drawing.add(how === "tip" ? last : how === "any" ? any : null, null);
    }
    const own = [null, ...drawing.nodes.filter((node) => drawing.caller(node) === null)];
    const node = (at: number) => drawing.nodes[at % drawing.nodes.length] as Drawn;
    return { drawing, heads: heads.map((at) => own[at % own.length] ?? null), a: node(a), b: node(b) };
  });
