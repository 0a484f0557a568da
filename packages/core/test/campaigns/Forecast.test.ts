import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import * as Forecast from "../../src/campaigns/Forecast.ts"
import * as SendingTime from "../../src/campaigns/SendingTime.ts"
import * as Split from "../../src/campaigns/Split.ts"
import type { Contact } from "../../src/contacts/Contact.ts"
import type { CampaignId } from "../../src/Id.ts"
import { standard } from "../../src/limits/Limits.ts"
import * as MessagingLimit from "../../src/limits/MessagingLimit.ts"
import type * as E164 from "../../src/numbers/E164.ts"
import * as PhoneNumber from "../../src/numbers/PhoneNumber.ts"
import * as Capabilities from "../../src/provider/Capabilities.ts"
import * as PriceTally from "../../src/usage/PriceTally.ts"
import { sender } from "../samples.ts"

const of = (
  messages: number,
  limitedCustomers: number,
  messagingLimit: number | null,
  number: Parameters<typeof sender>[0] = {}
) =>
  Forecast.of(
    {
      expected: [{ market: "DE", category: "marketing", type: "regular", billable: true, messages }],
      limitedCustomers,
      zoneless: [],
      quietHours: null,
      share: 0.5,
      at: 0
    },
    { sender: sender({ tier: "standard", ...number }), capabilities: Capabilities.all },
    { ...standard, defaults: { ...standard.defaults, messagingLimit } },
    []
  )

describe("the forecast", () => {
  it("a campaign takes as long as its pace, or as the messaging limit makes it take", () => {
    // 40 a second
    assert.deepInclude(of(8000, 6000, null), {
      messages: 8000,
      limitedCustomers: 6000,
      messagingLimit: null,
      days: 1,
      seconds: 200
    })
    assert.deepInclude(of(8000, 2000, 2000), { days: 1, seconds: 200 })
    assert.deepInclude(of(8000, 1, 0), { days: null, seconds: 200 })
    assert.deepInclude(of(8000, 0, 0), { days: 1, seconds: 200 })
    const learned = { ...PhoneNumber.unlearned, messagingLimit: PhoneNumber.unlimited }
    assert.deepInclude(of(8000, 6000, 2000, { learned }), { messagingLimit: null, days: 1, seconds: 200 })
  })

  it("the messages of the last day are sent after the days before, at the campaign's pace", () => {
    assert.strictEqual(SendingTime.limitPeriod, Duration.toSeconds(MessagingLimit.period))
    assert.deepInclude(of(8000, 2001, 2000), { days: 2, seconds: 86_401 })
    assert.deepInclude(of(1500, 1500, 1000), { days: 2, seconds: 86_400 + 13 })
    assert.deepInclude(of(8000, 8000, 2000), { days: 4, seconds: 3 * 86_400 + 50 })
    // the others, outside the limit, take longer
    assert.deepInclude(of(8_000_000, 2001, 2000), { days: 2, seconds: 200_000 })
  })

  it("another share of the number's rate changes how long the campaign takes, and nothing else", () => {
    const forecast = of(8000, 8000, null)
    assert.deepStrictEqual(Forecast.withShare(forecast, 0.1), { ...forecast, seconds: 1000 })
    const limited = of(1500, 1500, 1000)
    assert.deepStrictEqual(Forecast.withShare(limited, 0.01), { ...limited, seconds: 86_400 + 625 })
    // of a version that did not keep the rate
    assert.deepStrictEqual(Forecast.withShare({ ...forecast, perSecond: null }, 0.1), { ...forecast, perSecond: null })
  })

  it("a campaign costs what its messages cost by market, at the rates of the day when it starts", () => {
    const to = ["+4915112345678", "+4915112345679", "+12025550100"] as ReadonlyArray<E164.E164>
    const marketing = to.map((one) => PriceTally.expected(one, "marketing", true))
    const utility = to.map((one, i) => PriceTally.expected(one, "utility", i === 0))
    const expected = Forecast.withExpected(Forecast.withExpected([], marketing), utility)
    const rate = (market: string, category: string, price: number, validFrom = 0) => ({
      market,
      category,
      currency: "EUR",
      price,
      validFrom
    })
    const card = [
      rate("DE", "marketing", 110_000),
      rate("DE", "marketing", 120_000, 2000),
      rate("*", "marketing", 60_000),
      rate("DE", "utility", 50_000)
    ]
    const { costs, lines, messages } = Forecast.of(
      { expected, limitedCustomers: 0, zoneless: [], quietHours: null, share: 0.5, at: 1000 },
      { sender: sender({ tier: "standard" }), capabilities: Capabilities.all },
      standard,
      card
    )
    assert.strictEqual(messages, 6)
    assert.sameDeepMembers(
      lines.map(({ billable, category, cost, market, messages }) => [
        market,
        category,
        billable,
        messages,
        cost?.amount
      ]),
      [
        ["DE", "marketing", true, 2, "0.22"],
        ["US", "marketing", true, 1, "0.06"],
        // free in the open window, and without a rate
        ["DE", "utility", false, 1, undefined],
        ["DE", "utility", true, 1, "0.05"],
        ["US", "utility", true, 1, undefined]
      ]
    )
    assert.deepStrictEqual(costs, [{ currency: "EUR", amount: "0.33" }])
  })
})

describe("the division of customers", () => {
  const customers = Array.from({ length: 20_000 }, (_, n) => `+1202${n}` as Contact["key"])
  const held = (share: number, campaign: string) =>
    new Set(customers.filter((customer) => Split.isIn(share, "holdout", campaign as CampaignId, customer)))

  it("a share holds that part of the customers, always the same ones, and others in another campaign", () => {
    for (const share of [0, 0.01, 0.1, 0.5, 1]) {
      const size = held(share, "cmp_1").size / customers.length
      // four standard deviations
      assert.closeTo(size, share, 4 * Math.sqrt(share * (1 - share) / customers.length), `${share}`)
    }
    const [first, again, other] = [held(0.1, "cmp_1"), held(0.1, "cmp_1"), held(0.1, "cmp_2")]
    assert.deepStrictEqual(first, again)
    const both = [...first].filter((customer) => other.has(customer)).length
    assert.closeTo(both / customers.length, 0.01, 0.004)
    // a larger share contains the smaller one
    assert.isTrue([...first].every((customer) => held(0.2, "cmp_1").has(customer)))
  })
})
