import { assert, describe, it } from "@effect/vitest"
import { SIGNATURE_HEADER, STANDARD_WEBHOOK_HEADERS, verify } from "@wac/verifier"
import { Clock, DateTime, Duration, Effect, Fiber, Metric, Option, Tracer } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { Webhook as StandardWebhook } from "standardwebhooks"
import { body } from "../../src/events/Event.ts"
import { EventStore } from "../../src/events/EventStore.ts"
import type { EventId } from "../../src/Id.ts"
import { Inbound } from "../../src/inbound/Inbound.ts"
import { generateSecret } from "../../src/keys/Signature.ts"
import { Messages } from "../../src/messages/Messages.ts"
import { type Rewrapped, SealedSecretStore } from "../../src/secrets/SealedSecretStore.ts"
import { Vault } from "../../src/secrets/Vault.ts"
import { StoreError } from "../../src/StoreError.ts"
import * as AttemptRequest from "../../src/webhooks/AttemptRequest.ts"
import { lease } from "../../src/webhooks/DeliveryAttempt.ts"
import { Webhooks } from "../../src/webhooks/Webhooks.ts"
import { WebhookStore } from "../../src/webhooks/WebhookStore.ts"
import { day, hour, minute, second } from "../checks.ts"
import { advance, settable, settle } from "../clock.ts"
import { logged } from "../logged.ts"
import { start } from "../samples.ts"
import {
  after,
  answered,
  answerWith,
  deliveries,
  deliveryOf,
  events,
  failing,
  hang,
  inFlight,
  interrupted,
  ok,
  posted,
  receiver,
  scheduling,
  startScheduler,
  startsOf
} from "../scheduling.ts"
import { issueKey, key, newId, plain } from "../world.ts"

