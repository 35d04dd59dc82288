/** All that the command line touches of its process, so that a test can stand in for it. */

/** A stream that people may look at. */
export type Out = NodeJS.WritableStream & { isTTY?: boolean; columns?: number };

/** Streams, environment and place of one call. */
export interface Io {
  stdout: Out;
  stderr: Out;
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** Aborted by Ctrl-C. */
  signal?: AbortSignal;
}
