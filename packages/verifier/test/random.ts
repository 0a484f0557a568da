/** A source of repeatable randomness (mulberry32): the same seed gives the same values on every machine. */
export interface Random {
  /** A whole number from 0 to `below` - 1. */
  readonly below: (below: number) => number
  readonly pick: <A>(values: ReadonlyArray<A>) => A
  readonly bytes: (length: number) => Uint8Array<ArrayBuffer>
  /** Text of `length` characters of the alphabet, or of any Unicode scalar values. */
  readonly text: (length: number, alphabet?: string) => string
}

export const random = (seed: number): Random => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  const scalar = (): string => {
    const point = below(pick([0x80, 0x800, 0xd800, 0x110000]))
    return String.fromCodePoint(point >= 0xd800 && point < 0xe000 ? 0xfffd : point)
  }
  const pick = <A>(values: ReadonlyArray<A>): A => values[below(values.length)]!
  return {
    below,
    pick,
    bytes: (length) => Uint8Array.from({ length }, () => below(256)),
    text: (length, alphabet) =>
      Array.from({ length }, () => alphabet === undefined ? scalar() : alphabet[below(alphabet.length)]!).join("")
  }
}
