/**
 * Messages that are accepted now and sent later (contract §15), over HTTP.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { Id, PhoneNumberStore, PlainJson } from "@wac/core"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import * as checks from "../checks.ts"
import {
  actorHeader,
  type Answer,
  call,
  createKey,
  hello,
  hostAuthenticator,
  isReplayed,
  ownPage,
  ready,
  send,
  start
} from "../harness.ts"
import { png, upload } from "../media/files.ts"
import { still } from "../movable.ts"

const provider = checks.recording()

const callsTo = (to: string) => provider.calls.filter(({ message }) => message.to === to)

const respondAsync = { prefer: "respond-async" }

/** An hour from now. */
const inAnHour = () => checks.timeIn(3_600_000)

const authorization = ({ key }: Pick<checks.Ready, "key">) => ({ authorization: `Bearer ${key.apiKey}` })

const keyed = (key: string = crypto.randomUUID()) => ({ "idempotency-key": key })

const cancel = (server: Pick<checks.Ready, "key" | "url">, id: string) =>
  call(`${server.url}/v1/messages/${id}`, { method: "DELETE", headers: authorization(server) })

const batch = (
  server: Pick<checks.Ready, "key" | "url">,
  messages: unknown,
  headers: { readonly [name: string]: string } = keyed()
) => call(`${server.url}/v1/messages/batch`, { headers: { ...authorization(server), ...headers }, body: { messages } })

const item = (to?: string, more: object = {}) => ({ idempotency_key: crypto.randomUUID(), ...hello(to), ...more })

const statuses = ({ body }: Answer): ReadonlyArray<string> =>
  body.results.map(({ status }: { readonly status: string }) => status)

const left = (answer: Answer) => /^"workspace";r=(\d+);t=\d+$/.exec(answer.headers.get("ratelimit") ?? "")?.[1]

const many = (count: number) => Array.from({ length: count }, () => item(undefined, { send_at: inAnHour() }))

