/**
 * What was seen of an installation, as `@wac/checker` reads it.
 */
import type { History } from "@wac/checker"

/** A history that grows. */
export const make = () => {
  const entries: Array<History.Entry> = []
  return { entries, add: (entry: History.Entry): void => void entries.push(entry) }
}

/** A recorder. */
export type Recorder = ReturnType<typeof make>
