/**
 * Conformance of `UsageStore`: counts and durations by hour, prices of messages, and the quota used by month.
 */
import { assert } from "@effect/vitest"
import {
  type Activity,
  CustomerRecords,
  CustomerStore,
  type Message,
  MessageStore,
  PriceTally,
  Quota,
  type Time,
  Timing,
  UsageStore,
  type Waiting
} from "@wac/core"
import { Effect } from "effect"
import * as Fixture from "../Fixture.ts"
import * as Forgetting from "../Forgetting.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"

const { hour, world } = Fixture

const count = (own: Fixture.World, hours: number, activity: Activity.Activity, count: number): Activity.Count => ({
  workspaceId: own.workspace.id,
  hour: own.start + hours * hour,
  activity,
  count
})

const only = (activities: ReadonlyArray<Activity.Count>): UsageStore.Counted => ({ activities, timings: [] })

/** The hour in which the world begins. */
const begin = (own: Fixture.World): Time.Instant => own.start - own.start % hour

const timed = (
  own: Fixture.World,
  hours: number,
  kind: Timing.Kind,
  durationGroup: number,
  count: number
): Timing.Count => ({
  workspaceId: own.workspace.id,
  span: Timing.spans.hour,
  at: begin(own) + hours * hour,
  kind,
  durationGroup,
  count
})

/** Some hours of a world, in steps of an hour. */
const hours = (own: Fixture.World, since: number, until: number): Timing.Range => ({
  since: begin(own) + since * hour,
  until: begin(own) + until * hour,
  step: hour,
  span: Timing.spans.hour
})

