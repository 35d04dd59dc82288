/**
 * Telling the file system's refusals from bugs. A system error carries a code and the name of the call that failed; what
 * carries neither is a bug of ours or of a caller's and goes on upwards.
 *
 *     catch (error) { if (!isErrno(error, "ENOENT")) throw error; … }
 */

/** The code of a system error (`"EACCES"`), or undefined when the thrown value is no system error. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || !("syscall" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** Whether a thrown value is a system error with one of the codes. */
export function isErrno(error: unknown, ...codes: string[]): boolean {
  const code = systemCode(error);
  return code !== undefined && codes.includes(code);
}

/** Returns what `work` returns, or undefined where the file system says that nothing is there. */
export function ifPresent<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
}
