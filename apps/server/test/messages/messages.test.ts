/**
 * Sending and what becomes of it (contract §3, §7, §8 *sandbox*), over HTTP.
 */
import { assert, describe, layer } from "@effect/vitest"
import { type PhoneNumber, PhoneNumberStore } from "@wac/core"
import { Context, Effect, Layer } from "effect"
import * as checks from "../checks.ts"
import { type Answer, call, hello, ready, send } from "../harness.ts"
import { still } from "../movable.ts"

const provider = checks.recording()

class Fixture extends Context.Service<
  Fixture,
  checks.Ready & {
    readonly workspaceId: string
    readonly number: PhoneNumber.PhoneNumber
    readonly other: Effect.Success<ReturnType<typeof checks.anotherWorkspace>>
  }
>()("@wac/server/test/messages/messages.test/Fixture") {
  static readonly layer = Layer.effect(
    Fixture,
    Effect.gen(function*() {
      const server = yield* ready({ environment: checks.unlimited, adapters: provider.adapters })
      const workspaceId = yield* checks.workspaceOf(server)
      const [number] = yield* Effect.orDie(
        PhoneNumberStore.PhoneNumberStore.use((store) => store.list(workspaceId))
      ).pipe(Effect.provideContext(server.services))
      const other = yield* checks.anotherWorkspace("other", "+15005550101").pipe(Effect.provideContext(server.services))
      return { ...server, workspaceId, number: number!, other }
    })
  )
}

const sandbox = (n: number) => `+1500555${`${n}`.padStart(4, "0")}`

const callsTo = (to: string) => provider.calls.filter(({ message }) => message.to === to)

/** Another message is sent, and read 400 ms later: by then has come what was due of those before. `look` meanwhile. */
const anotherLife = (server: checks.Ready, look: Effect.Effect<unknown> = Effect.void) =>
  Effect.flatMap(send(server, hello("+15551230099")), ({ body: { message_id } }) =>
    checks.until(
      Effect.andThen(look, checks.stored(server, message_id)),
      ({ body }) => body.status === "read"
    ))

const template = (name: string, bodyParams?: ReadonlyArray<string>, language = "en_US") => ({
  to: "+15551234567",
  type: "template",
  template: { name, language, ...(bodyParams === undefined ? {} : { bodyParams }) }
})

const text = (to: string, body = "hello") => ({ to, type: "text", text: { body } })

const storedFields = [
  "direction",
  "status",
  "message_id",
  "provider_message_id",
  "tenant_id",
  "api_key_id",
  "to",
  "from",
  "type",
  "created_at",
  "send_at",
  "sent_at",
  "delivered_at",
  "read_at",
  "failed_at",
  "error",
  "client_reference",
  "pricing",
  "played_at"
]

const millis = (time: string): number => {
  assert.match(time, checks.timeShape)
  return Date.parse(time)
}

