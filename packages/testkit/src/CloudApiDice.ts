/**
 * Chance by a seed: what is drawn depends on the seed and on what it is drawn for, not on when, so that calls that
 * run side by side are dealt the same in every run.
 */
import { createHash } from "node:crypto"
import * as SeededRandom from "./SeededRandom.ts"

export interface Dice {
  /** Chance for what these words name; the same words get the same. */
  readonly for: (...words: ReadonlyArray<string | number>) => SeededRandom.SeededRandom
  /** Whether what happens at this rate happens for what these words name. */
  readonly hits: (rate: number, ...words: ReadonlyArray<string | number>) => boolean
  /** Bytes in hex, as many digits as asked for (64 at most), for what these words name. */
  readonly hex: (digits: number, ...words: ReadonlyArray<string | number>) => string
}

export const make = (seed: number): Dice => {
  const digest = (words: ReadonlyArray<string | number>) =>
    createHash("sha256").update(JSON.stringify([seed, ...words])).digest()
  const of = (...words: ReadonlyArray<string | number>) => SeededRandom.make(digest(words).readUInt32BE(0))
  return {
    for: of,
    hits: (rate, ...words) => rate > 0 && of(...words).below(1_000_000) < rate * 1_000_000,
    hex: (digits, ...words) => digest(words).toString("hex").slice(0, digits).toUpperCase()
  }
}
