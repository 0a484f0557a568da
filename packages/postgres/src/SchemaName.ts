/**
 * The names that a schema of ours may have. Pure.
 */

/** The longest name of a schema or of a channel, in bytes: PostgreSQL cuts a longer one. */
export const longest = 63

/** The fault of a schema's name, as the rest of a sentence, if any. */
export const wrongName = (name: string): string | undefined =>
  name === ""
    ? "must not be empty"
    : Buffer.byteLength(name) > longest
    ? `must have at most ${longest} bytes`
    // oxlint-disable-next-line no-control-regex
    : /["'\\\u0000-\u001f]/.test(name) || !name.isWellFormed()
    ? "must contain no quote, backslash or control character"
    : /^pg_|^information_schema$/.test(name)
    ? "must not be a schema of PostgreSQL itself"
    : undefined
