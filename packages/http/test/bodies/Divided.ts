/**
 * How the bytes of a body may arrive.
 */
import type { SeededRandom } from "@wac/testkit"

const at = (bytes: Uint8Array, places: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const bounds = [0, ...places.toSorted((a, b) => a - b), bytes.length]
  return bounds.slice(1).map((end, i) => bytes.slice(bounds[i], end))
}

/** The bytes one by one, and in pieces of random lengths, some of them empty. */
export const ways = (
  random: SeededRandom.SeededRandom,
  bytes: Uint8Array
): ReadonlyArray<ReadonlyArray<Uint8Array>> => [
  Array.from(bytes, (_, i) => bytes.slice(i, i + 1)),
  ...[1, 2, 5, 20].map((cuts) => at(bytes, Array.from({ length: cuts }, () => random.below(bytes.length + 1))))
]
