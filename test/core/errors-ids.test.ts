/**
 * Codes with their hints, and ids as people see and choose them.
 */
import { expect, test } from "vitest";
import { errorHints, isRetconError, RetconError } from "../../src/core/errors.js";
import { checkId, checkName, idFrom, runId } from "../../src/core/ids.js";
import { code } from "../builders/codes.js";

test("[L7] every code has a hint that says what to do, as a sentence", () => {
  for (const [name, hint] of Object.entries(errorHints)) {
    expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(hint, name).toMatch(/^[A-Z].{10,}\.$/);
  }
});

test("[L7] an error carries its code, data, hint and cause, and is told from others", () => {
  const cause = new RangeError("beneath");
  const error = new RetconError("busy", "in use", { operation: "rewind" }, { cause });
  expect(error).toMatchObject({ name: "RetconError", code: "busy", data: { operation: "rewind" }, cause });
  expect(error.hint).toBe(errorHints.busy);
  expect(new RetconError("busy", "", { operation: "x" }, { hint: "Wait." }).hint).toBe("Wait.");
  expect("cause" in new RetconError("busy", "", { operation: "x" })).toBe(false);
  expect([isRetconError(error), isRetconError(error, "busy"), isRetconError(error, "closed")]).toEqual([
    true,
    true,
    false,
  ]);
  expect([isRetconError(cause), isRetconError(undefined), isRetconError({ code: "busy" })]).toEqual([
    false,
    false,
    false,
  ]);
});

test("[N1] an id that a caller chooses is short and safe wherever it is written", async () => {
  for (const id of ["a", "_", "9", "msg_01:a.b-c", "x".repeat(128)]) expect(checkId("id", id)).toBe(id);
  for (const id of ["", "-a", ".", "a b", "a/b", "ü", "a\n", "x".repeat(129)]) {
    expect(await code(() => checkId("id", id)), JSON.stringify(id)).toBe("bad_input");
  }
  expect(() => checkId("id", 7)).toThrow(TypeError);
});

test("[N3] a name may be of any script, without control characters, and is no option of a command", async () => {
  for (const name of ["main", "fix/ü 😀", "x".repeat(128)]) expect(checkName("name", name)).toBe(name);
  for (const name of ["", " main", "-d", "a\u0000", "a\nb", "x".repeat(129)]) {
    expect(await code(() => checkName("name", name)), JSON.stringify(name)).toBe("bad_input");
  }
  expect(() => checkName("name", null)).toThrow(TypeError);
});

test("[N1] an id is made of sixteen bytes and can be chosen by a caller as well", () => {
  expect(idFrom(new Uint8Array(16))).toBe("0000000000000000");
  expect(idFrom(Uint8Array.from({ length: 16 }, (_, i) => i * 17))).toHaveLength(16);
  const ids = Array.from({ length: 256 }, (_, byte) => idFrom(new Uint8Array(16).fill(byte)));
  expect(new Set(ids).size).toBe(32);
  for (const id of ids) expect(checkId("id", id)).toBe(id);
  expect(runId(12)).toBe("r12");
});
