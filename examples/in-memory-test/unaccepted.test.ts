// Tests of offers.ts with a provider of the test's own, which does not accept every offer: `node --test`
import assert from "node:assert/strict"
import { test, type TestContext } from "node:test"
import { createWac, fakeClock, memory, type ProviderOutcome, type WacOptions } from "wac"
import { offer } from "./offers.ts"

const to = "+15551234567"
const components = [{ type: "BODY", text: "{{1}} off", example: { body_text: [["20%"]] } }]
const promo = { name: "promo", language: "en_US", category: "MARKETING", status: "APPROVED", components }

/** A service whose provider gives these outcomes of sends, one after the other. */
const start = async (t: TestContext, ...outcomes: ReadonlyArray<ProviderOutcome>) => {
  const remaining = outcomes.values()
  const provider: WacOptions["provider"] = {
    phoneNumber: "+15005550100",
    capabilities: { templates: true },
    templates: async () => [{ providerTemplateId: "1", ...promo }],
    send: async () => remaining.next().value!
  }
  const clock = fakeClock({ now: "2026-11-21T09:00:00Z" })
  const wac = await createWac({ storage: memory(), provider, clock })
  t.after(() => wac.close())
  const found = async () =>
    (await wac.messages.list({ clientReference: `offer-2026-47-${to}` }).toArray())
      .map(({ error, status }) => error === null ? status : `${status}: ${error.reason}`)
  return { clock, found, wac }
}

const throttled: ProviderOutcome = {
  status: "not_sent",
  code: "rate_limited",
  reason: "provider",
  message: "slow down"
}
const accepted: ProviderOutcome = { status: "accepted", providerMessageId: "1" }
const refused: ProviderOutcome = { status: "refused", code: "invalid_body", reason: "undeliverable", message: "no" }

for (const wait of ["1 minute", "25 hours"] as const) {
  test(`an offer that the provider did not accept is sent by a run ${wait} later, and by no other`, async (t) => {
    const { clock, found, wac } = await start(t, throttled, accepted)
    await assert.rejects(offer(wac, to, "2026-47"), { reason: "provider" })
    for (const next of [wait, "1 minute", "25 hours"] as const) {
      await clock.advance(next)
      assert.equal(await offer(wac, to, "2026-47"), "offered")
      // after a day, the message that was not sent has failed, and stays beside the one that is sent
      assert.deepEqual(await found(), wait === "1 minute" ? ["sent"] : ["sent", "failed: not_sent"])
    }
  })
}

for (const outcome of [refused, { status: "unknown" }] as const) {
  test(`an offer whose outcome is "${outcome.status}" is not sent again`, async (t) => {
    const { clock, found, wac } = await start(t, outcome)
    await assert.rejects(offer(wac, to, "2026-47"))
    await clock.advance("25 hours")
    await offer(wac, to, "2026-47")
    assert.equal((await found()).length, 1)
  })
}
