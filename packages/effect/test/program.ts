/**
 * A program of a user without Effect that uses everything. It must compile against the declarations alone.
 */
import {
  createWac,
  type ErrorCode,
  type Event,
  fakeClock,
  local,
  memory,
  type Messaging,
  pglite,
  postgres,
  sandbox,
  type Storage,
  type Wac,
  WacError,
  whatsapp
} from "../src/promises.ts"

const told = (event: Event): string => {
  switch (event.type) {
    case "message.sent":
      return event.data.sent_at
    case "message.delivered":
      return event.data.delivered_at
    case "message.read":
      return event.data.read_at
    case "message.failed":
      return event.data.error.message
    case "message.received":
      return event.data.type === "text" ? event.data.text.body : event.data.type
    case "message.echoed":
      return event.data.type === "text" ? event.data.text.body : event.data.type
    case "campaign.completed":
      return event.data.name
    case "webhook.test":
      return event.data.webhook_id
  }
}

export const storages: ReadonlyArray<Storage> = [memory(), postgres("postgres://localhost/wac"), pglite(".data")]

export const instance = (): Promise<Wac> =>
  createWac({
    storage: postgres({ url: "postgres://localhost/wac", maxConnections: 4 }),
    provider: whatsapp({
      accessToken: "a",
      phoneNumberId: "1",
      businessAccountId: "2",
      appSecret: "b",
      verifyToken: "c"
    }),
    auth: { session: ({ node, web }) => node || web ? { userId: "1", email: "a@example.com", role: "owner" } : null },
    masterKey: new Uint8Array(32),
    log: ({ level, message }) => level === "error" && void message
  })

export const use = async (): Promise<ReadonlyArray<string>> => {
  const clock = fakeClock()
  await using wac = await createWac({
    storage: memory(),
    provider: sandbox(),
    clock,
    auth: local({ owner: { email: "a@example.com", password: "correct horse" } })
  })
  const all: Array<string> = []
  const off = wac.on("message.delivered", ({ data }) => void data.delivered_at.length)
  const stop = await wac.subscribe(
    "receipts",
    { types: ["message.delivered", "message.read"] },
    async ({ data }, { attempt, signal }) => {
      await fetch("http://localhost/", { signal, method: "POST", body: `${data.status} ${attempt}` })
    },
    { concurrency: 4 }
  )
  await stop()
  for await (const { error, event } of wac.subscriptions.failed("receipts")) {
    if (error === "gone") await wac.subscriptions.discard("receipts", event.id)
  }
  await wac.subscriptions.retry("receipts")
  // @ts-expect-error there is no such event
  wac.on("message.lost", () => {})
  wac.on("message.received", ({ data }) => data.type === "text" && all.push(data.text.body))
  const found = await wac.messages.get("msg_1", { timeout: 100 })
  if (found.direction === "inbound" && found.type === "text") all.push(found.text.body)
  // @ts-expect-error a text has no template
  await wac.messages.send({ to: "+1", type: "text", template: { name: "a", language: "en" } }, { idempotencyKey: "a" })
  // @ts-expect-error a text's fields have the names of the wire
  await wac.messages.send({ to: "+15551234567", type: "text", text: { body: "a", previewUrl: true } })
  const served: Messaging = wac
  for await (const page of served.templates.list().pages()) all.push(...page.data.map(({ id }) => id))
  for await (const event of wac.events.list({ type: "message.sent" })) all.push(event.data.sent_at)
  for (const event of (await wac.events.list({ since: new Date() }).page({ limit: 10 })).data) all.push(told(event))
  try {
    const { probe } = await wac.webhook.resume({ replay: { since: clock.now() } })
    if (probe !== null) all.push(probe.outcome)
  } catch (error) {
    if (error instanceof WacError && error.reason === "outcome_unknown") all.push(error.code satisfies ErrorCode)
  }
  await clock.advance("90 seconds")
  off()
  const response: Response = await wac.handler(new Request("http://localhost/healthz"))
  return [...all, `${response.status}`]
}
