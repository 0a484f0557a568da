import { assert, describe, it } from "@effect/vitest"
import { StubProviderWebhook } from "@wac/testkit"
import { Clock, Deferred, Duration, Effect, Latch, Layer, Metric, References } from "effect"
import { TestClock } from "effect/testing"
import type { InboundItem } from "../../src/inbound/InboundItem.ts"
import { InboundPostStore } from "../../src/inbound/InboundPostStore.ts"
import { lease, separatesAfter } from "../../src/inbound/InboundRunner.ts"
import { ProviderWebhook } from "../../src/inbound/ProviderWebhook.ts"
import { StoreError } from "../../src/StoreError.ts"
import { day, hour, minute } from "../checks.ts"
import { settle } from "../clock.ts"
import { logged } from "../logged.ts"
import { backlog, message, nameOf, post, postBody, posting, startRunner, status } from "../posting.ts"
import { start } from "../samples.ts"

const away = Effect.fail(new StoreError({ operation: "MessageStore.applyReport" }))

/** Notes what is applied, and when; `answer` says how that ends. */
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
  it.effect("processes at once what is posted, and each post once", () =>
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

  it.effect("takes up what came before it started, oldest first", () =>
    posting(Effect.gen(function*() {
      for (const n of [1, 2, 3]) {
        yield* post([message(n)])
        yield* TestClock.adjust("1 minute")
      }
      const { applied, apply } = noting()
      yield* startRunner(apply)
      assert.deepStrictEqual(applied, ["wamid.in.1", "wamid.in.2", "wamid.in.3"])
    })))

  it.effect("looks every second by itself, where no hint comes", () =>
    posting(Effect.gen(function*() {
      const { applied, apply } = noting()
      yield* startRunner(apply, { store: { awaitHint: Effect.never } })
      yield* post([message(1)])
      yield* settle
      assert.deepStrictEqual(applied, [])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(applied, ["wamid.in.1"])
    })))

  it.effect("has many items under way, and of one contact one, in the order of coming, over posts too", () =>
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
      // five in a row of each, 64 contacts at a time: four rounds of that
      yield* TestClock.adjust(Duration.millis(4 * 5 * 10))
      yield* settle
      assert.strictEqual(most, 64)
      assert.deepStrictEqual(
        customers.map((customer) => heard.get(customer)),
        customers.map((_, i) => [0, 1, 2, 3, 4].map((round) => `wamid.in.${round * 1000 + i}`))
      )
      assert.deepStrictEqual(yield* backlog, idle)
    })))

  it.effect("tries a post again whose items the storage could not take, later and later; others are not held up", () =>
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

  it.effect("has each item of a post tried by itself that has failed often", () =>
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

  it.effect("is done with a post when its trouble is over", () =>
    posting(Effect.gen(function*() {
      const { applied, apply } = noting((_, call) => call < 3 ? away : Effect.void)
      yield* startRunner(apply)
      yield* post([message(1), message(2)])
      yield* settle
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(applied, ["wamid.in.1", "wamid.in.1", "wamid.in.1", "wamid.in.2"])
      assert.deepStrictEqual(yield* backlog, idle)
    })))

  it.effect("tells of a defect in the log, not of what it was about, and tries again", () =>
    posting(logged((lines) =>
      Effect.gen(function*() {
        const { applied, apply } = noting((_, call) =>
          call === 1 ? Effect.die(new TypeError("no SECRET in it")) : Effect.void
        )
        yield* startRunner(apply)
        yield* post([message(1)])
        yield* settle
        assert.deepStrictEqual(lines.map(({ level }) => level), ["Error"])
        assert.match(lines[0]!.message, /of stub \(\d+ bytes\) met a defect: TypeError\n +at .*InboundRunner\.test/)
        assert.notMatch(JSON.stringify(lines), /SECRET|message 1/)
        yield* TestClock.adjust("1 second")
        assert.lengthOf(applied, 2)
        assert.deepStrictEqual(yield* backlog, idle)
      })
    )))

  it.effect("sets a post aside that cannot be read, says so once and without its words, and goes on", () =>
    posting(logged((lines) =>
      Effect.gen(function*() {
        const { applied, apply } = noting()
        yield* startRunner(apply)
        yield* postBody("SECRET")
        yield* post([message(1)])
        yield* settle
        yield* postBody("SECRET")
        yield* settle
        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual(applied, ["wamid.in.1"])
        assert.deepStrictEqual(yield* backlog, { ...idle, unreadable: 1 })
        assert.deepStrictEqual(lines.map(({ level }) => level), ["Warn"])
        assert.match(lines[0]!.message, /^the post [0-9a-f]{64} of stub \(6 bytes\) cannot be read, and is set aside: /)
        assert.notMatch(JSON.stringify(lines), /SECRET/)
      })
    )))

  it.effect("counts what it applied by kind, and what failed by why", () =>
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

  it.effect("reads a post as of when it came, however late and often", () =>
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

  it.effect("tells of what was passed over in one line for each post, in which nothing of it stands", () =>
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
            /^of the post [0-9a-f]{64} of stub \(\d+ bytes\) was passed over: a status of nobody's \(3 times\)$/
          )
          assert.match(lines[1]!.message, /: a status of nobody's, a message to nobody \(2 times\)$/)
        })
      ).pipe(Effect.provideService(References.MinimumLogLevel, "All"))
    ))

  it.effect("tells of it once, when it is done with the post, however often it was tried", () =>
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

  it.effect("leaves another provider's posts alone", () =>
    posting(Effect.gen(function*() {
      const { applied, apply } = noting()
      yield* post([message(1)])
      const other = Layer.succeed(ProviderWebhook, { ...StubProviderWebhook.make(), name: "other" })
      yield* startRunner(apply, { webhook: other })
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(applied, [])
      assert.strictEqual((yield* backlog).waiting, 1)
    })))

  it.effect("forgets what is old, also for a provider that posts nothing, which it never claims for", () =>
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
      // whatever was to be forgotten by then is
      assert.strictEqual(yield* store.sweep(start + 7 * day, 10), 0)
      yield* post([message(1)])
      yield* post([message(2)])
      assert.strictEqual((yield* backlog).waiting, 2)
      assert.deepStrictEqual(applied, ["wamid.in.1"])
    })))

  it.effect("goes on after a claim and a sweep have failed", () =>
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
        assert.deepStrictEqual(lines.map(({ message }) => /claim|sweep/.exec(message)![0]), ["claim", "sweep", "sweep"])
      })
    )))

  it.effect("is done with each post when its own items are: what takes longer than the lease costs no others", () =>
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

  it.effect("has a post come again whose end could not be recorded", () =>
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

describe("a runner that stops", () => {
  it.effect("gives back what it has not processed: another one goes on at once, with that post's every item", () =>
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

  it.effect("while its claim is on the way gives that back too", () =>
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

  it.effect("and cannot say so has its posts taken over when the lease ends, and not before", () =>
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
