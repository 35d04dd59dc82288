/**
 * Ids as people see them: short text that is safe in a shell, a URL and a file name.
 *
 * They are looked up inside one scope, and nodes inside one conversation. Numbers inside the database are never shown,
 * but for runs (`r12`) and operations (`34`), whose number is their id.
 */
import { RetconError } from "./errors.js";

const idPattern = /^[A-Za-z0-9_][A-Za-z0-9._:-]{0,127}$/;
const namePattern = /^[^\s\p{Cc}\p{Cs}-][^\p{Cc}\p{Cs}]{0,127}$/u;

/** Checks an id that a caller chose. @throws `bad_input` */
export function checkId(field: string, id: unknown): string {
  if (typeof id !== "string") throw new TypeError(`${field} must be a string`);
  if (idPattern.test(id)) return id;
  const reason = "an id has 1 to 128 letters, digits or ._:- and starts with a letter, a digit or _";
  throw new RetconError("bad_input", `${field} ${JSON.stringify(id.slice(0, 80))} is not an id: ${reason}`, {
    field,
    reason,
  });
}

/** Checks a name of a branch or a scope. @throws `bad_input` */
export function checkName(field: string, name: unknown): string {
  if (typeof name !== "string") throw new TypeError(`${field} must be a string`);
  if (namePattern.test(name)) return name;
  const reason = "a name has 1 to 128 characters, no control characters, and starts with neither a space nor a dash";
  throw new RetconError("bad_input", `${field} ${JSON.stringify(name.slice(0, 80))} is not a name: ${reason}`, {
    field,
    reason,
  });
}

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/** A new id from 16 random bytes given: 16 characters, 80 bits, letters and digits that are not mistaken for others. */
export function idFrom(random: Uint8Array): string {
  return Array.from(random.subarray(0, 16), (byte) => alphabet[byte & 31]).join("");
}

/** The public id of a run. */
export const runId = (run: number): string => `r${run}`;
