/**
 * Idempotency keys (contract §4): one send per key, whatever callers do.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Capabilities, Errors, Id, Idempotency, Limits, MessageStore, type Provider } from "@wac/core"
import { Context, Deferred, Duration, Effect, Fiber } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { vi } from "vitest"
import * as checks from "../checks.ts"
import { type Answer, call, createKey, hello, isReplayed, noticed, send } from "../harness.ts"

/** What the provider does with sends to a number; each test has numbers of its own. */
const plans = new Map<string, (tries: number) => Effect.Effect<Provider.ProviderOutcome>>()

const provider = checks.recording(({ message: { to } }) => plans.get(to)?.(callsTo(to).length))

const callsTo = (to: string) => provider.calls.filter(({ message }) => message.to === to)

let numbers = 0

/** A number that nobody else uses, and what becomes of sends to it. */
const plan = (outcome: (tries: number) => Effect.Effect<Provider.ProviderOutcome>): string => {
  const to = `+1555300${`${numbers++}`.padStart(4, "0")}`
  plans.set(to, outcome)
  return to
}

const accepted = (name: string): Provider.ProviderOutcome => ({ _tag: "Accepted", providerMessageId: `wamid.${name}` })

/** A number whose sends wait until the test lets them go on. */
const held = (outcome: Provider.ProviderOutcome = accepted("held")) => {
  const gate = Deferred.makeUnsafe<void>()
  const to = plan(() => Effect.as(Deferred.await(gate), outcome))
  return { to, open: Deferred.succeed(gate, undefined) }
}

const throttled: Provider.ProviderOutcome = {
  _tag: "NotSent",
  error: new Errors.RateLimited({ reason: "provider", message: "too fast", retryAfter: Duration.millis(2500) })
}

const refused: Provider.ProviderOutcome = {
  _tag: "Refused",
  error: new Errors.Forbidden({
    reason: "provider_policy",
    message: "against the provider's policy",
    provider: { code: "368", message: "Temporarily blocked for policies violations" }
  })
}

const key = (value: string = crypto.randomUUID()) => ({ "idempotency-key": value })

const json = { "content-type": "application/json" }

/** Watches what comes to its judgement; gives how to wait for so many requests under a key. */
const judgements = Effect.map(checks.Served, ({ services }) => {
  const store: Pick<MessageStore.MessageStore["Service"], "accept"> = Context.get(services, MessageStore.MessageStore)
  const judged = vi.spyOn(store, "accept")
  return (idempotencyKey: string, size: number) =>
    checks.until(
      Effect.sync(() => judged.mock.calls.filter(([{ request }]) => request.key === idempotencyKey).length),
      (count) => count === size
    )
})

/** So many sends at once under one key; the provider is let go on when all of them have come to their judgement. */
const crowd = Effect.fnUntraced(function*(
  size: number,
  idempotencyKey: string,
  one: (server: checks.Ready, i: number) => Effect.Effect<Answer>,
  open: Effect.Effect<unknown>
) {
  const server = yield* checks.Served
  const judged = yield* judgements
  const all = yield* Effect.forkChild(
    Effect.forEach(Array.from({ length: size }, (_, i) => i), (i) => one(server, i), { concurrency: "unbounded" })
  )
  yield* judged(idempotencyKey, size)
  yield* open
  return yield* Fiber.join(all)
})

const payloadMismatch = { code: "idempotency_conflict", reason: "payload_mismatch" }

