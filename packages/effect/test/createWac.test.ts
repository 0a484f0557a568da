import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { configOf } from "../src/Options.ts"
import {
  createWac,
  type CustomProvider,
  fakeClock,
  local,
  memory,
  type OutboundMessage,
  pglite,
  postgres,
  type ProviderOutcome,
  s3,
  sandbox,
  type Wac,
  type WacOptions,
  whatsapp
} from "../src/promises.ts"
import { closing, failure, fresh, hello, shared, start, startLive, until } from "./instance.ts"

const templates: CustomProvider["templates"] = async () => [{
  providerTemplateId: "t-1",
  name: "hello_world",
  language: "en_US",
  category: "UTILITY",
  status: "APPROVED",
  components: [{ type: "BODY", text: "Hello {{1}}" }]
}]

describe("a provider of the application", () => {
  it("a provider of the host gets each message once, and its reports are applied", async () => {
    const given: Array<OutboundMessage> = []
    const { wac } = await start({
      provider: {
        phoneNumber: "+15005550100",
        providerNumberId: "number-1",
        templates,
        send: async (message) => {
          given.push(message)
          return { status: "accepted", providerMessageId: `p-${given.length}` }
        }
      }
    })
    const key = fresh()
    const message = {
      ...hello(),
      type: "template",
      template: { name: "hello_world", language: "en_US", bodyParams: ["Ana"] }
    } as const
    const sent = await wac.messages.send(message, key)
    await wac.messages.send(message, key)
    const [number] = (await wac.phoneNumbers.list().page()).data
    assert.deepStrictEqual(given, [{
      messageId: sent.messageId,
      from: { id: number!.id, phoneNumber: "+15005550100", providerNumberId: "number-1" },
      to: "+15551234567",
      type: "template",
      template: { name: "hello_world", language: "en_US", bodyParams: ["Ana"], providerTemplateId: "t-1" }
    }])
    await wac.inbound.receive([
      { type: "status", messageId: sent.messageId, status: "delivered", at: "2026-01-01T00:00:01Z" },
      {
        type: "message",
        providerNumberId: "number-1",
        providerMessageId: "in-1",
        from: "+15551234567",
        text: { body: "Hi" }
      }
    ])
    assert.deepInclude(await wac.messages.get(sent.messageId), { deliveredAt: "2026-01-01T00:00:01.000Z" })
    await wac.messages.send({ to: "+15551234567", type: "text", text: { body: "Hello" } }, fresh())
    assert.deepInclude(given[1], { type: "text", text: { body: "Hello" } })
  })

  it("a start does not wait for templates that are stored, which are sent before the provider lists them again", async () => {
    const { options } = shared()
    const provider: CustomProvider = {
      phoneNumber: "+15005550100",
      templates,
      send: async ({ messageId }) => ({ status: "accepted", providerMessageId: messageId })
    }
    const template = { name: "hello_world", language: "en_US", bodyParams: ["Ana"] }
    const message = { to: "+15551234567", type: "template", template } as const
    const { wac: first } = await start({ ...options, provider })
    assert.strictEqual((await first.messages.send(message, fresh())).status, "sent")
    const { wac } = await start({ ...options, provider: { ...provider, templates: () => new Promise(() => {}) } })
    assert.strictEqual((await wac.messages.send(message, fresh())).status, "sent")
  })

  it("a first start with an owner waits once for templates that the provider does not list", async () => {
    const clock = fakeClock()
    let begin = () => {}
    const begun = new Promise<void>((resolve) => begin = resolve)
    const provider: CustomProvider = {
      phoneNumber: "+15005550100",
      templates: () => {
        begin()
        return new Promise(() => {})
      },
      send: async ({ messageId }) => ({ status: "accepted", providerMessageId: messageId })
    }
    const auth = local({ owner: { email: "a@example.com", password: "correct horse" } })
    let startedAt: number | undefined
    const starting = start({ clock, provider, auth }).then(() => startedAt = clock.now().getTime())
    await Promise.race([begun, starting])
    const since = clock.now().getTime()
    for (let i = 0; i < 8; i++) await clock.advance("5 seconds")
    await starting
    assert.strictEqual(startedAt, since + 20_000)
  })

  it("an invalid report is rejected with its place, and none of the list is applied", async () => {
    const { wac } = await start()
    const { messageId } = await wac.messages.send(hello("+15005550003"), fresh())
    const good = { type: "status", messageId, status: "read" }
    const customer = {
      type: "message",
      providerNumberId: "sandbox-1",
      providerMessageId: "in-1",
      from: "+15551234567",
      text: { body: "Hi" }
    }
    const { providerMessageId: _, ...unnamed } = customer
    const wrong: ReadonlyArray<readonly [told: unknown, param: string]> = [
      [{ type: "call" }, "type"],
      [null, ""],
      [{ type: "status", messageId, status: "lost" }, "status"],
      [{ ...good, messageId: 7 }, "messageId"],
      [{ ...good, providerMessageId: "\u0000" }, "providerMessageId"],
      [{ ...good, providerNumberId: "" }, "providerNumberId"],
      [{ ...good, at: "yesterday" }, "at"],
      [{ ...good, status: "failed", error: { code: "lost", message: "so" } }, "error.code"],
      [{ ...good, status: "failed", error: { code: "server_error" } }, "error.message"],
      [{ ...good, status: "failed", error: { code: "server_error", message: "\ud800" } }, "error.message"],
      [{ ...good, when: 1 }, "when"],
      [unnamed, "providerMessageId"],
      [{ ...customer, providerNumberId: undefined }, "providerNumberId"],
      [{ ...customer, from: "15551234567" }, "from"],
      [{ ...customer, fromUserId: "+15551234567" }, "fromUserId"],
      [{ ...customer, text: {} }, "text.body"],
      [{ ...customer, at: Number.NaN }, "at"]
    ]
    assert.deepInclude(await failure(wac.inbound.receive(good as never)), { code: "invalid_body", param: "told" })
    for (const [told, param] of wrong) {
      const bad = await failure(wac.inbound.receive([good, told] as never))
      assert.deepInclude(
        bad,
        { code: "invalid_body", param: param === "" ? "[1]" : `[1].${param}` },
        JSON.stringify(told)
      )
    }
    assert.strictEqual((await wac.messages.get(messageId)).status, "sent")
    const unsaid = { providerNumberId: undefined, providerMessageId: undefined, at: undefined, error: undefined }
    await wac.inbound.receive([{ ...good, ...unsaid }] as never)
    assert.strictEqual((await wac.messages.get(messageId)).status, "read")
  })

  it("a customer is the same by user id and by number once a report has both", async () => {
    const { wac } = await start()
    const userId = "US.13491208655302741918"
    const writes = (providerMessageId: string, names: { readonly from: string; readonly fromUserId?: string }) =>
      wac.inbound.receive([{
        type: "message",
        providerNumberId: "sandbox-1",
        providerMessageId,
        text: { body: "Hi" },
        ...names
      }])
    const answer = (to: string) => wac.messages.send({ to, type: "text", text: { body: "Hello" } }, fresh())
    await writes("in-1", { from: userId })
    const [event] = (await wac.events.list({ type: "message.received" }).page()).data
    assert.strictEqual((await answer(event!.data.from as string)).status, "sent")
    assert.deepInclude(await failure(answer("+15551234567")), { reason: "outside_service_window" })
    const [{ id }] = (await wac.contacts.list().page()).data as unknown as readonly [{ readonly id: string }]
    await writes("in-2", { from: "+15551234567", fromUserId: userId })
    assert.strictEqual((await answer("+15551234567")).status, "sent")
    const contact = await wac.contacts.get(id)
    assert.deepInclude(contact, { id, phone: "+15551234567", userId })
    assert.deepStrictEqual((await wac.contacts.list().page()).data, [contact])
    const sent = await wac.messages.list({ to: userId }).page()
    // to each of the customer's names
    assert.deepStrictEqual(sent.data.map(({ to }) => to), ["+15551234567", userId])
  })

  it("a customer's text that not every storage can hold is accepted", async () => {
    const { wac } = await start()
    const told = {
      type: "message",
      providerNumberId: "sandbox-1",
      providerMessageId: "1",
      from: "+15551234567"
    } as const
    await wac.inbound.receive([{ ...told, text: { body: "a\u0000b\ud800" } }])
    const [event] = (await wac.events.list({ type: "message.received" }).page()).data
    assert.deepInclude(event!.data, { text: { body: "a\uFFFDb\uFFFD" } })
  })

  const outcomes: ReadonlyArray<readonly [string, () => Promise<ProviderOutcome>, object]> = [
    [
      "refuses",
      async () => ({
        status: "refused",
        code: "invalid_body",
        reason: "undeliverable",
        message: "no such line",
        param: "to",
        provider: { code: "9", message: "gone" }
      }),
      {
        code: "invalid_body",
        reason: "undeliverable",
        param: "to",
        status: 400,
        provider: { code: "9", message: "gone" }
      }
    ],
    [
      "is busy",
      async () => ({
        status: "not_sent",
        code: "rate_limited",
        reason: "provider",
        message: "slow down",
        retryAfter: 2500
      }),
      {
        code: "rate_limited",
        retryAfter: 2500
      }
    ],
    [
      "is away",
      async () => ({ status: "not_sent", code: "server_error", reason: "provider_unavailable", message: "away" }),
      {
        code: "server_error",
        reason: "provider_unavailable"
      }
    ],
    ["does not know", async () => ({ status: "unknown" }), { reason: "outcome_unknown" }],
    ["rejects", async () => Promise.reject(new Error("socket hang up")), { reason: "outcome_unknown" }],
    ["throws", () => {
      throw new Error("a mistake")
    }, { reason: "outcome_unknown" }],
    ["answers nonsense", async () => ({ status: "ok" }) as never, { reason: "outcome_unknown" }],
    ["answers nothing", async () => undefined as never, { reason: "outcome_unknown" }]
  ]
  it.each(outcomes)("a provider that %s gets its outcome, and nothing is sent twice", async (_, send, wanted) => {
    let calls = 0
    const { wac } = await start({
      provider: {
        phoneNumber: "+15005550100",
        templates,
        send: () => {
          calls++
          return send()
        }
      }
    })
    const message = {
      ...hello(),
      type: "template",
      template: { name: "hello_world", language: "en_US", bodyParams: ["Ana"] }
    } as const
    const key = fresh()
    assert.deepInclude(await failure(wac.messages.send(message, key)), wanted)
    await failure(wac.messages.send(message, key))
    assert.strictEqual(
      calls,
      "retryAfter" in wanted || "reason" in wanted && wanted.reason === "provider_unavailable" ? 2 : 1
    )
  })

  it("a host's provider that never responds leaves an unknown outcome after 8 seconds", async () => {
    const { clock, wac } = await start({
      provider: { phoneNumber: "+15005550100", templates, send: () => new Promise(() => {}) }
    })
    const message = {
      ...hello(),
      type: "template",
      template: { name: "hello_world", language: "en_US", bodyParams: ["Ana"] }
    } as const
    const sending = failure(wac.messages.send(message, fresh()))
    await clock.advance("8 seconds")
    assert.deepInclude(await sending, { reason: "outcome_unknown" })
  })
})

