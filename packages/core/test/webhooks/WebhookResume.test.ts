import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Webhooks } from "../../src/webhooks/Webhooks.ts"
import type { Replay } from "../../src/webhooks/WebhookStep.ts"
import { day, hour, minute, second } from "../checks.ts"
import { advance } from "../clock.ts"
import { start } from "../samples.ts"
import {
  answerWith,
  deliveries,
  deliveryOf,
  failing,
  inFlight,
  ok,
  posted,
  receiver,
  scheduling,
  startScheduler,
  startsOf
} from "../scheduling.ts"

type Receiver = Effect.Success<ReturnType<typeof receiver>>

const resume = ({ workspace }: Receiver, replay: Replay, force = false) =>
  Webhooks.use((webhooks) => webhooks.resume({ workspaceId: workspace.id, replay, force }))

const pause = ({ workspace }: Receiver) => Webhooks.use((webhooks) => webhooks.pause(workspace.id))

/** How many deliveries have each status, without tests. */
const counts = ({ workspace }: Receiver) =>
  Effect.map(deliveries(workspace.id), (shown) => {
    const counts: Record<string, number> = {}
    for (const { delivery, status } of shown) {
      if (delivery.eventType !== "webhook.test") counts[status] = (counts[status] ?? 0) + 1
    }
    return counts
  })

/** Events that were posted at or after a time, in the order of posting. */
const postedFrom = (from: number) =>
  Effect.map(posted, (all) => all.filter(({ at, body }) => at >= from && JSON.parse(body).type !== "webhook.test"))

describe("a receiver that is down for a day", () => {
  it.effect.each<[string, Replay, number]>([
    ["all", "all", 62],
    ["none", "none", 0],
    ["those since a time", { since: start + day + 10 * hour }, 30]
  ])(
    "a dead receiver is paused and its events are held, and %s are attempted when it is resumed",
    ([, replay, replayed]) =>
      scheduling(() =>
        Effect.gen(function*() {
          const own = yield* receiver()
          yield* startScheduler
          yield* answerWith(failing)
          const first = yield* own.happens
          yield* advance("3 hours")
          const second_ = yield* own.happens
          yield* advance(21 * hour - 1)
          const dying = yield* own.health
          assert.deepStrictEqual([dying.webhook.pausedAt, dying.pausesAt, dying.heldCount], [null, start + day, 0])
          yield* advance("2 seconds")
          const dead = yield* own.health
          assert.isAtLeast(dead.webhook.pausedAt!, start + day)
          assert.deepStrictEqual([dead.heldCount, dead.oldestHeldAt, dead.pausesAt], [2, start, null])

          // nothing is attempted, and nothing is lost
          const before = (yield* posted).length
          const held = yield* Effect.replicateEffect(own.happens, 30)
          yield* advance("10 hours")
          const late = yield* Effect.replicateEffect(own.happens, 30)
          yield* advance("1 hour")
          assert.strictEqual((yield* posted).length, before)
          assert.deepStrictEqual(yield* counts(own), { held: 62 })

          // it is probed first, and stays paused while the probe fails
          const refused = yield* resume(own, replay)
          assert.deepStrictEqual([refused.probe?.outcome, refused.probe?.trigger], ["status", "probe"])
          assert.deepStrictEqual(refused.webhook.pausedAt, dead.webhook.pausedAt)
          assert.deepStrictEqual(yield* counts(own), { held: 62 })

          yield* answerWith(ok)
          yield* advance("1 minute")
          const resumedAt = day + 11 * hour + minute + 2 * second - 1
          const resumed = yield* resume(own, replay)
          assert.deepStrictEqual([resumed.probe?.outcome, resumed.webhook.pausedAt], ["delivered", null])
          yield* advance("10 seconds")
          assert.deepStrictEqual(
            yield* counts(own),
            replayed === 62
              ? { delivered: 62 }
              : replayed === 0
              ? { skipped: 62 }
              : { delivered: replayed, skipped: 62 - replayed }
          )
          const drained = yield* postedFrom(resumedAt)
          assert.strictEqual(drained.length, replayed)
          // oldest first, except for those that are signed concurrently
          const oldest = [first, second_, ...held, ...late].slice(62 - replayed)
          assert.sameMembers(drained.map(({ eventId }) => eventId), oldest)
          for (const [i, { eventId }] of drained.entries()) {
            assert.isBelow(Math.abs((oldest as ReadonlyArray<string>).indexOf(eventId) - i), 8)
          }
          // at most a hundred a second
          for (const [i, { at }] of drained.entries()) assert.isAtLeast(at - resumedAt, (i - 8) * 10)
          // and it is fully healthy
          const fresh = yield* own.happens
          yield* advance(1)
          assert.lengthOf(yield* startsOf(fresh), 1)
        }), { jitter: 0, polls: "skipped" })()
  )

  it.effect(
    "a forced resume gives every event 24 hours again",
    scheduling(() =>
      Effect.gen(function*() {
        const own = yield* receiver()
        yield* startScheduler
        yield* answerWith(failing)
        const eventId = yield* own.happens
        yield* advance(day + 2 * second)
        const before = (yield* startsOf(eventId)).length
        const forced = yield* resume(own, "all", true)
        assert.deepStrictEqual([forced.probe, forced.webhook.pausedAt], [null, null])
        yield* advance(10)
        const { delivery } = yield* deliveryOf(own.workspace.id, eventId)
        assert.deepStrictEqual([delivery.roundAttempts, delivery.attemptCount], [1, before + 1])
        assert.strictEqual(delivery.firstAttemptAt, start + day + 2 * second)
        yield* advance(day - 20)
        assert.isNull((yield* own.health).webhook.pausedAt)
        yield* advance(second + 20)
        assert.isNotNull((yield* own.health).webhook.pausedAt)
        // the same attempts at the same intervals
        const starts = yield* startsOf(eventId)
        const shifted = (round: ReadonlyArray<number>) => round.map((at) => at - round[0]!)
        assert.strictEqual(starts.length, 2 * before)
        assert.deepStrictEqual(shifted(starts.slice(before)).slice(5), shifted(starts.slice(0, before)).slice(5))
      }), { jitter: 0, polls: "skipped" })
  )
})