layer(checks.Served.layer({ environment: checks.unlimited, adapters: provider.adapters }), checks.live)(
  "a message to be sent later",
  (it) => {
    describe.concurrent("with send_at", () => {
      it.effect("the response is 202 with exactly the five specified fields, and nothing is sent before its time", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const sendAt = inAnHour()
          const answer = yield* send(server, { ...hello("+15551240001"), send_at: sendAt })
          assert.strictEqual(answer.status, 202, answer.text)
          checks.assertHeaders(answer)
          assert.isNull(answer.headers.get("preference-applied"))
          const { message_id, ...rest } = answer.body
          assert.deepStrictEqual(rest, {
            status: "queued",
            tenant_id: yield* checks.workspaceOf(server),
            api_key_id: server.key.id,
            send_at: sendAt
          })
          const { body: stored } = yield* checks.stored(server, message_id)
          assert.deepInclude(stored, { status: "queued", send_at: sendAt, sent_at: null, provider_message_id: null })
          assert.lengthOf(callsTo("+15551240001"), 0)
        }))

      it.effect("a time in the past means now: the message is sent at once, by the queue", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const answer = yield* send(server, { ...hello("+15551240002"), send_at: "2026-01-02" })
          assert.strictEqual(answer.status, 202, answer.text)
          assert.isAtLeast(Date.parse(answer.body.send_at), checks.now() - 60_000)
          const { body } = yield* checks.untilStatus(server, answer.body.message_id, "sent")
          assert.strictEqual(body.send_at, answer.body.send_at)
          assert.lengthOf(callsTo("+15551240002"), 1)
        }))

      it.effect("a repeated request gets the 202 again, byte for byte, and another time is another body", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const [headers, body] = [keyed(), { ...hello(), send_at: inAnHour() }]
          const first = yield* send(server, body, headers)
          const again = yield* send(server, body, headers)
          assert.deepStrictEqual([first.status, isReplayed(first), again.status, isReplayed(again)], [
            202,
            false,
            202,
            true
          ])
          assert.strictEqual(again.text, first.text)
          checks.assertError(yield* send(server, { ...body, send_at: checks.timeIn(7_200_000) }, headers), 409, {
            code: "idempotency_conflict",
            reason: "payload_mismatch"
          })
        }))

      it.effect("times that cannot be kept are refused by name", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const day = 86_400_000
          const refused: ReadonlyArray<readonly [object, string]> = [
            [{ send_at: checks.timeIn(91 * day) }, "send_at"],
            [{ send_at: "tomorrow" }, "send_at"],
            [{ send_at: null }, "send_at"],
            [{ send_at: checks.timeIn(day), send_until: checks.timeIn(day / 2) }, "send_until"],
            [{ send_at: checks.timeIn(day), send_until: checks.timeIn(92 * day) }, "send_until"],
            [{ send_until: checks.timeIn(day) }, "send_until"]
          ]
          for (const [times, param] of refused) {
            checks.assertInvalid(yield* send(server, { ...hello(), ...times }), "invalid_field", param)
          }
          const alone = yield* send(server, { ...hello(), send_until: checks.timeIn(day) })
          assert.include(alone.body.error.message, "send_at")
          assert.include(alone.body.error.message, "Prefer: respond-async")
        }))

      it.effect("what is known now is refused now: an unknown template, an unknown field", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const unknown = { ...hello(), template: { name: "nowhere", language: "en_US" }, send_at: inAnHour() }
          checks.assertError(yield* send(server, unknown), 403, {
            code: "forbidden",
            reason: "template_not_found",
            param: "template.name"
          })
          checks.assertInvalid(yield* send(server, { ...hello(), sendAt: inAnHour() }), "unknown_field", "sendAt")
        }))

      it.effect("what is known now is refused now: a file or a message that is not there, and a file of a wrong type", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const { body: { media_id } } = yield* upload({ url: server.url, ...authorization(server) }, {
            bytes: png,
            filename: "a.png"
          })
          const to = "+15551240015"
          const [medium, message] = ["med_00000000000000000000000000", "msg_00000000000000000000000000"]
          const image = { to, type: "image", image: { media: media_id }, send_at: inAnHour() }
          const refused: ReadonlyArray<readonly [object, string]> = [
            [{ type: "image", image: { media: medium } }, "image.media"],
            [{ type: "audio", audio: { media: media_id } }, "audio.media"],
            [{ type: "text", text: { body: "Hi" }, context: { message_id: message } }, "context.message_id"],
            [{ type: "reaction", reaction: { message_id: message, emoji: "👍" } }, "reaction.message_id"]
          ]
          for (const [content, param] of refused) {
            const key = keyed()
            const body = { to, send_at: inAnHour(), ...content }
            checks.assertInvalid(yield* send(server, body, key), "invalid_field", param)
            const { body: { results } } = yield* batch(server, [
              { ...body, idempotency_key: key["idempotency-key"] },
              item()
            ])
            assert.deepStrictEqual(results.map(({ status }: { readonly status: string }) => status), [
              "refused",
              "queued"
            ])
            assert.deepInclude(results[0].error, { reason: "invalid_field", param })
            const corrected = yield* send(server, image, key)
            assert.strictEqual(corrected.status, 202, corrected.text)
          }
          const { body: { data } } = yield* call(`${server.url}/v1/messages?to=${encodeURIComponent(to)}`, {
            headers: authorization(server)
          })
          assert.lengthOf(data, refused.length)
        }))

      it.effect("a repeated request gets the 202 again, although its file was deleted since", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const { body: { media_id } } = yield* upload({ url: server.url, ...authorization(server) }, {
            bytes: png,
            filename: "a.png"
          })
          const [headers, body] = [keyed(), {
            to: "+15551240016",
            type: "image",
            image: { media: media_id },
            send_at: inAnHour()
          }]
          const first = yield* send(server, body, headers)
          yield* call(`${server.url}/v1/media/${media_id}`, { method: "DELETE", headers: authorization(server) })
          const again = yield* send(server, body, headers)
          assert.deepStrictEqual([first.status, again.status, isReplayed(again)], [202, 202, true])
          assert.strictEqual(again.text, first.text)
          checks.assertInvalid(yield* send(server, body), "invalid_field", "image.media")
        }))

      it.effect("what may change until then is judged then: the service window", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const text = { to: "+15551240003", type: "text", text: { body: "Hi" }, send_at: "2026-01-02" }
          const answer = yield* send(server, text)
          assert.strictEqual(answer.status, 202, answer.text)
          const { body } = yield* checks.untilStatus(server, answer.body.message_id, "failed")
          assert.deepInclude(body.error, { code: "forbidden", reason: "outside_service_window" })
        }))
    })

    describe.concurrent("with Prefer: respond-async", () => {
      it.effect("the response is 202 and says that the preference was applied", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const answer = yield* send(server, hello("+15551240004"), { prefer: "wait=5, Respond-Async; foo=bar" })
          assert.deepStrictEqual([answer.status, answer.headers.get("preference-applied")], [202, "respond-async"])
          yield* checks.untilStatus(server, answer.body.message_id, "sent")
        }))

      it.effect("other preferences are ignored", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const answer = yield* send(server, hello(), { prefer: "return=minimal, wait=5" })
          assert.deepStrictEqual([answer.status, answer.headers.get("preference-applied")], [200, null])
        }))

      it.effect("a key answers as it did first, with or without the preference", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const [sync, async] = [keyed(), keyed()]
          const sent = yield* send(server, hello(), sync)
          const preferred = yield* send(server, hello(), { ...sync, ...respondAsync })
          assert.deepStrictEqual([preferred.status, isReplayed(preferred), preferred.text], [200, true, sent.text])
          assert.isNull(preferred.headers.get("preference-applied"))
          const queued = yield* send(server, hello(), { ...async, ...respondAsync })
          const plain = yield* send(server, hello(), async)
          assert.deepStrictEqual([plain.status, isReplayed(plain), plain.text], [202, true, queued.text])
          assert.isNull(plain.headers.get("preference-applied"))
          // a body that is refused without the preference
          const [body, key] = [{ ...hello(), send_until: inAnHour() }, keyed()]
          const asked = yield* send(server, body, { ...key, ...respondAsync })
          const repeated = yield* send(server, body, key)
          assert.deepStrictEqual([repeated.status, isReplayed(repeated), repeated.text], [202, true, asked.text])
        }))

      it.effect("send_until alone is enough with it", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const answer = yield* send(server, { ...hello(), send_until: inAnHour() }, respondAsync)
          assert.strictEqual(answer.status, 202, answer.text)
        }))
    })

    describe.concurrent("cancelled", () => {
      it.effect("the response is the stored message, again and again, and it is never sent", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const { body: { message_id } } = yield* send(server, {
            ...hello("+15551240005"),
            send_at: checks.timeIn(1_000)
          })
          const cancelled = yield* cancel(server, message_id)
          assert.strictEqual(cancelled.status, 200, cancelled.text)
          assert.deepInclude(cancelled.body, { message_id, status: "cancelled", error: null })
          const again = yield* cancel(server, message_id)
          assert.deepStrictEqual([again.status, again.body], [200, cancelled.body])
          assert.deepStrictEqual((yield* checks.stored(server, message_id)).body, cancelled.body)
          yield* Effect.sleep("1500 millis")
          assert.lengthOf(callsTo("+15551240005"), 0)
        }))

      it.effect("one that was sent, that failed, that is unknown, or of another workspace is refused", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const { body: sent } = yield* send(server, hello())
          checks.assertError(yield* cancel(server, sent.message_id), 403, { code: "forbidden", reason: "already_sent" })
          const { body: queued } = yield* send(
            server,
            { to: "+15551240006", type: "text", text: { body: "Hi" } },
            respondAsync
          )
          yield* checks.untilStatus(server, queued.message_id, "failed")
          checks.assertError(yield* cancel(server, queued.message_id), 403, { code: "forbidden", reason: "not_queued" })
          checks.assertError(yield* cancel(server, `msg_${checks.nobody}`), 404, { code: "not_found" })
          checks.assertError(yield* cancel(server, "msg_x"), 404, { code: "not_found" })
          const other = yield* checks.anotherWorkspace("other", "+15005550177").pipe(
            Effect.provideContext(server.services)
          )
          const { body: own } = yield* send(server, { ...hello(), send_at: inAnHour() })
          checks.assertError(yield* cancel({ ...server, key: other.key }, own.message_id), 404, { code: "not_found" })
        }))
    })

    it.effect("lists find queued and cancelled messages by their status", () =>
      Effect.gen(function*() {
        const server = yield* checks.Served
        const { body: { message_id } } = yield* send(server, { ...hello("+15551240007"), send_at: inAnHour() })
        const listed = (status: string) =>
          Effect.map(
            call(`${server.url}/v1/messages?to=%2B15551240007&status=${status}`, { headers: authorization(server) }),
            ({ body }) => body.data.map((one: { readonly message_id: string }) => one.message_id)
          )
        assert.deepStrictEqual([yield* listed("queued"), yield* listed("cancelled")], [[message_id], []])
        yield* cancel(server, message_id)
        assert.deepStrictEqual([yield* listed("queued"), yield* listed("cancelled")], [[], [message_id]])
      }))

    describe.concurrent("in a batch", () => {
      it.effect("the results are in order, and one item's refusal is its own", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const sendAt = inAnHour()
          const answer = yield* batch(server, [
            item("+15551240010", { send_at: sendAt }),
            { ...item(), to: "555" },
            { ...item(), extra: 1 },
            { ...hello() },
            { ...item(), idempotency_key: "with space" },
            { ...item(), idempotency_key: 7 },
            { ...item(), template: { name: "nowhere", language: "en_US" } },
            { idempotency_key: "text", to: "+15551240011", type: "text" },
            item("+15551240012", { send_until: sendAt }),
            item("+15551240013", { send_at: checks.timeIn(91 * 86_400_000) }),
            {}
          ])
          assert.strictEqual(answer.status, 200, answer.text)
          checks.assertHeaders(answer)
          const { results } = answer.body
          assert.deepStrictEqual(
            results.map(({ error, http_status, status }: ReturnType<typeof JSON.parse>) =>
              status === "refused" ? [http_status, error.reason, error.param] : status
            ),
            [
              "queued",
              [400, "invalid_field", "to"],
              [400, "unknown_field", "extra"],
              [400, "missing_idempotency_key", "idempotency_key"],
              [400, "invalid_idempotency_key", "idempotency_key"],
              [400, "invalid_field", "idempotency_key"],
              [403, "template_not_found", "template.name"],
              [400, "missing_field", "text"],
              "queued",
              [400, "invalid_field", "send_at"],
              [400, "missing_idempotency_key", "idempotency_key"]
            ]
          )
          assert.strictEqual(results[0].send_at, sendAt)
          assert.hasAllKeys(results[0], ["status", "message_id", "tenant_id", "api_key_id", "send_at"])
          const { request_id: requestId } = results[1].error
          assert.strictEqual(requestId, answer.headers.get("request-id"))
          yield* checks.untilStatus(server, results[8].message_id, "sent")
        }))

      it.effect("an item's key is that of a send: each answers as it did first", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const [sync, async] = [keyed(), keyed()]
          const { body: sent } = yield* send(server, hello(), sync)
          const { body: queued } = yield* send(server, hello(), { ...async, ...respondAsync })
          const answer = yield* batch(server, [
            { ...hello(), idempotency_key: sync["idempotency-key"] },
            { ...hello(), idempotency_key: async["idempotency-key"] },
            { ...hello("+15551240014"), idempotency_key: sync["idempotency-key"] }
          ])
          assert.deepStrictEqual(answer.body.results.slice(0, 2), [sent, queued])
          assert.deepInclude(answer.body.results[2], { status: "refused", http_status: 409 })
          const one = item()
          const first = yield* batch(server, [one])
          const { idempotency_key: key, ...body } = one
          assert.deepStrictEqual((yield* send(server, body, keyed(key))).body, first.body.results[0])
        }))

      it.effect("the batch's own key is required, and replays the whole", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const [headers, messages] = [keyed(), [item(), { ...item(), to: "555" }]]
          const first = yield* batch(server, messages, headers)
          const again = yield* batch(server, messages, headers)
          assert.deepStrictEqual([isReplayed(first), isReplayed(again), again.text], [false, true, first.text])
          checks.assertError(yield* batch(server, [item()], headers), 409, {
            code: "idempotency_conflict",
            reason: "payload_mismatch"
          })
          const keyless = yield* call(`${server.url}/v1/messages/batch`, {
            headers: { ...authorization(server), "content-type": "application/json" },
            method: "POST"
          })
          assert.strictEqual(keyless.status, 400)
        }))

      it.effect("a body that is no batch is refused whole", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          checks.assertInvalid(yield* batch(server, []), "invalid_field", "messages")
          checks.assertInvalid(
            yield* batch(server, Array.from({ length: 501 }, () => item())),
            "invalid_field",
            "messages"
          )
          checks.assertInvalid(yield* batch(server, [item(), "hello"]), "invalid_field", "messages[1]")
          checks.assertInvalid(yield* batch(server, undefined), "missing_field", "messages")
        }))

      it.effect("500 messages are queued, in a body of up to 1 MiB", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const reference = "r".repeat(255)
          const parameter = "p".repeat(1024)
          const full = (n: number) => ({
            ...item(`+1555125${`${n}`.padStart(4, "0")}`),
            client_reference: reference,
            template: { name: "order_update", language: "en_US", bodyParams: [parameter, "Tuesday"] },
            send_at: inAnHour()
          })
          const answer = yield* batch(server, Array.from({ length: 500 }, (_, n) => full(n)))
          assert.strictEqual(answer.status, 200, answer.text)
          assert.deepStrictEqual(new Set(statuses(answer)), new Set(["queued"]))
          assert.lengthOf(new Set(answer.body.results.map((one: { message_id: string }) => one.message_id)), 500)
          const tooLarge = yield* batch(server, [{ ...item(), client_reference: "r".repeat(1024 * 1024) }])
          assert.strictEqual(tooLarge.status, 413, tooLarge.text)
          const tooMany = yield* batch(server, [{
            ...item(),
            values: Array.from({ length: PlainJson.maxValues }, () => 0)
          }])
          assert.strictEqual(tooMany.status, 413, tooMany.text)
          assert.match(tooMany.body.error.message, /more than 75000 values/)
        }))
    })

    describe.concurrent("access", () => {
      it.effect("a key that may not send may not queue, send batches or cancel", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const key = yield* checks.keyWithScopes(server.services, yield* checks.workspaceOf(server), ["messages:read"])
          const reader = { ...server, key: { ...server.key, ...key } }
          const missing = { code: "forbidden", reason: "missing_scope" }
          checks.assertError(yield* send(reader, { ...hello(), send_at: inAnHour() }), 403, missing)
          checks.assertError(yield* batch(reader, [item()]), 403, missing)
          checks.assertError(yield* cancel(reader, `msg_${checks.nobody}`), 403, missing)
        }))

      it.effect("a key that is bound to numbers is held to them by each item", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const { session, url } = server
          const { body: { data: [number] } } = yield* call(`${url}/internal/phone-numbers`, { headers: session })
          const key = yield* createKey(url, session, { name: "bound", phoneNumberIds: [number.id] })
          const bound = { ...server, key }
          const answer = yield* batch(bound, [item(), { ...item(), from: `pn_${checks.nobody}` }])
          assert.deepStrictEqual(statuses(answer), ["queued", "refused"])
          assert.deepInclude(answer.body.results[1], { http_status: 403 })
          assert.strictEqual(answer.body.results[1].error.reason, "sender_not_available")
        }))

      it.effect("a key that is bound to numbers cancels messages of these alone", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const { services, session, url } = server
          const second = yield* Effect.gen(function*() {
            const store = yield* PhoneNumberStore.PhoneNumberStore
            const id = yield* Id.generate(yield* SecureRandom.SecureRandom, "pn")
            const numbers = yield* store.list(yield* checks.workspaceOf(server))
            const first = numbers.find(({ isDefault }) => isDefault)!
            const made = { ...first, id, phoneNumber: "+15005550179", providerNumberId: `p-${id}`, isDefault: false }
            assert.isTrue(yield* store.add(made))
            return made
          }).pipe(Effect.provide(SecureRandom.layerWebCrypto), Effect.provideContext(services), Effect.orDie)
          const bound = { ...server, key: yield* createKey(url, session, { name: "b", phoneNumberIds: [second.id] }) }
          const { body: { message_id: others } } = yield* send(server, { ...hello(), send_at: inAnHour() })
          const { body: { message_id: own } } = yield* send(server, {
            ...hello(),
            from: second.id,
            send_at: inAnHour()
          })
          checks.assertError(yield* cancel(bound, others), 403, { code: "forbidden", reason: "sender_not_available" })
          assert.strictEqual((yield* checks.stored(server, others)).body.status, "queued")
          assert.strictEqual((yield* cancel(bound, own)).body.status, "cancelled")
        }))
    })

    describe.concurrent("from the dashboard", () => {
      it.effect("a person queues a message and cancels it, and both are on record", () =>
        Effect.gen(function*() {
          const { session, url } = yield* checks.Served
          const sendAt = inAnHour()
          const queued = yield* call(`${url}/internal/messages`, {
            headers: { ...session, ...keyed() },
            body: { ...hello("+15551240020"), send_at: sendAt }
          })
          assert.strictEqual(queued.status, 202, queued.text)
          const { messageId, tenantId } = queued.body
          assert.deepStrictEqual(queued.body, { status: "queued", messageId, tenantId, apiKeyId: null, sendAt })
          const { body: { data: [listed] } } = yield* call(
            `${url}/internal/messages?status=queued&to=%2B15551240020`,
            { headers: session }
          )
          assert.deepInclude(listed, { id: messageId, status: "queued", sendAt })
          const path = `${url}/internal/messages/${messageId}`
          const cancelled = yield* call(path, { method: "DELETE", headers: session })
          assert.strictEqual(cancelled.status, 200, cancelled.text)
          assert.deepInclude(cancelled.body, { id: messageId, status: "cancelled", sendAt })
          assert.deepStrictEqual((yield* call(path, { headers: session })).body, cancelled.body)
          const { body: { data } } = yield* call(`${url}/internal/audit?target=${messageId}`, { headers: session })
          assert.deepStrictEqual(data.map(({ action }: { readonly action: string }) => action), [
            "message.cancel",
            "message.send"
          ])
        }))
    })
  }
)