/** All hours from a time on. */
const from = (since: Time.Instant): Activity.Range => ({ since, until: Number.MAX_SAFE_INTEGER })

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("counts are summed by workspace, hour and activity", () =>
    Effect.gen(function*() {
      const store = yield* UsageStore.UsageStore
      const [own, other] = [yield* world(), yield* world()]
      yield* store.add(only([count(own, 0, "sendsAccepted", 2), count(own, 1, "sendsAccepted", 3)]))
      yield* store.add(only([count(own, 1, "sendsAccepted", 1), count(own, 1, "attemptsFailed", 1)]))
      yield* store.add(only([count(other, 1, "sendsAccepted", 9)]))
      yield* store.add(only([]))
      assert.sameDeepMembers([...yield* store.counts(own.workspace.id, from(own.start))], [
        count(own, 0, "sendsAccepted", 2),
        count(own, 1, "sendsAccepted", 4),
        count(own, 1, "attemptsFailed", 1)
      ])
      assert.sameDeepMembers([...yield* store.counts(own.workspace.id, from(own.start + hour))], [
        count(own, 1, "sendsAccepted", 4),
        count(own, 1, "attemptsFailed", 1)
      ])
    }))

  it.effect("counts are read from the first hour of a range to the last before its end", () =>
    Effect.gen(function*() {
      const store = yield* UsageStore.UsageStore
      const own = yield* world()
      const all = [-1, 0, 1, 2].map((hours) => count(own, hours, "sendsAccepted", 1))
      yield* store.add(only(all))
      const until = (end: number) => store.counts(own.workspace.id, { since: own.start, until: end })
      assert.sameDeepMembers([...yield* until(own.start + 2 * hour)], all.slice(1, 3))
      assert.sameDeepMembers([...yield* until(own.start + hour + 1)], all.slice(1, 3))
      assert.deepStrictEqual(yield* until(own.start), [])
    }))

  it.effect("concurrent additions lose nothing of each other", () =>
    Effect.gen(function*() {
      const store = yield* UsageStore.UsageStore
      const own = yield* world()
      const counts = [
        count(own, 0, "sendsAccepted", 1),
        count(own, 0, "sendsFailed", 1),
        count(own, 1, "sendsFailed", 1)
      ]
      const timings = [timed(own, 0, "delivered", 3, 1), timed(own, 0, "timeout", 3, 1), timed(own, 0, "timeout", 9, 1)]
      yield* Effect.forEach(
        Array.from({ length: 20 }, (_, i) =>
          i % 2 === 0
            ? { activities: counts, timings }
            : { activities: counts.toReversed(), timings: timings.toReversed() }),
        store.add,
        { concurrency: "unbounded", discard: true }
      )
      const all = yield* store.counts(own.workspace.id, from(own.start))
      assert.deepStrictEqual(all.map(({ count }) => count), [20, 20, 20])
      const times = yield* store.timed(own.workspace.id, hours(own, 0, 1), Timing.kinds)
      assert.deepStrictEqual(times.map(({ count }) => count), [20, 20, 20])
    }))

  it.effect("durations are summed by workspace, kind, step and group, and read by the span of the range", () =>
    Effect.gen(function*() {
      const store = yield* UsageStore.UsageStore
      const [own, other] = [yield* world(), yield* world()]
      const add = (...timings: ReadonlyArray<Timing.Count>) => store.add({ activities: [], timings })
      yield* add(timed(own, 0, "delivered", 3, 2), timed(own, 1, "delivered", 3, 5))
      yield* add(
        timed(own, 0, "delivered", 3, 1),
        timed(own, 0, "delivered", 4, 1),
        timed(own, 0, "timeout", 40, 1),
        timed(own, 0, "arrival", 40, 7),
        { ...timed(own, 0, "delivered", 3, 100), span: Timing.spans.short },
        timed(other, 0, "delivered", 3, 100)
      )
      const read = (range: Timing.Range, kinds: ReadonlyArray<Timing.Kind> = ["delivered", "timeout"]) =>
        Effect.map(
          store.timed(own.workspace.id, range, kinds),
          (all) =>
            all.map(({ at, count, durationGroup, kind }) => [(at - begin(own)) / hour, kind, durationGroup, count])
        )
      assert.sameDeepMembers([...yield* read(hours(own, 0, 2))], [
        [0, "delivered", 3, 3],
        [0, "delivered", 4, 1],
        [0, "timeout", 40, 1],
        [1, "delivered", 3, 5]
      ])
      assert.deepStrictEqual(yield* read(hours(own, 1, 2)), [[1, "delivered", 3, 5]])
      assert.deepStrictEqual(yield* read(hours(own, 0, 1), ["arrival"]), [[0, "arrival", 40, 7]])
      assert.deepStrictEqual(yield* read({ ...hours(own, 0, 2), span: Timing.spans.short }), [[0, "delivered", 3, 100]])
      const day = begin(own) - begin(own) % (24 * hour)
      assert.deepStrictEqual(
        yield* store.timed(own.workspace.id, { ...hours(own, 0, 2), since: day, step: 24 * hour }, ["timeout"]),
        [{ at: day, kind: "timeout", durationGroup: 40, count: 1 }]
      )
    }))

  it.effect("durations of hours are deleted with the activity, and those of short spans by themselves", () =>
    Effect.gen(function*() {
      const store = yield* UsageStore.UsageStore
      const own = yield* world()
      const all = [-1, 0].flatMap((at) =>
        Object.values(Timing.spans).flatMap((span) =>
          (["delivered", "arrival"] as const).map((kind) => ({ ...timed(own, at, kind, 3, 1), span }))
        )
      )
      yield* store.add({ activities: [], timings: all })
      const left = Effect.map(
        Effect.forEach(
          Object.values(Timing.spans),
          (span) => store.timed(own.workspace.id, { ...hours(own, -1, 1), span }, Timing.kinds)
        ),
        (found) => found.map(({ length }) => length)
      )
      assert.deepStrictEqual(yield* left, [4, 4])
      yield* Forgetting.all(store.forget(begin(own)))
      assert.deepStrictEqual(yield* left, [4, 2])
      yield* Forgetting.all(store.forgetShort(begin(own)))
      assert.deepStrictEqual(yield* left, [2, 2])
    }))

  it.effect("the most that waited in an hour is kept, of each for itself, and of the workspace alone", () =>
    Effect.gen(function*() {
      const store = yield* UsageStore.UsageStore
      const own = yield* world()
      const other = yield* world()
      const peak = (of: Fixture.World, hours: number, queued: number, held: number): Waiting.Peak => ({
        workspaceId: of.workspace.id,
        hour: begin(of) + hours * hour,
        queued,
        held
      })
      yield* Effect.forEach(
        [peak(own, 1, 0, 0), peak(own, 0, 5, 1_000_000), peak(own, 0, 7, 3), peak(own, 0, 6, 0), peak(other, 0, 9, 9)],
        store.raise
      )
      const waited = (since: number, until: number) => store.waited(own.workspace.id, hours(own, since, until))
      assert.deepStrictEqual(yield* waited(-5, 5), [peak(own, 0, 7, 1_000_000), peak(own, 1, 0, 0)])
      assert.deepStrictEqual(yield* waited(0, 1), [peak(own, 0, 7, 1_000_000)])
      yield* Forgetting.all(store.forget(begin(own) + hour))
      assert.deepStrictEqual(yield* waited(-5, 5), [peak(own, 1, 0, 0)])
    }))

  it.effect("counts of hours before a time are deleted", () =>
    Effect.gen(function*() {
      const store = yield* UsageStore.UsageStore
      const own = yield* world()
      yield* store.add(only([count(own, -1, "sendsAccepted", 2), count(own, 0, "sendsAccepted", 3)]))
      yield* Forgetting.all(store.forget(own.start))
      assert.deepStrictEqual(yield* store.counts(own.workspace.id, from(0)), [count(own, 0, "sendsAccepted", 3)])
    }))

  it.effect("a message counts once under the price that was reported last, in the market of its customer", () =>
    Effect.gen(function*() {
      const store = yield* UsageStore.UsageStore
      const messages = yield* MessageStore.MessageStore
      const own = yield* world()
      const { command } = yield* MessageFixture.claimed(own)
      const report = (status: Message.Report["status"], pricing: Message.Pricing) =>
        Effect.flatMap(Fixture.eventIds, (ids) =>
          messages.applyReport({
            now: own.start + hour,
            providerNumberId: own.number.providerNumberId,
            reference: command.messageId,
            report: { status, at: own.start + hour, providerMessageId: null, error: null, pricing },
            ids
          }))
      const price = { billable: true, model: "PMP", type: "regular", category: "utility" }
      const counted = (pricing: Message.Pricing): PriceTally.Count => ({
        workspaceId: own.workspace.id,
        // in which it was sent
        hour: own.start + hour - own.start % hour,
        market: PriceTally.marketOf(command.message.to),
        category: pricing.category,
        type: pricing.type,
        billable: pricing.billable,
        messages: 1
      })
      const all = store.priced(own.workspace.id, from(own.start - hour))
      assert.deepStrictEqual(yield* all, [])
      yield* report("sent", price)
      yield* report("delivered", price)
      assert.deepStrictEqual(yield* all, [counted(price)])
      const until = (until: Time.Instant) => store.priced(own.workspace.id, { since: own.start - hour, until })
      assert.deepStrictEqual(yield* until(counted(price).hour + 1), [counted(price)])
      assert.deepStrictEqual(yield* until(counted(price).hour), [])
      const untold = { ...price, billable: null, type: "unheard_of" }
      yield* report("delivered", untold)
      assert.deepStrictEqual(yield* all, [counted(untold)])
      const free = { ...price, billable: false, type: "free_customer_service" }
      yield* report("read", free)
      assert.deepStrictEqual(yield* all, [counted(free)])
      yield* report("read", untold)
      assert.deepStrictEqual(yield* all, [counted(untold)])
      yield* Forgetting.all(store.forget(own.start + 2 * hour))
      assert.deepStrictEqual(yield* all, [])
      assert.deepStrictEqual(yield* store.priced(own.workspace.id, from(own.start + 2 * hour)), [])
    }))

  it.effect("a corrected message counts once under its price, even if its customer is erased", () =>
    Effect.gen(function*() {
      const store = yield* UsageStore.UsageStore
      const messages = yield* MessageStore.MessageStore
      const customers = yield* CustomerStore.CustomerStore
      const own = yield* world()
      const failed = Effect.gen(function*() {
        const { command } = yield* MessageFixture.claimed(own)
        yield* MessageFixture.settle(command, yield* MessageFixture.refusedOutcome(own.start))
        return command
      })
      const erased = yield* failed
      const { to } = erased.message
      yield* customers.erase({
        workspaceId: own.workspace.id,
        names: CustomerRecords.namesOf(to, []),
        hashes: {},
        place: "messages",
        after: null,
        now: own.start
      })
      const kept = yield* failed
      const pricing = { billable: true, model: "PMP", type: "regular", category: "utility" }
      const counted = { category: pricing.category, type: pricing.type, billable: true, messages: 1 }
      for (const { messageId } of [erased, kept]) {
        for (const status of ["failed", "delivered", "failed", "read", "delivered"] as const) {
          yield* messages.applyReport({
            now: own.start + hour,
            providerNumberId: null,
            reference: messageId,
            report: {
              status,
              at: own.start + hour,
              providerMessageId: null,
              error: status === "failed" ? MessageFixture.refusedError : null,
              ...(status === "failed" ? {} : { pricing })
            },
            ids: yield* Fixture.eventIds
          })
        }
      }
      assert.sameDeepMembers([...yield* store.priced(own.workspace.id, from(own.start - hour))], [
        {
          workspaceId: own.workspace.id,
          hour: own.start + hour - own.start % hour,
          market: PriceTally.noMarket,
          ...counted
        },
        {
          workspaceId: own.workspace.id,
          hour: own.start + hour - own.start % hour,
          market: PriceTally.marketOf(to),
          ...counted
        }
      ])
      assert.deepStrictEqual((yield* store.months(own.workspace.id)).map(({ used }) => used), [2])
    }))

  it.effect("months report what sends have used of the quota, newest first", () =>
    Effect.gen(function*() {
      const store = yield* UsageStore.UsageStore
      const own = yield* world()
      assert.deepStrictEqual(yield* store.months(own.workspace.id), [])
      const next = Fixture.nextMonth(own.start)
      yield* MessageFixture.claimed(own)
      yield* MessageFixture.claimed(own)
      yield* MessageFixture.claimed(own, { now: next })
      assert.deepStrictEqual(yield* store.months(own.workspace.id), [
        { month: Quota.monthOf(next), used: 1 },
        { month: Quota.monthOf(own.start), used: 2 }
      ])
    }))
}