describe("a manual pause", () => {
  it.effect(
    "a manual pause lets attempts in flight end, and lasts until a person resumes",
    scheduling(() =>
      Effect.gen(function*() {
        const own = yield* receiver()
        yield* startScheduler
        yield* answerWith((request) => Effect.andThen(Effect.sleep("2 seconds"), ok(request)))
        yield* own.happens
        yield* advance("1 second")
        const paused = yield* pause(own)
        assert.strictEqual(paused.pausedAt, start + second)
        yield* own.happens
        yield* advance(3 * day)
        assert.deepStrictEqual(yield* counts(own), { delivered: 1, held: 1 })
        // a successful test does not resume it
        yield* answerWith(ok)
        yield* Webhooks.use((webhooks) => webhooks.test(own.workspace.id))
        yield* advance("1 minute")
        assert.strictEqual((yield* own.health).webhook.pausedAt, start + second)
        yield* resume(own, "all")
        yield* advance(10)
        assert.deepStrictEqual(yield* counts(own), { delivered: 2 })
        // it is already active, so there is no probe
        assert.isNull((yield* resume(own, "none")).probe)
      }), { polls: "skipped" })
  )
})

describe("a backlog", () => {
  it.effect(
    "a backlog drains beside new events, which do not wait for it",
    scheduling(() =>
      Effect.gen(function*() {
        const own = yield* receiver()
        yield* own.proveItself
        yield* startScheduler
        yield* pause(own)
        yield* Effect.replicateEffect(own.happens, 150)
        yield* advance("1 minute")
        yield* answerWith((request) => Effect.andThen(Effect.sleep("200 millis"), ok(request)))
        yield* resume(own, "all", true)
        yield* advance(1)
        assert.strictEqual((yield* inFlight).now, 8)
        for (let i = 0; i < 10; i++) {
          const eventId = yield* own.happens
          const now = minute + 1 + i * 100
          yield* advance(100)
          assert.deepStrictEqual(yield* startsOf(eventId), [now])
        }
        yield* advance("4 seconds")
        assert.deepStrictEqual(yield* counts(own), { delivered: 160 })
        assert.isAtMost((yield* inFlight).most, 8 + 3)
      })
    )
  )
})