/** A server whose people a host vouches for, and a workspace in it. */
const hosted = Effect.gen(function*() {
  const { services, url } = yield* start({
    environment: checks.unlimited,
    adapters: { authenticator: hostAuthenticator }
  })
  const { id, key } = yield* checks.anotherWorkspace("hosted", "+15005550178").pipe(Effect.provideContext(services))
  return { url, key, services, as: (role: string) => ({ ...ownPage, [actorHeader]: `${role}@${id}` }) }
})

describe("the queue", () => {
  it.live("a workspace's messages in the queue are counted", () =>
    Effect.gen(function*() {
      const { as, ...server } = yield* hosted
      yield* batch(server, many(3))
      const state = yield* call(`${server.url}/internal/queue`, { headers: as("member") })
      assert.strictEqual(state.status, 200, state.text)
      assert.deepStrictEqual(state.body, { queued: 3, oldestDueAt: null, heldSince: null, enqueued: 0 })
      const usage = yield* call(`${server.url}/internal/usage`, { headers: as("member") })
      assert.strictEqual(usage.body.queued, 3)
    }).pipe(Effect.scoped))

  it.live("after a restore the queue is held until an admin releases it, which is on record", () =>
    Effect.gen(function*() {
      const { as, ...server } = yield* hosted
      yield* checks.holdQueues(server)
      const state = call(`${server.url}/internal/queue`, { headers: as("member") })
      const release = (role: string) =>
        call(`${server.url}/internal/queue/release`, { method: "POST", headers: as(role) })
      const { body: { message_id } } = yield* send(server, hello(), respondAsync)
      yield* Effect.sleep("1500 millis")
      assert.strictEqual((yield* checks.stored(server, message_id)).body.status, "queued")
      const held = yield* state
      assert.strictEqual(held.body.queued, 1)
      assert.match(held.body.heldSince, checks.timeShape)
      checks.assertError(yield* release("developer"), 403, { code: "forbidden", reason: "role_not_allowed" })
      const released = yield* release("admin")
      assert.deepStrictEqual([released.status, released.body.heldSince], [200, null])
      yield* checks.untilStatus(server, message_id, "sent")
      const again = yield* release("admin")
      assert.strictEqual(again.status, 200)
      assert.deepStrictEqual(again.body, { queued: 0, oldestDueAt: null, heldSince: null, enqueued: 0 })
      const { body: { data } } = yield* call(`${server.url}/internal/audit`, { headers: as("admin") })
      assert.include(data.map(({ action }: { readonly action: string }) => action), "queue.release")
    }).pipe(Effect.scoped))
})

