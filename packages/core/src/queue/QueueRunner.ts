/**
 * The background task that takes the due messages that callers queued, number by number, and has them sent (contract
 * §15). Calls `QueueStore`, and `QueuedMessages` through `Departures`.
 */
import { Clock, Duration, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Elapsed from "../Elapsed.ts"
import * as Id from "../Id.ts"
import { CurrentLimits } from "../limits/Limits.ts"
import { notSentInTime } from "../messages/Message.ts"
import * as Metrics from "../Metrics.ts"
import { Polling } from "../Polling.ts"
import * as RepeatedFailure from "../RepeatedFailure.ts"
import * as Departures from "./Departures.ts"
import { Heartbeats } from "./Heartbeats.ts"
import type { QueueEnd } from "./QueueEndStep.ts"
import * as QueueRetry from "./QueueRetry.ts"
import { QueueStore } from "./QueueStore.ts"
import * as QueueWorkStep from "./QueueWorkStep.ts"

/** The longest wait before the storage is asked again, since another process may have queued a message. */
const every = Duration.millis(500)

/** The shortest wait before the storage is asked again. */
const soon = Duration.millis(10)

/** The maximum number of messages in one piece of work: as many as the highest tier sends within the pace's horizon. */
const limit = 500

const ofCallers = { campaignId: null } as const
type OfCallers = typeof ofCallers

/** Runs as long as its scope. Any number of processes may run it. */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const store = yield* QueueStore
    const random = yield* SecureRandom.SecureRandom
    const limits = yield* CurrentLimits
    const { rest } = yield* Polling
    const { begun } = yield* Heartbeats
    const { departures, whole } = yield* Departures.ofRunner(QueueWorkStep.lease)

    const end = Effect.fnUntraced(function*({ message: { id, phoneNumberId } }: QueueWorkStep.Queued, end: QueueEnd) {
      yield* store.end({
        now: yield* Clock.currentTimeMillis,
        messageId: id,
        phoneNumberId,
        end,
        ids: { events: [yield* Id.generate(random, "evt")], deliveries: [yield* Id.generate(random, "dlv")] }
      })
    })

    /** One piece of work. Returns whether there may be more. */
    const work = Effect.gen(function*() {
      if (!departures.hasRoom()) return false
      const [now, takenAt] = [yield* Clock.currentTimeMillis, yield* Elapsed.now]
      const worked = yield* store.work({ now, limit, limits, roomOf: departures.roomOf })
      if (Option.isNone(worked)) return false
      const { at, claimed, expired, interval, phoneNumberId } = worked.value
      yield* departures.measure(now, at)
      const leaving = claimed.map((queued) => ({ ...queued, queue: ofCallers }))
      yield* departures.leave<OfCallers, typeof leaving[number]>(
        leaving,
        takenAt,
        { id: phoneNumberId, interval },
        Effect.fnUntraced(function*(queued, ended, begunAt) {
          const { message: { sendAt }, tries } = queued
          if (tries === 0 && ended._tag !== "TooLate") {
            yield* Metrics.queueLate(begunAt - departures.ahead() - sendAt!, begunAt)
          }
          const after = QueueRetry.after(ended, queued)
          if (after !== null) yield* end(queued, after)
        })
      )
      yield* Effect.forEach(expired, (queued) => end(queued, { _tag: "Failed", error: notSentInTime }), {
        concurrency: "unbounded",
        discard: true
      })
      return true
    })

    const works = Effect.gen(function*() {
      while (yield* whole(work));
      if (!departures.hasRoom()) return every
      const nextAt = yield* store.nextAt
      if (nextAt === null) return every
      const now = yield* Clock.currentTimeMillis
      return Duration.min(every, Duration.max(soon, Duration.millis(nextAt - (now - departures.ahead()))))
    }).pipe(
      RepeatedFailure.watch("work on the queue"),
      Effect.catchCause(() => Effect.succeed(every)),
      Effect.flatMap((wait) => rest("queue", wait)),
      Effect.forever
    )
    yield* Effect.forkScoped(Effect.andThen(begun, works))
  })
)
