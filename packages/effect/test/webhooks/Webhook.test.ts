import { verify } from "@wac/verifier"
import { Resolver } from "node:dns/promises"
import { afterEach, assert, describe, it, vi } from "vitest"
import { bodyOf, failure, fresh, hello, serve, start, startLive, until } from "../instance.ts"

const receivers = { allowInsecure: true, allowCidrs: ["127.0.0.0/8"] }

afterEach(() => vi.restoreAllMocks())

describe("the webhook", () => {
  it("a call that ends early while the name is looked up does not replace what a later call sets", async () => {
    let looked = 0
    let found = () => {}
    const addresses = new Promise<Array<string>>((resolve) => {
      found = () => resolve(["8.8.8.8"])
    })
    vi.spyOn(Resolver.prototype, "resolve4").mockImplementation(
      (() => {
        looked++
        return addresses
      }) as never
    )
    vi.spyOn(Resolver.prototype, "resolve6").mockRejectedValue(new Error("none"))
    const { clock, wac } = await start()
    const late = failure(wac.webhook.set({ url: "https://slow.example/" }, { timeout: 1000 }))
    await until(() => looked > 0)
    await clock.advance("1 second")
    assert.deepInclude(await late, { code: "no_response", reason: "timeout" })
    const aborted = new AbortController()
    const left = wac.webhook.set({ url: "https://slow.example/" }, { signal: aborted.signal })
      .then(() => "it was set", (error: unknown) => error)
    await until(() => looked > 1)
    aborted.abort("enough")
    assert.strictEqual(await left, "enough")
    await wac.webhook.set({ url: "https://8.8.8.8/later" })
    found()
    await clock.advance("1 minute")
    assert.strictEqual((await wac.webhook.get()).url, "https://8.8.8.8/later")
  })

  it("the webhook gets the workspace's signed events, and shows its attempts", async () => {
    const wac = await startLive({ receivers })
    assert.strictEqual((await failure(wac.webhook.get())).code, "not_found")
    const got: Array<{ readonly body: string; readonly signature: string }> = []
    const url = await serve((request, response) => {
      void bodyOf(request).then((body) => {
        got.push({ body, signature: String(request.headers["x-service-signature"]) })
        response.end()
      })
    })
    const set = await wac.webhook.set({ url, eventTypes: ["message.sent", "message.delivered"] })
    assert.match(set.signingSecret!, /^whsec_/)
    const test = await wac.webhook.test()
    assert.deepInclude(test, { outcome: "delivered", trigger: "test", statusCode: 200 })
    await wac.messages.send(hello(), fresh())
    await until(() => got.length >= 3)
    for (const { body, signature } of got) {
      assert.isTrue((await verify(body, signature, set.signingSecret!)).ok)
    }
    assert.deepStrictEqual(got.map(({ body }) => JSON.parse(body).type), [
      "webhook.test",
      "message.sent",
      "message.delivered"
    ])
    const listed = () => Array.fromAsync(wac.webhook.deliveries.list())
    await until(async () => (await listed()).every(({ status }) => status === "delivered"))
    const deliveries = await listed()
    assert.strictEqual(deliveries.length, 3)
    const detail = await wac.webhook.deliveries.get(deliveries[0]!.id)
    assert.strictEqual(detail.attempts[0]!.request.body, got[2]!.body)
    const { signingSecret } = await wac.webhook.rotateSecret({ overlapSeconds: 0 })
    assert.notStrictEqual(signingSecret, set.signingSecret)
    await wac.webhook.remove()
    assert.strictEqual((await failure(wac.webhook.remove())).code, "not_found")
  })

  it("the webhook can be paused, resumed and replayed", async () => {
    const wac = await startLive({ receivers })
    let status = 500
    const got = { count: 0 }
    const url = await serve((request, response) => {
      got.count++
      request.resume()
      response.writeHead(status).end()
    })
    await wac.webhook.set({ url, eventTypes: ["message.sent"] })
    const { status: paused } = await wac.webhook.pause()
    assert.strictEqual(paused, "paused")
    const since = new Date(Date.now() - 1000)
    await wac.messages.send(hello("+15005550003"), fresh())
    assert.strictEqual((await wac.webhook.get()).heldCount, 1)
    const tried = await wac.webhook.resume()
    assert.strictEqual(tried.status, "paused")
    assert.deepInclude(tried.probe, { outcome: "status", statusCode: 500 })
    status = 200
    const resumed = await wac.webhook.resume({ replay: { since } })
    assert.strictEqual(resumed.status, "active")
    await until(() => got.count >= 3)
    const sent = async () =>
      (await wac.webhook.deliveries.list({ status: "delivered" }).page()).data
        .find(({ eventType }) => eventType === "message.sent")
    await until(async () => await sent() !== undefined)
    const replay = await wac.webhook.replays.create({ since })
    assert.strictEqual((await wac.webhook.replays.get(replay.id)).id, replay.id)
    await until(() => got.count >= 4)
    // retrying a delivery in flight would count the present attempt
    await until(async () => await sent() !== undefined)
    await wac.webhook.replays.cancel(replay.id)
    assert.strictEqual((await wac.webhook.replays.list().page()).data.length, 1)
    await wac.webhook.deliveries.retry((await sent())!.id)
    await until(() => got.count >= 5)
  })

  it("an invalid webhook is refused by the name of the field", async () => {
    const { wac } = await start()
    const wrong: ReadonlyArray<readonly [param: string, refused: Promise<unknown>]> = [
      ["url", wac.webhook.set({ url: "http://example.com" })],
      ["url", wac.webhook.set({ url: "https://10.0.0.1" })],
      ["envelope", wac.webhook.set({ url: "https://example.com", envelope: "c" as never })],
      ["eventTypes[0]", wac.webhook.set({ url: "https://example.com", eventTypes: ["message.lost" as never] })],
      ["urls", wac.webhook.set({ url: "https://example.com", urls: [] } as never)],
      ["overlapSeconds", wac.webhook.rotateSecret({ overlapSeconds: -1 })],
      ["since", wac.webhook.replays.create({ since: "yesterday" })],
      ["status", wac.webhook.deliveries.list({ status: "lost" as never }).page()],
      ["limit", wac.webhook.deliveries.list().page({ limit: 101 })],
      ["cursor", wac.keys.list().page({ cursor: "x" })],
      ["expiresAt", wac.keys.create({ name: "x", expiresAt: new Date(0) })],
      ["name", wac.keys.create({ name: " " })],
      ["since", wac.events.list({ since: Number.NaN }).page()],
      ["since", wac.events.list({ since: "5" }).page()],
      ["replay", wac.webhook.resume({ replay: null as never })]
    ]
    for (const [param, refused] of wrong) assert.deepInclude(await failure(refused), { code: "invalid_body", param })
  })
})

