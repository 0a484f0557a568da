/**
 * What the Cloud API does to a campaign on its way (contract §11): messages are held or fail later, and a number is
 * limited.
 */
import { assert, layer } from "@effect/vitest"
import type { CloudApi } from "@wac/simulator"
import { Effect } from "effect"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import * as checks from "../checks.ts"
import { call, send } from "../harness.ts"
import { anyone, generous, template, World } from "../whatsapp/whatsapp.ts"

/** Slow enough that something can happen on the way. */
const slow = {
  WAC_LIMITS: JSON.stringify({
    phoneNumberTiers: { coexistence: 40, standard: 40, high: 40 },
    pair: { everySeconds: 0.001, burst: 1_000_000 }
  })
}

/** What messages cost in each market, in millionths of a dollar, and how its numbers begin. */
const prices = [
  { market: "DE", prefix: "4915", utility: 55_000, marketing: 136_500 },
  { market: "US", prefix: "1", utility: 4_000, marketing: 25_000 },
  { market: "BR", prefix: "55", utility: 6_800, marketing: 62_500 },
  // every other country
  { market: "*", prefix: "", utility: 9_200, marketing: 60_400 }
] as const

const categories = ["utility", "marketing"] as const

/** The prices as the simulated provider charges them. */
const rates = prices.flatMap(({ market, prefix, ...price }) =>
  categories.map((category): CloudApi.Rate => ({ market, prefix, category, price: price[category] }))
)

/** The prices as the operator of the service loads them. */
const rateCard = path.join(mkdtempSync(path.join(tmpdir(), "wac-rates-")), "rates.csv")
writeFileSync(
  rateCard,
  rates.reduce(
    (csv, { category, market, price }) => `${csv}${market},${category},USD,${price / 1_000_000},2020-01-01\n`,
    "market,category,currency,price,valid from\n"
  )
)

/** Starts a campaign to these customers. */
const started = Effect.fnUntraced(function*(
  customers: ReadonlyArray<string>,
  template: object = { name: "hello_world", language: "en_US" }
) {
  const { session, url } = yield* World
  const created = yield* call(`${url}/internal/campaigns`, {
    headers: session,
    body: { name: "All", template, share: 0.9, maxFailureRate: 1 }
  })
  const at = `${url}/internal/campaigns/${created.body.id}`
  const act = (verb: string) => call(`${at}/${verb}`, { method: "POST", headers: session })
  const until = (awaited: (campaign: (typeof created)["body"]) => boolean) =>
    Effect.map(
      checks.until(call(at, { headers: session }), ({ body }) => awaited(body)),
      ({ body }) => body
    )
  yield* call(`${at}/recipients`, {
    method: "PUT",
    headers: { ...session, "content-type": "application/x-ndjson" },
    body: customers.map((to) => `{"to":"${to}"}\n`).join("")
  })
  yield* act("check")
  const { forecast } = yield* until(({ status }) => status === "ready")
  yield* act("start")
  return { act, until, forecast }
})

