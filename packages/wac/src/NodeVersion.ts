/**
 * Refuses a Node that is too old in one sentence. Imported before everything else, since the HTTP client of
 * `@wac/http` does not load on such a Node and dies in words that name nobody's mistake.
 */

/** As in `engines` of the manifest: the oldest that undici 8 takes. */
const oldest = [22, 19] as const

const { deno, bun, node = "" } = process.versions
const [major = 0, minor = 0] = node.split(".").map(Number)

// Deno and Bun name a Node too, which says little of them
if (deno === undefined && bun === undefined && (major < oldest[0] || (major === oldest[0] && minor < oldest[1]))) {
  const error = new Error(`wac needs Node ${oldest.join(".")} or later; this is Node ${node}`)
  // where it was thrown helps nobody; the sentence does
  error.stack = `Error: ${error.message}`
  throw error
}