describe("keys", () => {
  it("keys are created once per idempotency key, listed page by page, and revoked", async () => {
    const { clock, wac } = await start()
    const key = await wac.keys.create({ name: "one", expiresAt: "2026-01-01T00:05:00Z" }, { idempotencyKey: "k" })
    const again = await wac.keys.create({ name: "one", expiresAt: "2026-01-01T00:05:00Z" }, { idempotencyKey: "k" })
    assert.strictEqual(again.id, key.id)
    assert.isUndefined(again.apiKey)
    assert.strictEqual((await wac.keys.get(key.id)).expiresAt, "2026-01-01T00:05:00.000Z")
    for (let i = 0; i < 120; i++) await wac.keys.create({ name: `key ${i}` })
    const names: Array<string> = []
    for await (const { name } of wac.keys.list()) names.push(name)
    assert.strictEqual(new Set(names).size, 121)
    const page = await wac.keys.list().page({ limit: 2 })
    const next = await wac.keys.list().page({ limit: 2, cursor: page.nextCursor! })
    assert.deepStrictEqual([...page.data, ...next.data].map(({ name }) => name), names.slice(0, 4))
    const ask = () =>
      wac.handler(new Request("http://localhost/v1/templates", { headers: { authorization: `Bearer ${key.apiKey}` } }))
    assert.strictEqual((await ask()).status, 200)
    await clock.set("2026-01-01T00:05:00Z")
    assert.strictEqual((await ask()).status, 401)
    await wac.keys.revoke(key.id)
    assert.isNotNull((await wac.keys.get(key.id)).revokedAt)
  })
})
