/**
 * What the upstream provider posts, over real HTTP: `GET|POST /providers/<name>/webhook`.
 */
import { assert, describe, it } from "@effect/vitest"
import { type Event, EventStore, type Id, type InboundItem, InboundPostStore, StoreError } from "@wac/core"
import { BodyRoom } from "@wac/http"
import { MemoryStorage } from "@wac/memory"
import { SandboxProvider } from "@wac/sandbox"
import { StubProviderWebhook } from "@wac/testkit"
import { ByteSize, Context, Effect, Latch, Layer } from "effect"
import * as checks from "../checks.ts"
import { type Answer, call, hello, noticed, ready, receiver, send, setWebhook, start } from "../harness.ts"

const path = `/providers/${StubProviderWebhook.name}/webhook`

/** The sandbox, with a webhook of the provider's. */
const posting = (reading?: Effect.Effect<void>) => ({
  provider: Layer.merge(SandboxProvider.layer, StubProviderWebhook.layer(reading))
})

/** Posts bytes with their signature, unless another is given. */
const post = (
  { url }: { readonly url: string },
  body: string,
  signature: string | undefined = StubProviderWebhook.sign(body)
): Effect.Effect<Answer> =>
  call(url + path, { body, headers: signature === "" ? {} : { [StubProviderWebhook.signatureHeader]: signature } })

/** The `n`th message of a customer's, to the sandbox's number. */
const message = (n: number, customer = "+15557770001"): InboundItem.InboundItem => ({
  _tag: "Message",
  message: {
    providerNumberId: SandboxProvider.firstNumber.providerNumberId,
    providerMessageId: `wamid.in.${n}`,
    customer: { phone: customer, userId: null },
    at: checks.now(),
    type: "text",
    content: { body: `message ${n}` },
    context: null,
    preference: undefined
  }
})

const status = (messageId: Id.MessageId, status: "delivered" | "read"): InboundItem.InboundItem => ({
  _tag: "Status",
  providerNumberId: SandboxProvider.firstNumber.providerNumberId,
  reference: messageId,
  report: { status, at: checks.now(), providerMessageId: null, error: null }
})

/** Every event of the workspace, oldest first. */
const eventsOf = Effect.fnUntraced(function*(server: checks.Ready) {
  const workspaceId = yield* checks.workspaceOf(server)
  const store = Context.get(server.services, EventStore.EventStore)
  const { items } = yield* Effect.orDie(store.list(workspaceId, {}, { limit: 10_000, after: null }))
  return items
})

const namesIn = (events: ReadonlyArray<Event.Event>) => events.map(({ data }) => String(data["provider_message_id"]))

const backlogOf = ({ services }: checks.Ready) =>
  Effect.orDie(Context.get(services, InboundPostStore.InboundPostStore).backlog)

const nothing = { waiting: 0, oldestReceivedAt: null, failing: 0, unreadable: 0 }

/** A server whose posts are read when `open` says so. */
const held = Effect.gen(function*() {
  const latch = yield* Latch.make()
  let reads = 0
  const server = yield* ready({
    adapters: posting(Effect.suspend(() => {
      reads++
      return Latch.await(latch)
    }))
  })
  return { server, open: Latch.open(latch), reads: () => reads }
})

