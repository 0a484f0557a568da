// A test of the receiver with events as the service sends them, and without the service: `node --test`
import { exampleEvent, signDelivery } from "@wac/verifier/testing"
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { after, before, it } from "node:test"

const secret = "whsec_dGhlIHNlY3JldCBvZiB0aGUgdGVzdHM="

const receiver = spawn(process.execPath, ["main.ts"], {
  cwd: import.meta.dirname,
  env: { PORT: "0", DATABASE: ":memory:", WEBHOOK_SECRET: secret },
  stdio: ["ignore", "pipe", "inherit"]
})
let output = ""
receiver.stdout.on("data", (chunk) => (output += chunk))

/** Resolves to what the receiver has written, once that matches. */
const written = async (expected: RegExp): Promise<RegExpExecArray> => {
  for (let found = expected.exec(output);; found = expected.exec(output)) {
    if (found !== null) return found
    await once(receiver.stdout, "data")
  }
}

let url: string
before(async () => {
  url = `${(await written(/http:\S+/))[0]}/webhook`
})
after(() => receiver.kill())

it("an event that comes twice is worked on once", async () => {
  const event = exampleEvent("message.delivered", { data: { message_id: "msg_1" } })
  for (const _attempt of [1, 2]) {
    assert.equal((await fetch(url, await signDelivery({ payload: event, secret }))).status, 200)
  }
  const reply = exampleEvent("message.received", { data: { from: "+15550002222", text: { body: "Thanks!" } } })
  assert.equal((await fetch(url, await signDelivery({ payload: reply, secret }))).status, 200)
  await written(/\+15550002222: Thanks!/)
  assert.equal(output.match(/msg_1 arrived/g)?.length, 1)
})

it("a delivery that another secret signed is refused", async () => {
  const forged = await signDelivery({ payload: exampleEvent("message.sent"), secret: "whsec_c29tZWJvZHkgZWxzZQ==" })
  assert.equal((await fetch(url, forged)).status, 400)
})
