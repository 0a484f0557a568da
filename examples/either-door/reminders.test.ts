// The same tests against wac in the process and over HTTP, under a fake clock: `node --test`
import { createClient } from "@wac/client"
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { test, type TestContext } from "node:test"
import { createWac, fakeClock, memory, type Messaging, sandbox, type Wac } from "wac"
import { callOff, remind, statuses } from "./reminders.ts"

const overHttp = async (t: TestContext, wac: Wac): Promise<Messaging> => {
  const server = createServer(wac.nodeHandler).listen(0, "127.0.0.1")
  await once(server, "listening")
  t.after(() => server.close())
  const { apiKey } = await wac.keys.create({ name: "reminders" })
  return createClient({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, apiKey: apiKey! })
}

const doors: Readonly<Record<string, (t: TestContext, wac: Wac) => Promise<Messaging>>> = {
  "in process": async (_, wac) => wac,
  "over HTTP": overHttp
}

for (const [name, open] of Object.entries(doors)) {
  const start = async (t: TestContext) => {
    const clock = fakeClock({ now: "2026-11-21T09:00:00Z" })
    const wac = await createWac({ storage: memory(), provider: sandbox(), clock })
    t.after(() => wac.close())
    return { clock, service: await open(t, wac) }
  }

  test(`${name}: a reminder waits for its time, once, and can be called off`, async (t) => {
    const { clock, service } = await start(t)
    const reminder = await remind(service, "cut-1", "+15551234567", "2026-11-22T09:00:00Z")
    assert.equal(await remind(service, "cut-1", "+15551234567", "2026-11-22T09:00:00Z"), reminder)
    await clock.advance("23 hours")
    assert.deepEqual(await statuses(service, "cut-1"), ["queued"])
    assert.equal(await callOff(service, reminder), true)
    await clock.advance("2 hours")
    assert.deepEqual(await statuses(service, "cut-1"), ["cancelled"])
  })

  test(`${name}: a reminder that was sent cannot be called off`, async (t) => {
    const { clock, service } = await start(t)
    const reminder = await remind(service, "cut-2", "+15551234567", "2026-11-22T09:00:00Z")
    await clock.advance("25 hours")
    assert.deepEqual(await statuses(service, "cut-2"), ["read"])
    assert.equal(await callOff(service, reminder), false)
  })
}