describe("instances", () => {
  it("instances coexist and share nothing, and the process keeps nothing of them", async () => {
    const signals = ["SIGTERM", "SIGINT", "uncaughtException", "unhandledRejection", "exit", "beforeExit"]
    const before = signals.map((name) => process.listenerCount(name))
    const globals = new Set(Reflect.ownKeys(globalThis))
    const written: Array<unknown> = []
    const real = { ...console }
    for (const name of ["log", "info", "warn", "error", "debug"] as const) {
      console[name] = (...given) => written.push(given)
    }
    try {
      const [one, two] = await Promise.all([start(), start()])
      const key = fresh()
      const [first, second] = await Promise.all([
        one.wac.messages.send(hello(), key),
        two.wac.messages.send(hello(), key)
      ])
      assert.notStrictEqual(first.workspaceId, second.workspaceId)
      assert.deepStrictEqual([first.replayed, second.replayed], [false, false])
      assert.strictEqual((await failure(one.wac.messages.get(second.messageId))).code, "not_found")
      await one.clock.advance("1 hour")
      assert.strictEqual((await two.wac.messages.get(second.messageId)).status, "sent")
      const { apiKey } = await one.wac.keys.create({ name: "one" })
      const asked = new Request("http://localhost/v1/templates", { headers: { authorization: `Bearer ${apiKey}` } })
      assert.strictEqual((await one.wac.handler(asked.clone())).status, 200)
      assert.strictEqual((await two.wac.handler(asked)).status, 401)
      assert.deepStrictEqual(signals.map((name) => process.listenerCount(name)), before)
      await one.wac.close()
      await one.wac.close()
      assert.strictEqual((await failure(one.wac.messages.get(first.messageId))).code, "server_error")
      await two.wac.messages.send(hello(), fresh())
      await failure(two.wac.messages.send(hello("1"), fresh()))
    } finally {
      Object.assign(console, real)
    }
    assert.deepStrictEqual(written, [])
    assert.deepStrictEqual(Reflect.ownKeys(globalThis).filter((name) => !globals.has(name)), [])
  })

  it("the workspaces of an instance are kept apart", async () => {
    const { wac } = await start()
    const info = await wac.workspaces.create({ name: "Other", phoneNumber: "+15005550101" })
    const other = wac.workspace(info.id)
    await other.templates.sync()
    const sent = await other.messages.send(hello(), fresh())
    assert.strictEqual(sent.workspaceId, info.id)
    assert.strictEqual((await other.messages.get(sent.messageId)).from, "+15005550101")
    assert.strictEqual((await failure(wac.messages.get(sent.messageId))).code, "not_found")
    assert.deepStrictEqual((await wac.workspaces.list()).map(({ name }) => name), ["wac", "Other"])
    const taken = await failure(wac.workspaces.create({ name: "Third", phoneNumber: "+15005550101" }))
    assert.deepInclude(taken, { code: "invalid_body", param: "providerNumberId" })
    for (const id of ["ws_00000000000000000000000000", "tenant\u0000"]) {
      const nobody = wac.workspace(id)
      const asked = [
        nobody.messages.send(hello(), fresh()),
        nobody.messages.list().page(),
        nobody.keys.create({ name: "one" }),
        nobody.webhook.set({ url: "https://example.com" })
      ]
      for (const each of asked) {
        assert.deepInclude(await failure(each), { code: "not_found", message: "there is no such workspace" })
      }
    }
  })

  it("instances close with `await using`", async () => {
    let kept
    {
      await using wac = await createWac({ storage: memory(), provider: sandbox() })
      kept = wac
    }
    assert.strictEqual((await failure(kept.messages.get("msg_1"))).message, "this instance was closed")
  })
})

