import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Exit, Scope } from "effect"
import * as Elapsed from "../../src/Elapsed.ts"
import * as Departures from "../../src/queue/Departures.ts"
import { QueuedMessages } from "../../src/queue/QueuedMessages.ts"
import * as QueueWorkStep from "../../src/queue/QueueWorkStep.ts"
import { hour, minute } from "../checks.ts"
import { advance, at, settle } from "../clock.ts"
import { start } from "../samples.ts"

/** A number of the highest tier, whose queue has 800 a second. */
const interval = 1.25

/** How long the process stands still, in milliseconds from the start. */
const stall = { from: 500, to: 900 }

/** A process that stands still: whoever is to wake meanwhile wakes afterwards. */
const stalling = (clock: Clock.Clock): Clock.Clock =>
  Object.assign(Object.create(clock) as Clock.Clock, {
    sleep: (duration: Duration.Duration) => {
      const now = clock.currentTimeMillisUnsafe() - start
      const wake = now + Duration.toMillis(duration)
      return clock.sleep(Duration.millis(wake > stall.from && wake < stall.to ? stall.to - now : wake - now))
    }
  })

/** When a second's messages left, in milliseconds from the start, with a stall among them. */
const departuresWith = (lane: Departures.Lane | null) =>
  Effect.gen(function*() {
    const left: Array<number> = []
    yield* Effect.gen(function*() {
      const departures = yield* Departures.make(QueueWorkStep.lease)
      const taken = Array.from(
        { length: 1600 },
        (_, n) => ({ slot: start + n * interval, message: { status: "queued", phoneNumberId: "num_1" } })
      )
      yield* departures.leave(taken as never, yield* Elapsed.now, lane, () => Effect.void)
      yield* advance("5 seconds")
    }).pipe(
      Effect.scoped,
      Effect.provideService(QueuedMessages, {
        send: () =>
          Effect.map(Clock.currentTimeMillis, (now) => {
            left.push(now - start)
            return { _tag: "Ended" }
          })
      } as never),
      Effect.provideService(Clock.Clock, stalling(yield* Clock.Clock)),
      at(start)
    )
    return left
  })

/** The most in any second. */
const mostInASecond = (left: ReadonlyArray<number>): number =>
  Math.max(...left.map((from) => left.filter((time) => time >= from && time < from + 1000).length))