describe.concurrent("the handshake", () => {
  it.live("the handshake returns its challenge, and is refused with a different token", () =>
    Effect.gen(function*() {
      const { url } = yield* start({ adapters: posting() })
      const ask = (query: string, method = "GET") => call(`${url}${path}${query}`, { method })
      const right = `token=${encodeURIComponent(StubProviderWebhook.handshakeToken)}`
      const answer = yield* ask(`?${right}&challenge=1158201444`)
      assert.deepStrictEqual([answer.status, answer.text], [200, "1158201444"])
      assert.match(answer.headers.get("content-type") ?? "", /^text\/plain/)
      checks.assertHeaders(answer)
      assert.strictEqual((yield* ask(`?${right}&challenge=%3Cb%3E%26`)).text, "<b>&")
      const head = yield* ask(`?${right}&challenge=1`, "HEAD")
      assert.deepStrictEqual([head.status, head.text], [200, ""])
      for (const query of ["", "?", "?challenge=1", "?token=x&challenge=1", `?${right}`]) {
        checks.assertError(yield* ask(query), 403, { code: "forbidden", reason: "failed_handshake" })
      }
    }).pipe(Effect.scoped))

  it.live("the address accepts only handshakes and posts, and exists only with a provider that posts", () =>
    Effect.gen(function*() {
      const server = yield* start({ adapters: posting() })
      for (const method of ["PUT", "PATCH", "DELETE", "OPTIONS"]) {
        const answer = yield* call(server.url + path, { method })
        checks.assertError(answer, 405, { code: "not_found" })
        assert.strictEqual(answer.headers.get("allow"), "GET, HEAD, POST")
      }
      for (const other of ["/providers/other/webhook", "/providers", "/providers/stub", `${path}/`, `${path}/x`]) {
        checks.assertError(yield* call(server.url + other), 404, { code: "not_found" })
      }
      const sandbox = yield* start()
      checks.assertError(yield* call(sandbox.url + path), 404, { code: "not_found" })
      checks.assertError(yield* post(sandbox, "{}"), 404, { code: "not_found" })
    }).pipe(Effect.scoped))
})

