/**
 * Errors of the driver, and of the file system under it, become errors of the product here, once.
 */
import { RetconError } from "../../core/errors.js";

/** The error that a driver's or system's error stands for; one of neither comes back as it is. */
function wrapped(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || (error.name !== "SqliteError" && !("syscall" in error))) return error;
  const code = String((error as Error & { code?: string }).code ?? "");
  const cause = { cause: error };
  const reason = error.message;
  if (code.startsWith("SQLITE_FULL") || code === "ENOSPC" || code === "EDQUOT")
    return new RetconError("storage_full", `no space left for ${file}`, { file }, cause);
  if (code.startsWith("SQLITE_CANTOPEN") || "syscall" in error) {
    return new RetconError("bad_input", `${file} cannot be opened: ${reason}`, { field: "file", reason }, cause);
  }
  if (code.startsWith("SQLITE_READONLY")) return new RetconError("read_only", `${file} is read-only`, { file }, cause);
  if (code.startsWith("SQLITE_NOTADB")) {
    return new RetconError("database_foreign", `${file} is not a SQLite database`, { file, reason }, cause);
  }
  if (code.startsWith("SQLITE_BUSY")) {
    return new RetconError("busy", `${file} is held by another process`, { operation: "commit" }, cause);
  }
  return new RetconError("corrupt", `${file} cannot be read or written: ${reason}`, { file, reason }, cause);
}

/** Runs a piece of database work and wraps what it throws. */
export function guarded<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw wrapped(error, file);
  }
}