describe("an invalid option", () => {
  /** A pool as far as its shape goes. */
  const pool = (max: number) => ({
    options: { max },
    connect: () => Promise.reject(new Error("no server")),
    Client: class {}
  })
  const shared = pool(3)
  const valid = { storage: memory(), provider: sandbox() }
  const meta = { accessToken: "a", phoneNumberId: "1", businessAccountId: "1", appSecret: "a", verifyToken: "b" }
  const wrong: ReadonlyArray<readonly [param: string, options: unknown]> = [
    ["storage", { provider: sandbox() }],
    ["storage.url", { ...valid, storage: postgres("mysql://x") }],
    ["masterKey", { ...valid, storage: postgres("postgres://localhost/x") }],
    ["masterKey", { ...valid, masterKey: "short" }],
    ["provider", { storage: memory() }],
    ["provider", { ...valid, provider: {} }],
    ["provider.phoneNumber", { ...valid, provider: { send: async () => {}, templates, phoneNumber: "12" } }],
    ["provider.phoneNumberId", { ...valid, provider: whatsapp({ ...meta, phoneNumberId: "x" }) }],
    ["prefix", { ...valid, prefix: "messaging" }],
    ["publicUrl", { ...valid, publicUrl: "example" }],
    ["limits.workspaceTiers.standard", { ...valid, limits: { workspaceTiers: { standard: -1 } } }],
    ["limits.pears", { ...valid, limits: { pears: 1 } }],
    ["receivers.allowCidrs", { ...valid, receivers: { allowCidrs: ["x"] } }],
    ["provider.baseUrl", { ...valid, provider: whatsapp({ ...meta, baseUrl: "ftp://graph.facebook.com" }) }],
    ["provider.apiVersion", { ...valid, provider: whatsapp({ ...meta, apiVersion: "25" }) }],
    ["auth.owner.email", { ...valid, auth: local({ owner: { email: "ana", password: "correct horse" } }) }],
    ["receivers.allowCidrs", { ...valid, receivers: { allowCidrs: "127.0.0.0/8" } }],
    ["receivers.allowedCidrs", { ...valid, receivers: { allowedCidrs: ["127.0.0.0/8"] } }],
    ["reciever", { ...valid, reciever: {} }],
    ["options", undefined],
    ["auth", { ...valid, auth: () => null }],
    ["auth", { ...valid, auth: {} }],
    ["log", { ...valid, log: console }],
    ["auth.owner.password", { ...valid, auth: local({ owner: { email: "a@b.c", password: "short" } }) }],
    // too long to sign in with
    ["auth.owner.password", { ...valid, auth: local({ owner: { email: "a@b.c", password: "x".repeat(257) } }) }],
    ["workspaceName", { ...valid, workspaceName: "" }],
    ["workspaceName", { ...valid, workspaceName: "a\u0000" }],
    ["clock", { ...valid, clock: {} }],
    ["storage.ulr", { ...valid, storage: { ...memory(), ulr: "postgres://localhost/x" } }],
    ["storage.maxConnection", { ...valid, storage: { ...postgres("postgres://localhost/x"), maxConnection: 3 } }],
    ["storage.url", { ...valid, storage: postgres("postgres://localhost/x?ssl=true") }],
    ["storage.listenUrl", {
      ...valid,
      storage: postgres({ url: "postgres://localhost/x", listenUrl: "postgres://localhost/x?ssl_mode=require" })
    }],
    ["storage.url", { ...valid, storage: { ...postgres({ pool: pool(3) }), url: "postgres://localhost/x" } }],
    ["storage.listenUrl", {
      ...valid,
      storage: { ...postgres({ pool: pool(3) }), listenUrl: "postgres://localhost/x" }
    }],
    ["storage.maxConnections", { ...valid, storage: { ...postgres({ pool: pool(3) }), maxConnections: 3 } }],
    ["storage.pool", { ...valid, storage: postgres({ pool: pool(2) }) }],
    ["storage.pool", {
      ...valid,
      storage: postgres({ pool: { options: {}, connect: () => Promise.reject(new Error()) } })
    }],
    ["storage.listen", { ...valid, storage: { ...postgres("postgres://localhost/x"), listen: false } }],
    ["storage.listen", { ...valid, storage: { ...postgres({ pool: pool(3) }), listen: 1 } }],
    ["storage.maxConnections", {
      ...valid,
      storage: postgres({ url: "postgres://localhost/x", maxConnections: Number.NaN })
    }],
    ["storage.maxConnections", {
      ...valid,
      storage: postgres({ url: "postgres://localhost/x", maxConnections: Infinity })
    }],
    ["storage.maxConnections", {
      ...valid,
      storage: postgres({ url: "postgres://localhost/x", maxConnections: 0 })
    }],
    ["storage.maxConnections", {
      ...valid,
      storage: postgres({ url: "postgres://localhost/x", maxConnections: 2.5 })
    }],
    ["storage.maxConnections", {
      ...valid,
      storage: postgres({ url: "postgres://localhost/x", maxConnections: "10" as never })
    }],
    ["storage.migrate", {
      ...valid,
      storage: postgres({ url: "postgres://localhost/x", migrate: "false" as never })
    }],
    ["storage.migrate", { ...valid, storage: postgres({ pool: pool(3), migrate: "false" as never }) }],
    ["receivers.allowInsecure", { ...valid, receivers: { allowInsecure: "false" } }],
    ["receivers", { ...valid, receivers: null }],
    ["limits", { ...valid, limits: null }],
    ["limits", { ...valid, limits: 5 }],
    ["limits.defaults", { ...valid, limits: { defaults: null } }],
    ["retention", { ...valid, retention: 30 }],
    ["mediaStore.region", { ...valid, mediaStore: s3({ url: "s3://bucket", region: 1 as never }) }],
    ["prefix", { ...valid, prefix: 5 }],
    ["auth", { ...valid, auth: null }],
    ["auth", { ...valid, auth: "local" }],
    ["storage.schema", { ...valid, storage: postgres({ pool: pool(3), schema: "pg_x" }) }],
    ["masterKey", { ...valid, storage: postgres({ pool: pool(3), migrate: false }) }],
    ["storage.migrate", { ...valid, storage: { ...pglite("data"), migrate: true } }],
    ["mediaStore.bucket", { ...valid, mediaStore: { ...s3("s3://bucket"), bucket: "other" } }],
    ["mediaStore.credentials.token", {
      ...valid,
      mediaStore: s3({
        url: "s3://bucket",
        credentials: { accessKeyId: "a", secretAccessKey: "b", token: "c" } as never
      })
    }],
    ["provider.token", { ...valid, provider: { ...whatsapp(meta), token: "a" } }],
    ["provider.phoneNumber", { ...valid, provider: { ...sandbox(), phoneNumber: "+15005550100" } }],
    ["auth.portal", {
      ...valid,
      auth: { ...local({ owner: { email: "a@example.com", password: "correct horse" } }), portal: true }
    }],
    ["auth.owner.name", {
      ...valid,
      auth: local({ owner: { email: "a@example.com", password: "correct horse", name: "Ana" } as never })
    }]
  ]
  it.each(wrong)("an invalid option is named: %s", async (param, options) => {
    const error = await failure(createWac(options as WacOptions))
    assert.deepInclude(error, { code: "invalid_body", reason: "invalid_field", param })
  })

  const url = "postgres://localhost/x"
  const masterKey = new Uint8Array(32)
  const omitted: ReadonlyArray<readonly [name: string, given: object, omitting: object]> = [
    ["retention", { ...valid, retention: { events: undefined } }, valid],
    ["limits", { ...valid, limits: { pair: undefined, workspaceTiers: undefined } }, valid],
    ["limits.defaults", { ...valid, limits: { defaults: { monthlyQuota: undefined } } }, valid],
    [
      "storage with a url",
      { ...valid, masterKey, storage: postgres({ url, pool: undefined, listen: undefined } as never) },
      { ...valid, masterKey, storage: postgres(url) }
    ],
    [
      "storage with a pool",
      { ...valid, masterKey, storage: postgres({ pool: shared, url: undefined, maxConnections: undefined } as never) },
      { ...valid, masterKey, storage: postgres({ pool: shared }) }
    ]
  ]
  it.each(omitted)("an option that is undefined counts as omitted: %s", (_, given, omitting) => {
    assert.deepStrictEqual(configOf(given as WacOptions), configOf(omitting as WacOptions))
  })

  it("tiers without the default tier are refused by the name of the invalid part", async () => {
    const error = await failure(createWac({ ...valid, limits: { workspaceTiers: { fast: 500 } } }))
    assert.deepInclude(error, { reason: "invalid_field", param: "limits.defaults.workspaceTier" })
  })

  it("an unreachable server is reported without its password", async () => {
    const error = await failure(createWac({
      ...valid,
      storage: postgres("postgres://someone:hunter22@127.0.0.1:1/wac"),
      masterKey: new Uint8Array(32)
    }))
    assert.deepInclude(error, { code: "server_error", reason: "storage_unavailable" })
    assert.notInclude(`${error.stack}`, "hunter22")
  })

  it("an unreachable provider is reported", async () => {
    const provider = whatsapp({ ...meta, baseUrl: "http://127.0.0.1:1" })
    const error = await failure(createWac({ ...valid, provider }))
    assert.deepInclude(error, { code: "server_error", reason: "provider_unavailable" })
  })
})