describe("an attempt", () => {
  it.effect(
    "an attempt is a span of its own if spans are collected",
    scheduling(() => {
      const spans: Array<string> = []
      const collecting = Tracer.make({
        span: (options) => {
          spans.push(options.name)
          return new Tracer.NativeSpan(options)
        }
      })
      const delivered = Effect.gen(function*() {
        const { happens } = yield* receiver()
        const { stop } = yield* startScheduler
        yield* happens
        yield* advance("1 second")
        yield* stop
      })
      const attempts = () => spans.filter((name) => name === "POST webhook").length
      return Effect.gen(function*() {
        yield* delivered
        assert.strictEqual(attempts(), 0)
        yield* Effect.provideService(delivered, Tracer.Tracer, collecting)
        assert.strictEqual(attempts(), 1)
      })
    })
  )

  it.effect(
    "an attempt is made immediately, with the event's body, and recorded",
    scheduling(() =>
      Effect.gen(function*() {
        const { happens, secret, url, workspace } = yield* receiver()
        yield* startScheduler
        yield* answerWith(
          after("340 millis", answered(200, { response: { headers: { server: "x" }, body: "thanks" } }))
        )
        yield* advance("10 seconds")
        const eventId = yield* happens
        yield* advance("1 second")
        const [request, ...others] = yield* posted
        assert.deepStrictEqual(others, [])
        const event = Option.getOrThrow(yield* EventStore.use((store) => store.get(workspace.id, eventId)))
        assert.deepStrictEqual([request!.at, request!.url, request!.body], [
          10 * second,
          url,
          body(event, "combined")
        ])
        const { attempts, delivery, status } = yield* deliveryOf(workspace.id, eventId)
        assert.strictEqual(status, "delivered")
        assert.deepStrictEqual(
          [delivery.attemptCount, delivery.firstAttemptAt, delivery.lastAttemptAt, delivery.completedAt],
          [1, start + 10_000, start + 10_340, start + 10_340]
        )
        assert.match(attempts[0]!.id, /^att_/)
        assert.deepStrictEqual(attempts, [{
          id: attempts[0]!.id,
          number: 1,
          trigger: "automatic",
          startedAt: start + 10_000,
          durationMs: 340,
          outcome: "delivered",
          statusCode: 200,
          message: "answered 200",
          url,
          address: null,
          timings: null,
          response: { headers: { server: "x" }, body: "thanks" },
          retryAfter: null
        }])
        assert.notInclude(JSON.stringify(attempts), secret)
        const shown = AttemptRequest.of(event, delivery.envelope, attempts[0]!)
        assert.deepStrictEqual([shown.url, shown.body], [request!.url, request!.body])
        const unsigned = Object.entries(request!.headers).map(([name, value]) => [
          name,
          value.replace(/(?<=v1[=,]).+/, "…")
        ])
        assert.deepStrictEqual(Object.entries(shown.headers), unsigned)
      })
    )
  )

  it.effect(
    "an attempt is signed at the time that is shown, whatever the process's own clock says",
    scheduling(({ interfere }) =>
      Effect.gen(function*() {
        interfere.claimDue = (real) => (command) =>
          Effect.map(real(command), (claimed) => ({
            ...claimed,
            deliveries: claimed.deliveries.map((one) => ({ ...one, at: one.at - 90 * second }))
          }))
        const { happens, workspace } = yield* receiver()
        const eventId = yield* happens
        yield* startScheduler
        yield* advance("1 second")
        const [request] = yield* posted
        const event = Option.getOrThrow(yield* EventStore.use((store) => store.get(workspace.id, eventId)))
        const { attempts: [attempt], delivery } = yield* deliveryOf(workspace.id, eventId)
        const shown = AttemptRequest.of(event, delivery.envelope, attempt!)
        const timesOf = ({ headers }: { readonly headers: { readonly [name: string]: string } }) => [
          headers[SIGNATURE_HEADER]!.split(",")[0],
          headers[STANDARD_WEBHOOK_HEADERS.timestamp]
        ]
        assert.deepStrictEqual(timesOf(request!), timesOf(shown))
      })
    )
  )

  it.effect(
    "of a healthy webhook's successes a sample keeps the response, and every failure does",
    scheduling(() =>
      Effect.gen(function*() {
        const { happens, workspace } = yield* receiver()
        yield* startScheduler
        const response = { headers: { server: "x" }, body: "thanks" }
        yield* answerWith(() => Effect.succeed(answered(200, { response })))
        const happened: Array<EventId> = []
        const next = Effect.gen(function*() {
          happened.push(yield* happens)
          yield* advance("1 second")
        })
        for (let i = 0; i < 20; i++) yield* next
        yield* answerWith(() => Effect.succeed(answered(500, { response })))
        yield* next
        const shown = yield* Effect.forEach(happened, (eventId) => deliveryOf(workspace.id, eventId))
        const [first, ...others] = shown.flatMap(({ attempts }) => attempts)
        // nothing was known of the webhook yet
        assert.deepStrictEqual(first!.response, response)
        for (const { id, message, outcome, response: kept, statusCode } of others) {
          const isKept = outcome !== "delivered" || id.endsWith("0")
          assert.deepStrictEqual([kept, message], [isKept ? response : null, answered(statusCode!).message])
        }
        assert.include(others.map(({ outcome }) => outcome), "status")
      })
    )
  )

  it.effect(
    "an attempt has headers that every library verifies, signed anew each time",
    scheduling(() =>
      Effect.gen(function*() {
        const { happens, secret, workspace } = yield* receiver()
        yield* startScheduler
        yield* answerWith(failing)
        const eventId = yield* happens
        yield* advance("1 hour")
        const requests = yield* posted
        assert.strictEqual(requests.length, 6)
        const standard = new StandardWebhook(secret)
        for (const { at, body, headers } of requests) {
          const seconds = Math.floor((start + at) / 1000)
          const header = headers["X-Service-Signature"]!
          const at300 = (offset: number) =>
            Effect.promise(() => verify(body, header, secret, { now: seconds + offset }))
          assert.deepStrictEqual(yield* at300(0), { ok: true, timestamp: seconds })
          assert.deepStrictEqual(yield* at300(300), { ok: true, timestamp: seconds })
          assert.deepStrictEqual(yield* at300(301), { ok: false, reason: "timestamp_too_old" })
          const wrong = yield* Effect.promise(() => verify(`${body} `, header, secret, { now: seconds }))
          assert.isFalse(wrong.ok)
          assert.deepStrictEqual(
            [headers["content-type"], headers["webhook-id"], headers["webhook-timestamp"]],
            ["application/json", eventId, `${seconds}`]
          )
          assert.strictEqual(
            headers["webhook-signature"],
            standard.sign(eventId, DateTime.toDateUtc(DateTime.makeUnsafe(seconds * 1000)), body)
          )
        }
        // id and body are the same at every attempt, and the signature is not
        assert.strictEqual(new Set(requests.map((request) => request.body)).size, 1)
        assert.strictEqual(new Set(requests.map(({ headers }) => headers["X-Service-Signature"])).size, 6)
        assert.strictEqual(JSON.parse(requests[0]!.body).tenant_id, workspace.id)
      })
    )
  )

  it.effect(
    "an attempt is cut off after five seconds and counts as failed",
    scheduling(() =>
      Effect.gen(function*() {
        const { happens, workspace } = yield* receiver()
        yield* startScheduler
        yield* answerWith(hang)
        const eventId = yield* happens
        yield* advance(5 * second - 1)
        assert.deepStrictEqual([yield* interrupted, (yield* inFlight).now], [0, 1])
        yield* advance(1)
        assert.deepStrictEqual([yield* interrupted, (yield* inFlight).now], [1, 0])
        const { attempts } = yield* deliveryOf(workspace.id, eventId)
        assert.deepStrictEqual(
          attempts.map(({ durationMs, message, outcome, statusCode }) => [outcome, statusCode, durationMs, message]),
          [
            ["timeout", null, 5000, "did not answer within 5 seconds"]
          ]
        )
      })
    )
  )

  it.effect(
    "a response in the last millisecond is in time",
    scheduling(() =>
      Effect.gen(function*() {
        const { happens, workspace } = yield* receiver()
        yield* startScheduler
        yield* answerWith(after(5 * second - 1, answered(200)))
        const eventId = yield* happens
        yield* advance("6 seconds")
        assert.strictEqual((yield* deliveryOf(workspace.id, eventId)).status, "delivered")
      })
    )
  )

  it.effect(
    "an attempt is counted with its event's wait, unless the wait was deliberate",
    scheduling(() =>
      Effect.gen(function*() {
        /** The number of counted waits, and their sum in seconds. */
        const waits = Effect.map(Metric.snapshot, (snapshot) => {
          const counted = snapshot.find(({ id }) => id === "wac_webhook_first_attempt_delay_seconds")
          return counted?.type === "Histogram" ? [counted.state.count, counted.state.sum] : [0, 0]
        })
        const { happens, workspace } = yield* receiver()
        const { stop } = yield* startScheduler
        // the webhook is unproven, so an event may have to wait for another attempt
        yield* happens
        yield* advance(second)
        assert.deepStrictEqual(yield* waits, [0, 0])
        yield* happens
        yield* advance(second)
        assert.deepStrictEqual(yield* waits, [1, 0])
        yield* Webhooks.use((webhooks) => webhooks.pause(workspace.id))
        yield* happens
        yield* advance(hour)
        yield* Webhooks.use((webhooks) => webhooks.resume({ workspaceId: workspace.id, replay: "all", force: true }))
        yield* advance(second)
        assert.strictEqual((yield* posted).length, 3)
        assert.deepStrictEqual(yield* waits, [1, 0])
        yield* stop
        yield* happens
        yield* advance("3 seconds")
        yield* answerWith(failing)
        yield* startScheduler
        yield* advance(minute)
        // retries are not first attempts
        assert.isAbove((yield* posted).length, 5)
        assert.deepStrictEqual(yield* waits, [2, 3])
      }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
    )
  )

  it.effect.each(["combined", "a", "b"] as const)(
    "an attempt is made in the webhook's variant, %s",
    (envelope) =>
      scheduling(() =>
        Effect.gen(function*() {
          const { happens, url, workspace } = yield* receiver({ envelope })
          yield* startScheduler
          yield* answerWith(failing)
          const eventId = yield* happens
          yield* advance(100)
          // a change of the variant applies to later events
          yield* Webhooks.use((webhooks) =>
            webhooks.put({
              workspaceId: workspace.id,
              url,
              envelope: envelope === "a" ? "b" : "a",
              eventTypes: undefined
            })
          )
          yield* advance("1 minute")
          const event = Option.getOrThrow(yield* EventStore.use((store) => store.get(workspace.id, eventId)))
          const bodies = (yield* posted).map((request) => request.body)
          assert.isAbove(bodies.length, 2)
          assert.deepStrictEqual([...new Set(bodies)], [body(event, envelope)])
        })
      )()
  )

  it.effect(
    "an attempt goes to the webhook's present URL",
    scheduling(() =>
      Effect.gen(function*() {
        const { happens, url, workspace } = yield* receiver()
        yield* startScheduler
        yield* answerWith(failing)
        yield* happens
        yield* advance(500)
        yield* Webhooks.use((webhooks) =>
          webhooks.put({
            workspaceId: workspace.id,
            url: "https://moved.example/",
            envelope: undefined,
            eventTypes: undefined
          })
        )
        yield* advance("2 seconds")
        assert.deepStrictEqual((yield* posted).map((request) => request.url), [url, "https://moved.example/"])
      })
    )
  )

  it.effect(
    "no attempt is made for unsubscribed types, nor for events before the webhook was set",
    scheduling(() =>
      Effect.gen(function*() {
        const { happens, url, workspace } = yield* receiver({ eventTypes: ["message.failed"] })
        yield* startScheduler
        yield* happens
        yield* Webhooks.use((webhooks) =>
          webhooks.put({ workspaceId: workspace.id, url, envelope: undefined, eventTypes: ["message.received"] })
        )
        yield* advance("1 minute")
        assert.deepStrictEqual(yield* posted, [])
        yield* happens
        yield* advance("1 minute")
        assert.strictEqual((yield* posted).length, 1)
        assert.strictEqual((yield* events(workspace.id)).length, 2)
      })
    )
  )

  it.effect(
    "an attempt is signed with every live secret, newest first, while a rotation overlaps",
    scheduling(() =>
      Effect.gen(function*() {
        const made = yield* receiver()
        const random = yield* SecureRandom.SecureRandom
        const [newer, older] = [yield* generateSecret(random), made.secret]
        yield* WebhookStore.use((store) => store.remove(made.workspace.id, start))
        const seal = (secret: string) => Vault.use((vault) => vault.seal(secret, made.webhook.id))
        const secrets = [
          { sealed: yield* seal(newer), expiresAt: null },
          { sealed: yield* seal(older), expiresAt: start + minute }
        ]
        yield* WebhookStore.use((store) => store.put({ ...made.webhook, secrets }))
        yield* startScheduler
        yield* made.happens
        yield* advance(minute - 1)
        yield* made.happens
        yield* advance(1)
        yield* made.happens
        yield* advance(second)
        const signatures = (yield* posted).map(({ headers }) => headers["X-Service-Signature"]!.split(",").length - 1)
        assert.deepStrictEqual(signatures, [2, 2, 1])
        const [first] = yield* posted
        const header = first!.headers["X-Service-Signature"]!
        for (const secret of [newer, older]) {
          const verified = yield* Effect.promise(() =>
            verify(first!.body, header, secret, { now: Math.floor(start / 1000) })
          )
          assert.isTrue(verified.ok)
        }
        const only = yield* Effect.promise(() =>
          verify(first!.body, header.split(",").slice(0, 2).join(","), newer, { now: Math.floor(start / 1000) })
        )
        assert.isTrue(only.ok)
      })
    )
  )
})

const at = (hours: number, minutes: number, seconds: number) => hours * hour + minutes * minute + seconds * second

/** The delays of the contract, counted from the end of the previous attempt. */
const delays = [1, 5, 25, 120, 600, 3000, 15_000, 15_000, 15_000, 15_000, 15_000].map((seconds) => seconds * second)

describe("24 hours of a dead receiver", () => {
  it.effect(
    "a receiver that refuses immediately gets thirteen attempts within 24 hours, and is then paused",
    scheduling(() =>
      Effect.gen(function*() {
        const dead = yield* receiver()
        const healthy = yield* receiver()
        yield* startScheduler
        yield* answerWith((request) => request.url === dead.url ? failing(request) : ok(request))
        const eventId = yield* dead.happens

        // another webhook's events are delivered immediately all the while
        const others: Array<number> = []
        for (let hours = 0; hours < 24; hours++) {
          yield* healthy.happens
          others.push(hours * hour)
          yield* advance(hour - 1)
          assert.isNull((yield* dead.health).webhook.pausedAt)
          yield* advance(1)
        }
        assert.deepStrictEqual(yield* startsOf(eventId), [
          0,
          at(0, 0, 1),
          at(0, 0, 6),
          at(0, 0, 31),
          at(0, 2, 31),
          at(0, 12, 31),
          at(1, 2, 31),
          at(5, 12, 31),
          at(9, 22, 31),
          at(13, 32, 31),
          at(17, 42, 31),
          at(21, 52, 31),
          at(24, 0, 0)
        ])
        const first = yield* deliveryOf(dead.workspace.id, eventId)
        assert.deepStrictEqual(
          first.attempts.map(({ number, outcome, startedAt }) => [number, outcome, startedAt - start]),
          (yield* startsOf(eventId)).map((startedAt, i) => [i + 1, "status", startedAt])
        )

        // the webhook is paused, and the event is held, not exhausted
        const state = yield* dead.health
        assert.deepStrictEqual(
          [state.webhook.pausedAt, state.heldCount, state.oldestHeldAt, state.failingSince, state.pausesAt],
          [start + day, 1, start, start, null]
        )
        assert.deepStrictEqual(
          [first.status, first.delivery.status, first.delivery.attemptCount, first.delivery.completedAt],
          ["held", "pending", 13, null]
        )

        // later events are recorded and held, and not attempted
        for (let i = 0; i < 5; i++) {
          yield* advance("1 hour")
          yield* dead.happens
        }
        yield* advance("12 hours")
        const held = yield* deliveries(dead.workspace.id)
        assert.deepStrictEqual(held.map(({ delivery, status }) => [status, delivery.attemptCount]), [
          ["held", 13],
          ...Array.from({ length: 5 }, () => ["held", 0])
        ])
        assert.strictEqual((yield* dead.health).heldCount, 6)
        const all = yield* posted
        assert.strictEqual(all.filter(({ url }) => url === dead.url).length, 13)

        // the other webhook is not affected
        assert.deepStrictEqual(all.filter(({ url }) => url === healthy.url).map((request) => request.at), others)
        assert.isNull((yield* healthy.health).webhook.pausedAt)
      }), { jitter: 0 })
  )

  it.effect(
    "with jitter, each delay is at most 10 % longer, and the last attempt is at 24 hours",
    scheduling(() =>
      Effect.gen(function*() {
        const { happens, health, workspace } = yield* receiver()
        yield* startScheduler
        yield* answerWith(failing)
        const eventId = yield* happens
        yield* advance("24 hours")
        const starts = yield* startsOf(eventId)
        assert.include([12, 13], starts.length)
        const gaps = starts.slice(1).map((startedAt, i) => startedAt - starts[i]!)
        for (const [i, gap] of gaps.slice(0, -1).entries()) {
          assert.isAtLeast(gap, delays[i]!)
          assert.isAtMost(gap, delays[i]! * 1.1 + 1)
        }
        assert.strictEqual(starts.at(-1), day)
        assert.notDeepEqual(gaps.slice(0, 7), delays.slice(0, 7))
        assert.strictEqual((yield* health).webhook.pausedAt, start + day)
        assert.strictEqual((yield* deliveryOf(workspace.id, eventId)).status, "held")
      }), { polls: "skipped" })
  )

  it.effect(
    "for a receiver that never responds, delays are counted from the end of each attempt",
    scheduling(() =>
      Effect.gen(function*() {
        const { happens, health, workspace } = yield* receiver()
        yield* startScheduler
        yield* answerWith(hang)
        const eventId = yield* happens
        yield* advance(day + 5 * second)
        assert.deepStrictEqual(yield* startsOf(eventId), [
          0,
          at(0, 0, 6),
          at(0, 0, 16),
          at(0, 0, 46),
          at(0, 2, 51),
          at(0, 12, 56),
          at(1, 3, 1),
          at(5, 13, 6),
          at(9, 23, 11),
          at(13, 33, 16),
          at(17, 43, 21),
          at(21, 53, 26),
          at(24, 0, 0)
        ])
        assert.strictEqual((yield* health).webhook.pausedAt, start + day + 5 * second)
        assert.strictEqual((yield* deliveryOf(workspace.id, eventId)).delivery.lastAttemptAt, start + day + 5 * second)
      }), { jitter: 0, polls: "skipped" })
  )

  it.effect(
    "if a receiver refuses one event only, that is exhausted, and the webhook stays active",
    scheduling(() =>
      Effect.gen(function*() {
        const { happens, health, workspace } = yield* receiver()
        yield* startScheduler
        const poison = yield* happens
        yield* answerWith((request) =>
          request.headers["webhook-id"] === poison ? after(10, answered(500))(request) : ok(request)
        )
        yield* advance("12 hours")
        const good = yield* happens
        yield* advance(12 * hour + 10)
        const { attempts, delivery, status } = yield* deliveryOf(workspace.id, poison)
        // the other event's success brought one of them forward, to 12 hours
        assert.deepStrictEqual([status, attempts.length, delivery.completedAt], ["exhausted", 13, start + day + 10])
        assert.include(attempts.map(({ startedAt }) => startedAt - start), 12 * hour)
        assert.strictEqual((yield* deliveryOf(workspace.id, good)).status, "delivered")
        const state = yield* health
        assert.deepStrictEqual([state.webhook.pausedAt, state.heldCount], [null, 0])
        const later = yield* happens
        yield* advance("1 second")
        assert.strictEqual((yield* deliveryOf(workspace.id, later)).status, "delivered")
      }), { jitter: 0, polls: "skipped" })
  )

  it.effect(
    "if the service was down for 24 hours, the last attempt takes place when it is back",
    scheduling(() =>
      Effect.gen(function*() {
        const { happens, health, workspace } = yield* receiver()
        const first = yield* startScheduler
        yield* answerWith(failing)
        const eventId = yield* happens
        yield* advance("30 seconds")
        yield* first.stop
        yield* advance(3 * day)
        yield* startScheduler
        yield* advance("1 hour")
        assert.deepStrictEqual(yield* startsOf(eventId), [0, 1000, 6000, 3 * day + 30_000])
        assert.strictEqual((yield* health).webhook.pausedAt, start + 3 * day + 30_000)
        assert.strictEqual((yield* deliveryOf(workspace.id, eventId)).status, "held")
      }), { jitter: 0 })
  )

  it.effect(
    "a receiver that recovers at the last attempt gets the event, and nothing is paused",
    scheduling(() =>
      Effect.gen(function*() {
        const { happens, health, workspace } = yield* receiver()
        yield* startScheduler
        yield* answerWith(failing)
        const eventId = yield* happens
        yield* advance(day - 1)
        yield* answerWith(ok)
        const state = yield* health
        assert.deepStrictEqual([state.failingSince, state.pausesAt], [start, start + day])
        yield* advance(1)
        assert.strictEqual((yield* deliveryOf(workspace.id, eventId)).status, "delivered")
        assert.deepStrictEqual([(yield* health).failingSince, (yield* health).pausesAt], [null, null])
      }), { jitter: 0, polls: "skipped" })
  )
})

describe("Retry-After", () => {
  it.effect.each<[number, number]>([[60, 60], [7200, 3600], [0, 1]])(
    "Retry-After of %d seconds makes the next attempt wait %d",
    ([asked, waited]) =>
      scheduling(() =>
        Effect.gen(function*() {
          const { happens } = yield* receiver()
          yield* startScheduler
          yield* answerWith(() => Effect.succeed(answered(429, { retryAfter: Duration.seconds(asked) })))
          const eventId = yield* happens
          yield* advance(waited * second - 1)
          assert.strictEqual((yield* startsOf(eventId)).length, 1)
          yield* advance(1)
          assert.deepStrictEqual(yield* startsOf(eventId), [0, waited * second])
        }), { jitter: 0 })()
  )
})

describe("a failing webhook", () => {
  it.effect(
    "a failing webhook gets one attempt at a time, a second apart, first attempts before retries",
    scheduling(() =>
      Effect.gen(function*() {
        const { happens, health, proveItself } = yield* receiver()
        yield* proveItself
        yield* startScheduler
        yield* answerWith(after(300, answered(500)))
        // five failures in a row, of any events
        const first = yield* Effect.replicateEffect(happens, 5)
        yield* advance(300)
        const state = yield* health
        assert.deepStrictEqual([state.failingSince, state.webhook.health.consecutiveFailures], [start + 300, 5])
        const before = (yield* posted).length
        assert.strictEqual(before, 5)
        const later = yield* Effect.replicateEffect(happens, 8)
        yield* advance("20 seconds")
        const attempts = (yield* posted).slice(before)
        for (const [i, request] of attempts.entries()) {
          // a second after the end of the previous one, which took 300 ms
          const previous = i === 0 ? 0 : attempts[i - 1]!.at
          assert.isAtLeast(request.at - previous, 1300)
        }
        // untried deliveries come first, oldest first, although the retries were due long before
        assert.deepStrictEqual(attempts.slice(0, 8).map(({ eventId }) => eventId), later)
        assert.deepStrictEqual(
          attempts.slice(0, 8).map((request) => request.at),
          [1, 2, 3, 4, 5, 6, 7, 8].map((n) => 1300 * n)
        )
        assert.include(first as ReadonlyArray<string>, attempts[8]!.eventId)
        // waiting for a turn does not count as an attempt
        assert.strictEqual((yield* posted).length, (yield* health).webhook.health.consecutiveFailures)
      }), { jitter: 0 })
  )

  it.effect(
    "a failing webhook recovers with its first 200, and everything that waits is delivered immediately",
    scheduling(() =>
      Effect.gen(function*() {
        const { happens, health, workspace } = yield* receiver()
        yield* startScheduler
        yield* answerWith(failing)
        yield* Effect.replicateEffect(happens, 10)
        yield* advance("2 hours")
        const waiting = yield* deliveries(workspace.id)
        assert.isTrue(waiting.every(({ delivery, status }) => status === "pending" && delivery.attemptCount > 2))
        yield* answerWith(ok)
        const before = (yield* posted).length
        const fresh = yield* happens
        yield* advance("2 seconds")
        const attempts = (yield* posted).slice(before)
        assert.strictEqual(attempts[0]!.eventId, fresh)
        assert.strictEqual(attempts.length, 11)
        const recoveredAt = attempts[0]!.at
        assert.isTrue(attempts.slice(1).every((request) => request.at === recoveredAt))
        assert.isTrue((yield* deliveries(workspace.id)).every(({ status }) => status === "delivered"))
        assert.isNull((yield* health).failingSince)
      }), { jitter: 0 })
  )

  it.effect(
    "a recovery brings a waiting retry forward once, even if it fails again within the millisecond",
    scheduling(() =>
      Effect.gen(function*() {
        const { happens } = yield* receiver()
        yield* startScheduler
        const poison = yield* happens
        yield* answerWith((request) => request.headers["webhook-id"] === poison ? failing(request) : ok(request))
        // five failures: the webhook is failing
        yield* advance("5 minutes")
        const before = (yield* startsOf(poison)).length
        yield* happens
        yield* advance("1 second")
        assert.strictEqual((yield* startsOf(poison)).length, before + 1)
      }), { jitter: 0 })
  )

  it.effect(
    "if a webhook fails again after its recovery, retries brought forward get their next delay",
    scheduling(() =>
      Effect.gen(function*() {
        const { happens, workspace } = yield* receiver()
        yield* startScheduler
        yield* answerWith(failing)
        const waiting = yield* Effect.replicateEffect(happens, 5)
        yield* advance("5 minutes")
        const counts = yield* Effect.forEach(waiting, (eventId) => startsOf(eventId))
        // one success, for a new event, and none after
        const fresh = yield* happens
        yield* answerWith((request) => request.headers["webhook-id"] === fresh ? ok(request) : failing(request))
        yield* advance("1 minute")
        for (const [i, eventId] of waiting.entries()) {
          const { delivery } = yield* deliveryOf(workspace.id, eventId)
          assert.strictEqual(delivery.attemptCount, counts[i]!.length + 1)
          // T0 is unchanged
          assert.strictEqual(delivery.firstAttemptAt, start + counts[i]![0]!)
        }
      }), { jitter: 0 })
  )
})

describe("isolation", () => {
  const slowly = after("4 seconds", answered(200))

  it.effect(
    "at most 16 attempts are in flight to one webhook, and a slow one does not delay another",
    scheduling(() =>
      Effect.gen(function*() {
        const slow = yield* receiver()
        const quick = yield* receiver()
        yield* slow.proveItself
        yield* quick.proveItself
        yield* startScheduler
        yield* answerWith((request) =>
          request.url === slow.url ? after("3 seconds", answered(200))(request) : ok(request)
        )
        yield* Effect.replicateEffect(slow.happens, 100)
        yield* settle
        assert.deepStrictEqual(yield* inFlight, { now: 16, most: 16 })
        const ids = yield* Effect.replicateEffect(quick.happens, 20)
        yield* settle
        for (const eventId of ids) assert.deepStrictEqual(yield* startsOf(eventId), [0])
        yield* advance("21 seconds")
        // sixteen every three seconds; of those that end together, one follows every 3 ms once it is known to be slow
        const slots = (yield* posted).filter(({ url }) => url === slow.url).map((request) => request.at)
        assert.strictEqual(slots.length, 100)
        assert.deepStrictEqual(
          slots.map((at) => Math.floor(at / 3000)),
          Array.from({ length: 100 }, (_, i) => Math.floor(i / 16))
        )
        assert.isAtMost(Math.max(...slots.map((at) => at % 3000)), 16 * 3)
        assert.isTrue((yield* deliveries(slow.workspace.id)).every(({ status }) => status === "delivered"))
      })
    )
  )

  it.effect(
    "fifteen dead receivers do not delay a healthy one",
    scheduling(() =>
      Effect.gen(function*() {
        const dead = yield* Effect.replicateEffect(receiver(), 15)
        const healthy = yield* receiver()
        yield* startScheduler
        yield* answerWith((request) => request.url === healthy.url ? ok(request) : hang(request))
        for (const one of dead) yield* Effect.replicateEffect(one.happens, 40)
        yield* advance(100)
        assert.strictEqual((yield* inFlight).now, 15)
        const seen: Array<number> = []
        for (let i = 0; i < 30; i++) {
          const eventId = yield* healthy.happens
          yield* advance(500)
          seen.push(...(yield* startsOf(eventId)))
        }
        assert.deepStrictEqual(seen, Array.from({ length: 30 }, (_, i) => 100 + i * 500))
      })
    )
  )

  it.effect(
    "more slow receivers than slots delay a fast one by one of their attempts, until they are known to be slow",
    scheduling(() =>
      Effect.gen(function*() {
        const slow = yield* Effect.replicateEffect(receiver(), 50)
        const quick = yield* receiver()
        yield* quick.proveItself
        yield* answerWith((request) => request.url === quick.url ? ok(request) : slowly(request))
        for (const one of slow) {
          yield* one.proveItself
          yield* Effect.replicateEffect(one.happens, 40)
        }
        yield* startScheduler
        yield* settle
        const ids: Array<EventId> = []
        for (let at = 0; at < 8000; at += 200) {
          ids.push(yield* quick.happens)
          yield* advance(200)
        }
        // they have enough work for all doubtful slots
        assert.strictEqual((yield* inFlight).now, 768)
        const starts = (yield* posted).filter(({ url }) => url === quick.url)
        assert.deepStrictEqual(
          ids.map((id) => starts.filter(({ eventId }) => eventId === id).map((request) => request.at)),
          ids.map((_, i) => [Math.max(4000, i * 200)])
        )
        // and they are as fast as they can be: 40 events each, 16 at once, take three times four seconds
        yield* advance(8000)
        for (const one of slow) {
          assert.isTrue((yield* deliveries(one.workspace.id)).every(({ status }) => status === "delivered"))
        }
      })
    )
  )

  it.effect(
    "a slow receiver with no more events than its slots gets each event immediately",
    scheduling(() =>
      Effect.gen(function*() {
        const own = yield* receiver()
        yield* own.proveItself
        yield* answerWith(slowly)
        yield* startScheduler
        const seen: Array<number> = []
        for (let i = 0; i < 60; i++) {
          const eventId = yield* own.happens
          yield* advance(300)
          seen.push(...(yield* startsOf(eventId)))
        }
        assert.deepStrictEqual(seen, Array.from({ length: 60 }, (_, i) => i * 300))
        const { webhook: { health } } = yield* own.health
        assert.deepStrictEqual([health.slowAt, health.lastSuccessAt], [start + 17_800, start + 17_800])
      })
    )
  )

  it.effect(
    "attempts at doubtful receivers begin every 3 ms, and however many hang, a healthy one waits for none",
    scheduling(() =>
      Effect.gen(function*() {
        const dead = yield* Effect.replicateEffect(receiver(), 800)
        const healthy = yield* receiver()
        yield* healthy.proveItself
        for (const one of dead) yield* one.happens
        yield* answerWith((request) => request.url === healthy.url ? ok(request) : hang(request))
        yield* startScheduler
        yield* settle
        const seen: Array<number> = []
        for (let at = 0; at < 2500; at += 25) {
          const { now } = yield* inFlight
          assert.isAtLeast(now, Math.min(Math.floor(at / 3), 768))
          assert.isAtMost(now, Math.min(4 + Math.floor(at / 3), 768))
          const eventId = yield* healthy.happens
          yield* advance(25)
          seen.push(...(yield* startsOf(eventId)))
        }
        assert.deepStrictEqual(seen, Array.from({ length: 100 }, (_, i) => i * 25))
        // all doubtful slots are taken in the end
        assert.strictEqual((yield* inFlight).now, 768)
      })
    )
  )
})

describe("more that is due than there is place for", () => {
  it.effect(
    "if more is due than there are slots, the next claim comes when half are free, or 20 ms later",
    scheduling(({ interfere }) =>
      Effect.gen(function*() {
        const claims: Array<{ readonly at: number; readonly limit: number; readonly taken: number }> = []
        interfere.claimDue = (real) => (command) =>
          Effect.tap(
            real(command),
            ({ deliveries }) =>
              Effect.sync(() =>
                claims.push({ at: command.now - start, limit: command.limit.healthy, taken: deliveries.length })
              )
          )
        const receivers = yield* Effect.replicateEffect(receiver(), 40)
        for (const one of receivers) {
          yield* one.proveItself
          yield* Effect.replicateEffect(one.happens, 20)
        }
        // one ends every millisecond
        let requests = 0
        yield* answerWith((request) => after(`${50 + requests++ % 512} millis`, answered(200))(request))
        yield* startScheduler
        yield* advance("2 seconds")
        const worthwhile = claims.filter(({ taken }) => taken > 0)
        assert.deepStrictEqual(worthwhile[0], { at: 0, limit: 512, taken: 512 })
        assert.isAtMost((yield* inFlight).most, 512)
        // the rest was claimed in batches
        const later = worthwhile.slice(1)
        assert.strictEqual(later.reduce((sum, { taken }) => sum + taken, 0), 800 - 512)
        assert.isAtMost(later.length, 288 / 20 + 2)
        for (const one of receivers) {
          assert.isTrue((yield* deliveries(one.workspace.id)).every(({ status }) => status === "delivered"))
        }
      })
    )
  )
})

describe("a standing without free slots", () => {
  it.effect(
    "a standing without free slots continues when an attempt has ended, even without a hint",
    scheduling(({ interfere }) =>
      Effect.gen(function*() {
        interfere.awaitHint = Effect.never
        const receivers = yield* Effect.replicateEffect(receiver(), 33)
        for (const one of receivers) {
          yield* one.proveItself
          yield* Effect.replicateEffect(one.happens, 16)
        }
        yield* answerWith(after("300 millis", answered(200)))
        yield* startScheduler
        yield* advance("299 millis")
        assert.deepStrictEqual(yield* inFlight, { now: 512, most: 512 })
        yield* advance("30 millis")
        assert.strictEqual((yield* inFlight).now, 16)
      })
    )
  )
})

describe("a webhook whose secret cannot be decrypted", () => {
  it.effect(
    "a webhook whose secret cannot be opened loses no attempts, is logged once, and continues once it opens",
    scheduling(() =>
      logged((lines) =>
        Effect.gen(function*() {
          const { happens, health, secret, webhook, workspace } = yield* receiver()
          const other = yield* receiver()
          const before = webhook.secrets[0]!.sealed
          const lost = { ...before, keyId: "10573e11" }
          const rewrap = (change: Omit<Rewrapped, "row">) =>
            SealedSecretStore.use((store) => store.rewrap([{ ...change, row: webhook.id }]))
          yield* rewrap({ before, after: lost })
          yield* startScheduler
          const ids = yield* Effect.replicateEffect(happens, 20)
          yield* advance("5 minutes")
          assert.deepStrictEqual(yield* posted, [])
          for (const eventId of ids) {
            const { attempts, delivery } = yield* deliveryOf(workspace.id, eventId)
            assert.deepStrictEqual([attempts, delivery.attemptCount, delivery.status], [[], 0, "pending"])
          }
          assert.strictEqual((yield* health).webhook.health.consecutiveFailures, 0)
          const errors = lines.filter(({ level }) => level !== "Info" && level !== "Debug")
          assert.lengthOf(errors, 1)
          assert.include(errors[0]!.message, webhook.id)
          assert.include(errors[0]!.message, lost.keyId)
          assert.notInclude(errors[0]!.message, secret)

          // others are not held up
          const elsewhere = yield* other.happens
          yield* settle
          assert.lengthOf(yield* startsOf(elsewhere), 1)

          yield* rewrap({ before: lost, after: before })
          yield* advance(lease)
          yield* advance("1 second")
          for (const eventId of ids) assert.strictEqual((yield* deliveryOf(workspace.id, eventId)).status, "delivered")
          assert.lengthOf(lines.filter(({ level }) => level === "Error"), 1)
        })
      )
    )
  )

  it.effect(
    "a secret that cannot be opened is logged again after a while",
    scheduling(() =>
      logged((lines) =>
        Effect.gen(function*() {
          const { happens, webhook } = yield* receiver()
          const before = webhook.secrets[0]!.sealed
          yield* SealedSecretStore.use((store) =>
            store.rewrap([{ row: webhook.id, before, after: { ...before, keyId: "10573e11" } }])
          )
          yield* startScheduler
          yield* happens
          yield* advance("25 minutes")
          assert.lengthOf(lines.filter(({ level }) => level === "Error"), 3)
        })
      )
    )
  )
})

describe("the events of one message", () => {
  /** A message of a workspace that is sent now, and provider reports about it. */
  const sent = (workspaceId: Parameters<typeof issueKey>[0]) =>
    Effect.gen(function*() {
      const { key: apiKey } = yield* issueKey(workspaceId)
      const { messageId } = yield* Messages.use((messages) =>
        Effect.flatMap(newId("req"), (requestId) =>
          messages.send({ workspaceId, apiKeyId: apiKey.id, key: key("k"), requestId, message: plain() }))
      )
      const reported = (status: "delivered" | "read") =>
        Inbound.use((inbound) =>
          inbound.receive([{
            _tag: "Status",
            providerNumberId: null,
            reference: messageId,
            report: { status, at: start, providerMessageId: null, error: null }
          }])
        )
      return { messageId, reported }
    })
  const types = Effect.map(
    posted,
    (all) => all.map((request) => [request.at, JSON.parse(request.body).type, JSON.parse(request.body).data.sequence])
  )

  it.effect(
    "a message's events wait for their predecessor, and then their own 24 hours begin",
    scheduling(() =>
      Effect.gen(function*() {
        const { workspace } = yield* receiver()
        yield* startScheduler
        yield* answerWith(failing)
        const message = yield* sent(workspace.id)
        yield* advance(500)
        yield* message.reported("read")
        yield* advance(9500)
        assert.deepStrictEqual(yield* types, [[0, "message.sent", 1], [1000, "message.sent", 1], [
          6000,
          "message.sent",
          1
        ]])
        yield* answerWith(ok)
        yield* advance("1 minute")
        assert.deepStrictEqual((yield* types).slice(3), [
          [31_000, "message.sent", 1],
          [31_000, "message.delivered", 2],
          [31_000, "message.read", 3]
        ])
        const all = yield* deliveries(workspace.id)
        assert.deepStrictEqual(all.map(({ delivery, status }) => [status, delivery.firstAttemptAt]), [
          ["delivered", start],
          ["delivered", start + 31_000],
          ["delivered", start + 31_000]
        ])
      }), { jitter: 0 })
  )

  it.effect(
    "a message's events continue after an exhausted one",
    scheduling(() =>
      Effect.gen(function*() {
        const { happens, workspace } = yield* receiver()
        yield* startScheduler
        yield* answerWith((request) =>
          JSON.parse(request.body).type === "message.sent" ? failing(request) : ok(request)
        )
        const message = yield* sent(workspace.id)
        yield* message.reported("delivered")
        yield* advance("1 hour")
        // another event succeeds, so that the webhook is not paused
        yield* happens
        yield* advance(day - hour - 1)
        assert.notInclude((yield* types).map(([, type]) => type), "message.delivered")
        yield* advance(second + 1)
        // the webhook is failing by now: one attempt a second
        assert.deepStrictEqual((yield* types).slice(-2), [[day, "message.sent", 1], [
          day + second,
          "message.delivered",
          2
        ]])
        assert.deepStrictEqual((yield* deliveries(workspace.id)).map(({ status }) => status), [
          "exhausted",
          "delivered",
          "delivered"
        ])
      }), { jitter: 0, polls: "skipped" })
  )

  it.effect(
    "a message's events do not delay other messages' events",
    scheduling(() =>
      Effect.gen(function*() {
        const { happens, workspace } = yield* receiver()
        yield* startScheduler
        yield* answerWith((request) =>
          JSON.parse(request.body).type === "message.sent" ? failing(request) : ok(request)
        )
        yield* sent(workspace.id)
        yield* advance("2 seconds")
        const other = yield* happens
        yield* advance(100)
        assert.deepStrictEqual(yield* startsOf(other), [2000])
      }), { jitter: 0 })
  )
})

describe("stopping and starting", () => {
  it.effect(
    "stopping releases attempts in flight without counting them, and another scheduler takes them immediately",
    scheduling(() =>
      Effect.gen(function*() {
        const { happens, proveItself, workspace } = yield* receiver()
        yield* proveItself
        const first = yield* startScheduler
        yield* answerWith(hang)
        const ids = yield* Effect.replicateEffect(happens, 20)
        yield* advance("2 seconds")
        assert.strictEqual((yield* inFlight).now, 16)
        yield* first.stop
        assert.deepStrictEqual([yield* interrupted, (yield* inFlight).now], [16, 0])
        for (const { delivery, status } of yield* deliveries(workspace.id)) {
          assert.deepStrictEqual([status, delivery.attemptCount, delivery.firstAttemptAt], ["pending", 0, null])
        }
        yield* answerWith(ok)
        // well before the leases would have ended
        yield* advance("1 second")
        assert.strictEqual((yield* posted).length, 16)
        yield* startScheduler
        yield* advance(100)
        for (const eventId of ids) {
          const { attempts, status } = yield* deliveryOf(workspace.id, eventId)
          assert.deepStrictEqual([status, attempts.map(({ number }) => number)], ["delivered", [1]])
          assert.strictEqual((yield* startsOf(eventId)).at(-1), 3000)
        }
      })
    )
  )

  it.effect(
    "stopping also releases a claim whose answer was still outstanding",
    scheduling(({ interfere }) =>
      Effect.gen(function*() {
        const { happens, workspace } = yield* receiver()
        yield* answerWith(hang)
        const eventId = yield* happens
        let claims = 0
        interfere.claimDue = (claim) => (command) =>
          Effect.flatMap(claim(command), (claimed) => {
            claims += claimed.deliveries.length
            return Effect.as(Effect.sleep("1 second"), claimed)
          })
        const first = yield* startScheduler
        yield* advance(500)
        assert.deepStrictEqual([claims, (yield* posted).length], [1, 0])
        const stopping = yield* Effect.forkChild(first.stop, { startImmediately: true })
        yield* advance("1 second")
        yield* Fiber.join(stopping)
        delete interfere.claimDue
        yield* answerWith(ok)
        yield* startScheduler
        // well before the lease would have ended
        yield* advance(100)
        const { attempts, status } = yield* deliveryOf(workspace.id, eventId)
        assert.deepStrictEqual([status, attempts.map(({ number }) => number)], ["delivered", [1]])
      })
    )
  )

  it.effect(
    "two processes deliver every event once in total",
    scheduling(() =>
      Effect.gen(function*() {
        const made = yield* Effect.replicateEffect(receiver(), 5)
        yield* startScheduler
        yield* startScheduler
        yield* answerWith(after(50, answered(200)))
        for (let i = 0; i < 20; i++) {
          for (const one of made) yield* one.happens
          yield* advance(130)
        }
        yield* advance("5 seconds")
        const all = yield* posted
        assert.deepStrictEqual([all.length, new Set(all.map(({ eventId }) => eventId)).size], [100, 100])
      })
    )
  )

  it.effect(
    "deliveries claimed by a crashed process are attempted again when its lease has ended",
    scheduling(({ interfere }) =>
      Effect.gen(function*() {
        const { happens, workspace } = yield* receiver()
        // the process dies while it holds the claim
        interfere.claimDue = (real) => (command) =>
          Effect.as(real(command), { deliveries: [], at: start, nextDueAt: null })
        const eventId = yield* happens
        const crashed = yield* startScheduler
        yield* advance(10)
        yield* crashed.stop
        delete interfere.claimDue
        yield* startScheduler
        yield* advance("14 seconds")
        assert.deepStrictEqual(yield* startsOf(eventId), [])
        yield* advance("1 second")
        assert.deepStrictEqual(yield* startsOf(eventId), [15_000])
        assert.strictEqual((yield* deliveryOf(workspace.id, eventId)).delivery.attemptCount, 1)
      })
    )
  )
})

describe("our own faults", () => {
  it.effect(
    "without hints, the scheduler polls every second",
    scheduling(({ interfere }) =>
      Effect.gen(function*() {
        interfere.awaitHint = Effect.never
        const { happens } = yield* receiver()
        yield* startScheduler
        yield* advance("1 millis")
        const first = yield* happens
        yield* advance("998 millis")
        assert.deepStrictEqual(yield* posted, [])
        yield* advance("1 millis")
        assert.deepStrictEqual(yield* startsOf(first), [1000])
        yield* advance("1 minute")
        yield* advance("500 millis")
        const second = yield* happens
        yield* advance("1 second")
        assert.deepStrictEqual(yield* startsOf(second), [62_000])
      })
    )
  )

  it.effect(
    "a clock that is set back delays nothing",
    scheduling(() =>
      Effect.gen(function*() {
        const [one, other] = [yield* receiver(), yield* receiver()]
        yield* startScheduler
        yield* one.happens
        yield* advance(1)
        assert.strictEqual((yield* posted).length, 1)
        yield* TestClock.setTime(start - hour)
        const eventId = yield* other.happens
        yield* advance("100 millis")
        assert.lengthOf(yield* startsOf(eventId), 1)
      })
    )
  )

  it.effect.each([2 * hour, -2 * hour])(
    "an attempt lasts as long as it takes, even if the process's clock is set by %d ms meanwhile",
    (by) =>
      scheduling(() =>
        Effect.gen(function*() {
          const { happens, health, workspace } = yield* receiver()
          const { clock, set } = yield* settable
          yield* Effect.provideService(startScheduler, Clock.Clock, clock)
          yield* answerWith(() =>
            Effect.sleep("300 millis").pipe(
              Effect.tap(() => Effect.sync(() => set.ahead = by)),
              Effect.as(answered(500))
            )
          )
          const eventId = yield* happens
          yield* advance("5 seconds")
          const { attempts } = yield* deliveryOf(workspace.id, eventId)
          const [first, second] = attempts.toSorted((a, b) => a.number - b.number)
          assert.strictEqual(first!.durationMs, 300)
          assert.deepStrictEqual([first!.startedAt, second?.startedAt], [start, start + 1300])
          assert.isAtMost((yield* health).webhook.health.lastAttemptAt!, start + 5000)
        }), { jitter: 0 })()
  )

  it.effect(
    "a storage that fails to claim is asked again after a second",
    scheduling(({ interfere }) =>
      Effect.gen(function*() {
        const { happens, workspace } = yield* receiver()
        const eventId = yield* happens
        const asked: Array<number> = []
        let calls = 0
        interfere.claimDue = (real) => (command) => {
          asked.push(command.now - start)
          calls++
          return calls === 1
            ? Effect.fail(new StoreError({ operation: "DeliveryStore.claimDue" }))
            : calls === 2
            ? Effect.die(new Error("a bug in the storage's adapter"))
            : real(command)
        }
        yield* startScheduler
        yield* advance("2 seconds")
        assert.deepStrictEqual(asked.slice(0, 3), [0, 1000, 2000])
        assert.deepStrictEqual(yield* startsOf(eventId), [2000])
        assert.strictEqual((yield* deliveryOf(workspace.id, eventId)).status, "delivered")
      })
    )
  )

  const unavailable = () => Effect.fail(new StoreError({ operation: "DeliveryStore.complete" }))

  it.effect(
    "an attempt that the storage cannot record for a while is recorded later, and not repeated",
    scheduling(({ interfere }) =>
      Effect.gen(function*() {
        const { happens, workspace } = yield* receiver()
        yield* startScheduler
        interfere.complete = () => unavailable
        const eventId = yield* happens
        yield* advance("10 seconds")
        assert.strictEqual((yield* deliveryOf(workspace.id, eventId)).delivery.attemptCount, 0)
        delete interfere.complete
        yield* advance("1 second")
        const { attempts, delivery, status } = yield* deliveryOf(workspace.id, eventId)
        assert.deepStrictEqual([status, delivery.completedAt, attempts.length], ["delivered", start, 1])
        yield* advance("1 minute")
        assert.deepStrictEqual(yield* startsOf(eventId), [0])
      })
    )
  )

  it.effect(
    "attempts that the storage cannot record are logged with one line a minute, however many they are",
    scheduling(({ interfere }) =>
      logged((lines) =>
        Effect.gen(function*() {
          const { happens } = yield* receiver()
          yield* startScheduler
          interfere.complete = () => unavailable
          for (let i = 0; i < 10; i++) yield* happens
          yield* advance("3 minutes")
          const told = lines.filter(({ message }) => message.includes("could not be recorded"))
          assert.isAtMost(told.length, 3)
          assert.match(told[0]!.message, /^the attempt at dlv_\w+ could not be recorded/)
          assert.strictEqual(told[0]!.level, "Error")
          assert.match(told[1]!.message, / \(and \d+ more times? since the last line\)/)
        })
      )
    )
  )

  it.effect.each<[string, () => Effect.Effect<never, StoreError>]>([
    ["fails", unavailable],
    ["dies", () => Effect.die(new Error("a bug in the storage's adapter"))]
  ])(
    "an attempt that the storage %s to record until the lease ends is not counted, and repeated",
    ([, fault]) =>
      scheduling(({ interfere }) =>
        Effect.gen(function*() {
          const { happens, health, workspace } = yield* receiver()
          yield* startScheduler
          yield* answerWith(failing)
          interfere.complete = () => fault
          const eventId = yield* happens
          yield* advance(Duration.subtract(lease, Duration.millis(1)))
          const { attempts, delivery } = yield* deliveryOf(workspace.id, eventId)
          assert.deepStrictEqual([attempts.length, delivery.attemptCount], [0, 0])
          assert.strictEqual((yield* health).webhook.health.consecutiveFailures, 0)
          delete interfere.complete
          yield* answerWith(ok)
          yield* advance("5 seconds")
          assert.deepStrictEqual(yield* startsOf(eventId), [0, 15_000])
          assert.deepStrictEqual((yield* deliveryOf(workspace.id, eventId)).delivery.attemptCount, 1)
        })
      )()
  )

  it.effect(
    "a defect of the transport uses up no attempt",
    scheduling(() =>
      Effect.gen(function*() {
        const { happens, health, workspace } = yield* receiver()
        yield* startScheduler
        yield* answerWith(() => Effect.die(new Error("a bug in the transport")))
        const eventId = yield* happens
        yield* advance("20 seconds")
        const { delivery } = yield* deliveryOf(workspace.id, eventId)
        assert.deepStrictEqual([delivery.attemptCount, (yield* health).webhook.health.consecutiveFailures], [0, 0])
        yield* answerWith(ok)
        yield* advance("15 seconds")
        assert.strictEqual((yield* deliveryOf(workspace.id, eventId)).status, "delivered")
      })
    )
  )

  it.effect(
    "a secret that cannot be opened uses up no attempt, and affects no other webhook",
    scheduling(() =>
      Effect.gen(function*() {
        const broken = yield* receiver()
        const other = yield* receiver()
        yield* WebhookStore.use((store) => store.remove(broken.workspace.id, start))
        const sealed = yield* Vault.use((vault) => vault.seal(broken.secret, "another row"))
        yield* WebhookStore.use((store) => store.put({ ...broken.webhook, secrets: [{ sealed, expiresAt: null }] }))
        yield* startScheduler
        const [one, two] = [yield* broken.happens, yield* other.happens]
        yield* advance("1 minute")
        assert.deepStrictEqual([yield* startsOf(one), yield* startsOf(two)], [[], [0]])
        assert.strictEqual((yield* deliveryOf(broken.workspace.id, one)).delivery.attemptCount, 0)
      })
    )
  )

  it.effect(
    "an attempt that outlives its lease does not count beside its successor",
    scheduling(({ interfere }) =>
      Effect.gen(function*() {
        const { happens, workspace } = yield* receiver()
        yield* startScheduler
        let calls = 0
        // the first record is delayed for longer than the lease
        interfere.complete = (real) => (command) =>
          ++calls === 1 ? Effect.andThen(Effect.sleep("20 seconds"), real(command)) : real(command)
        yield* answerWith(failing)
        const eventId = yield* happens
        yield* advance("10 seconds")
        yield* answerWith(ok)
        yield* advance("30 seconds")
        const { attempts, status } = yield* deliveryOf(workspace.id, eventId)
        assert.deepStrictEqual([yield* startsOf(eventId), status], [[0, 15_000], "delivered"])
        assert.deepStrictEqual(attempts.map(({ number, outcome }) => [number, outcome]), [[1, "delivered"]])
      })
    )
  )
})
