import { assert, describe, it } from "@effect/vitest"
import { StubProviderWebhook } from "@wac/testkit"
import { Clock, Deferred, Duration, Effect, Latch, Layer, Metric, References } from "effect"
import { TestClock } from "effect/testing"
import type { InboundItem } from "../../src/inbound/InboundItem.ts"
import { InboundPostStore } from "../../src/inbound/InboundPostStore.ts"
import { itemsAtOnce, lease, separatesAfter } from "../../src/inbound/InboundRunner.ts"
import { ProviderWebhook, UnreadablePost } from "../../src/inbound/ProviderWebhook.ts"
import { StoreError } from "../../src/StoreError.ts"
import { day, hour, minute } from "../checks.ts"
import { settle } from "../clock.ts"
import { logged } from "../logged.ts"
import { backlog, message, nameOf, post, postBody, posting, startRunner, status } from "../posting.ts"
import { retention } from "../retention.ts"
import { start } from "../samples.ts"

const away = Effect.fail(new StoreError({ operation: "MessageStore.applyReport" }))

/** Records what is applied, and when. `answer` decides the outcome. */
const noting = (answer: (name: string, call: number) => Effect.Effect<void, StoreError> = () => Effect.void) => {
  const applied: Array<string> = []
  const times: Array<number> = []
  const apply = (item: InboundItem) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      times.push(now - start)
      return answer(nameOf(item), applied.push(nameOf(item)))
    })
  return { applied, times, apply }
}

const idle = { waiting: 0, oldestReceivedAt: null, failing: 0, unreadable: 0 }