describe.concurrent("a post", () => {
  it.live("a signed post is processed, and the workspace's webhook gets its events", () =>
    Effect.gen(function*() {
      const server = yield* ready({ adapters: posting() })
      const customer = yield* receiver
      yield* setWebhook(server, { url: customer.url })
      const { body: sent } = yield* send(server, hello("+15005550003"))
      const body = StubProviderWebhook.bodyOf([message(1), status(sent.message_id, "read"), message(2)])
      const answer = yield* post(server, body)
      assert.deepStrictEqual([answer.status, answer.text], [200, ""])
      checks.assertHeaders(answer)
      assert.isFalse(answer.headers.has("ratelimit"))
      const delivered = yield* customer.take(5)
      assert.deepStrictEqual(
        delivered.map(({ event }) => event.data.text?.body ?? event.type).sort(),
        ["message 1", "message 2", "message.delivered", "message.read", "message.sent"]
      )
      yield* checks.until(backlogOf(server), ({ waiting }) => waiting === 0)
    }).pipe(Effect.scoped))

  it.live("an unsigned, wrongly signed or altered post changes nothing", () =>
    Effect.gen(function*() {
      const { open, reads, server } = yield* held
      yield* open
      const body = StubProviderWebhook.bodyOf([message(1)])
      const signature = StubProviderWebhook.sign(body)
      const forged: ReadonlyArray<readonly [string, string]> = [
        [body, ""],
        [body, "x"],
        [body, "0".repeat(64)],
        [body, signature.slice(1)],
        [body, StubProviderWebhook.sign(`${body} `)],
        [`${body} `, signature],
        [body.replace("message 1", "message 2"), signature],
        [JSON.stringify(JSON.parse(body), null, 1), signature]
      ]
      for (const [altered, signature] of forged) {
        const answer = yield* post(server, altered, signature)
        checks.assertError(answer, 401, { code: "unauthorized", reason: "invalid_signature" })
      }
      assert.deepStrictEqual(yield* backlogOf(server), nothing)
      assert.strictEqual((yield* post(server, body)).status, 200)
      yield* checks.until(eventsOf(server), ({ length }) => length > 0)
      assert.deepStrictEqual([namesIn(yield* eventsOf(server)), reads()], [["wamid.in.1"], 1])
    }).pipe(Effect.scoped))

  it.live("a post is verified over its raw bytes, and stored even if it cannot be read", () =>
    Effect.gen(function*() {
      const server = yield* ready({ adapters: posting() })
      const escaped = StubProviderWebhook.bodyOf([message(1)]).replace("message 1", "\\u00e4 \\ud83d\\ude00 \\/")
      assert.strictEqual((yield* post(server, ` ${escaped}\n`)).status, 200)
      const [event] = yield* checks.until(eventsOf(server), ({ length }) => length > 0)
      assert.deepStrictEqual(event!.data["text"], { body: "ä 😀 /" })
      const raw = Buffer.from([0xff, 0x00, 0x7b])
      const nonsense = yield* checks.exchange(
        server.url,
        checks.head(`POST ${path}`, {
          [StubProviderWebhook.signatureHeader]: StubProviderWebhook.sign(raw),
          "Content-Type": "text/plain",
          "Content-Length": "3"
        }),
        raw
      )
      assert.strictEqual(nonsense.answer.status, 200, nonsense.text)
      assert.strictEqual((yield* post(server, "{}")).status, 200)
      const backlog = yield* checks.until(backlogOf(server), ({ unreadable }) => unreadable === 2)
      assert.deepStrictEqual(backlog, { ...nothing, unreadable: 2 })
      const metrics = yield* call(`${server.url}/metrics`)
      assert.include(metrics.text, "wac_inbound_posts{state=\"unreadable\"} 2")
      assert.include(metrics.text, "wac_inbound_posts{state=\"waiting\"} 0")
      assert.include(metrics.text, "wac_inbound_posts_total{outcome=\"kept\"} 3")
      assert.include(metrics.text, "wac_inbound_post_problems_total{problem=\"unreadable\"} 2")
      assert.include(metrics.text, "wac_inbound_items_total{kind=\"message\"} 1")
      assert.include(metrics.text, "wac_inbound_oldest_post_age_seconds 0")
    }).pipe(Effect.scoped))

  it.live("a repeated post gets the same response and changes nothing, even many at once", () =>
    Effect.gen(function*() {
      const server = yield* ready({ adapters: posting() })
      const body = StubProviderWebhook.bodyOf([message(1), message(2)])
      const answers = yield* Effect.all(Array.from({ length: 12 }, () => post(server, body)), { concurrency: 12 })
      for (const { status } of answers) assert.strictEqual(status, 200)
      yield* checks.until(eventsOf(server), ({ length }) => length >= 2)
      assert.strictEqual((yield* post(server, body)).status, 200)
      // upstream batches anew when it tries again
      yield* post(server, StubProviderWebhook.bodyOf([message(2), message(3), message(1)]))
      yield* checks.until(eventsOf(server), ({ length }) => length >= 3)
      yield* checks.until(backlogOf(server), ({ waiting }) => waiting === 0)
      assert.deepStrictEqual(namesIn(yield* eventsOf(server)), ["wamid.in.1", "wamid.in.2", "wamid.in.3"])
    }).pipe(Effect.scoped))

  it.live("a post of exactly 4 MiB is accepted, and one more byte is refused, in any framing", () =>
    Effect.gen(function*() {
      const server = yield* ready({ adapters: posting() })
      const limit = 4 * 1024 * 1024
      const items = StubProviderWebhook.bodyOf([message(1)])
      const whole = items.padEnd(limit, " ")
      const larger = items.padEnd(limit + 1, " ")
      const tooLarge = { code: "invalid_body", reason: "too_large" }
      checks.assertError(yield* post(server, larger), 413, tooLarge)
      const signed = { [StubProviderWebhook.signatureHeader]: StubProviderWebhook.sign(larger) }
      // before any of it comes
      for (const length of [limit + 1, 999_999_999_999_999]) {
        const declared = yield* checks.exchange(
          server.url,
          checks.head(`POST ${path}`, { ...signed, "Content-Length": `${length}` })
        )
        checks.assertError(declared.answer, 413, tooLarge)
      }
      const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
      const streamed = yield* checks.exchange(
        server.url,
        checks.head(`POST ${path}`, { ...signed, "Transfer-Encoding": "chunked" }),
        `${chunk(larger.slice(0, limit))}${chunk(" ")}0\r\n\r\n`
      )
      checks.assertError(streamed.answer, 413, tooLarge)
      assert.deepStrictEqual(yield* backlogOf(server), nothing)
      assert.strictEqual((yield* post(server, whole)).status, 200)
      yield* checks.until(eventsOf(server), ({ length }) => length === 1)
    }).pipe(Effect.scoped))

  it.live("a post is refused while too many unverified posts fill the memory, and accepted afterwards", () =>
    Effect.gen(function*() {
      const { provider } = posting()
      const mebibyte = 1024 * 1024
      const server = yield* ready({
        adapters: { provider: Layer.merge(provider, Layer.succeed(BodyRoom.Capacity, ByteSize.mebibytes(4))) }
      })
      const items = StubProviderWebhook.bodyOf([message(1)])
      const large = items.padEnd(mebibyte, " ")
      const full = { code: "server_error", reason: "overloaded" }
      // a post that is read beside the slow one may take its room, accepted or not: then another slow one begins
      const fill = Effect.scoped(Effect.gen(function*() {
        const slow = yield* checks.connect(server.url)
        yield* slow.write(
          checks.head(`POST ${path}`, { "Content-Length": `${4 * mebibyte}` }) + " ".repeat(3 * mebibyte)
        )
        yield* noticed(server.url)
        const answer = yield* post(server, large)
        if (answer.status === 200) return false
        checks.assertError(answer, 503, full)
        assert.strictEqual(answer.headers.get("retry-after"), "1")
        const chunked = yield* checks.exchange(
          server.url,
          checks.head(`POST ${path}`, {
            [StubProviderWebhook.signatureHeader]: StubProviderWebhook.sign(large),
            "Transfer-Encoding": "chunked"
          }),
          `${mebibyte.toString(16)}\r\n${large}\r\n0\r\n\r\n`
        )
        if (chunked.answer.status === 200) return false
        checks.assertError(chunked.answer, 503, full)
        return true
      }))
      yield* checks.until(fill, (isFull) => isFull)
      yield* checks.until(post(server, large), ({ status }) => status === 200)
      yield* checks.until(eventsOf(server), ({ length }) => length === 1)
      // what is refused is counted no longer
      for (let i = 0; i < 8; i++) {
        // the server may have yet to read what a slow one sent before it left
        const refused = yield* checks.until(post(server, large.slice(1), "x"), ({ status }) => status !== 503)
        checks.assertError(refused, 401, { code: "unauthorized", reason: "invalid_signature" })
      }
    }).pipe(Effect.scoped))

  it.live("a post of 1,000 items gets its response before it is read, and is then processed fully", () =>
    Effect.gen(function*() {
      const { open, server } = yield* held
      const items = Array.from({ length: 1000 }, (_, i) => message(i, `+1555777${String(i % 250).padStart(4, "0")}`))
      const answer = yield* post(server, StubProviderWebhook.bodyOf(items))
      assert.strictEqual(answer.status, 200)
      assert.deepStrictEqual(yield* eventsOf(server), [])
      assert.strictEqual((yield* backlogOf(server)).waiting, 1)
      yield* open
      const events = yield* checks.until(eventsOf(server), ({ length }) => length >= 1000)
      assert.strictEqual(new Set(namesIn(events)).size, 1000)
      assert.lengthOf(events, 1000)
      // of one customer in the order in which they wrote
      const first = events.filter(({ data }) => data["from"] === "+15557770000")
      assert.deepStrictEqual(namesIn(first), ["wamid.in.0", "wamid.in.250", "wamid.in.500", "wamid.in.750"])
    }).pipe(Effect.scoped))

  it.live("a post that cannot be stored does not get 200", () =>
    Effect.gen(function*() {
      let isAway = true
      const away = Effect.fail(new StoreError.StoreError({ operation: "SECRET.insert" }))
      const store = Layer.effect(
        InboundPostStore.InboundPostStore,
        Effect.map(InboundPostStore.InboundPostStore, (store) =>
          InboundPostStore.InboundPostStore.of({
            ...store,
            keep: (command) => Effect.suspend(() => isAway ? away : store.keep(command))
          }))
      ).pipe(Layer.provide(MemoryStorage.layer))
      const { provider } = posting()
      const server = yield* ready({ adapters: { provider: Layer.merge(provider, store) } })
      const body = StubProviderWebhook.bodyOf([message(1)])
      const refused = yield* post(server, body)
      checks.assertError(refused, 503, { code: "server_error", reason: "storage_unavailable" })
      assert.notInclude(refused.text, "SECRET")
      isAway = false
      assert.strictEqual((yield* post(server, body)).status, 200)
      yield* checks.until(eventsOf(server), ({ length }) => length === 1)
    }).pipe(Effect.scoped))
})
