/**
 * What the Cloud API does to a campaign on its way (contract §11): messages are held or fail later, and a number is
 * limited.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import * as checks from "../checks.ts"
import { call } from "../harness.ts"
import { anyone, generous, World } from "../whatsapp/whatsapp.ts"

/** Slow enough that something can happen on the way. */
const slow = {
  WAC_LIMITS: JSON.stringify({
    phoneNumberTiers: { coexistence: 40, standard: 40, high: 40 },
    pair: { everySeconds: 0.001, burst: 1_000_000 }
  })
}

/** What messages of utility templates cost, in millionths of a dollar. */
const prices = { DE: 55_000, US: 4_000, BR: 6_800 }

const rateCard = path.join(mkdtempSync(path.join(tmpdir(), "wac-rates-")), "rates.csv")
writeFileSync(
  rateCard,
  Object.entries(prices).reduce(
    (csv, [market, price]) => `${csv}${market},utility,USD,${price / 1_000_000},2020-01-01\n`,
    "market,category,currency,price,valid from\n"
  )
)

/** Starts a campaign to these customers. */
const started = Effect.fnUntraced(function*(customers: ReadonlyArray<string>) {
  const { session, url } = yield* World
  const created = yield* call(`${url}/internal/campaigns`, {
    headers: session,
    body: { name: "All", template: { name: "hello_world", language: "en_US" }, share: 0.9, maxFailureRate: 1 }
  })
  const at = `${url}/internal/campaigns/${created.body.id}`
  const act = (verb: string) => call(`${at}/${verb}`, { method: "POST", headers: session })
  const until = (awaited: (campaign: (typeof created)["body"]) => boolean) =>
    Effect.map(
      checks.until(call(at, { headers: session }), ({ body }) => awaited(body), 400),
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

layer(World.layer({ environment: { ...slow, WAC_RATE_CARD: rateCard }, api: { settings: generous } }), checks.live)(
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

    it.effect("the forecast says what the provider bills, by market", () =>
      Effect.gen(function*() {
        const { api, quiet } = yield* World
        const prefixes = ["+4915112340", "+1212555", "+551199876"]
        const customers = prefixes.flatMap((prefix) => Array.from({ length: 20 }, (_, n) => `${prefix}${1000 + n}`))
        // a reply is free for 24 hours after a customer wrote
        for (const from of customers.slice(15, 25)) yield* api.receive({ from, text: "Hello" })
        yield* quiet
        const told = api.courier.told().length
        const { forecast, until } = yield* started(customers)
        yield* until(({ status }) => status === "completed")
        yield* quiet
        const bill = new Map<string, number>()
        for (const { value } of api.courier.told().slice(told)) {
          const { statuses = [] } = value as {
            readonly statuses?: ReadonlyArray<{ status: string; recipient_id: string; pricing?: { billable: boolean } }>
          }
          for (const { pricing, recipient_id, status } of statuses) {
            if (status !== "sent" || pricing?.billable !== true) continue
            const market = recipient_id.startsWith("49") ? "DE" : recipient_id.startsWith("55") ? "BR" : "US"
            bill.set(market, (bill.get(market) ?? 0) + prices[market])
          }
        }
        assert.strictEqual(bill.size, prefixes.length)
        const ofForecast = new Map<string, number>(
          forecast.lines.flatMap(({ cost, market }: { market: string; cost: { amount: string } | null }) =>
            cost === null ? [] : [[market, Math.round(Number(cost.amount) * 1_000_000)]]
          )
        )
        assert.deepStrictEqual(ofForecast, bill)
        const total = [...bill.values()].reduce((sum, cost) => sum + cost, 0)
        assert.deepStrictEqual(forecast.costs.map(({ amount }: { amount: string }) => Number(amount)), [
          total / 1_000_000
        ])
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
        const { counts, reasons } = yield* until(({ counts }) => counts.failed === 3)
        assert.deepInclude(counts, { total: 8, held: 0, queued: 0, skipped: 0 })
        assert.sameDeepMembers(reasons, [
          { outcome: "failed", reason: "template_not_approved", recipients: 1 },
          { outcome: "failed", reason: "provider_policy", recipients: 1 },
          { outcome: "failed", reason: "undeliverable", recipients: 1 }
        ])
      }))
  }
)
