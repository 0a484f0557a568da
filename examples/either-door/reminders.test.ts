// The same tests against wac in the process and over HTTP: `node --test`
import { createClient } from "@wac/client"
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { test, type TestContext } from "node:test"
import { createWac, memory, type Messaging, sandbox } from "wac"
import { callOff, remind, statuses } from "./reminders.ts"

const inProcess = async (t: TestContext) => {
  const wac = await createWac({ storage: memory(), provider: sandbox() })
  t.after(() => wac.close())
  return wac
}

const overHttp = async (t: TestContext): Promise<Messaging> => {
  const wac = await inProcess(t)
  const server = createServer(wac.nodeHandler).listen(0, "127.0.0.1")
  await once(server, "listening")
  t.after(() => server.close())
  const { apiKey } = await wac.keys.create({ name: "reminders" })
  return createClient({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, apiKey: apiKey! })
}

for (const [name, start] of Object.entries({ inProcess, overHttp })) {
  test(`${name}: a reminder waits for its time, once, and can be called off`, async (t) => {
    const service = await start(t)
    const tomorrow = new Date(Date.now() + 86_400_000)
    const reminder = await remind(service, "cut-1", "+15551234567", tomorrow)
    assert.equal(await remind(service, "cut-1", "+15551234567", tomorrow), reminder)
    assert.deepEqual(await statuses(service, "cut-1"), ["queued"])
    assert.equal(await callOff(service, reminder), true)
    assert.deepEqual(await statuses(service, "cut-1"), ["cancelled"])
  })

  test(`${name}: a reminder that was sent cannot be called off`, async (t) => {
    const service = await start(t)
    // the sandbox reports nothing more about this number
    const reminder = await remind(service, "cut-2", "+15005550003", new Date())
    while (!(await statuses(service, "cut-2")).includes("sent")) await new Promise((resolve) => setTimeout(resolve, 20))
    assert.equal(await callOff(service, reminder), false)
  })
}