it("built-in accounts sign in with a cookie for https only", async () => {
  const wac = await startLive({ auth: local({ owner: { email: "Ana@example.com", password: "correct horse" } }) })
  const signIn = await wac.handler(
    new Request("http://localhost/internal/session", {
      method: "POST",
      headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
      body: JSON.stringify({ email: "ana@example.com", password: "correct horse" })
    })
  )
  assert.strictEqual(signIn.status, 200)
  const [cookie] = signIn.headers.getSetCookie()
  assert.match(cookie!, /^__Host-wac_session=.*; Secure/)
  const session = await wac.handler(
    new Request("http://localhost/internal/session", { headers: { cookie: cookie!.split(";")[0]! } })
  )
  assert.deepInclude(await session.json(), { role: "owner", workspaceId: wac.id })
})

describe("repeated calls do not keep the awaited thing from happening", () => {
  // this many calls that yield take more turns than the awaited thing needs
  const most = 1000

  const asks: Record<string, (wac: Wac) => Promise<unknown>> = {
    "by an operation": (wac) => wac.messages.list().page(),
    "by the handler": (wac) => wac.handler(new Request("http://localhost/healthz"))
  }
  it.each(Object.keys(asks))("%s", async (by) => {
    const { wac } = await start()
    const something = { happened: false }
    setImmediate(() => something.happened = true)
    let asked = 0
    while (!something.happened && asked++ < most) await asks[by]!(wac)
    assert.isTrue(something.happened)
  })
})

