/**
 * The file of `WAC_RATE_CARD` (contract §9).
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as RateCardFile from "../../src/RateCardFile.ts"

const header = "market,category,currency,price,valid from\n"

it.effect("a rate card has a row for each price", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(
      yield* RateCardFile.read(`${header}de,Marketing,usd,0.1365,2026-07-01\n\n*,utility,EUR,2,2026-01-31\n`),
      [
        {
          market: "DE",
          category: "marketing",
          currency: "USD",
          price: 136_500,
          validFrom: Date.UTC(2026, 6, 1)
        },
        { market: "*", category: "utility", currency: "EUR", price: 2_000_000, validFrom: Date.UTC(2026, 0, 31) }
      ]
    )
    assert.deepStrictEqual(yield* RateCardFile.load(undefined), [])
  }))

it.effect.each(
  [
    ["DEU,marketing,USD,1,2026-01-01", "market"],
    ["DE,,USD,1,2026-01-01", "category"],
    ["DE,marketing,$,1,2026-01-01", "currency"],
    ["DE,marketing,USD,-1,2026-01-01", "price"],
    ["DE,marketing,USD,1,01.01.2026", "valid from"],
    ["DE,marketing,USD,1,2026-02-31", "valid from"],
    ["DE,marketing", "CSV"]
  ] as const
)("%s is refused with the place of its mistake", ([row, place]) =>
  Effect.gen(function*() {
    const { message, variable } = yield* Effect.flip(RateCardFile.read(`${header}${row}\n`))
    assert.strictEqual(variable, "WAC_RATE_CARD")
    assert.include(message, place)
  }))

it.effect("a file that cannot be read is refused without its path", () =>
  Effect.gen(function*() {
    const { message } = yield* Effect.flip(RateCardFile.load("/does/not/exist.csv"))
    assert.include(message, "cannot be read")
    assert.notInclude(message, "exist")
  }))
