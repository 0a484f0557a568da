/**
 * The version that is running.
 */
import { readFileSync } from "node:fs"

const read = (): string | undefined => {
  try {
    return JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version
  } catch {
    // bundled by a host, into a file that has no package beside it
    return undefined
  }
}

/** As in our packages, all of which have one; nothing where they were bundled into something else. */
export const version: string | undefined = read()
