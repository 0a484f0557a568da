/**
 * What keeps the process alive while work is in flight.
 */
import { assert, it } from "vitest"
import { InFlight } from "../src/InFlight.ts"

const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length

it("work that was passed on to the host keeps the process alive no longer, and is still waited for", async () => {
  const before = timers()
  const inFlight = new InFlight(true)
  inFlight.begin()
  assert.strictEqual(timers(), before + 1)
  inFlight.passOn()
  assert.strictEqual(timers(), before)
  let isStopped = false
  const stopped = inFlight.stop().then(() => isStopped = true)
  await Promise.resolve()
  assert.isFalse(isStopped)
  inFlight.endPassedOn()
  await stopped
  assert.strictEqual(timers(), before)
})
