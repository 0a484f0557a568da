/**
 * Which names the schema of wac may have. Pure.
 */

/** The maximum length of the name of a schema or a channel, in bytes: PostgreSQL truncates a longer schema name. */
export const longest = 63

/**
 * What is wrong with a schema's name, as the end of a sentence after the name's subject; `undefined` if it is valid.
 */
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
