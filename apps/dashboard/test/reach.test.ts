/**
 * Whether a campaign's end leaves it the time that it needs.
 */
import { assert, it } from "@effect/vitest"
import type { Campaign } from "@wac/client/internal"
import { Campaign as Model } from "@wac/core"
import { Duration } from "effect"
import { patience, stopsEarlyAt, timeNeeded } from "../src/campaigns/Reach.ts"

const start = Date.parse("2026-01-02T03:00:00Z")
const hour = 3_600_000
const day = 24 * hour

const campaign = (messages: number, seconds: number, notAfter: string | null = null) =>
  ({ notAfter, counts: { queued: messages }, forecast: { messages, seconds } }) as Campaign

it("a campaign needs what its pace and its messaging limit demand, whichever is longer", () => {
  assert.strictEqual(timeNeeded(campaign(6000, 2 * day / 1000), 40), 2 * day)
  assert.strictEqual(timeNeeded(campaign(6000, 150), 10), 600_000)
  assert.strictEqual(timeNeeded(campaign(1, 0), 40), 1000)
})

it("the dialog warns if a campaign stops before it can have sent to everybody", () => {
  assert.strictEqual(patience, Duration.toMillis(Model.defaultPatience))
  assert.strictEqual(stopsEarlyAt(campaign(6000, 2 * day / 1000), 40, start), start + day)
  assert.isUndefined(stopsEarlyAt(campaign(6000, 150), 40, start))
  assert.isUndefined(stopsEarlyAt(campaign(6000, 2 * day / 1000, "2026-01-05T00:00:00Z"), 40, start))
  assert.strictEqual(
    stopsEarlyAt(campaign(6000, 150, "2026-01-02T03:01:00Z"), 40, start),
    Date.parse("2026-01-02T03:01:00Z")
  )
})