layer(World.layer({ environment: slow, api: { settings: generous } }), checks.live)(
  "a campaign at the Cloud API",
  (it) => {
    it.effect("a campaign pauses itself when the provider limits its number for spam", () =>
      Effect.gen(function*() {
        const { api, pass } = yield* World
        const customers = Array.from({ length: 60 }, anyone)
        yield* api.behave(customers[20]!, { refuse: { code: 131048, times: 1 } })
        const { act, until } = yield* started(customers)
        const paused = yield* until(({ status }) => status === "paused")
        assert.strictEqual(paused.pausedReason, "sender_not_available")
        assert.isAbove(paused.counts.queued, 0)
        yield* pass("1 hour")
        yield* act("resume")
        const done = yield* until(({ status }) => status === "completed")
        assert.strictEqual(done.counts.queued, 0)
        assert.strictEqual(done.counts.failed, 0)
      }))

    it.effect("a campaign pauses itself when the token loses its permission, after few calls and with an alert", () =>
      Effect.gen(function*() {
        const world = yield* World
        const { api, callsTo, pass, session, untilNumber, url } = world
        const customers = Array.from({ length: 60 }, anyone)
        const [{ id }] = api.identity.numbers
        const { act, until } = yield* started(customers)
        yield* until(({ counts }) => counts.queued < 50)
        yield* api.changeNumber(id, { refuses: 200 })
        const paused = yield* until(({ status }) => status === "paused")
        assert.strictEqual(paused.pausedReason, "sender_not_available")
        assert.isAbove(paused.counts.queued, 0)
        const calls = yield* Effect.forEach(customers, callsTo)
        const refused = calls.flat().filter(({ processed }) => !processed)
        assert.isAtLeast(refused.length, 1)
        assert.isTrue(calls.every((of) => of.length <= 1), "nobody was tried twice")
        const shown = yield* untilNumber(({ status }) => status === "blocked")
        assert.deepInclude(shown.block, { reason: "credentials" })
        assert.strictEqual(shown.block.provider.code, "200")
        const isAlerted = Effect.map(
          call(`${url}/internal/alerts`, { headers: session }),
          ({ body }) => body.data.some(({ kind }: { readonly kind: string }) => kind === "number_blocked")
        )
        let looks = 0
        while (!(yield* isAlerted)) {
          assert.isBelow(looks++, 100, "no alert was opened")
          // each minute one send tries again, in vain; problems are looked for each minute too, at another time
          yield* pass("7 seconds")
          yield* send(world, template(anyone()))
        }
        yield* api.changeNumber(id, { refuses: null })
        yield* pass("2 minutes")
        yield* act("resume")
        const done = yield* until(({ counts, status }) => status === "completed" || counts.queued === 0)
        assert.deepInclude(done.counts, { failed: 0, skipped: 0 })
      }))

    it.effect("a campaign whose template is paused midway sends to everybody else once it is resumed, without delay", () =>
      Effect.gen(function*() {
        const { api, callsTo, pass, quiet } = yield* World
        const customers = Array.from({ length: 60 }, anyone)
        const { act, until } = yield* started(customers)
        yield* until(({ counts }) => counts.queued < 50)
        yield* api.changeTemplate({ name: "hello_world", language: "en_US", status: "PAUSED", tell: false })
        const paused = yield* until(({ status }) => status === "paused")
        assert.strictEqual(paused.pausedReason, "template_not_approved")
        assert.isAbove(paused.counts.queued, 0)
        // posts have whole seconds: one of the same second would not be newer
        yield* pass("2 seconds")
        yield* api.changeTemplate({ name: "hello_world", language: "en_US", status: "APPROVED" })
        yield* quiet
        yield* act("resume")
        const done = yield* until(({ status }) => status === "completed")
        assert.deepInclude(done.counts, { total: 60, queued: 0, skipped: 0, unknown: 0 })
        // the provider refused those that met the pause before it was known
        const refused: number = done.counts.failed
        assert.isAtLeast(refused, 1)
        assert.deepStrictEqual(done.reasons, [
          { outcome: "failed", reason: "template_not_approved", recipients: refused }
        ])
        const processed = yield* Effect.forEach(
          customers,
          (customer) => Effect.map(callsTo(customer), (calls) => calls.filter(({ processed }) => processed).length)
        )
        assert.deepStrictEqual(processed.filter((count) => count === 1).length, 60 - refused)
        assert.isTrue(processed.every((count) => count <= 1))
      }))

    it.effect("the check reports each row whose values the provider would refuse, and the others are sent", () =>
      Effect.gen(function*() {
        const { callsTo, session, url } = yield* World
        const values = ["Line one\nLine two", "five     spaces", "a\ttab", "x".repeat(1024), "four    spaces"]
        const rows = values.map((value) => ({ to: anyone(), variables: { value } }))
        // the last but one is too long only together with what the campaign adds
        const template = { name: "order_update", language: "en_US", bodyParams: ["{{value}}", "No. {{value}}"] }
        const created = yield* call(`${url}/internal/campaigns`, {
          headers: session,
          body: { name: "Values", template }
        })
        const at = `${url}/internal/campaigns/${created.body.id}`
        const act = (verb: string) => call(`${at}/${verb}`, { method: "POST", headers: session })
        const until = (status: string) =>
          checks.until(call(at, { headers: session }), ({ body }) => body.status === status)
        yield* call(`${at}/recipients`, {
          method: "PUT",
          headers: { ...session, "content-type": "application/x-ndjson" },
          body: rows.map((row) => `${JSON.stringify(row)}\n`).join("")
        })
        yield* act("check")
        assert.deepInclude((yield* until("ready")).body, { rows: 5, checked: 5, problems: 4 })
        const report = yield* call(`${at}/recipients?limit=100`, { headers: session })
        assert.deepStrictEqual(
          report.body.data.map(({ problem }: { readonly problem: { readonly message: string } | null }) =>
            problem?.message.split(":")[0]
          ),
          [...Array.from({ length: 3 }, () => "template.bodyParams[0]"), "template.bodyParams[1]", undefined]
        )
        yield* act("start")
        yield* until("completed")
        for (const [i, { to }] of rows.entries()) assert.lengthOf(yield* callsTo(to), i === 4 ? 1 : 0)
      }))

    it.effect("held messages are counted as held, and those that fail later with their reasons", () =>
      Effect.gen(function*() {
        const { api } = yield* World
        const [dropped, unwanted, gone, ...others] = Array.from({ length: 8 }, anyone) as [string, string, string]
        yield* api.behave(dropped, { held: "dropped" })
        yield* api.behave(unwanted, { fail: { code: 131049 } })
        yield* api.behave(gone, { fail: { code: 131026 } })
        const { until } = yield* started([unwanted, gone, ...others, dropped])
        yield* until(({ counts }) => counts.held === 1)
        const { counts, reasons } = yield* until(({ counts }) => counts.failed === 3 && counts.queued === 0)
        assert.deepInclude(counts, { total: 8, held: 0, skipped: 0 })
        assert.sameDeepMembers(reasons, [
          { outcome: "failed", reason: "template_not_approved", recipients: 1 },
          { outcome: "failed", reason: "provider_policy", recipients: 1 },
          { outcome: "failed", reason: "undeliverable", recipients: 1 }
        ])
      }))
  }
)

