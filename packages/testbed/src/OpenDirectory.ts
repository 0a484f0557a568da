/**
 * Directories of the clone for programs that run as another user than the tests (`Owner`). A clone in root's home is
 * closed to that user.
 */
import { chmodSync, cpSync, mkdtempSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { leash } from "./Leash.ts"
import { owner } from "./Owner.ts"

/** Whether every user may enter a directory. */
export const isOpen = (directory: string): boolean =>
  (statSync(directory).mode & 0o001) !== 0 && (dirname(directory) === directory || isOpen(dirname(directory)))

/** Copies a directory to where every user may enter it. The copy is deleted when this process ends. */
export const openCopy = (directory: string): string => {
  const parent = mkdtempSync(join(tmpdir(), "wac-open-"))
  leash({ directory: parent })
  // a new temporary directory is closed to all other users
  chmodSync(parent, 0o755)
  const copy = join(parent, basename(directory))
  cpSync(directory, copy, { recursive: true, verbatimSymlinks: true })
  return copy
}

const copies = new Map<string, string>()

/** Returns a directory that the user of such programs can read: the given one, or an {@link openCopy} of it. */
export const reachable = (directory: string): string => {
  if (owner() === undefined || isOpen(directory)) return directory
  const copy = copies.get(directory) ?? openCopy(directory)
  copies.set(directory, copy)
  return copy
}
