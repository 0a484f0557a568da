import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { marketOf } from "../../src/usage/PriceTally.ts"
import { bill, type Rate, rateAt } from "../../src/usage/RateCard.ts"
import { between, checks, day, hour } from "../checks.ts"
import { id, start } from "../samples.ts"

const today = start - start % day

const rate = (fields: Partial<Rate> = {}): Rate => ({
  market: "DE",
  category: "marketing",
  currency: "USD",
  price: 136_500,
  validFrom: today,
  ...fields
})

const count = (fields: object = {}) => ({
  workspaceId: id("ws"),
  hour: today + hour,
  market: "DE",
  category: "marketing",
  type: "regular",
  billable: true,
  messages: 3,
  ...fields
})

describe("rate cards", () => {
  it("the newest rate that is valid counts, that of the market before that of all others", () => {
    const card = [
      rate({ market: "*", price: 1 }),
      rate({ price: 2, validFrom: today - day }),
      rate({ price: 3 }),
      rate({ price: 4, validFrom: today + day })
    ]
    const price = (market: string, at: number) => rateAt(card, { market, category: "marketing" }, at)?.price
    assert.deepStrictEqual([price("DE", today), price("DE", today - 1), price("DE", today + day)], [3, 2, 4])
    assert.deepStrictEqual([price("FR", today), price("FR", today - 1)], [1, undefined])
    assert.isUndefined(rateAt(card, { market: "DE", category: "utility" }, today))
  })

  it.prop("the rate is that of a search through the whole card, in which a later row of the same day wins", {
    rows: Schema.Array(
      Schema.Struct({
        market: Schema.Literals(["DE", "FR", "*"]),
        from: between(0, 3),
        category: Schema.Literals(["a", "b"])
      })
    ),
    market: Schema.Literals(["DE", "FR", "US"]),
    at: between(-1, 4)
  }, ({ at, market, rows }) => {
    const card = rows.map(({ category, from, market }, price) =>
      rate({ market, category, price, validFrom: today + from * day })
    )
    const found = (of: string) =>
      card.reduce<Rate | undefined>(
        (best, one) =>
          one.market === of && one.category === "a" && one.validFrom <= today + at * day &&
            (best === undefined || one.validFrom >= best.validFrom)
            ? one
            : best,
        undefined
      )
    const expected = found(market) ?? found("*")
    assert.deepStrictEqual(rateAt(card, { market, category: "a" }, today + at * day), expected)
  }, checks)

  it("a bill sums messages of one price, and says from when its rates are", () => {
    const { lines, totals } = bill([rate({ validFrom: today - day, price: 100_000 }), rate()], [
      count(),
      count({ hour: today + 2 * hour, messages: 4 }),
      count({ hour: today - hour, messages: 1 }),
      count({ billable: false, type: "free_entry_point", messages: 9 }),
      count({ category: "utility", messages: 2 })
    ])
    const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)
    assert.deepStrictEqual(lines.map(({ cost, messages }) => [messages, cost]), [
      [9, null],
      [7, { currency: "USD", amount: "0.9555", ratesFrom: dayOf(today) }],
      [2, null],
      [1, { currency: "USD", amount: "0.10", ratesFrom: dayOf(today - day) }]
    ])
    assert.deepStrictEqual(totals, [{ currency: "USD", amount: "1.0555" }])
  })

  it("messages of which nobody knows whether they are charged are never billed as free, nor with the others", () => {
    const { lines, totals } = bill([rate({ price: 100_000 })], [
      count({ messages: 1 }),
      count({ billable: null, type: "unheard_of", messages: 3 }),
      count({ billable: null, type: "unheard_of", category: "utility", messages: 2 })
    ])
    assert.deepStrictEqual(lines.map(({ billable, cost, messages }) => [messages, billable, cost?.amount]), [
      [3, null, "0.30"],
      [2, null, undefined],
      [1, true, "0.10"]
    ])
    assert.deepStrictEqual(totals, [{ currency: "USD", amount: "0.40" }])
  })

  it.each([["+4915112345678", "DE"], ["+14155550123", "US"], ["+870773111632", "ZZ"], ["BR.1", "BR"]] as const)(
    "the market of %s is %s",
    (to, market) => {
      assert.strictEqual(marketOf(to), market)
    }
  )
})
