/**
 * Changes as data: each kind can be inverted, or there is a written reason why not.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Change, invert, irreversible, staleCode } from "../../src/core/change.js";
import { runs } from "./runs.js";

const kinds = Object.keys(staleCode) as Change["kind"][];
const head = fc.option(fc.record({ head: fc.option(fc.nat()) }));
const mark = fc.option(fc.nat());
const name = fc.string();
const fields = fc.record({ title: fc.option(name), rewindCount: fc.nat() }, { requiredKeys: [] });

type Turned = Extract<Change, { kind: "branch" }>;

/** Changes of every kind that has an inverse. */
const reversible: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constant("conversation" as const), from: fields, to: fields }),
  fc.record({ kind: fc.constant("branch" as const), name, from: head, to: head }),
  fc.record({ kind: fc.constant("active" as const), from: name, to: name }),
  fc.record({ kind: fc.constant("mark" as const), segment: fc.nat(), from: mark, to: mark }),
  fc.record({ kind: fc.constant("running" as const), run: fc.nat() }),
  fc.record({ kind: fc.constant("idle" as const) }),
  fc.record({ kind: fc.constant("version" as const), at: fc.nat() }),
);

test("[O2] every kind of change has an inverse or a reason why it has none, never both", () => {
  const seen = new Set(fc.sample(reversible, 500).map((change) => change.kind));
  for (const kind of kinds) {
    expect([kind, seen.has(kind)]).toEqual([kind, irreversible[kind] === undefined]);
    expect(irreversible[kind] ?? "inverted").toMatch(/\S/);
    if (irreversible[kind] !== undefined) expect(invert({ kind } as Change)).toBeUndefined();
  }
});

test("[O2] inverting twice gives the same change, and the inverse expects what the change wants", () => {
  fc.assert(
    fc.property(reversible, (change) => {
      const inverse = invert(change) as Change;
      expect(inverse.kind).toBe(change.kind);
      expect(invert(inverse)).toEqual(change);
      if ("from" in change) expect(inverse).toEqual({ ...change, from: (change as Turned).to, to: change.from });
    }),
    runs(300),
  );
});
