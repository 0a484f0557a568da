import { Schema } from "effect"

/** How properties are checked: with many cases, the same on every machine. */
export const checks = { arbitrary: { runs: 500, size: 30, seed: "wac" } } as const

/** Whole numbers from `minimum` to `maximum`. */
export const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** Arrays of at most `maximum` items. */
export const upTo = <S extends Schema.Constraint>(item: S, maximum: number) =>
  Schema.Array(item).check(Schema.isMaxLength(maximum))

export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour
