/**
 * Fails on a Node version that is too old, with one clear sentence. Import it before everything else, since the HTTP
 * client of `@wac/http` fails to load on such a Node with an unhelpful error.
 */

/** As in the manifest's `engines`: the oldest version that undici 8 supports. */
const oldest = [22, 19] as const

const { deno, bun, node = "" } = process.versions
const [major = 0, minor = 0] = node.split(".").map(Number)

// Deno and Bun report a Node version too, which says little about them
if (deno === undefined && bun === undefined && (major < oldest[0] || (major === oldest[0] && minor < oldest[1]))) {
  const error = new Error(`wac needs Node ${oldest.join(".")} or later; this is Node ${node}`)
  // the stack would only distract from the sentence
  error.stack = `Error: ${error.message}`
  throw error
}