layer(checks.Served.layer({ environment: checks.unlimited, adapters: provider.adapters }), checks.live)(
  "idempotency",
  (it) => {
    describe("many requests at once", () => {
      it.effect("100 identical sends make one provider call and one message, and get 100 equal responses", () =>
        Effect.gen(function*() {
          const { open, to } = held()
          const answers = yield* crowd(100, "crowd-1", (server) => send(server, hello(to), key("crowd-1")), open)
          assert.lengthOf(callsTo(to), 1)
          assert.lengthOf(answers, 100)
          assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [200])
          assert.strictEqual(new Set(answers.map(({ text }) => text)).size, 1)
          assert.strictEqual(answers[0]!.body.message_id, callsTo(to)[0]!.messageId)
          assert.lengthOf(answers.filter(isReplayed), 99)
          for (const answer of answers) checks.assertHeaders(answer)
          // each request that went well keeps its own id
          assert.strictEqual(new Set(answers.map(({ headers }) => headers.get("request-id"))).size, 100)
        }))

      it.effect("when the provider refuses a send for good, all 100 requests with its key get the same error", () =>
        Effect.gen(function*() {
          const { open, to } = held(refused)
          const answers = yield* crowd(100, "crowd-2", (server) => send(server, hello(to), key("crowd-2")), open)
          assert.lengthOf(callsTo(to), 1)
          assert.strictEqual(new Set(answers.map(({ text }) => text)).size, 1)
          assert.lengthOf(answers.filter(isReplayed), 99)
          for (const answer of answers) {
            checks.assertError(answer, 403, {
              code: "forbidden",
              reason: "provider_policy",
              provider: { code: "368", message: "Temporarily blocked for policies violations" }
            })
          }
        }))

      it.effect("when the provider throttles a send, all 100 requests with its key get 429 and the provider is called once", () =>
        Effect.gen(function*() {
          const { open, to } = held(throttled)
          const answers = yield* crowd(100, "crowd-3", (server) => send(server, hello(to), key("crowd-3")), open)
          assert.lengthOf(callsTo(to), 1)
          for (const answer of answers) {
            checks.assertError(answer, 429, { code: "rate_limited", reason: "provider" })
            assert.strictEqual(answer.headers.get("retry-after"), "3")
          }
          assert.lengthOf(answers.filter(isReplayed), 99)
        }))

      it.effect("of 50 different bodies with one key, one is sent and the others get a conflict", () =>
        Effect.gen(function*() {
          const { open, to } = held()
          const answers = yield* crowd(
            50,
            "crowd-4",
            (server, i) => send(server, { ...hello(to), client_reference: `${i}` }, key("crowd-4")),
            open
          )
          assert.lengthOf(callsTo(to), 1)
          assert.lengthOf(answers.filter(({ status }) => status === 200), 1)
          for (const answer of answers.filter(({ status }) => status !== 200)) {
            checks.assertError(answer, 409, payloadMismatch)
            assert.isFalse(isReplayed(answer))
          }
        }))
    })

    describe.concurrent("a key", () => {
      it.effect("a key with a different body gets a conflict immediately, during and after the first send", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const { open, to: slow } = held()
          const shared = key()
          const first = yield* Effect.forkChild(send(server, hello(slow), shared))
          yield* checks.until(Effect.sync(() => callsTo(slow).length), (calls) => calls === 1)
          checks.assertError(yield* send(server, hello("+15553010001"), shared), 409, payloadMismatch)
          assert.isUndefined(first.pollUnsafe())
          yield* open
          const sent = yield* Fiber.join(first)
          assert.strictEqual(sent.status, 200)
          checks.assertError(yield* send(server, hello("+15553010001"), shared), 409, payloadMismatch)
          const again = yield* send(server, hello(slow), shared)
          assert.deepStrictEqual([again.text, isReplayed(again)], [sent.text, true])
          assert.lengthOf(callsTo(slow), 1)
          assert.lengthOf(callsTo("+15553010001"), 0)
        }))

      it.effect("a quoted key equals the same key without quotes", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const to = plan((tries) => Effect.succeed(accepted(`quoted-${tries}`)))
          const value = crypto.randomUUID()
          const first = yield* send(server, hello(to), key(`"${value}"`))
          assert.strictEqual(first.status, 200)
          const second = yield* send(server, hello(to), key(value))
          const third = yield* send(server, hello(to), key(`"${value}"`))
          assert.deepStrictEqual([first, second, third].map(isReplayed), [false, true, true])
          assert.deepStrictEqual([second.text, third.text], [first.text, first.text])
          // another case, or a quote on one side only, is another key
          assert.isFalse(isReplayed(yield* send(server, hello(to), key(value.toUpperCase()))))
          assert.isFalse(isReplayed(yield* send(server, hello(to), key(`${value}"`))))
          assert.lengthOf(callsTo(to), 3)
        }))

      it.effect("white space, field order and escapes in the body cause no conflict", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const to = plan(() => Effect.succeed(accepted("same")))
          const shared = key()
          const first = yield* send(server, { ...hello(to), client_reference: "é" }, shared)
          assert.strictEqual(first.status, 200)
          for (
            const body of [
              `{"template":{"language":"en_US","name":"hello_world"},"client_reference":"é","type":"template","to":"${to}"}`,
              `\n{ "type" : "template",\t"to":"${to}", "client_reference": "\\u00e9",\r\n` +
              ` "template": { "name": "hello_world", "language": "en_US" } }  `
            ]
          ) {
            const again = yield* send(server, body, { ...json, ...shared })
            assert.deepStrictEqual([again.status, again.text, isReplayed(again)], [200, first.text, true])
          }
          for (const client_reference of ["e", "É", "é "]) {
            checks.assertError(yield* send(server, { ...hello(to), client_reference }, shared), 409, payloadMismatch)
          }
          checks.assertError(yield* send(server, hello(to), shared), 409, payloadMismatch)
          assert.lengthOf(callsTo(to), 1)
        }))

      it.effect("a final refusal is replayed byte for byte", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          for (const to of [plan(() => Effect.succeed(refused)), "+15005550001"]) {
            const shared = key()
            const first = yield* send(server, hello(to), shared)
            assert.isFalse(isReplayed(first))
            for (let i = 0; i < 3; i++) {
              const again = yield* send(server, hello(to), shared)
              checks.assertHeaders(again)
              assert.deepStrictEqual([again.status, again.text, isReplayed(again)], [first.status, first.text, true])
              assert.strictEqual(again.headers.get("request-id"), first.headers.get("request-id"))
              assert.strictEqual(again.body.error.request_id, first.body.error.request_id)
            }
            assert.lengthOf(callsTo(to), 1)
          }
        }))

      it.effect("a retry of a send that was not sent uses the same message", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const to = plan((tries) => Effect.succeed(tries < 3 ? throttled : accepted("at last")))
          const shared = key()
          const first = yield* send(server, hello(to), shared)
          const second = yield* send(server, hello(to), shared)
          for (const answer of [first, second]) {
            checks.assertError(answer, 429, { code: "rate_limited", reason: "provider" })
            assert.isFalse(isReplayed(answer))
          }
          assert.notStrictEqual(first.body.error.request_id, second.body.error.request_id)
          // the key stays bound to its body meanwhile
          checks.assertError(yield* send(server, { ...hello(to), client_reference: "x" }, shared), 409, payloadMismatch)
          const third = yield* send(server, hello(to), shared)
          assert.deepStrictEqual([third.status, isReplayed(third)], [200, false])
          assert.deepStrictEqual(callsTo(to).map(({ messageId }) => messageId), Array(3).fill(third.body.message_id))
          const fourth = yield* send(server, hello(to), shared)
          assert.deepStrictEqual([fourth.text, isReplayed(fourth)], [third.text, true])
          assert.lengthOf(callsTo(to), 3)
        }))

      it.effect("an Idempotency-Key remains valid after its API key is revoked", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const { session, url } = server
          const to = plan((tries) => Effect.succeed(accepted(`rotated-${tries}`)))
          const [old, fresh] = [yield* createKey(url, session), yield* createKey(url, session)]
          const shared = key()
          const first = yield* send({ key: old, url }, hello(to), shared)
          assert.strictEqual(first.body.api_key_id, old.id)
          yield* call(`${url}/internal/api-keys/${old.id}`, { method: "DELETE", headers: session })
          const again = yield* send({ key: fresh, url }, hello(to), shared)
          assert.deepStrictEqual([again.status, again.text, isReplayed(again)], [200, first.text, true])
          checks.assertError(yield* send({ key: old, url }, hello(to), shared), 401, {
            code: "unauthorized",
            reason: "revoked_key"
          })
          assert.lengthOf(callsTo(to), 1)
        }))

      it.effect("an Idempotency-Key belongs to one workspace and one route", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const { services, session, url } = server
          const to = plan((tries) => Effect.succeed(accepted(`scope-${tries}`)))
          const shared = key()
          const other = yield* checks.anotherWorkspace("other", "+15005550101").pipe(Effect.provideContext(services))
          const created = yield* call(`${url}/internal/api-keys`, {
            headers: { ...session, ...shared },
            body: { name: "x" }
          })
          assert.strictEqual(created.status, 201)
          const ours = yield* send(server, hello(to), shared)
          const theirs = yield* send({ key: other.key, url }, { ...hello(to), client_reference: "theirs" }, shared)
          assert.deepStrictEqual([ours, theirs].map(({ status }) => status), [200, 200])
          assert.deepStrictEqual([ours, theirs].map(isReplayed), [false, false])
          assert.notStrictEqual(ours.body.message_id, theirs.body.message_id)
          assert.lengthOf(callsTo(to), 2)
        }))

      it.effect("a refusal by the service leaves the key unused", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const to = plan(() => Effect.succeed(accepted("unbound")))
          const shared = key()
          const refusals = [
            [{ to, type: "text", text: { body: "x" } }, 403],
            [{ ...hello(to), template: { name: "nothing", language: "en_US" } }, 403],
            [{ ...hello(to), template: { name: "hello_world", language: "en_US", bodyParams: ["x"] } }, 400],
            [{ ...hello(to), from: "nobody" }, 403],
            [{ ...hello(to), to: "x" }, 400]
          ] as const
          for (const [body, status] of refusals) {
            const answer = yield* send(server, body, shared)
            assert.deepStrictEqual([answer.status, isReplayed(answer)], [status, false])
          }
          const again = yield* send(server, refusals[0][0], shared)
          assert.deepStrictEqual([again.status, isReplayed(again)], [403, false])
          const sent = yield* send(server, hello(to), shared)
          assert.deepStrictEqual([sent.status, isReplayed(sent)], [200, false])
          assert.lengthOf(callsTo(to), 1)
        }))

      it.effect("a request waits up to 10 s for a send that runs in another process", () =>
        checks.assertBelow(
          15_000,
          Effect.gen(function*() {
            const server = yield* checks.Served
            const to = plan(() => Effect.succeed(accepted("here")))
            const shared = key()
            const accept = Effect.gen(function*() {
              const store = yield* MessageStore.MessageStore
              const message = { to, type: "template", template: { name: "hello_world", language: "en_US" } } as const
              return yield* store.accept({
                now: checks.now(),
                request: {
                  workspaceId: yield* checks.workspaceOf(server),
                  route: "POST /v1/messages",
                  key: Idempotency.IdempotencyKey.make(shared["idempotency-key"]),
                  fingerprint: yield* Idempotency.fingerprint(yield* Digest.Digest, message)
                },
                apiKeyId: Id.ApiKeyId.make(server.key.id),
                queue: null,
                later: null,
                message,
                hash: "hash",
                messageId: yield* Id.generate(yield* SecureRandom.SecureRandom, "msg"),
                claimToken: "elsewhere",
                leaseUntil: checks.now() + 30_000,
                limits: Limits.standard,
                provider: "sandbox",
                capabilities: Capabilities.all
              })
            })
            const elsewhere = yield* Effect.orDie(accept).pipe(
              Effect.provide(SecureRandom.layerWebCrypto),
              Effect.provideContext(server.services)
            )
            assert.strictEqual(elsewhere._tag, "Claimed")
            const before = checks.now()
            const answer = yield* send(server, hello(to), shared)
            checks.assertError(answer, 503, { code: "server_error", reason: "in_progress" })
            assert.strictEqual(answer.headers.get("retry-after"), "1")
            const took = checks.now() - before
            assert.isAtLeast(took, 9_900)
            // another body is told at once, whoever runs the first
            checks.assertError(yield* send(server, hello("+15553010002"), shared), 409, payloadMismatch)
            assert.lengthOf(callsTo(to), 0)
            return took
          })
        ))

      it.effect("when the provider is silent for 8 s, the request and all that joined it get outcome_unknown", () =>
        checks.assertBelow(
          12_000,
          Effect.gen(function*() {
            const server = yield* checks.Served
            const to = plan(() => Effect.never)
            const shared = key()
            const before = checks.now()
            const answers = yield* Effect.all([send(server, hello(to), shared), send(server, hello(to), shared)], {
              concurrency: 2
            })
            const took = checks.now() - before
            assert.isAtLeast(took, 7_900)
            for (const answer of [...answers, yield* send(server, hello(to), shared)]) {
              checks.assertError(answer, 504, { code: "server_error", reason: "outcome_unknown" })
            }
            assert.lengthOf(callsTo(to), 1)
            assert.strictEqual((yield* checks.stored(server, callsTo(to)[0]!.messageId)).body.status, "unknown")
            return took
          })
        ))
    })

    describe("a caller that disconnects", () => {
      it.effect("a caller that disconnects does not stop its send, and learns the outcome by repeating the request", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const judged = yield* judgements
          const { open, to } = held()
          const shared = key()
          const caller = yield* Effect.forkChild(send(server, hello(to), shared))
          yield* checks.until(Effect.sync(() => callsTo(to).length), (calls) => calls === 1)
          // interrupting the fetch closes its connection
          yield* Fiber.interrupt(caller)
          yield* noticed(server.url)
          const [{ messageId }] = callsTo(to) as [typeof provider.calls[number]]
          assert.strictEqual((yield* checks.stored(server, messageId)).body.status, "sending")
          const joined = yield* Effect.forkChild(send(server, hello(to), shared))
          yield* judged(shared["idempotency-key"], 2)
          yield* open
          const again = yield* Fiber.join(joined)
          assert.deepStrictEqual([again.status, again.body.message_id, isReplayed(again)], [200, messageId, true])
          assert.strictEqual((yield* checks.stored(server, messageId)).body.status, "sent")
          assert.lengthOf(callsTo(to), 1)
        }))

      it.effect("a message is sent even if its caller disconnects and no request repeats it", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const { open, to } = held()
          const caller = yield* Effect.forkChild(send(server, hello(to)))
          yield* checks.until(Effect.sync(() => callsTo(to).length), (calls) => calls === 1)
          yield* Fiber.interrupt(caller)
          yield* noticed(server.url)
          yield* open
          yield* checks.untilStatus(server, callsTo(to)[0]!.messageId, "sent")
        }))

      it.effect("a joined caller that disconnects does not affect the first request", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const judged = yield* judgements
          const { open, to } = held()
          const shared = key()
          const first = yield* Effect.forkChild(send(server, hello(to), shared))
          yield* checks.until(Effect.sync(() => callsTo(to).length), (calls) => calls === 1)
          const second = yield* Effect.forkChild(send(server, hello(to), shared))
          yield* judged(shared["idempotency-key"], 2)
          yield* Fiber.interrupt(second)
          yield* noticed(server.url)
          yield* open
          const sent = yield* Fiber.join(first)
          assert.deepStrictEqual([sent.status, isReplayed(sent)], [200, false])
        }))

      it.effect("a caller that disconnects before its body is complete sends nothing and binds no key", () =>
        Effect.gen(function*() {
          const server = yield* checks.Served
          const to = plan(() => Effect.succeed(accepted("late")))
          const shared = key()
          yield* Effect.scoped(Effect.gen(function*() {
            const connection = yield* checks.connect(server.url)
            const body = JSON.stringify(hello(to))
            yield* connection.write(
              checks.head("POST /v1/messages", {
                ...shared,
                Authorization: `Bearer ${server.key.apiKey}`,
                "Content-Type": "application/json",
                "Content-Length": `${body.length}`
              }) + body.slice(0, -1)
            )
            yield* noticed(server.url)
          }))
          yield* noticed(server.url)
          assert.lengthOf(callsTo(to), 0)
          const sent = yield* send(server, { ...hello(to), client_reference: "another body" }, shared)
          assert.deepStrictEqual([sent.status, isReplayed(sent)], [200, false])
        }))
    })
  }
)
