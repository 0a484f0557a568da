// Tests of offers.ts against the whole service, in memory and without waiting: `node --test`
import assert from "node:assert/strict"
import { test, type TestContext } from "node:test"
import { createWac, fakeClock, memory, sandbox } from "wac"
import { answer, offer } from "./offers.ts"

const start = async (t: TestContext) => {
  const clock = fakeClock({ now: "2026-11-21T09:00:00Z" })
  const wac = await createWac({ storage: memory(), provider: sandbox(), clock })
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
