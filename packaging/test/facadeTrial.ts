/**
 * A host that uses every option, every export and every part of the façade; `features.test.ts` runs it beside the
 * packed packages. It ends with an error if a part does not do what it is for, and with one that names what it has not
 * used.
 */
import assert from "node:assert/strict"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as exported from "wac"
import type { Event, LogEntry, WacOptions, WhatsAppOptions } from "wac"

/** What is around the host; times and addresses are the test's. */
export interface Around {
  readonly postgres: string
  /** A directory for embedded data. */
  readonly directory: string
  readonly store: { readonly url: string; readonly endpoint: string }
  readonly whatsApp: WhatsAppOptions
}

const around: Around = JSON.parse(process.env["AROUND"]!)

/** The names that nothing has asked for yet. */
const unused = new Set<string>()

/** The same object, whose names are struck off as they are used. */
const noted = <A extends object>(what: string, value: A): A => {
  for (const name of Object.keys(value)) unused.add(`${what}.${name}`)
  return new Proxy(value, {
    get: (target, name) => {
      unused.delete(`${what}.${String(name)}`)
      return Reflect.get(target, name)
    }
  })
}

const { WacError, createWac, defineProvider, fakeClock, local, memory, pglite, postgres, s3, sandbox, whatsapp } =
  noted(
    "wac",
    exported
  )

const hello = { to: "+15551234567", type: "template", template: { name: "hello_world", language: "en_US" } } as const
const owner = { email: "owner@example.com", password: "a horse in the garden" }
const key = () => randomBytes(32).toString("base64")
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII=",
  "base64"
)

/** Resolves to the first value that is handed over. */
const first = <A>() => {
  let hand: (value: A) => void = () => {}
  const value = new Promise<A>((resolve) => hand = resolve)
  return { value, hand }
}

// every option but a clock, with what production has
const lines: Array<LogEntry> = []
const everything: Required<Omit<WacOptions, "clock">> = {
  storage: postgres(around.postgres),
  background: true,
  provider: whatsapp(around.whatsApp),
  auth: local({ owner }),
  masterKey: key(),
  previousMasterKey: key(),
  workspaceName: "Trial",
  dashboard: true,
  portalOrigins: ["https://app.example.com"],
  portalTheme: { accent: "#0b7446" },
  prefix: "/messaging",
  publicUrl: "http://localhost:8080",
  limits: { defaults: { monthlyQuota: 10_000 } },
  retention: { events: 3 },
  rateCard: [{ market: "*", category: "utility", currency: "EUR", price: "0.1", validFrom: "2026-01-31" }],
  inboundMedia: "on_demand",
  mediaStore: s3({
    ...around.store,
    region: "us-east-1",
    credentials: { accessKeyId: "id", secretAccessKey: "secret", sessionToken: "token" }
  }),
  restored: false,
  receivers: { allowInsecure: true, allowCidrs: ["127.0.0.0/8"] },
  log: (line) => lines.push(line)
}

