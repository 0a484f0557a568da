import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Result } from "effect"
import { type RateLimited, retryAfterOf } from "../../src/Errors.ts"
import * as Event from "../../src/events/Event.ts"
import { EventStore } from "../../src/events/EventStore.ts"
import { Webhooks } from "../../src/webhooks/Webhooks.ts"
import { hour, second } from "../checks.ts"
import { advance } from "../clock.ts"
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
  interrupted,
  ok,
  posted,
  receiver,
  scheduling,
  startScheduler
} from "../scheduling.ts"

const test = (workspaceId: Parameters<Webhooks["Service"]["test"]>[0]) =>
  Webhooks.use((webhooks) => webhooks.test(workspaceId))

describe("testing the webhook", () => {
  it.effect(
    "a test posts a webhook.test event and returns the attempt, which is recorded",
    scheduling(() =>
      Effect.gen(function*() {
        const { url, webhook, workspace } = yield* receiver({ envelope: "a", eventTypes: ["message.sent"] })
        yield* startScheduler
        yield* answerWith(after("1 second", answered(200)))
        const testing = yield* Effect.forkChild(test(workspace.id))
        yield* advance("1 second")
        const attempt = yield* Fiber.join(testing)
        const { items: [event] } = yield* EventStore.use((store) =>
          store.list(workspace.id, {}, { limit: 10, after: null })
        )
        assert.deepStrictEqual([event!.type, event!.createdAt], ["webhook.test", start])
        assert.strictEqual(event!.data["webhook_id"], webhook.id)
        const { attempts, delivery, status } = yield* deliveryOf(workspace.id, event!.id)
        assert.deepStrictEqual([status, delivery.trigger, delivery.completedAt], ["delivered", "test", start + second])
        const { request, ...made } = attempt
        assert.deepStrictEqual(attempts, [made])
        assert.deepStrictEqual([request.url, request.body], [url, Event.body(event!, "a")])
        assert.deepStrictEqual([attempt.trigger, attempt.number, attempt.durationMs, attempt.outcome], [
          "test",
          1,
          second,
          "delivered"
        ])
        const requests = yield* posted
        assert.deepStrictEqual(requests.map(({ body, eventId, url }) => [eventId, url, body]), [
          [event!.id, url, Event.body(event!, "a")]
        ])
      })
    )
  )

  it.effect(
    "a failed test is attempted once, and leaves the webhook's health",
    scheduling(() =>
      Effect.gen(function*() {
        const { health, workspace } = yield* receiver()
        yield* startScheduler
        yield* answerWith(failing)
        const before = yield* health
        for (let i = 0; i < 6; i++) {
          const attempt = yield* test(workspace.id)
          assert.deepStrictEqual([attempt.outcome, attempt.statusCode], ["status", 500])
        }
        yield* advance(hour)
        assert.strictEqual((yield* posted).length, 6)
        assert.deepStrictEqual(
          (yield* deliveries(workspace.id)).map(({ status }) => status),
          Array(6).fill("exhausted")
        )
        assert.deepStrictEqual(yield* health, before)
      })
    )
  )

  it.effect(
    "a test has the same deadline as every attempt",
    scheduling(() =>
      Effect.gen(function*() {
        const { workspace } = yield* receiver()
        yield* answerWith(hang)
        const testing = yield* Effect.forkChild(test(workspace.id))
        yield* advance(5 * second)
        const attempt = yield* Fiber.join(testing)
        assert.deepStrictEqual([attempt.outcome, attempt.durationMs], ["timeout", 5 * second])
      })
    )
  )

  it.effect(
    "a test whose caller disconnects is over, without an attempt",
    scheduling(() =>
      Effect.gen(function*() {
        const { health, workspace } = yield* receiver()
        yield* startScheduler
        yield* answerWith(hang)
        const testing = yield* Effect.forkChild(test(workspace.id))
        yield* advance(second)
        yield* Fiber.interrupt(testing)
        yield* advance(2 * second)
        const [only, ...others] = yield* deliveries(workspace.id)
        assert.deepStrictEqual([only?.status, only?.delivery.attemptCount, others], ["exhausted", 0, []])
        assert.strictEqual(yield* interrupted, 1)
        yield* advance(hour)
        assert.strictEqual((yield* posted).length, 1)
        assert.isNull((yield* health).webhook.health.lastAttemptAt)
      })
    )
  )

  it.effect(
    "of many tests at once ten are made, and nothing of the others is stored; then one in six seconds",
    scheduling(() =>
      Effect.gen(function*() {
        const { health, workspace } = yield* receiver()
        const other = yield* receiver()
        yield* answerWith(failing)
        const before = yield* health
        const exits = yield* Effect.all(Array.from({ length: 40 }, () => Effect.result(test(workspace.id))), {
          concurrency: "unbounded"
        })
        const refused = exits.filter(Result.isFailure).map(({ failure }) => failure)
        assert.lengthOf(refused, 30)
        for (const error of refused) {
          assert.deepStrictEqual([error._tag, retryAfterOf(error as RateLimited)], [
            "RateLimited",
            Duration.seconds(6)
          ])
        }
        assert.lengthOf(yield* deliveries(workspace.id), 10)
        assert.lengthOf(yield* events(workspace.id), 10)
        assert.lengthOf(yield* posted, 10)
        // another workspace has its own
        assert.strictEqual((yield* test(other.workspace.id)).outcome, "status")

        yield* advance(6 * second)
        assert.strictEqual((yield* test(workspace.id)).outcome, "status")
        assert.strictEqual((yield* Effect.flip(test(workspace.id)))._tag, "RateLimited")
        assert.deepStrictEqual(yield* health, before)
      })
    )
  )

  it.effect(
    "a paused webhook can be resumed although no more tests are allowed; too many failed probes are refused",
    scheduling(() =>
      Effect.gen(function*() {
        const { health, workspace } = yield* receiver()
        const resume = (force = false) =>
          Webhooks.use((webhooks) => webhooks.resume({ workspaceId: workspace.id, replay: "all", force }))
        yield* Webhooks.use((webhooks) => webhooks.pause(workspace.id))
        yield* answerWith(failing)
        for (let i = 0; i < 10; i++) yield* test(workspace.id)
        assert.strictEqual((yield* Effect.flip(test(workspace.id)))._tag, "RateLimited")
        assert.strictEqual((yield* resume()).probe?.outcome, "status")
        yield* answerWith(ok)
        assert.isNull((yield* resume()).webhook.pausedAt)

        yield* Webhooks.use((webhooks) => webhooks.pause(workspace.id))
        assert.strictEqual((yield* Effect.flip(resume()))._tag, "RateLimited")
        assert.isNotNull((yield* health).webhook.pausedAt)
        assert.lengthOf(yield* deliveries(workspace.id), 12)
        assert.isNull((yield* resume(true)).webhook.pausedAt)
      })
    )
  )

  it.effect(
    "a test without a webhook is refused",
    scheduling(() =>
      Effect.gen(function*() {
        const { workspace } = yield* receiver()
        yield* Webhooks.use((webhooks) => webhooks.remove(workspace.id))
        assert.strictEqual((yield* Effect.flip(test(workspace.id)))._tag, "NotFound")
      })
    )
  )
})
