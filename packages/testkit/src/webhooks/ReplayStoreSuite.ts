/**
 * Conformance of `ReplayStore`: jobs that retry the deliveries of a range.
 */
import { assert } from "@effect/vitest"
import { DeliveryStore, type Id, Replay, ReplayStore, type Time, WebhookStore } from "@wac/core"
import { Duration, Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"
import type * as SeededRandom from "../SeededRandom.ts"
import * as DeliveryFixture from "./DeliveryFixture.ts"

const { claim, complete, record, view, views } = DeliveryFixture
const { day, hour, minute, putWebhook, second, world } = Fixture

interface Range {
  readonly since?: Time.Instant
  readonly until?: Time.Instant
  readonly status?: Replay.ReplayedStatus
}

/** Creates a job, by default over everything up to `now`. */
const create = (own: Fixture.World, now: Time.Instant, { since, status, until }: Range = {}) =>
  Effect.gen(function*() {
    const id = yield* Fixture.id("job")
    const created = yield* ReplayStore.ReplayStore.use((store) =>
      store.create({
        id,
        workspaceId: own.workspace.id,
        since: since ?? own.start,
        until: until ?? now,
        status: status ?? null,
        now
      })
    )
    return Option.getOrThrow(created)
  })

const get = ({ workspace }: Fixture.World, id: Id.ReplayId) =>
  Effect.map(ReplayStore.ReplayStore.use((store) => store.get(workspace.id, id)), Option.getOrThrow)

/** Runs steps until none is due. Returns how many. */
const work = (now: Time.Instant, limit = 100) =>
  Effect.gen(function*() {
    const store = yield* ReplayStore.ReplayStore
    let steps = 0
    while (yield* store.step(now, limit)) assert.isBelow(++steps, 500)
    return steps
  })

/** Attempts everything that is due, repeatedly, until nothing is. */
const attemptAll = (own: Fixture.World, now: Time.Instant, outcome: "delivered" | "status" = "delivered") =>
  Effect.gen(function*() {
    const made: Array<DeliveryStore.ClaimedDelivery> = []
    while (true) {
      const { deliveries, token } = yield* claim(own, { now })
      if (deliveries.length === 0) return made
      const attempt = (one: DeliveryStore.ClaimedDelivery) =>
        complete({ ...one, token }, { startedAt: now, durationMs: 0, outcome })
      yield* Effect.forEach(deliveries, attempt, { concurrency: "unbounded" })
      made.push(...deliveries)
    }
  })

/** A webhook with that many delivered events, a millisecond apart. */
const delivered = (count: number) =>
  Effect.gen(function*() {
    const own = yield* world()
    yield* putWebhook(own)
    yield* record(own, count)
    yield* attemptAll(own, own.start + minute)
    return own
  })

const triggered = (own: Fixture.World) =>
  Effect.map(
    views(own),
    (all) => all.flatMap(({ delivery }, i) => delivery.trigger === "replay" && delivery.status === "pending" ? [i] : [])
  )

/** Registers the tests. */
export const tests = (it: Fixture.It, runs: SeededRandom.Runs): void => {
  it.effect("a job retries the deliveries of its range, and completes by itself", () =>
    Effect.gen(function*() {
      const own = yield* delivered(10)
      const before = yield* views(own)
      const now = own.start + hour
      const made = yield* create(own, now, { since: own.start + 2, until: own.start + 8 })
      assert.deepStrictEqual(made, {
        id: made.id,
        workspaceId: own.workspace.id,
        webhookId: before[0]!.delivery.webhookId,
        since: own.start + 2,
        until: own.start + 8,
        status: null,
        state: "running",
        total: 6,
        replayed: 0,
        createdAt: now,
        completedAt: null
      })
      assert.deepStrictEqual(yield* get(own, made.id), made)
      yield* work(now + second, 4)
      assert.deepStrictEqual(yield* get(own, made.id), {
        ...made,
        state: "completed",
        replayed: 6,
        completedAt: now + second
      })
      const after = yield* views(own)
      after.forEach(({ delivery }, i) => {
        const { delivery: was } = before[i]!
        assert.deepStrictEqual(
          delivery,
          i < 2 || i >= 8 ? was : {
            ...was,
            orderKey: null,
            sequence: null,
            status: "pending",
            trigger: "replay",
            roundAttempts: 0,
            firstAttemptAt: null,
            nextAttemptAt: now + second,
            completedAt: null
          }
        )
      })
      const again = yield* attemptAll(own, now + second)
      assert.deepStrictEqual(
        again.map(({ event }) => event.id),
        before.slice(2, 8).map(({ delivery }) => delivery.eventId)
      )
      const { attempts } = yield* view(own, before[2]!.delivery.id)
      assert.deepStrictEqual(attempts.map(({ number, trigger }) => [number, trigger]), [
        [1, "automatic"],
        [2, "replay"]
      ])
      yield* work(now + day)
      assert.deepStrictEqual(yield* triggered(own), [])
    }))

  it.effect("a job covers deliveries that have ended, by status if given, but no tests and no later events", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 3)
      const first = yield* claim(own, { now: own.start + 2 })
      const [one, two, three] = first.deliveries.map((each) => ({ ...each, token: first.token }))
      yield* complete(one!, { startedAt: own.start + 2, durationMs: 0 })
      yield* complete(two!, { startedAt: own.start + 3, durationMs: 0, outcome: "delivered" })
      // a day later the first one is exhausted, because the second was delivered meanwhile
      const late = yield* claim(own, { now: own.start + 2 + day })
      const last = late.deliveries.find(({ delivery }) => delivery.id === one!.delivery.id)!
      yield* complete({ ...last, token: late.token }, { startedAt: own.start + 2 + day, durationMs: 0 })
      const test = yield* DeliveryFixture.beginTest(own, { now: own.start + 2 + day })
      yield* complete(test, { startedAt: own.start + 2 + day, durationMs: 0, outcome: "delivered" })
      const now = own.start + 2 * day
      assert.deepStrictEqual((yield* views(own)).map(({ status }) => status), [
        "exhausted",
        "delivered",
        "pending",
        "delivered"
      ])
      assert.strictEqual((yield* create(own, now)).total, 2)
      const job = yield* create(own, now, { status: "exhausted" })
      assert.strictEqual(job.total, 1)
      yield* ReplayStore.ReplayStore.use((store) =>
        Effect.flatMap(
          store.list(own.workspace.id, { limit: 2, after: null }),
          ({ items }) => store.cancel(own.workspace.id, items[1]!.id, now)
        )
      )
      yield* work(now)
      assert.deepStrictEqual(yield* triggered(own), [0])
      assert.strictEqual((yield* get(own, job.id)).replayed, 1)
      assert.strictEqual((yield* view(own, three!.delivery.id)).delivery.trigger, "automatic")
    }))

  it.effect("a job leaves deliveries that already wait for another job", () =>
    Effect.gen(function*() {
      const own = yield* delivered(40)
      const now = own.start + hour
      const jobs = [yield* create(own, now), yield* create(own, now)]
      yield* work(now, 15)
      const ended = yield* Effect.forEach(jobs, ({ id }) => get(own, id))
      assert.deepStrictEqual(ended.map(({ state }) => state), ["completed", "completed"])
      assert.strictEqual(ended.reduce((sum, { replayed }) => sum + replayed, 0), 40)
      assert.deepStrictEqual(ended.map(({ replayed, total }) => total === replayed), [true, true])
    }))

  it.effect("processes that work concurrently replay each delivery once per job", () =>
    Effect.gen(function*() {
      const own = yield* delivered(60)
      const other = yield* world({ start: own.start })
      yield* putWebhook(other)
      yield* record(other, 30)
      yield* attemptAll(other, own.start + minute)
      const store = yield* ReplayStore.ReplayStore
      const now = own.start + hour
      const jobs = [yield* create(own, now), yield* create(other, now)]
      const loop = Effect.repeat(store.step(now, 7), { while: (worked) => worked })
      yield* Effect.replicateEffect(loop, 6, { concurrency: "unbounded" })
      // a process that found every job taken has left; the other jobs were not done
      yield* work(now, 7)
      assert.deepInclude(yield* get(own, jobs[0]!.id), { state: "completed", replayed: 60, total: 60 })
      assert.deepInclude(yield* get(other, jobs[1]!.id), { state: "completed", replayed: 30, total: 30 })
      assert.strictEqual((yield* triggered(own)).length, 60)
    }))

  it.effect("jobs take turns", () =>
    Effect.gen(function*() {
      const own = yield* delivered(9)
      const other = yield* world({ start: own.start })
      yield* putWebhook(other)
      yield* record(other, 9)
      yield* attemptAll(other, own.start + minute)
      const store = yield* ReplayStore.ReplayStore
      const now = own.start + hour
      const jobs = [yield* create(own, now), yield* create(other, now)] as const
      for (let i = 1; i <= 4; i++) yield* store.step(now + i, 3)
      assert.strictEqual((yield* get(own, jobs[0].id)).replayed, 6)
      assert.strictEqual((yield* get(other, jobs[1].id)).replayed, 6)
      yield* work(now + 5)
    }))

  it.effect("a job waits while its webhook is paused, so a resume skips only what was held", () =>
    Effect.gen(function*() {
      const own = yield* delivered(3)
      const before = yield* views(own)
      yield* record(own, 1, own.start + hour)
      for (const at of [hour, hour + day]) yield* attemptAll(own, own.start + at, "status")
      const isHeld = ["delivered", "delivered", "delivered", "held"]
      assert.deepStrictEqual((yield* views(own)).map(({ status }) => status), isHeld)
      const now = own.start + 5 * day
      const job = yield* create(own, now)
      yield* work(now)
      assert.deepInclude(yield* get(own, job.id), { state: "running", total: 3, replayed: 0 })
      assert.deepStrictEqual(
        (yield* views(own)).slice(0, 3).map(({ delivery }) => delivery),
        before.map(({ delivery }) => delivery)
      )
      const at = now + hour
      yield* WebhookStore.WebhookStore.use((store) =>
        store.resume({ workspaceId: own.workspace.id, now: at, replay: "none" })
      )
      yield* DeliveryFixture.tidy(at, 2)
      yield* work(at)
      assert.deepInclude(yield* get(own, job.id), { state: "completed", total: 3, replayed: 3 })
      const again = yield* attemptAll(own, at)
      assert.deepStrictEqual(again.map(({ delivery }) => delivery.id), before.map(({ delivery }) => delivery.id))
      assert.deepStrictEqual((yield* views(own)).map(({ status }) => status), [
        "delivered",
        "delivered",
        "delivered",
        "skipped"
      ])
    }))

  it.effect("a job leaves deliveries that ended after its creation, so a resume with all delivers held events once", () =>
    Effect.gen(function*() {
      const own = yield* delivered(3)
      yield* record(own, 2, own.start + hour)
      for (const at of [hour, hour + day]) yield* attemptAll(own, own.start + at, "status")
      const now = own.start + 5 * day
      const job = yield* create(own, now)
      assert.strictEqual(job.total, 3)
      yield* work(now)
      const at = now + hour
      yield* WebhookStore.WebhookStore.use((store) =>
        store.resume({ workspaceId: own.workspace.id, now: at, replay: "all" })
      )
      // the held events are delivered before the job's next step
      assert.strictEqual((yield* attemptAll(own, at)).length, 2)
      yield* work(at)
      assert.deepInclude(yield* get(own, job.id), { state: "completed", total: 3, replayed: 3 })
      assert.strictEqual((yield* attemptAll(own, at + second)).length, 3)
    }))

  it.effect("deliveries that a resume has skipped can be replayed immediately", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own, { pausedAt: own.start })
      yield* record(own, 3)
      const now = own.start + hour
      yield* WebhookStore.WebhookStore.use((store) =>
        store.resume({ workspaceId: own.workspace.id, now, replay: "none" })
      )
      const job = yield* create(own, now, { status: "skipped" })
      yield* work(now)
      const deliveries = yield* DeliveryStore.DeliveryStore
      yield* Effect.repeat(deliveries.tidySkipped(now, 2), { while: (written) => written > 0 })
      yield* work(now + Duration.toMillis(Replay.pause))
      assert.deepInclude(yield* get(own, job.id), { state: "completed", total: 3, replayed: 3 })
      assert.deepStrictEqual((yield* views(own)).map(({ status }) => status), ["pending", "pending", "pending"])
    }))

  if (runs !== "few") {
    it.effect("at most a thousand rounds of replays are open, and the other deliveries stay untouched", () =>
      Effect.gen(function*() {
        const count = Replay.maxWaiting + 60
        const own = yield* delivered(count)
        const now = own.start + hour
        const pause = Duration.toMillis(Replay.pause)
        const job = yield* create(own, now)
        assert.strictEqual(job.total, count)
        yield* work(now, 400)
        assert.deepInclude(yield* get(own, job.id), { state: "running", replayed: Replay.maxWaiting })
        assert.strictEqual(yield* work(now + pause - 1, 400), 0)
        yield* work(now + pause, 400)
        assert.deepInclude(yield* get(own, job.id), { state: "running", replayed: Replay.maxWaiting })
        const { deliveries, token } = yield* claim(own, { now: now + pause })
        assert.isAtLeast(deliveries.length, 1)
        // a round stays open if its first attempt fails
        for (const one of deliveries) yield* complete({ ...one, token }, { startedAt: now + pause, durationMs: 0 })
        yield* work(now + 2 * pause, 400)
        assert.deepInclude(yield* get(own, job.id), { state: "running", replayed: Replay.maxWaiting })
        const { length: ended } = yield* attemptAll(own, now + 2 * pause)
        assert.isAtLeast(ended, 1)
        yield* work(now + 3 * pause, 400)
        const replayed = Replay.maxWaiting + ended
        assert.deepInclude(yield* get(own, job.id), { state: "running", replayed })
        const cancelled = yield* ReplayStore.ReplayStore.use((store) =>
          store.cancel(own.workspace.id, job.id, now + 3 * pause)
        )
        assert.deepInclude(Option.getOrThrow(cancelled), {
          state: "cancelled",
          total: count,
          replayed,
          completedAt: now + 3 * pause
        })
        assert.strictEqual(yield* work(now + day, 400), 0)
      }))

    it.effect("a range of up to ten thousand is counted at once, and a larger one at its end", () =>
      Effect.gen(function*() {
        const own = yield* world()
        yield* putWebhook(own, { pausedAt: own.start })
        const more = Replay.countedAtOnce + 1
        const happens = (i: number) =>
          MessageFixture.inbound(own, { customer: MessageFixture.customer(i), now: own.start + i })
        yield* Effect.forEach(Array.from({ length: more }, (_, i) => i), happens, { concurrency: 1000, discard: true })
        const now = own.start + hour
        yield* WebhookStore.WebhookStore.use((store) =>
          store.resume({ workspaceId: own.workspace.id, now, replay: "none" })
        )
        const deliveries = yield* DeliveryStore.DeliveryStore
        yield* Effect.repeat(deliveries.tidySkipped(now, more), { while: (written) => written > 0 })
        for (const [since, total] of [[own.start, null], [own.start + 1, Replay.countedAtOnce]] as const) {
          const job = yield* create(own, now, { since })
          assert.strictEqual(job.total, total)
          // steps work on any workspace's job
          yield* ReplayStore.ReplayStore.use((store) => store.cancel(own.workspace.id, job.id, now))
        }
      }))
  }

  it.effect("a job ends when its webhook is removed, and cannot be created without one", () =>
    Effect.gen(function*() {
      const own = yield* delivered(5)
      const store = yield* ReplayStore.ReplayStore
      const now = own.start + hour
      const job = yield* create(own, now)
      yield* store.step(now, 2)
      yield* WebhookStore.WebhookStore.use((webhooks) => webhooks.remove(own.workspace.id, now))
      const command = {
        id: yield* Fixture.id("job"),
        workspaceId: own.workspace.id,
        since: own.start,
        until: now,
        status: null,
        now
      }
      assert.deepStrictEqual(yield* store.create(command), Option.none())
      assert.deepStrictEqual(yield* store.get(own.workspace.id, command.id), Option.none())
      yield* putWebhook(own)
      yield* work(now + minute)
      assert.deepInclude(yield* get(own, job.id), { state: "cancelled", replayed: 2, completedAt: now + minute })
      assert.deepStrictEqual(yield* triggered(own), [])
    }))

  it.effect("jobs are listed newest first, in pages, for their own workspace", () =>
    Effect.gen(function*() {
      const own = yield* delivered(1)
      const other = yield* world({ start: own.start })
      const store = yield* ReplayStore.ReplayStore
      const now = own.start + hour
      const made: Array<Replay.Replay> = []
      for (let i = 0; i < 3; i++) made.unshift(yield* create(own, now + i))
      const first = yield* store.list(own.workspace.id, { limit: 2, after: null })
      const rest = yield* store.list(own.workspace.id, { limit: 2, after: first.next })
      assert.deepStrictEqual([...first.items, ...rest.items], made)
      assert.deepStrictEqual([first.items.length, rest.next], [2, null])
      assert.deepStrictEqual((yield* store.list(other.workspace.id, { limit: 2, after: null })).items, [])
      const { id } = made[0]!
      assert.deepStrictEqual(yield* store.get(other.workspace.id, id), Option.none())
      assert.deepStrictEqual(yield* store.cancel(other.workspace.id, id, now), Option.none())
      assert.deepStrictEqual(yield* get(own, id), made[0])
      // an ended job stays so
      const ended = Option.getOrThrow(yield* store.cancel(own.workspace.id, id, now + minute))
      assert.deepStrictEqual(ended, { ...made[0]!, state: "cancelled", completedAt: now + minute })
      assert.deepStrictEqual(yield* store.cancel(own.workspace.id, id, now + hour), Option.some(ended))
      for (const job of made) yield* store.cancel(own.workspace.id, job.id, now + hour)
    }))
}