layer(Fixture.layer, checks.live)("messages", (it) => {
  describe.concurrent("a send", () => {
    it.effect("the response to a send has exactly the five specified fields", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const before = callsTo("+15551230001").length
        const answer = yield* send(server, hello("+15551230001"))
        assert.strictEqual(answer.status, 200, answer.text)
        checks.assertHeaders(answer)
        assert.strictEqual(answer.headers.get("content-type"), "application/json")
        assert.isNull(answer.headers.get("idempotent-replayed"))
        const { message_id, provider_message_id, ...rest } = answer.body
        assert.deepStrictEqual(rest, { status: "sent", tenant_id: server.workspaceId, api_key_id: server.key.id })
        assert.match(message_id, checks.idShape("msg"))
        assert.match(provider_message_id, /^wamid\.sandbox_[0-9A-HJKMNP-TV-Z]{26}$/)
        const calls = callsTo("+15551230001").slice(before)
        assert.lengthOf(calls, 1)
        assert.strictEqual(calls[0]!.messageId, message_id)
      }))

    it.effect("a template's parameters reach the provider in order", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const body = { ...template("order_update", ["A-1", "Tuesday"]), to: "+15551230002" }
        assert.strictEqual((yield* send(server, body)).status, 200)
        const [{ message, sender, template: found }] = callsTo("+15551230002") as [typeof provider.calls[number]]
        assert.deepStrictEqual<unknown>(message, body)
        assert.strictEqual(sender.id, server.number.id)
        assert.strictEqual(found?.name, "order_update")
      }))

    it.effect("a sent message is stored, delivered after 200 ms and read after 400 ms", () =>
      Effect.gen(function*() {
        // whose time stands still, so that nothing becomes of the message while it is looked at
        const server = yield* still(ready({ environment: checks.unlimited }))
        const sentAt = server.clock.currentTimeMillisUnsafe()
        const sent = yield* send(server, { ...hello("+15551230003"), client_reference: "order 7 \u{1f600}" })
        const first = yield* checks.stored(server, sent.body.message_id)
        assert.strictEqual(first.status, 200)
        checks.assertHeaders(first)
        assert.deepStrictEqual(Object.keys(first.body).sort(), [...storedFields].sort())
        const { created_at, sent_at, ...rest } = first.body
        assert.deepStrictEqual(rest, {
          ...sent.body,
          direction: "outbound",
          to: "+15551230003",
          from: "+15005550100",
          type: "template",
          send_at: null,
          delivered_at: null,
          read_at: null,
          failed_at: null,
          error: null,
          client_reference: "order 7 \u{1f600}",
          pricing: null,
          played_at: null
        })
        yield* server.pass("200 millis")
        const delivered = yield* checks.untilStatus(server, sent.body.message_id, "delivered")
        assert.isNull(delivered.body.read_at)
        yield* server.pass("200 millis")
        const { body } = yield* checks.untilStatus(server, sent.body.message_id, "read")
        assert.deepStrictEqual(Object.keys(body).sort(), [...storedFields].sort())
        assert.deepStrictEqual(
          [created_at, sent_at, body.delivered_at, body.read_at].map(millis),
          [sentAt, sentAt, sentAt + 200, sentAt + 400]
        )
        assert.deepStrictEqual({ ...body, status: "sent", delivered_at: null, read_at: null }, first.body)
      }))

    it.effect("a message without a client_reference shows none", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const sent = yield* send(server, hello("+15551230004"))
        assert.isNull((yield* checks.stored(server, sent.body.message_id)).body.client_reference)
      }))

    it.effect("a send names its number by id or in E.164, and only a number of its workspace", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        for (const from of [server.number.id, "+15005550100"]) {
          const sent = yield* send(server, { ...hello("+15551230005"), from })
          assert.strictEqual(sent.status, 200, sent.text)
          assert.strictEqual((yield* checks.stored(server, sent.body.message_id)).body.from, "+15005550100")
        }
        const before = callsTo("+15551230005").length
        for (
          const from of [
            `pn_${checks.nobody}`,
            "+15005550199",
            "15005550100",
            "me",
            server.other.phoneNumberId,
            "+15005550101"
          ]
        ) {
          checks.assertError(yield* send(server, { ...hello("+15551230005"), from }), 403, {
            code: "forbidden",
            reason: "sender_not_available",
            param: "from"
          })
        }
        assert.lengthOf(callsTo("+15551230005"), before)
      }))

    it.effect("a send from a number that the operator switched off is refused, whether named or by default", () =>
      Effect.gen(function*() {
        const { services, url } = yield* Fixture
        const { id: _, key, phoneNumberId } = yield* checks.anotherWorkspace("barred", "+15005550103").pipe(
          Effect.provideContext(services)
        )
        yield* Effect.orDie(
          PhoneNumberStore.PhoneNumberStore.use((store) => store.configure(phoneNumberId, { available: false }))
        ).pipe(Effect.provideContext(services))
        const expected = { code: "forbidden", reason: "sender_not_available" }
        checks.assertError(yield* send({ key, url }, hello()), 403, expected)
        checks.assertError(yield* send({ key, url }, { ...hello(), from: phoneNumberId }), 403, {
          ...expected,
          param: "from"
        })
      }))

    it.effect("a template send requires an approved template and one value per placeholder", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const before = callsTo("+15551234567").length
        const notFound = { code: "forbidden", reason: "template_not_found", param: "template.name" }
        // the match is exact, also where the language stands alone
        for (
          const body of [
            template("hello_world", [], "en"),
            template("hello_world", [], "en_GB"),
            template("hello_world", [], "de"),
            template("Hello_World"),
            template("hello_world "),
            template("nothing")
          ]
        ) checks.assertError(yield* send(server, body), 403, notFound)
        const notApproved = { code: "forbidden", reason: "template_not_approved", param: "template.name" }
        checks.assertError(yield* send(server, template("pending_review", ["3 May"])), 403, notApproved)
        checks.assertError(yield* send(server, template("pending_review")), 403, notApproved)
        checks.assertError(yield* send(server, template("rejected_offer")), 403, notApproved)
        for (
          const body of [
            template("order_update"),
            template("order_update", []),
            template("order_update", ["a"]),
            template("order_update", ["a", "b", "c"]),
            template("promo"),
            template("hello_world", ["x"])
          ]
        ) checks.assertInvalid(yield* send(server, body), "template_params_mismatch", "template.bodyParams")
        assert.lengthOf(callsTo("+15551234567"), before)
        assert.strictEqual((yield* send(server, template("hello_world", []))).status, 200)
        assert.strictEqual((yield* send(server, template("promo", ["20%"]))).status, 200)
      }))

    it.effect("text outside the service window is refused without a provider call", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        checks.assertError(yield* send(server, text("+15551230006")), 403, {
          code: "forbidden",
          reason: "outside_service_window",
          param: "type"
        })
        assert.lengthOf(callsTo("+15551230006"), 0)
        // a template to them does not open it: only what they write does
        yield* send(server, hello("+15551230006"))
        checks.assertError(yield* send(server, text("+15551230006")), 403, {
          code: "forbidden",
          reason: "outside_service_window",
          param: "type"
        })
      }))
  })

  describe.concurrent("the sandbox's numbers", () => {
    it.effect("0001: the provider refuses for good, and the failed message shows the reason", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const said = { code: "131026", message: "Message undeliverable" }
        const answer = yield* send(server, hello(sandbox(1)))
        checks.assertError(answer, 400, { code: "invalid_body", reason: "undeliverable", param: "to", provider: said })
        const { body } = yield* checks.stored(server, callsTo(sandbox(1))[0]!.messageId)
        assert.deepStrictEqual([body.status, body.sent_at, body.provider_message_id], ["failed", null, null])
        assert.match(body.failed_at, checks.timeShape)
        assert.deepStrictEqual(body.error, {
          code: "invalid_body",
          reason: "undeliverable",
          message: answer.body.error.message,
          provider: said
        })
      }))

    it.effect("0002: the message is accepted, then fails after 200 ms", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const sent = yield* send(server, hello(sandbox(2)))
        assert.strictEqual(sent.status, 200)
        const { body } = yield* checks.untilStatus(server, sent.body.message_id, "failed")
        assert.deepStrictEqual([body.delivered_at, body.read_at], [null, null])
        assert.isAtLeast(millis(body.failed_at) - millis(body.sent_at), 180)
        assert.strictEqual(body.provider_message_id, sent.body.provider_message_id)
        assert.strictEqual(body.error.reason, "undeliverable")
        assert.deepStrictEqual(body.error.provider, { code: "131026", message: "Message undeliverable" })
      }))

    it.effect("0003: the message stays sent", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const sent = yield* send(server, hello(sandbox(3)))
        yield* anotherLife(server)
        const { body } = yield* checks.stored(server, sent.body.message_id)
        assert.deepStrictEqual([body.status, body.delivered_at, body.read_at], ["sent", null, null])
      }))

    it.effect("0004 and 0005: the message is not sent and waits, and a retry keeps its id", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const cases = [
          [sandbox(4), 429, {
            code: "rate_limited",
            reason: "provider",
            provider: { code: "130429", message: "Rate limit hit" }
          }],
          [sandbox(5), 502, {
            code: "server_error",
            reason: "provider_unavailable",
            provider: { code: "131016", message: "Service unavailable" }
          }]
        ] as const
        for (const [to, status, expected] of cases) {
          const key = { "idempotency-key": crypto.randomUUID() }
          for (const tries of [1, 2, 3]) {
            const answer = yield* send(server, hello(to), key)
            checks.assertError(answer, status, expected)
            assert.isNull(answer.headers.get("idempotent-replayed"))
            const calls = callsTo(to)
            assert.lengthOf(calls, tries)
            assert.strictEqual(new Set(calls.map(({ messageId }) => messageId)).size, 1)
            const { body } = yield* checks.stored(server, calls[0]!.messageId)
            assert.deepStrictEqual([body.status, body.sent_at, body.failed_at, body.error], [
              "sending",
              null,
              null,
              null
            ])
          }
        }
        assert.strictEqual((yield* send(server, hello(sandbox(4)))).headers.get("retry-after"), "1")
      }))

    it.effect("0006: the outcome is unknown until a report settles it; a retry then returns 200 without sending", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const key = { "idempotency-key": crypto.randomUUID() }
        const unknown = { code: "server_error", reason: "outcome_unknown" }
        checks.assertError(yield* send(server, hello(sandbox(6)), key), 504, unknown)
        const [{ messageId }] = callsTo(sandbox(6)) as [typeof provider.calls[number]]
        const before = yield* checks.stored(server, messageId)
        assert.deepStrictEqual([before.body.status, before.body.sent_at], ["unknown", null])
        checks.assertError(yield* send(server, hello(sandbox(6)), key), 504, unknown)
        checks.assertError(yield* send(server, hello("+15551230007"), key), 409, {
          code: "idempotency_conflict",
          reason: "payload_mismatch"
        })
        const settled = yield* checks.untilStatus(server, messageId, "delivered")
        const retried = yield* send(server, hello(sandbox(6)), key)
        assert.strictEqual(retried.status, 200, retried.text)
        assert.deepStrictEqual(retried.body, {
          status: "sent",
          message_id: messageId,
          provider_message_id: settled.body.provider_message_id,
          tenant_id: server.workspaceId,
          api_key_id: server.key.id
        })
        assert.strictEqual(retried.headers.get("idempotent-replayed"), "true")
        assert.strictEqual((yield* send(server, hello(sandbox(6)), key)).text, retried.text)
        assert.lengthOf(callsTo(sandbox(6)), 1)
      }))

    it.effect("0007: repeated reports and reports out of order never lower a status", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const sent = yield* send(server, hello(sandbox(7)))
        const ranks = ["sending", "unknown", "sent", "delivered", "read"]
        const seen: Array<string> = []
        const look = Effect.map(checks.stored(server, sent.body.message_id), ({ body }) => seen.push(body.status))
        // the last report on it comes 600 ms after the send, before the last ones on two others
        yield* anotherLife(server, look)
        yield* anotherLife(server, look)
        assert.deepStrictEqual(seen, [...seen].sort((a, b) => ranks.indexOf(a) - ranks.indexOf(b)))
        const { body } = yield* checks.stored(server, sent.body.message_id)
        assert.deepStrictEqual([body.status, body.failed_at, body.error], ["read", null, null])
        const times = [body.created_at, body.sent_at, body.delivered_at, body.read_at].map(millis)
        assert.deepStrictEqual([...times].sort((a, b) => a - b), times)
      }))

    it.effect("0008: a reply opens the window for text", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const outside = { code: "forbidden", reason: "outside_service_window", param: "type" }
        const key = { "idempotency-key": crypto.randomUUID() }
        checks.assertError(yield* send(server, text(sandbox(8)), key), 403, outside)
        yield* send(server, hello(sandbox(8)))
        // the refusal left the key unbound: the same key is judged anew, until the reply is there
        const sent = yield* checks.until(send(server, text(sandbox(8)), key), ({ status }) => status !== 403)
        assert.strictEqual(sent.status, 200, sent.text)
        assert.isNull(sent.headers.get("idempotent-replayed"))
        const { body } = yield* checks.stored(server, sent.body.message_id)
        assert.strictEqual(body.type, "text")
        const preview = { ...text(sandbox(8), "see https://example.com"), text: { body: "see", preview_url: true } }
        assert.strictEqual((yield* send(server, preview)).status, 200)
        assert.deepStrictEqual<unknown>(callsTo(sandbox(8)).at(-1)!.message, {
          ...preview,
          text: { body: "see", previewUrl: true }
        })
        // a window is one contact's, not the workspace's
        checks.assertError(yield* send(server, text("+15551230008")), 403, outside)
        checks.assertError(yield* send({ ...server, key: server.other.key }, text(sandbox(8))), 403, outside)
      }))

    it.effect("0009: after STOP, text and marketing are refused, but utility templates are sent", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        yield* send(server, hello(sandbox(9)))
        const optedOut = { code: "forbidden", reason: "opted_out", param: "to" }
        const refused = yield* checks.until(
          send(server, text(sandbox(9))),
          ({ body }) => body.error?.reason !== "outside_service_window"
        )
        checks.assertError(refused, 403, optedOut)
        const calls = callsTo(sandbox(9)).length
        checks.assertError(yield* send(server, { ...template("promo", ["20%"]), to: sandbox(9) }), 403, optedOut)
        assert.lengthOf(callsTo(sandbox(9)), calls)
        const utility = { ...template("order_update", ["A-1", "Tuesday"]), to: sandbox(9) }
        assert.strictEqual((yield* send(server, utility)).status, 200)
        // their wish is towards one workspace's number
        const theirs = { ...template("promo", ["20%"]), to: sandbox(9) }
        assert.strictEqual((yield* send({ ...server, key: server.other.key }, theirs)).status, 200)
      }))

    it.effect("0010: the provider responds after 3 s", () =>
      Effect.gen(function*() {
        const server = yield* Fixture
        const before = checks.now()
        const sent = yield* send(server, hello(sandbox(10)))
        assert.strictEqual(sent.status, 200)
        assert.isAtLeast(checks.now() - before, 2_950)
        yield* checks.untilStatus(server, sent.body.message_id, "read")
      }))
  })

  it.effect("a message is visible only to its workspace, and an unknown id is 404", () =>
    Effect.gen(function*() {
      const server = yield* Fixture
      const theirs = { ...server, key: server.other.key }
      const ours = yield* send(server, hello("+15551230009"))
      const other = yield* send(theirs, hello("+15551230009"))
      assert.strictEqual(other.body.tenant_id, server.other.id)
      assert.strictEqual((yield* checks.stored(theirs, other.body.message_id)).body.from, "+15005550101")
      checks.assertError(yield* checks.stored(theirs, ours.body.message_id), 404, { code: "not_found" })
      checks.assertError(yield* checks.stored(server, other.body.message_id), 404, { code: "not_found" })
      for (
        const id of [`msg_${checks.nobody}`, "msg_", "x", ours.body.message_id.toLowerCase(), server.key.id, "%00"]
      ) {
        checks.assertError(yield* checks.stored(server, id), 404, { code: "not_found" })
      }
      // telling the two apart would tell that it exists
      const foreign = yield* checks.stored(server, other.body.message_id)
      const unknown = yield* checks.stored(server, `msg_${checks.nobody}`)
      assert.strictEqual(foreign.body.error.message, unknown.body.error.message)
    }))

  describe("templates", () => {
    const list = (query: string) =>
      Effect.flatMap(
        Fixture,
        ({ key, url }) => call(`${url}/v1/templates${query}`, { headers: { authorization: `Bearer ${key.apiKey}` } })
      )

    const names = (answer: Answer): ReadonlyArray<string> =>
      answer.body.data.map(({ name }: { readonly name: string }) => name)

    it.effect("templates of every status are listed, with exactly their fields", () =>
      Effect.gen(function*() {
        const answer = yield* list("")
        assert.strictEqual(answer.status, 200)
        checks.assertHeaders(answer)
        assert.deepStrictEqual(Object.keys(answer.body), ["data", "has_more", "next_cursor"])
        assert.deepStrictEqual([answer.body.has_more, answer.body.next_cursor], [false, null])
        assert.deepStrictEqual([...names(answer)].sort(), [
          "hello_world",
          "order_update",
          "pending_review",
          "promo",
          "rejected_offer"
        ])
        const order = answer.body.data.find(({ name }: { readonly name: string }) => name === "order_update")
        const { components, id, synced_at, ...rest } = order
        assert.match(id, checks.idShape("tpl"))
        assert.match(synced_at, checks.timeShape)
        assert.isNotEmpty(components)
        assert.deepStrictEqual(rest, {
          name: "order_update",
          language: "en_US",
          category: "utility",
          status: "approved",
          parameter_format: "positional",
          variables: ["1", "2"],
          quality: "green",
          rejection_reason: null,
          provider_template_id: "sandbox_order_update"
        })
        const ids = answer.body.data.map(({ id }: { readonly id: string }) => id)
        assert.deepStrictEqual(ids, [...ids].sort().reverse())
      }))

    it.effect("templates can be filtered by name, language, category and status", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(names(yield* list("?status=pending")), ["pending_review"])
        assert.deepStrictEqual([...names(yield* list("?category=marketing"))].sort(), ["promo", "rejected_offer"])
        assert.deepStrictEqual(names(yield* list("?category=marketing&status=approved")), ["promo"])
        assert.deepStrictEqual(names(yield* list("?name=hello_world&language=en_US")), ["hello_world"])
        assert.deepStrictEqual(names(yield* list("?language=en")), [])
        assert.deepStrictEqual(names(yield* list("?status=APPROVED")), [])
      }))

    it.effect("the pages contain each template once", () =>
      Effect.gen(function*() {
        const all = names(yield* list(""))
        const seen: Array<string> = []
        let query = "?limit=2"
        for (let page = 1; page <= 3; page++) {
          const answer = yield* list(query)
          seen.push(...names(answer))
          assert.deepStrictEqual([names(answer).length, answer.body.has_more], page < 3 ? [2, true] : [1, false])
          if (page < 3) query = `?limit=2&cursor=${answer.body.next_cursor}`
          else assert.isNull(answer.body.next_cursor)
        }
        assert.deepStrictEqual(seen, all)
      }))

    it.effect("each workspace has its own templates", () =>
      Effect.gen(function*() {
        const { key, other, url } = yield* Fixture
        const ids = (answer: Answer) => answer.body.data.map(({ id }: { readonly id: string }) => id)
        const ours = ids(yield* call(`${url}/v1/templates`, { headers: { authorization: `Bearer ${key.apiKey}` } }))
        const theirs = ids(
          yield* call(`${url}/v1/templates`, { headers: { authorization: `Bearer ${other.key.apiKey}` } })
        )
        assert.lengthOf(theirs, 5)
        assert.isEmpty(ours.filter((id: string) => theirs.includes(id)))
      }))
  })
})