describe("departures", () => {
  it.effect("after a process stood still, the messages of a lane leave late, and no second has a twentieth more than its pace", () =>
    Effect.gen(function*() {
      const left = yield* departuresWith({ id: "num_1", interval })
      assert.lengthOf(left, 1600)
      assert.isAtMost(mostInASecond(left), 1000 / interval * 1.05)
      assert.isAtMost(left.at(-1)!, 2000 + stall.to - stall.from)
    }))

  it.effect("messages without a lane that are late for their slots are not sent", () =>
    Effect.gen(function*() {
      const left = yield* departuresWith(null)
      assert.isBelow(left.length, 1600)
      assert.isAtMost(mostInASecond(left), 1000 / interval * 1.1)
    }))

  it.effect("a lane goes on at its pace when the process's clock is set back", () =>
    Effect.gen(function*() {
      const left: Array<number> = []
      let setBackBy = 0
      const clock = yield* Clock.Clock
      const wall = () => clock.currentTimeMillisUnsafe() - setBackBy
      const settable: Clock.Clock = Object.assign(Object.create(clock) as Clock.Clock, {
        currentTimeMillisUnsafe: wall,
        currentTimeMillis: Effect.sync(wall)
      })
      yield* Effect.gen(function*() {
        const departures = yield* Departures.make(QueueWorkStep.lease)
        const leave = Effect.gen(function*() {
          // the storage's clock stays as it is
          const at = clock.currentTimeMillisUnsafe()
          yield* departures.measure(yield* Clock.currentTimeMillis, at)
          const taken = [{ slot: at, message: { status: "queued" } }]
          yield* departures.leave(taken as never, yield* Elapsed.now, { id: "num_1", interval }, () => Effect.void)
        })
        yield* leave
        while (left.length === 0) yield* advance("1 millis")
        setBackBy = 600_000
        yield* leave
        yield* advance("1 second")
      }).pipe(
        Effect.scoped,
        Effect.provideService(QueuedMessages, {
          send: () =>
            Effect.sync(() => {
              left.push(clock.currentTimeMillisUnsafe() - start)
              return { _tag: "Ended" }
            })
        } as never),
        Effect.provideService(Clock.Clock, settable),
        at(start)
      )
      assert.lengthOf(left, 2)
    }))

  it.effect("a message that waits for a place until its time is over is not sent", () =>
    Effect.gen(function*() {
      const sent: Array<string> = []
      const ended: Array<string> = []
      // the process's clock is an hour ahead of the storage's
      const ahead = 3_600_000
      yield* Effect.gen(function*() {
        const departures = yield* Departures.make(QueueWorkStep.lease)
        yield* departures.measure(start, start - ahead)
        const slot = start - ahead
        const taken = Array.from({ length: 258 }, (_, n) => ({
          slot,
          ...n < 256 ? {} : { sendUntil: slot + (n === 256 ? 4000 : 6000) },
          message: { id: `${n}`, status: "queued", phoneNumberId: "num_1" }
        }))
        yield* departures.leave(
          taken as never,
          yield* Elapsed.now,
          { id: "num_1", interval: 0 },
          (one, { _tag }) => Effect.sync(() => void ended.push(`${one.message.id} ${_tag}`))
        )
        yield* advance("15 seconds")
      }).pipe(
        Effect.scoped,
        Effect.provideService(QueuedMessages, {
          send: ({ message: { id } }: { readonly message: { readonly id: string } }) => {
            sent.push(id)
            return Effect.as(Effect.sleep("5 seconds"), { _tag: "Settled" })
          }
        } as never),
        at(start)
      )
      assert.deepStrictEqual(sent.slice(255), ["255", "257"])
      assert.deepStrictEqual(ended.filter((end) => !end.endsWith("Settled")), ["256 TooLate"])
    }))

  /** Departures whose sends take this long, and that log what they send and record. */
  const slowSends = Effect.fnUntraced(function*(takes: Duration.Input) {
    const sent: Array<string> = []
    const ended: Array<string> = []
    const scope = yield* Scope.make()
    const departures = yield* Scope.provide(Departures.make(QueueWorkStep.lease), scope).pipe(
      Effect.provideService(QueuedMessages, {
        send: ({ message: { id } }: { readonly message: { readonly id: string } }) => {
          sent.push(id)
          return Effect.as(Effect.sleep(takes), { _tag: "Settled" })
        }
      } as never)
    )
    const recorded = (one: { readonly message: { readonly id: string } }, { _tag }: { readonly _tag: string }) =>
      Effect.sync(() => void ended.push(`${one.message.id} ${_tag}`))
    const leave = (
      slots: ReadonlyArray<readonly [id: string, slot: number, sendUntil?: number]>,
      record: unknown = recorded
    ) =>
      Effect.flatMap(Elapsed.now, (now) =>
        departures.leave(
          slots.map(([id, slot, sendUntil]) => ({
            slot,
            sendUntil,
            message: { id, status: "queued", phoneNumberId: "num_1" }
          })) as never,
          now,
          { id: "num_1", interval: 10 },
          record as never
        ))
    return { sent, ended, leave, close: Scope.close(scope, Exit.void) }
  })

  it.effect("messages whose tries have not begun are given back when the departures end, and when they are handed over after it", () =>
    Effect.gen(function*() {
      const { close, ended, leave, sent } = yield* slowSends("5 seconds")
      yield* leave([["now", start], ["later", start + 400]])
      yield* advance("30 millis")
      // its group has not begun
      yield* leave([["just taken", start]])
      yield* Effect.forkChild(close)
      yield* settle
      yield* leave([["after", start]])
      assert.deepStrictEqual(ended, ["later TooLate", "just taken TooLate", "after TooLate"])
      yield* advance("10 seconds")
      assert.deepStrictEqual(sent, ["now"])
    }).pipe(at(start)))

  it.effect("the end of departures waits for the tries that have begun, and their results are recorded", () =>
    Effect.gen(function*() {
      const { close, ended, leave } = yield* slowSends("1 second")
      yield* leave([["begun", start]])
      yield* advance("30 millis")
      const closing = yield* Effect.forkChild(close)
      yield* advance("900 millis")
      assert.isUndefined(closing.pollUnsafe())
      yield* advance("100 millis")
      assert.isDefined(closing.pollUnsafe())
      assert.deepStrictEqual(ended, ["begun Settled"])
    }).pipe(at(start)))

  it.effect("the end of departures waits no longer for a try than work in flight may take", () =>
    Effect.gen(function*() {
      const { close, leave } = yield* slowSends("1 second")
      yield* leave([["begun", start]], () => Effect.never)
      yield* advance("30 millis")
      const closing = yield* Effect.forkChild(close)
      yield* advance("9 seconds")
      assert.isUndefined(closing.pollUnsafe())
      yield* advance("500 millis")
      assert.isDefined(closing.pollUnsafe())
    }).pipe(at(start)))

  it.effect("messages that another process may have taken since are not given back", () =>
    Effect.gen(function*() {
      const { close, ended, leave } = yield* slowSends("1 second")
      yield* leave([["old", start + hour]])
      yield* advance("58 seconds")
      yield* leave([["new", start + hour]])
      yield* advance("2 seconds")
      yield* close
      assert.deepStrictEqual(ended, ["new TooLate"])
    }).pipe(at(start)))

  it.effect("a message that another process may have taken since gets no end if it is too late for it", () =>
    Effect.gen(function*() {
      const { ended, leave, sent } = yield* slowSends("1 second")
      yield* leave([["old", start + 2 * minute, start + minute], ["new", start + minute / 2, start + minute / 2]])
      yield* advance("5 minutes")
      assert.deepStrictEqual([sent, ended], [[], ["new TooLate"]])
    }).pipe(at(start)))

  it.effect("a message that another process may have taken since is neither sent nor ended when its turn comes", () =>
    Effect.gen(function*() {
      const { ended, leave, sent } = yield* slowSends("1 second")
      yield* leave([["old", start + 2 * minute, start + hour], ["new", start + minute / 2, start + hour]])
      yield* advance("5 minutes")
      assert.deepStrictEqual([sent, ended], [["new"], ["new Settled"]])
    }).pipe(at(start)))

  it.effect("a number whose messages fill the provider's places delays no other number", () =>
    Effect.gen(function*() {
      const begun = new Map<string, Array<number>>()
      yield* Effect.gen(function*() {
        const departures = yield* Departures.make(QueueWorkStep.lease)
        const leave = (phoneNumberId: string, count: number) =>
          Effect.flatMap(Elapsed.now, (now) =>
            departures.leave(
              Array.from(
                { length: count },
                () => ({ slot: start, message: { status: "queued", phoneNumberId } })
              ) as never,
              now,
              { id: phoneNumberId, interval: 0 },
              () => Effect.void
            ))
        yield* leave("num_busy", 1600)
        yield* leave("num_other", 1)
        yield* advance("10 seconds")
      }).pipe(
        Effect.scoped,
        Effect.provideService(QueuedMessages, {
          send: ({ message: { phoneNumberId } }: { readonly message: { readonly phoneNumberId: string } }) =>
            Effect.flatMap(Clock.currentTimeMillis, (now) => {
              begun.set(phoneNumberId, [...begun.get(phoneNumberId) ?? [], now - start])
              return Effect.as(Effect.sleep("500 millis"), { _tag: "Ended" })
            })
        } as never),
        at(start)
      )
      assert.lengthOf(begun.get("num_busy")!, 1600)
      assert.isAtLeast(begun.get("num_busy")!.at(-1)!, 3000)
      assert.lengthOf(begun.get("num_other")!, 1)
      assert.isBelow(begun.get("num_other")![0]!, 600)
    }))
})
