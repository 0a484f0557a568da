/**
 * Errors of ours, as the log may tell of them.
 */

/** Where it happened, not its words, which may quote what came in. */
export const placeOf = (error: unknown): string =>
  error instanceof Error
    ? [error.name, ...(error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line))].join("\n")
    : typeof error
