/**
 * The running version.
 */
import { readFileSync } from "node:fs"

const read = (): string | undefined => {
  try {
    return JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version
  } catch {
    // a host has bundled this code into a file without a package beside it
    return undefined
  }
}

/** The version of our packages, which all have the same; `undefined` if they were bundled into something else. */
export const version: string | undefined = read()
