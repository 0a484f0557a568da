import { assert, describe, it } from "@effect/vitest"
import * as Forecast from "../../src/campaigns/Forecast.ts"
import * as Split from "../../src/campaigns/Split.ts"
import type { Contact } from "../../src/contacts/Contact.ts"
import type { CampaignId } from "../../src/Id.ts"
import { standard } from "../../src/limits/Limits.ts"
import { sender } from "../samples.ts"

const of = (messages: number, limitedCustomers: number, messagingLimit: number | null) =>
  Forecast.of(
    { messages, limitedCustomers, share: 0.5 },
    sender({ tier: "standard" }),
    { ...standard, defaults: { ...standard.defaults, messagingLimit } }
  )

describe("the forecast", () => {
  it("a campaign takes as long as its pace, or as the messaging limit makes it take", () => {
    // 40 a second
    assert.deepStrictEqual(of(8000, 6000, null), {
      messages: 8000,
      limitedCustomers: 6000,
      messagingLimit: null,
      days: 1,
      seconds: 200
    })
    assert.deepInclude(of(8000, 2000, 2000), { days: 1, seconds: 200 })
    assert.deepInclude(of(8000, 2001, 2000), { days: 2, seconds: 86_400 })
    assert.deepInclude(of(8000, 8000, 2000), { days: 4, seconds: 3 * 86_400 })
    assert.deepInclude(of(8000, 1, 0), { days: null })
    assert.deepInclude(of(8000, 0, 0), { days: 1, seconds: 200 })
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