describe("the runner", () => {
  it.effect("a new post is processed immediately, and each post once", () =>
    posting(Effect.gen(function*() {
      const { applied, apply, times } = noting()
      yield* startRunner(apply)
      yield* TestClock.adjust("10 seconds")
      yield* post([status(1), message(1)])
      yield* settle
      yield* post([status(2)])
      yield* post([status(1), message(1)])
      yield* settle
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual([applied, times], [["wamid.1 delivered", "wamid.in.1", "wamid.2 delivered"], [
        10_000,
        10_000,
        10_000
      ]])
      assert.deepStrictEqual(yield* backlog, idle)
    })))

  it.effect("posts from before the start are processed, oldest first", () =>
    posting(Effect.gen(function*() {
      for (const n of [1, 2, 3]) {
        yield* post([message(n)])
        yield* TestClock.adjust("1 minute")
      }
      const { applied, apply } = noting()
      yield* startRunner(apply)
      assert.deepStrictEqual(applied, ["wamid.in.1", "wamid.in.2", "wamid.in.3"])
    })))

  it.effect("without hints, the runner polls every second", () =>
    posting(Effect.gen(function*() {
      const { applied, apply } = noting()
      yield* startRunner(apply, { store: { awaitHint: Effect.never } })
      yield* post([message(1)])
      yield* settle
      assert.deepStrictEqual(applied, [])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(applied, ["wamid.in.1"])
    })))

  it.effect("very many items that need no storage are applied in many turns of the event loop", () =>
    posting(Effect.gen(function*() {
      let turns = 0
      let isRunning = true
      const next = () => {
        turns++
        if (isRunning) setImmediate(next)
      }
      setImmediate(next)
      const applied = new Map<number, number>()
      const count = 20_000
      yield* post(Array.from({ length: count }, () => ({ _tag: "Skipped" as const, kind: "x" })))
      yield* startRunner(() => Effect.sync(() => void applied.set(turns, (applied.get(turns) ?? 0) + 1)))
      const sum = () => [...applied.values()].reduce((sum, items) => sum + items, 0)
      while (sum() < count) yield* Effect.yieldNow
      isRunning = false
      assert.isAtMost(Math.max(...applied.values()), 2 * itemsAtOnce)
    })))

  it.effect("many items are in flight, but for one contact one at a time, in order, across posts", () =>
    posting(Effect.gen(function*() {
      const customers = Array.from({ length: 200 }, (_, i) => `+1202555${String(i).padStart(4, "0")}`)
      for (let round = 0; round < 5; round++) {
        yield* post(customers.map((customer, i) => message(round * 1000 + i, customer)))
      }
      const underWay = new Map<string, number>()
      const heard = new Map<string, Array<string>>()
      let most = 0
      yield* startRunner((item) =>
        Effect.gen(function*() {
          if (item._tag !== "Message") return
          const customer = item.message.customer.phone!
          assert.isFalse(underWay.has(customer), "two of one contact at once")
          underWay.set(customer, 1)
          most = Math.max(most, underWay.size)
          heard.set(customer, [...heard.get(customer) ?? [], item.message.providerMessageId])
          yield* Effect.sleep("10 millis")
          underWay.delete(customer)
        })
      )
      // five in a row for each, 64 contacts at a time: four rounds
      yield* TestClock.adjust(Duration.millis(4 * 5 * 10))
      yield* settle
      assert.strictEqual(most, 64)
      assert.deepStrictEqual(
        customers.map((customer) => heard.get(customer)),
        customers.map((_, i) => [0, 1, 2, 3, 4].map((round) => `wamid.in.${round * 1000 + i}`))
      )
      assert.deepStrictEqual(yield* backlog, idle)
    })))

  it.effect("a post whose items the storage could not apply is retried with growing delays, and others are not held up", () =>
    posting(Effect.gen(function*() {
      const { applied, apply, times } = noting((name) => name === "wamid.in.2" ? away : Effect.void)
      yield* startRunner(apply)
      yield* post([message(1), message(2), message(3)])
      yield* settle
      assert.deepStrictEqual(applied, ["wamid.in.1", "wamid.in.2"])
      assert.deepStrictEqual(yield* backlog, { waiting: 1, oldestReceivedAt: start, failing: 1, unreadable: 0 })
      yield* post([message(9)])
      yield* settle
      assert.strictEqual(applied.at(-1), "wamid.in.9")
      yield* TestClock.adjust("8 seconds")
      assert.deepStrictEqual(applied.slice(3), [
        "wamid.in.1",
        "wamid.in.2",
        "wamid.in.1",
        "wamid.in.2",
        ...[1, 2, 3]
          .map((n) => `wamid.in.${n}`)
      ])
      assert.deepStrictEqual(times.slice(3), [1000, 1000, 3000, 3000, 7000, 7000, 7000])
      yield* TestClock.adjust("2 hours")
      // every ten minutes in the end
      assert.strictEqual(times.at(-1)! - times.at(-4)!, 10 * minute)
    })))

  it.effect("the items of a post are tried separately once the post has failed often", () =>
    posting(Effect.gen(function*() {
      assert.strictEqual(separatesAfter, 3)
      const { applied, apply } = noting((name) => /[13579]$/.test(name) ? away : Effect.void)
      yield* startRunner(apply)
      yield* post([1, 2, 3, 4, 5, 6].map((n) => message(n)))
      yield* settle
      yield* TestClock.adjust("6 seconds")
      assert.deepStrictEqual(applied, ["wamid.in.1", "wamid.in.1", "wamid.in.1"])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(applied.slice(3), [1, 2, 3, 4, 5, 6].map((n) => `wamid.in.${n}`))
      assert.strictEqual((yield* backlog).failing, 1)
    })))

  it.effect("a post completes when its trouble is over", () =>
    posting(Effect.gen(function*() {
      const { applied, apply } = noting((_, call) => call < 3 ? away : Effect.void)
      yield* startRunner(apply)
      yield* post([message(1), message(2)])
      yield* settle
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(applied, ["wamid.in.1", "wamid.in.1", "wamid.in.1", "wamid.in.2"])
      assert.deepStrictEqual(yield* backlog, idle)
    })))

  it.effect("a defect is logged without its content, and the post is retried", () =>
    posting(logged((lines) =>
      Effect.gen(function*() {
        const { applied, apply } = noting((_, call) =>
          call === 1 ? Effect.die(new TypeError("no SECRET in it")) : Effect.void
        )
        yield* startRunner(apply)
        yield* post([message(1)])
        yield* settle
        assert.deepStrictEqual(lines.map(({ level }) => level), ["Error"])
        assert.match(
          lines[0]!.message,
          /of stub \(\d+ bytes\) failed unexpectedly: TypeError\n +at .*InboundRunner\.test/
        )
        assert.notMatch(JSON.stringify(lines), /SECRET|message 1/)
        yield* TestClock.adjust("1 second")
        assert.lengthOf(applied, 2)
        assert.deepStrictEqual(yield* backlog, idle)
      })
    )))

  it.effect("an unreadable post is set aside and logged once without its content, and the runner continues", () =>
    posting(logged((lines) =>
      Effect.gen(function*() {
        const { applied, apply } = noting()
        yield* startRunner(apply)
        yield* postBody("SECRET")
        yield* post([message(1)])
        yield* settle
        yield* postBody("SECRET")
        yield* settle
        yield* TestClock.adjust("14 minutes")
        assert.deepStrictEqual(applied, ["wamid.in.1"])
        assert.deepStrictEqual(yield* backlog, { ...idle, unreadable: 1 })
        assert.deepStrictEqual(lines.map(({ level }) => level), ["Warn"])
        assert.match(lines[0]!.message, /^the post [0-9a-f]{64} of stub \(6 bytes\) cannot be read and is set aside: /)
        assert.notMatch(JSON.stringify(lines), /SECRET/)
      })
    )))

  it.effect("a new start reads posts that the version before could not read, in their order and before later ones", () =>
    posting(Effect.gen(function*() {
      const { applied, apply } = noting()
      const unreadable = Effect.fail(new UnreadablePost({ message: "it has a new form" }))
      const before = yield* startRunner(apply, {
        webhook: Layer.succeed(ProviderWebhook, { ...StubProviderWebhook.make(), read: () => unreadable })
      })
      for (const n of [1, 2]) {
        yield* post([message(n)])
        yield* TestClock.adjust("1 minute")
      }
      assert.deepStrictEqual(yield* backlog, { ...idle, unreadable: 2 })
      yield* before.stop
      yield* TestClock.adjust("1 hour")
      yield* post([message(3)])
      yield* startRunner(apply)
      assert.deepStrictEqual(applied, ["wamid.in.1", "wamid.in.2", "wamid.in.3"])
      assert.deepStrictEqual(yield* backlog, idle)
    })))

  it.effect("a process tries unreadable posts again at its start and 15 minutes later, even if its first attempt fails and its runner starts again", () =>
    posting(Effect.gen(function*() {
      const store = yield* InboundPostStore
      let reads = 0
      const webhook = StubProviderWebhook.layer(Effect.sync(() => void reads++))
      const first = yield* startRunner(() => Effect.void, { webhook })
      yield* postBody("nonsense")
      yield* settle
      assert.strictEqual(reads, 1)
      yield* first.stop

      let calls = 0
      const own = InboundPostStore.of({
        ...store,
        retryUnreadable: (provider, limit) =>
          Effect.suspend(() => calls++ === 0 ? away : store.retryUnreadable(provider, limit))
      })
      for (const [minutes, expected] of [[14, 2], [2, 3], [60, 3]] as const) {
        const { stop } = yield* startRunner(() => Effect.void, { webhook, process: own })
        yield* TestClock.adjust(Duration.minutes(minutes))
        assert.strictEqual(reads, expected)
        yield* stop
      }
      assert.deepStrictEqual(yield* backlog, { ...idle, unreadable: 1 })
    })))

  it.effect("applied items are counted by kind, and failures by cause", () =>
    posting(Effect.gen(function*() {
      const { apply } = noting((name, call) => name === "wamid.in.1" && call < 6 ? away : Effect.void)
      yield* startRunner(apply)
      yield* post([
        status(1),
        status(2),
        { _tag: "Skipped", kind: "calls" },
        { _tag: "TemplatesChanged", providerAccountId: "account" }
      ])
      yield* settle
      yield* post([message(1)])
      yield* postBody("nonsense")
      yield* settle
      yield* TestClock.adjust("1 minute")
      const counted = (yield* Metric.snapshot)
        .filter(({ id }) => id === "wac_inbound_items_total" || id === "wac_inbound_post_problems_total")
        .map(({ attributes, state }) =>
          [...Object.values(attributes ?? {}), "count" in state && Number(state.count)].join(" ")
        )
      assert.deepStrictEqual(counted.sort(), [
        "message 1",
        "skipped 1",
        "status 2",
        "storage 1",
        "templates_changed 1",
        "unreadable 1"
      ])
    })))

  it.effect("a post is read with its arrival time, however late and often", () =>
    posting(Effect.gen(function*() {
      const seen: Array<number> = []
      const stub = StubProviderWebhook.make()
      const webhook: ProviderWebhook = {
        ...stub,
        read: (body, receivedAt) => {
          seen.push(receivedAt - start)
          return stub.read(body, receivedAt)
        }
      }
      yield* post([message(1)])
      yield* TestClock.adjust("1 hour")
      const { apply } = noting((_, call) => call === 1 ? away : Effect.void)
      yield* startRunner(apply, { webhook: Layer.succeed(ProviderWebhook, webhook) })
      yield* post([message(2)])
      yield* settle
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(seen, [0, hour, 0])
      assert.deepStrictEqual(yield* backlog, idle)
    })))

  it.effect("what was passed over is logged in one line for each post, without its content", () =>
    posting(
      logged((lines) =>
        Effect.gen(function*() {
          const strange = { what: "a message to nobody", isUsual: false }
          const usual = { what: "a status of nobody's", isUsual: true }
          yield* startRunner((item) => Effect.succeed(item._tag === "Status" ? usual : strange))
          yield* post([1, 2, 3].map((n) => status(n)))
          yield* settle
          yield* post([status(4), message(1), message(2)])
          yield* settle
          assert.deepStrictEqual(lines.map(({ level }) => level), ["Debug", "Info"])
          assert.match(
            lines[0]!.message,
            /^ignored parts of the post [0-9a-f]{64} of stub \(\d+ bytes\): a status of nobody's \(3 times\)$/
          )
          assert.match(lines[1]!.message, /: a status of nobody's, a message to nobody \(2 times\)$/)
        })
      ).pipe(Effect.provideService(References.MinimumLogLevel, "All"))
    ))

  it.effect("what was passed over is logged once, when the post is complete, however often it was tried", () =>
    posting(logged((lines) =>
      Effect.gen(function*() {
        let calls = 0
        yield* startRunner((item) =>
          item._tag === "Status"
            ? Effect.succeed({ what: "a status of nobody's", isUsual: false })
            : ++calls < 3
            ? away
            : Effect.void
        )
        yield* post([status(1), message(1)])
        yield* settle
        assert.deepStrictEqual(lines, [])
        yield* TestClock.adjust("10 seconds")
        assert.deepStrictEqual([calls, lines.length], [3, 1])
        assert.deepStrictEqual(yield* backlog, idle)
      })
    )))

  it.effect("another provider's posts are left alone", () =>
    posting(Effect.gen(function*() {
      const { applied, apply } = noting()
      yield* post([message(1)])
      const other = Layer.succeed(ProviderWebhook, { ...StubProviderWebhook.make(), name: "other" })
      yield* startRunner(apply, { webhook: other })
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(applied, [])
      assert.strictEqual((yield* backlog).waiting, 1)
    })))

  it.effect("old posts are deleted even for a provider that posts nothing, for which nothing is claimed", () =>
    posting(Effect.gen(function*() {
      const { applied, apply } = noting()
      const first = yield* startRunner(apply)
      yield* post([message(1)])
      yield* settle
      yield* first.stop
      yield* post([message(2)])
      yield* startRunner(apply, { webhook: Layer.succeed(ProviderWebhook, undefined) })
      const store = yield* InboundPostStore
      yield* TestClock.adjust(7 * day)
      // everything that was to be deleted by then is gone
      assert.strictEqual(yield* store.sweep(start + 7 * day, 10), 0)
      yield* post([message(1)])
      yield* post([message(2)])
      assert.strictEqual((yield* backlog).waiting, 2)
      assert.deepStrictEqual(applied, ["wamid.in.1"])
    })))

  it.effect("items are applied with the time at which the storage got their post, however late that is", () =>
    posting(Effect.gen(function*() {
      const times: Array<number> = []
      yield* post([message(1)])
      yield* TestClock.adjust("2 hours")
      yield* startRunner((_item, receivedAt) => Effect.sync(() => void times.push(receivedAt)))
      assert.deepStrictEqual(times, [start])
    })))

  it.effect("while expired posts cannot be deleted, their deletion counts as failed and not as completed", () =>
    posting(Effect.gen(function*() {
      let isRefused = true
      const failure = new StoreError({ operation: "InboundPostStore.sweep" })
      const sweep = () => isRefused ? Effect.fail(failure) : Effect.succeed(0)
      yield* startRunner(noting().apply, { store: { sweep } })
      const [metrics, begun] = [retention("inbound"), start / 1000]
      assert.deepStrictEqual(yield* metrics, { completed: begun, failures: 1, removed: 0 })
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* metrics, { completed: begun, failures: 2, removed: 0 })
      isRefused = false
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* metrics, { completed: begun + 120, failures: 2, removed: 0 })
    })))

  it.effect("while no post can expire, the deletion of expired posts is completed every hour", () =>
    posting(Effect.gen(function*() {
      const store = yield* InboundPostStore
      yield* startRunner(noting().apply, { polling: { rest: () => Effect.never } })
      assert.strictEqual((yield* store.backlog).waiting, 0)
      yield* TestClock.adjust("3 hours")
      assert.strictEqual((yield* retention("inbound")).completed, start / 1000 + 3 * 3600)
    })))

  it.effect("the runner continues after a claim and a sweep have failed", () =>
    posting(logged((lines) =>
      Effect.gen(function*() {
        const store = yield* InboundPostStore
        let claims = 0
        const { applied, apply } = noting()
        yield* post([message(1)])
        yield* startRunner(apply, {
          store: {
            claim: (command) =>
              ++claims === 1
                ? Effect.fail(new StoreError({ operation: "InboundPostStore.claim" }))
                : store.claim(command),
            sweep: () => Effect.fail(new StoreError({ operation: "InboundPostStore.sweep" }))
          }
        })
        assert.deepStrictEqual(applied, [])
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(applied, ["wamid.in.1"])
        yield* TestClock.adjust("2 minutes")
        assert.deepStrictEqual(lines.map(({ message }) => /claim|sweep/.exec(message)![0]), [
          "sweep",
          "claim",
          // it succeeds again
          "claim",
          "sweep",
          "sweep"
        ])
      })
    )))

  it.effect("a post completes when its own items are done, even if another takes longer than the lease", () =>
    posting(Effect.gen(function*() {
      for (const n of [1, 2, 3]) yield* post([message(n, `+1202555010${n}`), status(n)])
      const first = noting((name) => name === "wamid.in.2" ? Effect.never : Effect.void)
      yield* startRunner(first.apply)
      assert.deepStrictEqual([...first.applied].sort(), [
        "wamid.1 delivered",
        "wamid.2 delivered",
        "wamid.3 delivered",
        "wamid.in.1",
        "wamid.in.2",
        "wamid.in.3"
      ])
      assert.strictEqual((yield* backlog).waiting, 1)
      yield* TestClock.adjust(lease)
      const second = noting()
      yield* startRunner(second.apply)
      assert.deepStrictEqual(second.applied, ["wamid.in.2", "wamid.2 delivered"])
      assert.deepStrictEqual(yield* backlog, idle)
    })))

  it.effect("a post whose completion could not be recorded is processed again", () =>
    posting(Effect.gen(function*() {
      const store = yield* InboundPostStore
      let ends = 0
      const { apply, times } = noting()
      yield* startRunner(apply, {
        store: {
          complete: (command) =>
            ++ends === 1
              ? Effect.fail(new StoreError({ operation: "InboundPostStore.complete" }))
              : store.complete(command)
        }
      })
      yield* post([message(1)])
      yield* settle
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(times, [0, Duration.toMillis(lease)])
      assert.deepStrictEqual(yield* backlog, idle)
    })))
})

