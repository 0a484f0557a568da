import { Adapter } from "@wac/effect"
import { ProviderSuite } from "@wac/testkit"
import { afterAll, assert, it } from "vitest"
import { createWac, memory } from "wac"
import { toldBy } from "./callbacks.ts"
import { numbers, start } from "./gateway.ts"
import { sms } from "./sms.ts"

const gateway = await start("token")
afterAll(gateway.close)

const closed = await start("token")
closed.close()

const account = { url: gateway.url, token: "token", phoneNumber: "+15005550100" }

ProviderSuite.suite("SMS", Adapter.layerOf(sms(account)), {
  accepted: "+15551234567",
  ...numbers,
  unreachable: Adapter.layerOf(sms({ ...account, url: closed.url }))
})

it("a text is sent to somebody who never wrote, and reports and replies reach the service", async () => {
  const wac = await createWac({ storage: memory(), provider: sms(account) })
  const to = "+15557654321"
  const sent = await wac.messages.send({ to, type: "text", text: { body: "Hello" } }, { idempotencyKey: "1" })
  assert.deepInclude(gateway.texts.at(-1), { to, text: "Hello", reference: sent.messageId })

  const received = await wac.inbound.receive([
    toldBy({ kind: "report", reference: sent.messageId, state: "delivered" }),
    toldBy({ kind: "reply", id: "in-1", from: to, to: account.phoneNumber, text: "STOP" }),
    toldBy({ kind: "reply", id: "in-2", from: to, to: "+15005550199", text: "Hi" })
  ])
  assert.deepStrictEqual(received, [
    { applied: true },
    { applied: true },
    { applied: false, reason: "unknown_number" }
  ])
  assert.strictEqual((await wac.messages.get(sent.messageId)).status, "delivered")
  const again = await wac.messages.send({ to, type: "text", text: { body: "Hi" } }, { idempotencyKey: "2" })
    .catch((error: unknown) => error)
  assert.deepInclude(again, { code: "forbidden", reason: "opted_out" })
  const template = await wac.messages.send(
    { to, type: "template", template: { name: "hello_world", language: "en_US" } },
    { idempotencyKey: "3" }
  ).catch((error: unknown) => error)
  assert.deepInclude(template, { code: "invalid_body", param: "type" })
  await wac.close()
})