it(
  "data in a directory is there at the next start, under the same host key unless that was revoked",
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "wac-"))
    closing(async () => rmSync(directory, { recursive: true }))
    const options = { storage: pglite(directory), provider: sandbox() }
    const first = await createWac(options)
    const heard: Array<string> = []
    first.on("message.sent", ({ data }) => void heard.push(data.message_id))
    const sent = await first.messages.send(hello(), { idempotencyKey: "kept" })
    const again = await first.messages.send(hello("+15005550003"), fresh())
    await until(() => heard.length >= 2)
    assert.deepStrictEqual(heard, [sent.messageId, again.messageId])
    await first.close()
    assert.isTrue(existsSync(join(directory, "master.key")))

    const second = await createWac(options)
    assert.strictEqual(second.id, first.id)
    const replayed = await second.messages.send(hello(), { idempotencyKey: "kept" })
    assert.deepStrictEqual(replayed, { ...sent, replayed: true })
    assert.strictEqual((await second.messages.send(hello(), fresh())).apiKeyId, sent.apiKeyId)
    const events: Array<string> = []
    for await (const { type } of second.events.list()) events.push(type)
    assert.isAtLeast(events.filter((type) => type === "message.sent").length, 3)
    await second.keys.revoke(sent.apiKeyId)
    assert.strictEqual((await failure(second.messages.send(hello(), fresh()))).reason, "revoked_key")
    await second.close()

    const third = await createWac(options)
    assert.notStrictEqual((await third.messages.send(hello(), fresh())).apiKeyId, sent.apiKeyId)
    await third.close()
    const other = await failure(createWac({ ...options, masterKey: new Uint8Array(32).fill(7) }))
    assert.deepInclude(other, { code: "invalid_body", param: "masterKey" })
    const path = join(directory, "master.key")
    rmSync(path)
    assert.include((await failure(createWac(options))).message, `${path}: is missing`)
    assert.isFalse(existsSync(path))
  }
)