describe("stopping the runner", () => {
  it.effect("a stopping runner releases unprocessed posts, and another one processes all their items immediately", () =>
    posting(Effect.gen(function*() {
      const reached = yield* Deferred.make<void>()
      const first = noting((name) =>
        name === "wamid.in.2" ? Effect.andThen(Deferred.succeed(reached, undefined), Effect.never) : Effect.void
      )
      const runner = yield* startRunner(first.apply)
      yield* post([message(1), message(2), message(3)])
      yield* Deferred.await(reached)
      yield* runner.stop
      const second = noting()
      yield* startRunner(second.apply)
      assert.deepStrictEqual([first.applied, second.applied], [["wamid.in.1", "wamid.in.2"], [
        "wamid.in.1",
        "wamid.in.2",
        "wamid.in.3"
      ]])
      assert.deepStrictEqual(yield* backlog, idle)
    })))

  it.effect("a runner that stops during a claim releases that too", () =>
    posting(Effect.gen(function*() {
      const store = yield* InboundPostStore
      const claimed = yield* Latch.make()
      const first = noting()
      yield* post([message(1)])
      const runner = yield* startRunner(first.apply, {
        store: { claim: (command) => Effect.tap(store.claim(command), Latch.await(claimed)) }
      })
      const stopping = yield* Effect.forkChild(runner.stop, { startImmediately: true })
      yield* Latch.open(claimed)
      yield* Effect.andThen(settle, Effect.sync(() => assert.isDefined(stopping.pollUnsafe())))
      const second = noting()
      yield* startRunner(second.apply)
      assert.deepStrictEqual([first.applied, second.applied], [[], ["wamid.in.1"]])
    })))

  it.effect("if a stopping runner cannot release its posts, they are taken over when the lease ends", () =>
    posting(Effect.gen(function*() {
      const first = noting(() => Effect.never)
      const runner = yield* startRunner(first.apply, {
        store: { release: () => Effect.fail(new StoreError({ operation: "InboundPostStore.release" })) }
      })
      yield* post([message(1)])
      yield* settle
      yield* runner.stop
      const second = noting()
      yield* startRunner(second.apply)
      yield* TestClock.adjust(Duration.toMillis(lease) - 1000)
      assert.deepStrictEqual(second.applied, [])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(second.applied, ["wamid.in.1"])
    })))
})
