/**
 * API keys: issuing, listing, revoking, expiring, and the signatures of requests made with them (contract §5).
 */
import { assert, describe, layer } from "@effect/vitest"
import {
  ApiKeys,
  ApiKeyStore,
  ApiScope,
  Id,
  type PhoneNumber,
  PhoneNumberStore,
  type Sealed,
  SealedSecretStore,
  Time
} from "@wac/core"
import { requestPayload, type RequestPayloadInput, sign } from "@wac/verifier"
import { Context, DateTime, Deferred, Effect, Fiber, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { vi } from "vitest"
import * as checks from "../checks.ts"
import { type Answer, call, createKey, hello, noticed, pages, ready, send } from "../harness.ts"
import { moving } from "../movable.ts"

const slow = "+15554440005"

const provider = checks.recording(({ message }) =>
  message.to === slow
    ? Effect.delay(Effect.succeed({ _tag: "Accepted", providerMessageId: "wamid.slow" }), "300 millis")
    : undefined
)

class Fixture extends Context.Service<
  Fixture,
  checks.Ready & {
    readonly workspaceId: Id.WorkspaceId
    readonly other: Effect.Success<ReturnType<typeof checks.anotherWorkspace>>
  }
>()("@wac/server/test/keys/keys.test/Fixture") {
  static readonly layer = Layer.effect(
    Fixture,
    Effect.gen(function*() {
      const server = yield* ready({ environment: checks.unlimited, adapters: provider.adapters })
      const other = yield* checks.anotherWorkspace("other", "+15005550101").pipe(Effect.provideContext(server.services))
      return { ...server, workspaceId: yield* checks.workspaceOf(server), other }
    })
  )
}

/** Asks to create a key; a fresh idempotency key unless one is given. */
const create = (
  { session, url }: Pick<checks.Ready, "session" | "url">,
  body: unknown,
  key: string = crypto.randomUUID()
): Effect.Effect<Answer> => call(`${url}/internal/api-keys`, { headers: { ...session, "idempotency-key": key }, body })

const get = ({ session, url }: Pick<checks.Ready, "session" | "url">, id: string): Effect.Effect<Answer> =>
  call(`${url}/internal/api-keys/${id}`, { headers: session })

const list = ({ session, url }: Pick<checks.Ready, "session" | "url">, query = ""): Effect.Effect<Answer> =>
  call(`${url}/internal/api-keys${query}`, { headers: session })

const revoke = ({ session, url }: Pick<checks.Ready, "session" | "url">, id: string): Effect.Effect<Answer> =>
  call(`${url}/internal/api-keys/${id}`, { method: "DELETE", headers: session })

const templates = (url: string, { apiKey }: { readonly apiKey: string }): Effect.Effect<Answer> =>
  call(`${url}/v1/templates`, { headers: { authorization: `Bearer ${apiKey}` } })

/** The numbers of a workspace; of the server's own unless another is given. */
const numbersOf = ({ services, workspaceId }: typeof Fixture.Service, of: Id.WorkspaceId = workspaceId) =>
  PhoneNumberStore.PhoneNumberStore.use((store) => store.list(of)).pipe(Effect.provideContext(services))

/** Another number in the account of a number, not the default. */
const another = (
  { services }: typeof Fixture.Service,
  number: PhoneNumber.PhoneNumber,
  phoneNumber = "+15005550177" as PhoneNumber.PhoneNumber["phoneNumber"]
) =>
  Effect.gen(function*() {
    const id = yield* Id.generate(yield* SecureRandom.SecureRandom, "pn")
    const made = { ...number, id, phoneNumber, providerNumberId: `provider-${id}`, isDefault: false }
    assert.isTrue(yield* PhoneNumberStore.PhoneNumberStore.use((store) => store.add(made)))
    return made
  }).pipe(Effect.provide(SecureRandom.layerWebCrypto), Effect.provideContext(services))

const idsOf = (answer: Answer): ReadonlyArray<string> => answer.body.data.map(({ id }: { readonly id: string }) => id)

/** Every key that the workspace lists. */
const allIds = Effect.fnUntraced(function*(server: Pick<checks.Ready, "session" | "url">) {
  return (yield* pages(`${server.url}/internal/api-keys`, server.session)).flatMap(idsOf)
})

const unauthorized = (reason: string) => ({ code: "unauthorized", reason })

const callsTo = (to: string) => provider.calls.filter(({ message }) => message.to === to)

layer(Fixture.layer, checks.live)("API keys", (it) => {
  describe("issuing", () => {
    it.effect("creating a key returns 201 with exactly seven fields", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const before = checks.now()
        const answer = yield* create(server, { name: "deploy" })
        assert.strictEqual(answer.status, 201)
        checks.assertHeaders(answer)
        assert.isNull(answer.headers.get("idempotent-replayed"))
        const { apiKey, createdAt, id, prefix, signingSecret, ...rest } = answer.body
        assert.deepStrictEqual(rest, { name: "deploy", scopes: [...ApiScope.defaults] })
        assert.match(id, checks.idShape("key"))
        assert.match(apiKey, /^wac_live_[0-9A-Za-z]{36}$/)
        assert.strictEqual(prefix, apiKey.slice(0, "wac_live_".length + 4))
        assert.match(signingSecret, /^whsec_[0-9A-Za-z]{40}$/)
        assert.match(createdAt, checks.timeShape)
        assert.isAtLeast(Date.parse(createdAt), before)
        assert.isAtMost(Date.parse(createdAt), checks.now())
        assert.strictEqual((yield* templates(server.url, answer.body)).status, 200)
      }))

    it.effect("a key has the scopes that were asked for, and may always send", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const choices: ReadonlyArray<readonly [asked: ReadonlyArray<string>, has: ReadonlyArray<string>]> = [
          [[], ["messages:send"]],
          [["messages:read"], ["messages:send", "messages:read"]],
          [["campaigns:write", "contacts:write", "campaigns:write"], [
            "messages:send",
            "contacts:write",
            "campaigns:write"
          ]],
          [[...ApiScope.all].reverse(), ApiScope.all]
        ]
        for (const [scopes, expected] of choices) {
          const answer = yield* create(server, { name: "scoped", scopes })
          assert.deepStrictEqual([answer.status, answer.body.scopes], [201, expected])
          assert.deepStrictEqual((yield* get(server, answer.body.id)).body.scopes, expected)
          const listed = (yield* list(server)).body.data[0]
          assert.deepStrictEqual([listed.id, listed.scopes], [answer.body.id, expected])
        }
      }))

    it.effect("a key's details show what it is bound to, and the list still has four fields only", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const number = (yield* numbersOf(server))[0]!
        const binding = { phoneNumberIds: [number.id], allowedCidrs: ["127.0.0.0/8", "::1"] }
        const { body, status } = yield* create(server, { name: "bound", ...binding })
        assert.strictEqual(status, 201)
        const shown = (yield* get(server, body.id)).body
        assert.deepStrictEqual([shown.phoneNumberIds, shown.allowedCidrs], [[number.id], ["127.0.0.0/8", "::1/128"]])
        const listed = (yield* list(server)).body.data[0]
        assert.deepStrictEqual(Object.keys(listed).sort(), ["id", "lastUsedAt", "name", "scopes"])
        const free = yield* create(server, { name: "free" })
        const { allowedCidrs, phoneNumberIds } = (yield* get(server, free.body.id)).body
        assert.deepStrictEqual([phoneNumberIds, allowedCidrs], [null, null])
      }))

    it.effect("what a key cannot be bound to is refused by its place", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const own = (yield* numbersOf(server))[0]!
        const foreign = (yield* numbersOf(server, server.other.id))[0]!
        const refused: ReadonlyArray<readonly [body: object, param: string]> = [
          [{ phoneNumberIds: [] }, "phoneNumberIds"],
          [{ phoneNumberIds: [own.id, foreign.id] }, "phoneNumberIds[1]"],
          [{ phoneNumberIds: [own.phoneNumber] }, "phoneNumberIds[0]"],
          [{ phoneNumberIds: null }, "phoneNumberIds"],
          [{ allowedCidrs: [] }, "allowedCidrs"],
          [{ allowedCidrs: ["10.0.0.0/8", "10.0.0.1/8"] }, "allowedCidrs[1]"],
          [{ allowedCidrs: ["::ffff:10.0.0.0/104"] }, "allowedCidrs[0]"],
          [{ allowedCidrs: ["example.com"] }, "allowedCidrs[0]"],
          [{ allowedCidrs: Array.from({ length: 101 }, (_, i) => `10.0.0.${i}`) }, "allowedCidrs"]
        ]
        for (const [body, param] of refused) {
          checks.assertError(yield* create(server, { name: "bound", ...body }), 400, {
            code: "invalid_body",
            reason: "invalid_field",
            param
          })
        }
      }))

    it.effect("a key that is bound to other numbers sends neither from this one nor without naming one", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const own = (yield* numbersOf(server)).find(({ isDefault }) => isDefault)!
        const { body: bound } = yield* create(server, { name: "bound", phoneNumberIds: [own.id] })
        assert.strictEqual((yield* send({ url: server.url, key: bound }, hello())).status, 200)
        const second = yield* another(server, own)
        const { body: elsewhere } = yield* create(server, { name: "bound", phoneNumberIds: [second.id] })
        const refused = { code: "forbidden", reason: "sender_not_available", param: "from" }
        checks.assertError(yield* send({ url: server.url, key: elsewhere }, hello()), 403, refused)
        const from = (number: { readonly phoneNumber: string }) => ({ ...hello(), from: number.phoneNumber })
        checks.assertError(yield* send({ url: server.url, key: elsewhere }, from(own)), 403, refused)
        checks.assertError(yield* send({ url: server.url, key: bound }, from(second)), 403, refused)
        assert.strictEqual((yield* send({ url: server.url, key: elsewhere }, from(second))).status, 200)
      }))

    it.effect("a key that is bound to other numbers neither cancels a message of this one nor marks one to it as read", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const own = (yield* numbersOf(server)).find(({ isDefault }) => isDefault)!
        const { body: bound } = yield* create(server, { name: "bound", phoneNumberIds: [own.id] })
        const second = yield* another(server, own, "+15005550178" as PhoneNumber.PhoneNumber["phoneNumber"])
        const { body: elsewhere } = yield* create(server, { name: "bound", phoneNumberIds: [second.id] })
        const refused = { code: "forbidden", reason: "sender_not_available" }
        const by = ({ apiKey }: { readonly apiKey: string }) => ({
          authorization: `Bearer ${apiKey}`,
          "idempotency-key": crypto.randomUUID()
        })
        const sendAt = DateTime.formatIso(DateTime.makeUnsafe(checks.now() + 3_600_000))
        const later = yield* send({ url: server.url, key: bound }, { ...hello(), send_at: sendAt })
        assert.strictEqual(later.status, 202)
        const cancel = (key: { readonly apiKey: string }) =>
          call(`${server.url}/v1/messages/${later.body.message_id}`, { method: "DELETE", headers: by(key) })
        checks.assertError(yield* cancel(elsewhere), 403, refused)
        assert.strictEqual((yield* cancel(bound)).status, 200)
        // the sandbox's customer answers
        yield* send({ url: server.url, key: bound }, hello("+15005550008"))
        const received = yield* checks.until(
          call(`${server.url}/v1/events?type=message.received`, { headers: by(server.key) }),
          ({ body }) => body.data.length > 0
        )
        const read = (key: { readonly apiKey: string }) =>
          call(`${server.url}/v1/messages/${received.body.data[0].data.message_id}/read`, {
            headers: by(key),
            body: {}
          })
        checks.assertError(yield* read(elsewhere), 403, refused)
        assert.strictEqual((yield* read(bound)).status, 200)
      }))

    it.effect("a key that is bound to networks is used from these alone, by the word of trusted proxies", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const here = yield* create(server, { name: "here", allowedCidrs: ["127.0.0.0/8", "::1"] })
        const away = yield* create(server, { name: "away", allowedCidrs: ["203.0.113.0/24"] })
        const answer = (key: { readonly apiKey: string }, forwarded?: string) =>
          call(`${server.url}/v1/templates`, {
            headers: {
              authorization: `Bearer ${key.apiKey}`,
              ...(forwarded === undefined ? {} : { "x-forwarded-for": forwarded })
            }
          })
        assert.strictEqual((yield* answer(here.body)).status, 200)
        // this server trusts no proxy
        assert.strictEqual((yield* answer(here.body, "203.0.113.9")).status, 200)
        checks.assertError(yield* answer(away.body, "203.0.113.9"), 401, unauthorized("invalid_key"))
        checks.assertError(yield* answer(away.body), 401, unauthorized("invalid_key"))
        assert.isNull((yield* get(server, away.body.id)).body.lastUsedAt)
      }))

    it.effect("a key that is bound to networks is judged by the address that a trusted proxy forwards", () =>
      Effect.gen(function*() {
        const server = yield* ready({ environment: { TRUST_PROXY: "127.0.0.0/8, ::1, 10.0.0.0/8" } })
        const { body: key } = yield* create(server, { name: "away", allowedCidrs: ["203.0.113.0/24", "2001:db8::/32"] })
        const status = (forwarded: string) =>
          Effect.map(
            call(`${server.url}/v1/templates`, {
              headers: { authorization: `Bearer ${key.apiKey}`, "x-forwarded-for": forwarded }
            }),
            (answer) => answer.status
          )
        for (const inside of ["203.0.113.9", "::ffff:203.0.113.9", "2001:db8::7", "203.0.113.9, 10.1.2.3"]) {
          assert.strictEqual(yield* status(inside), 200, inside)
        }
        for (const outside of ["203.0.114.9", "203.0.113.9, 198.51.100.7", "unknown", "10.1.2.3", "2001:db9::"]) {
          assert.strictEqual(yield* status(outside), 401, outside)
        }
      }).pipe(Effect.scoped))

    it.effect("a key that may only send reads no message, event or file, and stores no file", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const { body } = yield* create(server, { name: "send", scopes: [] })
        const headers = { authorization: `Bearer ${body.apiKey}` }
        for (const path of ["messages", `messages/msg_${checks.nobody}`, "events", `media/med_${checks.nobody}`]) {
          checks.assertError(yield* call(`${server.url}/v1/${path}`, { headers }), 403, {
            code: "forbidden",
            reason: "missing_scope"
          })
        }
        assert.strictEqual((yield* templates(server.url, body)).status, 200)
        assert.strictEqual((yield* send({ url: server.url, key: body }, hello())).status, 200)
      }))

    it.effect("a repeated request with the same scopes in another order gets the same key, other scopes are a conflict", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const key = crypto.randomUUID()
        const first = yield* create(server, { name: "again", scopes: ["contacts:write", "messages:read"] }, key)
        const again = yield* create(
          server,
          { name: "again", scopes: ["messages:read", "contacts:write", "messages:send"] },
          key
        )
        assert.deepStrictEqual([again.status, again.body.id], [201, first.body.id])
        checks.assertError(yield* create(server, { name: "again", scopes: [] }, key), 409, {
          code: "idempotency_conflict",
          reason: "payload_mismatch"
        })
      }))

    it.effect("a key's secrets are shown only once", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const key = crypto.randomUUID()
        const created = yield* create(server, { name: "secret" }, key)
        const again = yield* create(server, { name: "secret" }, key)
        const { apiKey, signingSecret, ...shown } = created.body
        assert.deepStrictEqual([again.status, again.body], [201, shown])
        assert.strictEqual(again.headers.get("idempotent-replayed"), "true")
        for (const { text } of [again, yield* list(server), yield* get(server, shown.id)]) {
          assert.notInclude(text, apiKey)
          assert.notInclude(text, apiKey.slice(13))
          assert.notInclude(text, signingSecret)
          assert.notInclude(text, "whsec_")
        }
      }))

    it.effect("one Idempotency-Key creates one key, even for twenty requests at once", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const before = yield* allIds(server)
        const key = crypto.randomUUID()
        const answers = yield* Effect.all(Array.from({ length: 20 }, () => create(server, { name: "once" }, key)), {
          concurrency: "unbounded"
        })
        assert.strictEqual(new Set(answers.map(({ body }) => body.id)).size, 1)
        assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
        const first = answers.filter(({ body }) => "apiKey" in body)
        assert.lengthOf(first, 1)
        assert.lengthOf(answers.filter(({ headers }) => headers.get("idempotent-replayed") === "true"), 19)
        assert.deepStrictEqual(yield* allIds(server), [first[0]!.body.id, ...before])
        for (const body of [{ name: "twice" }, { name: "once", requireSignature: true }]) {
          checks.assertError(yield* create(server, body, key), 409, {
            code: "idempotency_conflict",
            reason: "payload_mismatch"
          })
        }
        // trimmed, and with the default spelled out, it is the same request
        const same = yield* create(server, { name: " once ", requireSignature: false }, `"${key}"`)
        assert.strictEqual(same.body.id, first[0]!.body.id)
        assert.lengthOf(yield* allIds(server), before.length + 1)
      }))

    it.effect("a key's name has 1 to 100 characters after trimming", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        for (
          const [name, kept] of [
            ["  production  ", "production"],
            ["\tx\n", "x"],
            ["x".repeat(100), "x".repeat(100)],
            [` ${"y".repeat(100)} `, "y".repeat(100)],
            ["\u{1f511}".repeat(100), "\u{1f511}".repeat(100)],
            ["<b>'\"; drop table keys", "<b>'\"; drop table keys"]
          ] as const
        ) {
          const answer = yield* create(server, { name })
          assert.deepStrictEqual([answer.status, answer.body.name], [201, kept])
          assert.strictEqual((yield* get(server, answer.body.id)).body.name, kept)
        }
        for (const name of ["", " ", "\t\n", "x".repeat(101), "\u{1f511}".repeat(101), "a\u0000b", "\ud800", null, 1]) {
          checks.assertInvalid(yield* create(server, { name }), "invalid_field", "name")
        }
      }))

    it.effect("a key's expiry must be in the future", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const past = ["2020-01-01T00:00:00.000Z", "1970-01-01T00:00:00Z", checks.timeIn(-1)]
        for (const expiresAt of past) {
          checks.assertInvalid(yield* create(server, { name: "x", expiresAt }), "invalid_field", "expiresAt")
        }
        const { body } = yield* create(server, { name: "x", expiresAt: "2100-01-01T02:00:00+02:00" })
        assert.strictEqual((yield* get(server, body.id)).body.expiresAt, "2100-01-01T00:00:00.000Z")
      }))
  })

  describe("listing", () => {
    it.effect("the list shows four fields of each active key, newest first", () =>
      Effect.gen(function*() {
        const server = yield* moving(ready({ environment: checks.unlimited }))
        const kept = (yield* create(server, { name: "kept" })).body
        const revoked = (yield* create(server, { name: "revoked" })).body
        const expiring = (yield* create(server, {
          name: "expiring",
          expiresAt: checks.timeIn(3_600_000)
        })).body
        yield* revoke(server, revoked.id)
        const [first, second] = (yield* list(server, "?limit=2")).body.data
        assert.deepStrictEqual([first.id, second.id], [expiring.id, kept.id])
        yield* server.pass("1 hour")
        const answer = yield* list(server)
        checks.assertHeaders(answer)
        assert.deepStrictEqual(Object.keys(answer.body), ["data", "hasMore", "nextCursor"])
        assert.deepStrictEqual(answer.body.data[0], {
          id: kept.id,
          name: "kept",
          scopes: [...ApiScope.defaults],
          lastUsedAt: null
        })
        const ids = yield* allIds(server)
        assert.notInclude(ids, revoked.id)
        assert.deepStrictEqual(ids, [...ids].sort().reverse())
      }))

    it.effect("the pages contain each key once, and none that was created meanwhile", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const made = yield* Effect.forEach(Array.from({ length: 30 }, (_, i) => `page ${i}`), (name) =>
          Effect.map(create(server, { name }), ({ body }) => body.id as string))
        const all = yield* allIds(server)
        assert.deepStrictEqual(all.slice(0, 30), [...made].reverse())
        const first = yield* list(server)
        assert.deepStrictEqual([idsOf(first), first.body.hasMore], [all.slice(0, 25), true])
        yield* create(server, { name: "meanwhile" })
        // a key that goes before its page comes is missing, and shifts nothing
        yield* revoke(server, all[26]!)
        const seen = [...idsOf(first)]
        let cursor = first.body.nextCursor
        while (cursor !== null) {
          const page = yield* list(server, `?limit=3&cursor=${encodeURIComponent(cursor)}`)
          assert.isAtMost(idsOf(page).length, 3)
          assert.strictEqual(page.body.hasMore, page.body.nextCursor !== null)
          seen.push(...idsOf(page))
          cursor = page.body.nextCursor
        }
        assert.deepStrictEqual(
          seen,
          all.filter((id) =>
            id !== all[26]
          )
        )
      }))

    it.effect("a single key has eleven fields", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const created = (yield* create(server, { name: "full", requireSignature: true })).body
        const answer = yield* get(server, created.id)
        assert.strictEqual(answer.status, 200)
        assert.deepStrictEqual(answer.body, {
          id: created.id,
          name: "full",
          scopes: [...ApiScope.defaults],
          lastUsedAt: null,
          prefix: created.prefix,
          createdAt: created.createdAt,
          expiresAt: null,
          revokedAt: null,
          requireSignature: true,
          phoneNumberIds: null,
          allowedCidrs: null
        })
      }))

    it.effect("the list shows the last use of a key once it is written", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const { id } = (yield* create(server, { name: "used" })).body
        const at = checks.now() - 1000
        yield* Effect.orDie(Effect.flatMap(ApiKeyStore.ApiKeyStore, (store) => store.touch(new Map([[id, at]])))).pipe(
          Effect.provideContext(server.services)
        )
        assert.strictEqual((yield* get(server, id)).body.lastUsedAt, Time.iso(at))
        const listed = (yield* list(server)).body.data.find((key: { readonly id: string }) => key.id === id)
        assert.strictEqual(listed.lastUsedAt, Time.iso(at))
      }))
  })

  describe("revoking", () => {
    it.effect("revoking a key returns 204 every time, and keeps the first revocation's time", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const { id } = yield* createKey(server.url, server.session)
        const first = yield* revoke(server, id)
        assert.deepStrictEqual([first.status, first.text], [204, ""])
        checks.assertHeaders(first)
        const { revokedAt } = (yield* get(server, id)).body
        assert.match(revokedAt, checks.timeShape)
        yield* checks.until(Effect.sync(checks.now), (now) => now > Date.parse(revokedAt))
        assert.strictEqual((yield* revoke(server, id)).status, 204)
        assert.strictEqual((yield* get(server, id)).body.revokedAt, revokedAt)
      }))

    it.effect("revoking a key of another workspace returns 404 and changes nothing", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        for (
          const id of [`key_${checks.nobody}`, "key_", "x", server.workspaceId, server.other.key.id, "%00", "a%2Fb"]
        ) {
          checks.assertError(yield* revoke(server, id), 404, { code: "not_found" })
          checks.assertError(yield* get(server, id), 404, { code: "not_found" })
        }
        assert.strictEqual((yield* templates(server.url, server.other.key)).status, 200)
        assert.notInclude(yield* allIds(server), server.other.key.id)
      }))

    it.effect("a revocation takes effect immediately, even for a key that was just used", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const { url } = server
        for (let i = 0; i < 20; i++) {
          const key = yield* createKey(url, server.session)
          assert.strictEqual((yield* templates(url, key)).status, 200)
          assert.strictEqual((yield* revoke(server, key.id)).status, 204)
          checks.assertError(yield* templates(url, key), 401, unauthorized("revoked_key"))
          checks.assertError(yield* send({ key, url }, hello()), 401, unauthorized("revoked_key"))
        }
      }))

    /** A send that waits for the rest of its body. */
    const halfSent = Effect.fnUntraced(function*(url: string, key: { readonly apiKey: string }, to: string) {
      const body = JSON.stringify(hello(to))
      const connection = yield* checks.connect(url)
      yield* connection.write(
        checks.head("POST /v1/messages", {
          "Authorization": `Bearer ${key.apiKey}`,
          "Idempotency-Key": crypto.randomUUID(),
          "Content-Type": "application/json",
          "Content-Length": `${body.length}`
        }) + body.slice(0, 10)
      )
      return { ...connection, end: connection.write(body.slice(10)) }
    })

    /** The same, once it has passed authentication. */
    const waiting = Effect.fnUntraced(function*(
      { services, url }: checks.Ready,
      key: { readonly apiKey: string },
      to: string
    ) {
      const keys: Pick<ApiKeys.ApiKeys["Service"], "authenticate"> = Context.get(services, ApiKeys.ApiKeys)
      const { authenticate } = keys
      const passed = Deferred.makeUnsafe<void>()
      const watching = vi.spyOn(keys, "authenticate").mockImplementation((token) =>
        Effect.tap(authenticate(token), token === key.apiKey ? Deferred.succeed(passed, undefined) : Effect.void)
      )
      const send = yield* halfSent(url, key, to)
      yield* Deferred.await(passed)
      watching.mockRestore()
      yield* noticed(url)
      assert.strictEqual(yield* send.peek, "")
      return send
    })

    it.effect("a revocation stops an authenticated request before it reaches the provider", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const { session, url } = server
        const revoked = yield* createKey(url, session)
        yield* revoke(server, revoked.id)
        const refused = yield* halfSent(url, revoked, "+15554440001")
        assert.match(yield* checks.until(refused.peek, (text) => text !== ""), /^HTTP\/1\.1 401 /)

        const untouched = yield* waiting(server, yield* createKey(url, session), "+15554440002")
        yield* untouched.end
        assert.strictEqual((yield* untouched.read).answer.status, 200)
        assert.lengthOf(callsTo("+15554440002"), 1)

        const key = yield* createKey(url, session)
        const stopped = yield* waiting(server, key, "+15554440003")
        assert.strictEqual((yield* revoke(server, key.id)).status, 204)
        assert.strictEqual(yield* stopped.peek, "")
        yield* stopped.end
        checks.assertError((yield* stopped.read).answer, 401, unauthorized("revoked_key"))
        assert.lengthOf(callsTo("+15554440003"), 0)
      }))

    it.effect("an expiry also stops an authenticated request before it reaches the provider", () =>
      Effect.gen(function*() {
        const server = yield* moving(ready({ environment: checks.unlimited, adapters: provider.adapters }))
        const key = yield* createKey(server.url, server.session, {
          name: "passing",
          expiresAt: checks.timeIn(20_000)
        })
        const stopped = yield* waiting(server, key, "+15554440004")
        yield* server.pass("20 seconds")
        yield* stopped.end
        checks.assertError((yield* stopped.read).answer, 401, unauthorized("expired_key"))
        assert.lengthOf(callsTo("+15554440004"), 0)
      }))

    it.effect("a revocation does not affect a send that the provider already has", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const key = yield* createKey(server.url, server.session)
        const sending = yield* Effect.forkChild(send({ key, url: server.url }, hello(slow)))
        yield* checks.until(Effect.sync(() => callsTo(slow).length), (calls) => calls === 1)
        assert.strictEqual((yield* revoke(server, key.id)).status, 204)
        assert.isUndefined(sending.pollUnsafe())
        const sent = yield* Fiber.join(sending)
        assert.strictEqual(sent.status, 200, sent.text)
        assert.strictEqual((yield* checks.stored(server, sent.body.message_id)).body.status, "sent")
      }))
  })

  describe("a wrong key", () => {
    it.effect.each([
      [undefined, "missing_key"],
      ["", "invalid_key"],
      ["Bearer", "invalid_key"],
      ["Bearer ", "invalid_key"],
      ["Basic dXNlcjpwYXNz", "invalid_key"],
      ["Bearer nonsense", "invalid_key"],
      [`Bearer wac_live_${"0".repeat(36)}`, "invalid_key"],
      [`Bearer wac_live_${"A".repeat(35)}`, "invalid_key"],
      [`Bearer wac_live_${"0".repeat(30)}${"0".repeat(6)} x`, "invalid_key"],
      [`Bearer ${"x".repeat(8000)}`, "invalid_key"]
    ])("%s is %s", ([authorization, reason]) =>
      Effect.gen(function*() {
        const { url } = yield* Fixture
        for (const path of ["/v1/templates", `/v1/messages/msg_${checks.nobody}`]) {
          const answer = yield* call(url + path, { headers: authorization === undefined ? {} : { authorization } })
          checks.assertError(answer, 401, unauthorized(reason!))
        }
      }))

    it.effect("a key with one wrong character is refused; the case of the scheme does not matter", () =>
      Effect.gen(function*() {
        const { key, url } = yield* Fixture
        for (let i = "wac_live_".length; i < key.apiKey.length; i++) {
          const other = key.apiKey[i] === "a" ? "b" : "a"
          const off = key.apiKey.slice(0, i) + other + key.apiKey.slice(i + 1)
          checks.assertError(yield* templates(url, { apiKey: off }), 401, unauthorized("invalid_key"))
        }
        for (const authorization of [`bearer ${key.apiKey}`, `BEARER ${key.apiKey}`, `Bearer   ${key.apiKey}`]) {
          assert.strictEqual((yield* call(`${url}/v1/templates`, { headers: { authorization } })).status, 200)
        }
        for (const authorization of [key.apiKey, `Token ${key.apiKey}`, `Bearer ${key.apiKey} `.padEnd(70, "x")]) {
          const answer = yield* call(`${url}/v1/templates`, { headers: { authorization } })
          checks.assertError(answer, 401, unauthorized("invalid_key"))
        }
        // no other place is looked into
        for (const path of [`/v1/templates?api_key=${key.apiKey}`, "/v1/templates"]) {
          const answer = yield* call(url + path, { headers: { "x-api-key": key.apiKey, cookie: `key=${key.apiKey}` } })
          checks.assertError(answer, 401, unauthorized("missing_key"))
        }
      }))
  })

  describe("request signatures", () => {
    const now = () => Math.floor(checks.now() / 1000)

    /** A send whose signature covers what `covers` says; it is right where that says nothing. */
    const signed = Effect.fnUntraced(function*(
      key: { readonly apiKey: string; readonly signingSecret: string },
      covers: Partial<RequestPayloadInput> & { readonly t?: number; readonly secret?: string } = {},
      path = "/v1/messages"
    ) {
      const { url } = yield* Fixture
      const body = JSON.stringify(hello())
      const idempotencyKey = crypto.randomUUID()
      const { secret, t, ...given } = covers
      const payload = requestPayload({ method: "POST", target: path, idempotencyKey, body, ...given })
      const signature = yield* Effect.promise(() => sign(payload, secret ?? key.signingSecret, t ?? now()))
      return yield* call(url + path, {
        headers: {
          "authorization": `Bearer ${key.apiKey}`,
          "content-type": "application/json",
          "idempotency-key": idempotencyKey,
          "x-service-signature": signature
        },
        body
      })
    })

    const param = "X-Service-Signature"
    const invalid = { ...unauthorized("invalid_signature"), param }
    const stale = { ...unauthorized("stale_signature"), param }

    const signing = Effect.fnUntraced(function*() {
      const { session, url } = yield* Fixture
      return yield* createKey(url, session, { name: "signing", requireSignature: true })
    })

    it.effect("a valid signature is accepted, whether or not the key requires one", () =>
      Effect.gen(function*() {
        const { key } = yield* Fixture
        for (const each of [key, yield* signing()]) {
          const answer = yield* signed(each)
          assert.strictEqual(answer.status, 200, answer.text)
          // close to the tolerance, either way
          for (const t of [now() - 290, now() + 290]) assert.strictEqual((yield* signed(each, { t })).status, 200)
          // the target is signed as it is sent
          assert.strictEqual((yield* signed(each, {}, "/v1/messages?a=%20b&a")).status, 200)
        }
      }))

    it.effect("a signature covers method, target, Idempotency-Key and body, with the key's own secret", () =>
      Effect.gen(function*() {
        const { key, other } = yield* Fixture
        for (const each of [key, yield* signing()]) {
          for (
            const covers of [
              { method: "PUT" },
              { target: "/v1/messages/" },
              { target: "/v1/messages?" },
              { target: "/V1/messages" },
              { idempotencyKey: "another" },
              { idempotencyKey: null },
              { body: "" },
              { body: JSON.stringify(hello(), null, 1) },
              { body: JSON.stringify(hello("+15551234568")) },
              { secret: other.key.signingSecret },
              { secret: each.signingSecret.slice("whsec_".length) },
              { secret: each.apiKey }
            ]
          ) checks.assertError(yield* signed(each, covers), 401, invalid)
          checks.assertError(yield* signed(each, { target: "/v1/messages" }, "/v1/messages?x=1"), 401, invalid)
        }
      }))

    it.effect("a signature from the past or future is refused as stale, but a forged one only as invalid", () =>
      Effect.gen(function*() {
        const key = yield* signing()
        for (const t of [now() - 310, now() + 310, 1, 4_102_444_800]) {
          checks.assertError(yield* signed(key, { t }), 401, stale)
          checks.assertError(yield* signed(key, { t, secret: "whsec_wrong" }), 401, invalid)
        }
      }))

    it.effect("keys with requireSignature require signatures on requests that change something", () =>
      Effect.gen(function*() {
        const { url } = yield* Fixture
        const key = yield* signing()
        const missing = { ...unauthorized("missing_signature"), param }
        checks.assertError(yield* send({ key, url }, hello()), 401, missing)
        assert.strictEqual((yield* templates(url, key)).status, 200)
        assert.strictEqual((yield* checks.stored({ key, url }, `msg_${checks.nobody}`)).status, 404)
      }))

    it.effect("while the key's secret cannot be opened, a signed request gets 500 without details", () =>
      Effect.gen(function*() {
        const fixture = yield* Fixture
        const { services, workspaceId } = fixture
        const key = yield* signing()
        const id = key.id as Id.ApiKeyId
        const rewrap = (keyIdOf: (before: Sealed.Sealed) => string) =>
          Effect.gen(function*() {
            const stored = yield* ApiKeyStore.ApiKeyStore.use((store) => store.get(workspaceId, id))
            const before = Option.getOrThrow(stored).signingSecret
            const after = { ...before, keyId: keyIdOf(before) }
            yield* SealedSecretStore.SealedSecretStore.use((store) => store.rewrap([{ row: id, before, after }]))
            return before.keyId
          }).pipe(Effect.provideContext(services))
        const right = yield* rewrap(() => "10573e11")
        const answer = yield* signed(key)
        checks.assertError(answer, 500, { code: "server_error", reason: "internal" })
        for (const word of ["10573e11", "master", id]) assert.notInclude(answer.text, word)
        yield* rewrap(() => right)
        // the key that was looked up before is forgotten after a while
        const again = yield* checks.until(
          Effect.provideService(signed(key), Fixture, fixture),
          ({ status }) => status !== 500
        )
        assert.strictEqual(again.status, 200, again.text)
      }))

    it.effect("a malformed signature is refused, whether or not the key requires one", () =>
      Effect.gen(function*() {
        const { key, url } = yield* Fixture
        const hex = "0".repeat(64)
        for (const each of [key, yield* signing()]) {
          for (
            const signature of [
              "",
              "nonsense",
              `v1=${hex}`,
              `t=${now()}`,
              `t=${now()},v1=`,
              `t=${now()},v1=${hex.slice(1)}`,
              `t=${now()},t=${now()},v1=${hex}`,
              `t=x,v1=${hex}`,
              `t=${now()},${Array(9).fill(`v1=${hex}`).join()}`,
              "t=1,".padEnd(5000, "v0=1,")
            ]
          ) checks.assertError(yield* send({ key: each, url }, hello(), { [param]: signature }), 401, invalid)
        }
      }))

    it.effect("a signature is checked before the body is parsed", () =>
      Effect.gen(function*() {
        const { url } = yield* Fixture
        const key = yield* signing()
        const body = "{\"broken\":"
        const idempotencyKey = crypto.randomUUID()
        const payload = requestPayload({ method: "POST", target: "/v1/messages", idempotencyKey, body })
        const headers = {
          "content-type": "application/json",
          "idempotency-key": idempotencyKey,
          "x-service-signature": yield* Effect.promise(() => sign(payload, key.signingSecret))
        }
        checks.assertInvalid(yield* send({ key, url }, body, headers), "malformed_json")
        checks.assertError(yield* send({ key, url }, `${body} `, headers), 401, invalid)
      }))
  })
})
