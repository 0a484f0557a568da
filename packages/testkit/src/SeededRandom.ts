/**
 * Repeatable randomness for properties: the same seed gives the same values on every machine, so a failure that names
 * its seed can be reproduced.
 */

export interface SeededRandom {
  /** A whole number from 0 to `limit` - 1. */
  readonly below: (limit: number) => number
  readonly pick: <A>(values: ReadonlyArray<A>) => A
  /** The usual value three times in four, else one of the others. */
  readonly often: <A>(usual: A, ...others: ReadonlyArray<A>) => A
  readonly shuffle: <A>(values: ReadonlyArray<A>) => ReadonlyArray<A>
}

/** Mulberry32: four lines of arithmetic with a period of 2^32, enough for a test. */
export const make = (seed: number): SeededRandom => {
  let state = seed >>> 0
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }
  const pick = <A>(values: ReadonlyArray<A>): A => values[below(values.length)]!
  return {
    below,
    pick,
    often: (usual, ...others) => below(4) > 0 ? usual : pick(others),
    shuffle: (values) => {
      const shuffled = [...values]
      for (let i = shuffled.length - 1; i > 0; i--) {
        const j = below(i + 1)
        const moved = shuffled[i]!
        shuffled[i] = shuffled[j]!
        shuffled[j] = moved
      }
      return shuffled
    }
  }
}

/** How many of a property's random runs are made: few, all, or for some as many as take minutes. */
export type Runs = "few" | "all" | "long"

/** The number of runs by what is asked for. */
export interface Counts {
  readonly few: number
  readonly all: number
  /** If omitted, `all`. */
  readonly long?: number
}

/** How many runs to make. */
export const count = ({ all, few, long = all }: Counts, runs: Runs): number => ({ few, all, long })[runs]

/** The seeds of a property's runs, from `first` (1 by default) on. */
export const seeds = (
  { first = 1, ...counts }: Counts & { readonly first?: number },
  runs: Runs
): ReadonlyArray<{ readonly seed: number }> =>
  Array.from({ length: count(counts, runs) }, (_, i) => ({ seed: first + i }))
