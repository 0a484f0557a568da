/**
 * Whether a campaign's end leaves it the time that it needs.
 */
import { assert, it } from "@effect/vitest"
import type { Campaign } from "@wac/client/internal"
import { Campaign as Model } from "@wac/core"
import { Duration } from "effect"
import { endsAt, patience, stopsEarlyAt, timeNeeded } from "../src/campaigns/Reach.ts"

const start = Date.parse("2026-01-02T03:00:00Z")
const hour = 3_600_000
const day = 24 * hour

/** A campaign under a messaging limit; by default, without one. */
const campaign = (messages: number, fields: Partial<Campaign> = {}, limit: number | null = null) =>
  ({
    notAfter: null,
    startedAt: null,
    counts: { queued: messages },
    forecast: {
      messages,
      limitedCustomers: messages,
      messagingLimit: limit,
      days: limit === null ? 1 : Math.ceil(messages / limit)
    },
    ...fields
  }) as Campaign

const at = (millis: number) => new Date(millis).toISOString()

it("a campaign needs what its pace and its messaging limit demand, whichever is longer", () => {
  assert.strictEqual(timeNeeded(campaign(6000, {}, 2000), 40), 2 * day + 50_000)
  assert.strictEqual(timeNeeded(campaign(6000), 10), 600_000)
  assert.strictEqual(timeNeeded(campaign(1), 40), 1000)
  assert.strictEqual(timeNeeded(campaign(6000, { forecast: null }), 10), 600_000)
})

it("a campaign whose share was changed needs what its new pace demands", () => {
  const slow = campaign(86_400)
  const known = { ...slow, forecast: { ...slow.forecast!, seconds: 2 * day / 1000 } }
  assert.strictEqual(timeNeeded(known, 40), 2_160_000)
})

it("the dialog warns if a campaign stops before it can have sent to everybody", () => {
  assert.strictEqual(patience, Duration.toMillis(Model.defaultPatience))
  assert.strictEqual(stopsEarlyAt(campaign(6000, {}, 2000), 40, start), start + day)
  assert.isUndefined(stopsEarlyAt(campaign(6000), 40, start))
  assert.isUndefined(stopsEarlyAt(campaign(6000, { notAfter: "2026-01-05T00:00:00Z" }, 2000), 40, start))
  assert.strictEqual(
    stopsEarlyAt(campaign(6000, { notAfter: "2026-01-02T03:01:00Z" }), 40, start),
    Date.parse("2026-01-02T03:01:00Z")
  )
})

it("the dialog warns if the messaging limit leaves a few customers for the day after the end", () => {
  assert.strictEqual(stopsEarlyAt(campaign(1500, {}, 1000), 40, start), start + day)
  assert.isUndefined(stopsEarlyAt(campaign(1000, {}, 1000), 40, start))
})

it("a paused campaign ends when it would have without the pause", () => {
  const paused = { startedAt: at(start), counts: { queued: 4000 } } as Partial<Campaign>
  const left = campaign(6000, paused)
  assert.strictEqual(endsAt(left, start + hour), start + day)
  assert.isUndefined(stopsEarlyAt(left, 40, start + hour))
  // 100 seconds at this pace
  assert.isUndefined(stopsEarlyAt(left, 40, start + day - 100_000))
  assert.strictEqual(stopsEarlyAt(left, 40, start + day - 99_000), start + day)
  assert.strictEqual(stopsEarlyAt(left, 40, start + 2 * day), start + day)
  assert.isUndefined(stopsEarlyAt(campaign(6000, { ...paused, notAfter: at(start + 3 * day) }), 40, start + 2 * day))
  // the limit lets the last of them go two days after the start
  assert.strictEqual(stopsEarlyAt(campaign(6000, paused, 2000), 40, start + hour), start + day)
})
