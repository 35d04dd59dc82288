/**
 * Failures as values.
 */
import { isRetconError, type RetconError } from "../../src/core/errors.js";

/** The error that a call fails with. A call that succeeds, or fails without a code, fails the test. */
export async function refusal(call: Promise<unknown> | (() => unknown)): Promise<RetconError> {
  let result: unknown;
  try {
    result = await (typeof call === "function" ? call() : call);
  } catch (error) {
    if (isRetconError(error)) return error;
    throw error;
  }
  throw new TypeError(`the call was not refused; it returned ${JSON.stringify(result)}`);
}

/** Its code alone. */
export const code = async (call: Promise<unknown> | (() => unknown)): Promise<string> => (await refusal(call)).code;