const inProduction = async (): Promise<void> => {
  const host = noted("instance", await createWac(everything))
  const receiver = first<{ readonly signature: unknown; readonly body: string }>()
  const server = createServer(async (request, response) => {
    if (request.url!.startsWith("/messaging")) return host.nodeHandler(request, response)
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk)
    response.end()
    receiver.hand({ signature: request.headers["x-service-signature"], body: Buffer.concat(chunks).toString() })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const heard = first<Event>()
  const stopListening = host.on("message.sent", heard.hand)
  await host.webhook.set({ url: `${url}/events` })
  await host.templates.sync()
  const sent = await host.messages.send(hello, { idempotencyKey: "1" })
  assert.equal(sent.status, "sent")
  assert.equal((await heard.value).type, "message.sent")
  stopListening()
  const handled = first<Event>()
  const stopSubscription = await host.subscribe("trial", { types: ["message.sent"] }, handled.hand)
  assert.deepEqual((await host.subscriptions.list()).map(({ name }) => name), ["trial"])
  const second = await host.messages.send(hello, { idempotencyKey: "2" })
  const { data } = await handled.value
  assert.equal("message_id" in data && data.message_id, second.messageId)
  await stopSubscription()
  const delivered = await receiver.value
  assert.match(`${delivered.signature}`, /^t=\d+,v1=[0-9a-f]+/)
  assert.ok(delivered.body.includes(sent.messageId))
  assert.equal((await host.events.list().page()).data.length > 0, true)

  const file = await host.media.upload({ bytes: png, filename: "a.png" })
  const opened = await host.media.open(file.id)
  assert.deepEqual(Buffer.from(await new Response(opened.stream()).arrayBuffer()), png)

  // as the dashboard does
  const page = (path: string, init?: RequestInit) =>
    host.handler(new Request(`http://localhost:8080/messaging${path}`, init))
  for (const path of ["/dashboard/", "/docs", "/openapi.json", "/healthz"]) assert.equal((await page(path)).status, 200)
  const session = await page("/internal/session", {
    method: "POST",
    headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
    body: JSON.stringify(owner)
  })
  assert.equal(session.status, 200, await session.text())
  assert.equal((await fetch(`${url}/messaging/healthz`)).status, 200)
  assert.ok((await host.metrics()).includes("wac_"))
  const link = await host.portal.link({ role: "developer" })
  assert.ok(link.url.startsWith("http://localhost:8080/messaging/"))
  assert.ok(link.url.endsWith("&accent=%230b7446"))

  assert.equal((await host.usage.report()).quota, 10_000)
  const { id } = await host.keys.create({ name: "trial" })
  await host.keys.revoke(id)
  const campaign = await host.campaigns.create({ name: "trial", template: hello.template })
  await host.campaigns.remove(campaign.id)
  assert.equal((await host.phoneNumbers.list().page()).data.length, 1)
  // no customer has written yet
  assert.deepEqual((await host.contacts.list().page()).data, [])
  assert.ok((await host.customers.export(hello.to)).length > 0)
  const shop = await host.workspaces.create({
    name: "Shop",
    phoneNumber: "+14155550142",
    providerNumberId: "1066",
    providerAccountId: "4711",
    credentials: { accessToken: "a-token" }
  })
  assert.equal(host.workspace(shop.id).id, shop.id)
  assert.notEqual(host.id, shop.id)
  await host.inbound.receive([])
  // it works by itself
  await assert.rejects(host.work({ for: "1 second" }), WacError)
  assert.ok(lines.length > 0)
  server.closeAllConnections()
  server.close()
  await host.close()
}

/** What is embedded is there again after a restart. */
const embedded = async (): Promise<void> => {
  const open = () => createWac({ storage: pglite(around.directory), provider: sandbox() })
  const before = await open()
  const { messageId } = await before.messages.send(hello, { idempotencyKey: "1" })
  await before.close()
  const after = await open()
  assert.equal((await after.messages.get(messageId)).messageId, messageId)
  await after.close()
}

/** Without background work, nothing is delivered until the host says so. */
const inShifts = async (): Promise<void> => {
  const host = await createWac({ storage: memory(), provider: sandbox(), background: false })
  const heard = first<Event>()
  host.on("message.sent", heard.hand)
  const { messageId } = await host.messages.enqueue(hello, { idempotencyKey: "1" })
  await host.work({ for: "1 second" })
  const { data } = await heard.value
  assert.equal("message_id" in data && data.message_id, messageId)
  await host.close()
}

/** A provider and sessions of the host's own, in a test's time. */
const ofTheHost = async (): Promise<void> => {
  const clock = fakeClock()
  const host = await createWac({
    storage: memory(),
    clock,
    provider: defineProvider({
      capabilities: { templates: true },
      phoneNumber: "+15550100001",
      send: async ({ messageId }) => ({ status: "accepted", providerMessageId: messageId }),
      templates: async () => []
    }),
    auth: { session: () => ({ userId: "1", email: owner.email, role: "owner" }) }
  })
  const begun = clock.now().getTime()
  await clock.advance("24 hours")
  assert.equal(clock.now().getTime() - begun, 24 * 3_600_000)
  assert.equal((await host.handler(new Request("http://localhost/internal/session"))).status, 200)
  await host.close()
}

await inProduction()
await embedded()
await inShifts()
await ofTheHost()
await assert.rejects(createWac({ storage: memory(), provider: sandbox(), workspaceName: "" }), WacError)
assert.deepEqual([...unused], [])