/** A server whose workspace has 20 tokens at first, and gets no more. */
const atRest = still(ready({
  environment: { WAC_LIMITS: JSON.stringify({ workspaceTiers: { standard: 10 }, phoneNumberTiers: { standard: 10 } }) }
}))

describe("the price of a batch", () => {
  it.live("a batch spends one of the workspace's tokens for every 50 messages, all or none", () =>
    Effect.gen(function*() {
      const server = yield* atRest
      const one = yield* batch(server, many(50))
      assert.deepStrictEqual([one.status, left(one)], [200, "19"])
      const three = yield* batch(server, many(101))
      assert.deepStrictEqual([three.status, left(three)], [200, "16"])
      const headers = keyed()
      const most = yield* batch(server, many(500), headers)
      assert.deepStrictEqual([most.status, left(most)], [200, "6"])
      const tooMany = yield* batch(server, many(400))
      checks.assertError(tooMany, 429, { code: "rate_limited", reason: "workspace" })
      assert.isNotNull(tooMany.headers.get("retry-after"))
      // its first token is spent, as that of every request, and no other
      const after = yield* batch(server, many(200))
      assert.deepStrictEqual([after.status, left(after)], [200, "1"])
    }).pipe(Effect.scoped))

  it.live("a repeated batch spends one token", () =>
    Effect.gen(function*() {
      const server = yield* atRest
      const [headers, messages] = [keyed(), many(500)]
      assert.strictEqual(left(yield* batch(server, messages, headers)), "10")
      const again = yield* batch(server, messages, headers)
      assert.deepStrictEqual([isReplayed(again), left(again)], [true, "9"])
    }).pipe(Effect.scoped))

  it.live("a workspace whose bucket is smaller than the price can queue a batch when it is full", () =>
    Effect.gen(function*() {
      const server = yield* still(ready({
        environment: { WAC_LIMITS: JSON.stringify({ workspaceTiers: { standard: 2 } }) }
      }))
      const answer = yield* batch(server, many(500))
      assert.deepStrictEqual([answer.status, left(answer)], [200, "0"])
    }).pipe(Effect.scoped))
})
