// Tests of offers.ts against the whole service, in memory and without waiting: `node --test`
import assert from "node:assert/strict"
import { test, type TestContext } from "node:test"
import { createWac, fakeClock, memory, type ProviderOutcome, sandbox, type WacOptions } from "wac"
import { answer, offer } from "./offers.ts"

const start = async (t: TestContext, provider: WacOptions["provider"] = sandbox()) => {
  const clock = fakeClock({ now: "2026-11-21T09:00:00Z" })
  const wac = await createWac({ storage: memory(), provider, clock })
  t.after(() => wac.close())
  const count = async () => (await Array.fromAsync(wac.events.list({ type: "message.sent" }))).length
  return { clock, wac, count }
}

// how the sandbox's customers behave is up to their numbers
const [anybody, unclear, replying, stopping] = ["+15551234567", "+15005550006", "+15005550008", "+15005550009"]

test("a customer gets one offer a week, however often the job runs", async (t) => {
  const { clock, count, wac } = await start(t)
  await Promise.all([offer(wac, anybody, "2026-47"), offer(wac, anybody, "2026-47")])
  await offer(wac, anybody, "2026-47")
  assert.equal(await count(), 1)
  await clock.advance("3 days") // longer than a key is kept
  await offer(wac, anybody, "2026-47")
  assert.equal(await count(), 1)
  await offer(wac, anybody, "2026-48")
  assert.equal(await count(), 2)
})

test("an offer whose outcome is unclear is settled by the next run, and not sent again", async (t) => {
  const { clock, count, wac } = await start(t)
  await assert.rejects(offer(wac, unclear, "2026-47"), { name: "WacError", reason: "outcome_unknown" })
  await clock.advance("2 seconds") // until the provider reports it
  assert.equal(await offer(wac, unclear, "2026-47"), "offered")
  assert.equal(await count(), 1)
})

/** A provider that gives these outcomes of sends, one after the other. */
const giving = (...outcomes: ReadonlyArray<ProviderOutcome>): WacOptions["provider"] => {
  const remaining = outcomes.values()
  return {
    phoneNumber: "+15005550100",
    capabilities: { templates: true },
    templates: async () => [{
      providerTemplateId: "1",
      name: "promo",
      language: "en_US",
      category: "MARKETING",
      status: "APPROVED",
      components: [{ type: "BODY", text: "{{1}} off", example: { body_text: [["20%"]] } }]
    }],
    send: async () => remaining.next().value!
  }
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
  test(`an offer that the provider did not accept is sent by a run ${wait} later`, async (t) => {
    const { clock, count, wac } = await start(t, giving(throttled, accepted))
    await assert.rejects(offer(wac, anybody, "2026-47"), { reason: "provider" })
    await clock.advance(wait)
    assert.equal(await offer(wac, anybody, "2026-47"), "offered")
    assert.equal(await offer(wac, anybody, "2026-47"), "offered")
    assert.equal(await count(), 1)
  })
}

test("an offer that was sent by a later run is not sent again, although the earlier message stays not_sent", async (t) => {
  const { clock, wac } = await start(t, giving(throttled, accepted))
  await assert.rejects(offer(wac, anybody, "2026-47"), { reason: "provider" })
  for (const wait of ["25 hours", "1 minute", "25 hours"] as const) {
    await clock.advance(wait)
    assert.equal(await offer(wac, anybody, "2026-47"), "offered")
    const found = await wac.messages.list({ clientReference: `offer-2026-47-${anybody}` }).toArray()
    assert.deepEqual(found.map(({ error, status }) => [status, error?.reason]), [
      ["sent", undefined],
      ["failed", "not_sent"]
    ])
  }
})

test("an offer that the provider refused, or whose outcome stays unknown, is not sent again", async (t) => {
  for (const outcome of [refused, { status: "unknown" }] as const) {
    const { clock, count, wac } = await start(t, giving(outcome))
    await assert.rejects(offer(wac, anybody, "2026-47"))
    await clock.advance("25 hours")
    await offer(wac, anybody, "2026-47")
    assert.equal((await wac.messages.list().toArray()).length, 1)
    assert.equal(await count(), 0)
  }
})

test("a customer who writes gets an answer, and may be sent free-form messages for 24 hours", async (t) => {
  const { clock, count, wac } = await start(t)
  answer(wac)
  const write = (idempotencyKey: string) =>
    wac.messages.send({ to: replying, type: "text", text: { body: "May we call you?" } }, { idempotencyKey })
  await assert.rejects(write("too-early"), { reason: "outside_service_window" })
  await offer(wac, replying, "2026-47")
  await clock.advance("1 second") // they write after 200 ms
  assert.equal(await count(), 2)
  await write("in-time")
  await clock.advance("25 hours")
  await assert.rejects(write("too-late"), { reason: "outside_service_window" })
})

test("a customer who writes STOP gets no more offers", async (t) => {
  const { clock, count, wac } = await start(t)
  assert.equal(await offer(wac, stopping, "2026-47"), "offered")
  await clock.advance("1 second")
  assert.equal(await offer(wac, stopping, "2026-48"), "opted out")
  assert.equal(await count(), 1)
})
