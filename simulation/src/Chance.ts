/**
 * What a run leaves to chance, from its seed alone. Each part of the world draws from a stream of its own, so that what
 * one part does leaves the others' luck as it was: a run with fewer operations stays close to the one with all of them.
 */
import { Effect, Random } from "effect"

/** A stream of choices. */
export interface Chance {
  /** The stream as Effect's own source of randomness. */
  readonly random: Random.Random
  /** A whole number from 0 to `limit` - 1. */
  readonly below: (limit: number) => number
  /** A whole number from `least` to `most`. */
  readonly between: (least: number, most: number) => number
  /** Whether something happens that happens once in so many times. */
  readonly oneIn: (times: number) => boolean
  readonly pick: <A>(values: ReadonlyArray<A>) => A
  /** One of the names, each as often as its weight says. */
  readonly weighted: <Name extends string>(weights: Readonly<Record<Name, number>>) => Name
  /** The values in another order. */
  readonly shuffle: <A>(values: ReadonlyArray<A>) => ReadonlyArray<A>
  readonly bytes: (size: number) => Uint8Array<ArrayBuffer>
}

/** The stream of this name. The same seed and name give the same choices on every machine. */
export const make = (seed: number, name: string): Chance => {
  const random = Effect.runSync(Random.withSeed(Effect.map(Random.Random, (given) => given), `${seed} ${name}`))
  const below = (limit: number): number => Math.floor(random.nextDoubleUnsafe() * limit)
  return {
    random,
    below,
    between: (least, most) => least + below(most - least + 1),
    oneIn: (times) => below(times) === 0,
    pick: (values) => values[below(values.length)]!,
    weighted: (weights) => {
      const entries = Object.entries<number>(weights)
      let left = below(entries.reduce((sum, [, weight]) => sum + weight, 0))
      return entries.find(([, weight]) => (left -= weight) < 0)![0] as keyof typeof weights
    },
    shuffle: (values) => Effect.runSync(Effect.provideService(Random.shuffle(values), Random.Random, random)),
    bytes: (size) => Uint8Array.from({ length: size }, () => below(256))
  }
}
