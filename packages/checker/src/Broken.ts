/**
 * Broken promises, and what every check needs to find them.
 */
import type { Entry } from "./History.ts"
import type { PromiseName } from "./Promises.ts"

/** A broken promise. */
export interface Broken {
  readonly promise: PromiseName
  /** The section of the contract. */
  readonly section: number
  /** The finding, in a sentence. */
  readonly found: string
  /** The entries that prove it, in the order of their beginning. */
  readonly evidence: ReadonlyArray<Entry>
}

/** Notes a broken promise. */
export type Blame = (promise: PromiseName, found: string, ...evidence: ReadonlyArray<Entry>) => void

/** When an entry had ended at the latest. */
export const endOf = ({ ended }: Entry): number => ended ?? Infinity

/** In milliseconds. */
export const day = 24 * 60 * 60 * 1000

/** Entries by a key, in their order. */
export const grouped = <A>(
  entries: ReadonlyArray<A>,
  keyOf: (entry: A) => string
): ReadonlyMap<string, ReadonlyArray<A>> => {
  const groups = new Map<string, Array<A>>()
  for (const entry of entries) {
    const key = keyOf(entry)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [entry])
    else group.push(entry)
  }
  return groups
}
