/**
 * Describes unexpected errors for the log without their messages.
 */

/** The error's name and stack frames. Its message is left out because it may quote input. */
export const placeOf = (error: unknown): string =>
  error instanceof Error
    ? [error.name, ...(error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line))].join("\n")
    : typeof error