/** The sum of costs, in millionths of a dollar. */
const sumOf = (costs: ReadonlyArray<{ readonly currency: string; readonly amount: string }>): number =>
  costs.reduce((sum, { amount, currency }) => {
    assert.strictEqual(currency, "USD")
    return sum + Math.round(Number(amount) * 1_000_000)
  }, 0)

layer(
  World.layer({
    environment: { ...checks.unlimited, WAC_RATE_CARD: rateCard },
    api: { settings: { ...generous, rates, readAfter: null, batchMost: 100, batchLinger: 50 } }
  }),
  checks.live
)("the cost of a campaign at the Cloud API", (it) => {
  const perMarket = 200
  // the last ones are of India
  const customers = ["+4915112340", "+1212555", "+551199876", "+91987654"].flatMap((prefix) =>
    Array.from({ length: perMarket }, (_, n) => `${prefix}${1000 + n}`)
  )
  const everywhere = (count: number, from = 0) =>
    customers.filter((_, n) => n % perMarket >= from && n % perMarket < from + count)

  it.effect.each(
    [
      ["utility", { name: "hello_world", language: "en_US" }, customers.length],
      ["marketing", { name: "promo", language: "en_US", bodyParams: ["20 %"] }, customers.length - 40]
    ] as const
  )("the forecast, our usage and the provider's own bill differ by at most 1 percent for a template of %s", (
    [category, template, messages]
  ) =>
    Effect.gen(function*() {
      const { api, quiet, session, url } = yield* World
      // a utility template is free for 24 hours after a customer wrote; one of marketing is not
      for (const from of everywhere(50)) yield* api.receive({ from, text: "Hello" })
      for (const from of everywhere(10, 50)) yield* api.prefer(from, "stop")
      // nobody knows beforehand who cannot be reached
      for (const [n, to] of everywhere(1, 100).entries()) {
        yield* api.behave(to, { fail: { code: 131026, afterSent: n % 2 === 0 } })
      }
      yield* quiet
      const costs = Effect.map(
        call(`${url}/internal/usage`, { headers: session }),
        ({ body }) => sumOf(body.costs)
      )
      const lines = Effect.map(
        api.bill,
        (bill) => bill.filter((line) => line.category === category)
      )
      assert.deepStrictEqual(yield* lines, [])
      const costsBefore = yield* costs
      const { forecast, until } = yield* started(customers, template)
      const done = yield* until(({ status }) => status === "completed")
      yield* quiet
      assert.strictEqual(forecast.messages, messages)
      assert.strictEqual(done.counts.total, messages)
      const bill = yield* lines
      assert.lengthOf(bill, prices.length)
      const billed = bill.reduce((sum, { amount }) => sum + amount, 0)
      assert.isAbove(billed, 0)
      const free = category === "utility" ? everywhere(50).length : 0
      assert.strictEqual(bill.reduce((sum, line) => sum + line.messages, 0), messages - free - prices.length)
      for (
        const [name, cost] of [["forecast", sumOf(forecast.costs)], ["usage", (yield* costs) - costsBefore]] as const
      ) {
        assert.closeTo(cost / billed, 1, 0.01, name)
      }
    }))
})
