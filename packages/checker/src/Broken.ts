/**
 * A broken promise, and what all checks share: the length of a day, the end of an entry, the grouping of entries.
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
  /** The entries that prove it, in the order of `begun`. */
  readonly evidence: ReadonlyArray<Entry>
}

/** Notes a broken promise. A list whose length a history decides is one argument: a call takes only so many. */
export type Blame = (
  promise: PromiseName,
  found: string,
  ...evidence: ReadonlyArray<Entry | ReadonlyArray<Entry>>
) => void

/** The latest time at which an entry can have ended: `Infinity` if the recorder never saw an end. */
export const endOf = ({ ended }: Entry): number => ended ?? Infinity

/** The least of some numbers; `Infinity` for none. */
export const least = (numbers: ReadonlyArray<number>): number => numbers.reduce((a, b) => Math.min(a, b), Infinity)

/** The greatest of some numbers; `-Infinity` for none. */
export const greatest = (numbers: ReadonlyArray<number>): number => numbers.reduce((a, b) => Math.max(a, b), -Infinity)

/** 24 hours in milliseconds. */
export const day = 24 * 60 * 60 * 1000

/** Groups entries by a key. Each group keeps their order. */
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
