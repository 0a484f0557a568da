import { assert, describe, it } from "vitest"
import { failure, fresh, hello, start } from "../instance.ts"

const rate = { market: "DE", category: "marketing", currency: "USD", price: "0.1365", validFrom: "2000-01-01" }

const pricing = { billable: true, model: "PMP", type: "regular", category: "marketing" }

describe("usage", () => {
  it("a report has the workspace's sends, and what they cost by the option's rate card", async () => {
    const { clock, wac } = await start({ rateCard: [rate], limits: { defaults: { monthlyQuota: 10 } } })
    for (const to of ["+4915112345678", "+4915112345679", "+33612345678"]) {
      const { messageId } = await wac.messages.send(hello(to), fresh())
      await wac.inbound.receive([{ type: "status", messageId, status: "delivered", pricing }])
    }
    await clock.advance("2 seconds")
    const report = await wac.usage.report("day")
    assert.deepInclude(report, { used: 3, quota: 10, stepSeconds: 3600 })
    assert.deepInclude(report.steps.at(-1), { sendsAccepted: 3, sendsDelivered: 3 })
    assert.deepStrictEqual(report.steps.at(-1)?.costs, report.costs)
    assert.strictEqual(report.before?.sendsAccepted, 0)
    assert.deepStrictEqual(report.lines.map(({ cost, market, messages }) => [market, messages, cost?.amount]), [
      ["DE", 2, "0.273"],
      ["FR", 1, undefined]
    ])
    assert.deepStrictEqual(report.costs, [{ currency: "USD", amount: "0.273" }])
    assert.deepInclude(await wac.usage.report(), { used: 3, stepSeconds: 21_600 })
  })

  it("a report has how long messages took to arrive, in the step in which they were sent", async () => {
    const { clock, wac } = await start()
    assert.deepStrictEqual((await wac.usage.report("day")).arrival, { p50Ms: null, p95Ms: null })
    // the sandbox reports nothing more of messages to this number
    const { messageId } = await wac.messages.send(hello("+15005550003"), fresh())
    await wac.messages.send(hello("+15005550003"), fresh())
    await clock.advance("90 seconds")
    // the first report that says so counts
    for (const status of ["delivered", "read"] as const) {
      await wac.inbound.receive([{ type: "status", messageId, status }])
      await clock.advance("10 seconds")
    }
    const { arrival, steps } = await wac.usage.report("day")
    assert.isAtLeast(arrival.p50Ms!, 90_000)
    assert.isAtMost(arrival.p50Ms!, 90_000 * 1.25)
    assert.strictEqual(arrival.p95Ms, arrival.p50Ms)
    assert.deepStrictEqual(steps.map((step) => step.arrival).filter(({ p50Ms }) => p50Ms !== null), [arrival])
  })

  it("an unknown period is refused by its name", async () => {
    const { wac } = await start()
    assert.deepInclude(await failure(wac.usage.report("year" as never)), { code: "invalid_body", param: "period" })
  })

  it("a wrong rate is refused with its place", async () => {
    const wrong = { market: "DEU", category: "", currency: "$", price: "-1", validFrom: "01.01.2026" }
    for (const [field, value] of Object.entries(wrong)) {
      const error = await failure(start({ rateCard: [rate, { ...rate, [field]: value }] }))
      const param = `rateCard[1].${field}`
      assert.strictEqual(error.param, param)
      assert.include(error.message, `${param} is invalid`)
    }
  })
})
