/**
 * Random values from a seed. A value depends on the seed and on its purpose, not on when it is drawn, so that
 * concurrent calls draw the same values in every run.
 */
import { createHash } from "node:crypto"

/** Values drawn one after the other for one purpose. */
export interface Draws {
  /** A whole number from 0 to `limit` - 1. */
  readonly below: (limit: number) => number
  readonly pick: <A>(values: ReadonlyArray<A>) => A
  readonly shuffle: <A>(values: ReadonlyArray<A>) => ReadonlyArray<A>
}

export interface Dice {
  /** The draws for the purpose that these words name; the same words get the same draws. */
  readonly for: (...words: ReadonlyArray<string | number>) => Draws
  /** Whether something that happens at this rate happens for the purpose that these words name. */
  readonly hits: (rate: number, ...words: ReadonlyArray<string | number>) => boolean
  /** So many hexadecimal digits (64 at most), for the purpose that these words name. */
  readonly hex: (digits: number, ...words: ReadonlyArray<string | number>) => string
}

export const make = (seed: number): Dice => {
  const digest = (words: ReadonlyArray<string | number>) =>
    createHash("sha256").update(JSON.stringify([seed, ...words])).digest()
  const of = (...words: ReadonlyArray<string | number>): Draws => {
    let drawn = 0
    const below = (limit: number) => Math.floor(digest([...words, drawn++]).readUInt32BE(0) / 2 ** 32 * limit)
    return {
      below,
      pick: (values) => values[below(values.length)]!,
      shuffle: (values) => {
        const left = [...values]
        return values.map(() => left.splice(below(left.length), 1)[0]!)
      }
    }
  }
  return {
    for: of,
    hits: (rate, ...words) => rate > 0 && of(...words).below(1_000_000) < rate * 1_000_000,
    hex: (digits, ...words) => digest(words).toString("hex").slice(0, digits).toUpperCase()
  }
}
