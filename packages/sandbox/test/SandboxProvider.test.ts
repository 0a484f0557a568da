import { assert, describe, it } from "@effect/vitest"
import { Errors, StoreError } from "@wac/core"
import { Context, Duration, Effect, Exit, Fiber, Logger, Scope } from "effect"
import { TestClock } from "effect/testing"
import { numbers } from "../src/Behaviour.ts"
import { command, type Heard, messageId, sender, start } from "./sandbox.ts"

const ordinary = "+15551234567"

/** When each item was reported, and what it was. */
const summary = (heard: ReadonlyArray<Heard>): ReadonlyArray<readonly [number, string]> =>
  heard.map(({ at, item }) => {
    if (item._tag === "Status") return [at, item.report.status]
    return [at, item._tag === "Message" ? JSON.stringify(item.message.content) : item._tag]
  })

const acceptedAs = /^wamid\.sandbox_[0-7][0-9A-HJKMNP-TV-Z]{25}$/

describe("the order and time of reports", () => {
  const scripts: ReadonlyArray<[string, string, ReadonlyArray<readonly [number, string]>]> = [
    ["any number", ordinary, [[200, "delivered"], [400, "read"]]],
    ["undeliverable", numbers.undeliverable, []],
    ["failing", numbers.failing, [[200, "failed"]]],
    ["silent", numbers.silent, []],
    ["throttled", numbers.throttled, []],
    ["unavailable", numbers.unavailable, []],
    ["outcome unknown", numbers.outcomeUnknown, [[2000, "delivered"]]],
    ["disorderly", numbers.disorderly, [
      [100, "read"],
      [200, "sent"],
      [300, "delivered"],
      [300, "delivered"],
      [400, "read"],
      [500, "delivered"],
      [500, "sent"],
      [600, "read"]
    ]],
    ["replying", numbers.replying, [
      [200, "delivered"],
      [200, "{\"body\":\"Thank you, got it!\"}"],
      [400, "read"]
    ]],
    ["stopping", numbers.stopping, [[200, "delivered"], [200, "{\"body\":\"STOP\"}"], [400, "read"]]],
    ["slow", numbers.slow, [[3200, "delivered"], [3400, "read"]]],
    ["any user id", "US.13491208655302741918", [[200, "delivered"], [400, "read"]]],
    ["a user id with the digits of failing", "US.15005550002", [[200, "failed"]]],
    ["a user id of several businesses", "BR.ENT.15005550009", [
      [200, "delivered"],
      [200, "{\"body\":\"STOP\"}"],
      [400, "read"]
    ]]
  ]
  for (const [name, to, expected] of scripts) {
    it.effect(name, () =>
      Effect.gen(function*() {
        const { heard, provider } = yield* start()
        const sending = yield* Effect.forkChild(provider.send(command(to)), { startImmediately: true })
        for (const at of new Set(expected.map(([at]) => at))) {
          // not a millisecond early
          yield* TestClock.setTime(at - 1)
          assert.deepStrictEqual(summary(heard), expected.filter(([before]) => before < at))
          yield* TestClock.setTime(at)
          assert.deepStrictEqual(summary(heard), expected.filter(([until]) => until <= at))
        }
        const outcome = yield* Fiber.join(sending)
        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual(summary(heard), expected)

        for (const { at, item } of heard) {
          if (item._tag !== "Status") continue
          assert.strictEqual(item.reference, messageId)
          assert.strictEqual(item.report.at, at)
          assert.match(item.report.providerMessageId!, acceptedAs)
          if (outcome._tag === "Accepted") {
            assert.strictEqual(item.report.providerMessageId, outcome.providerMessageId)
          }
          assert.strictEqual(item.report.error === null, item.report.status !== "failed")
        }
      }))
  }
})

describe("answers", () => {
  it.effect("most numbers are accepted immediately, with an id", () =>
    Effect.gen(function*() {
      const { provider } = yield* start()
      const { disorderly, failing, replying, silent, stopping } = numbers
      for (const to of [ordinary, failing, silent, disorderly, replying, stopping]) {
        const outcome = yield* provider.send(command(to))
        assert.strictEqual(outcome._tag, "Accepted")
        if (outcome._tag === "Accepted") assert.match(outcome.providerMessageId, acceptedAs)
      }
    }))

  it.effect("every message gets an id of its own", () =>
    Effect.gen(function*() {
      const { heard, provider } = yield* start()
      const outcomes = yield* Effect.replicateEffect(provider.send(command(numbers.replying)), 500)
      yield* TestClock.adjust("1 second")
      const sent = outcomes.map((outcome) => outcome._tag === "Accepted" ? outcome.providerMessageId : outcome._tag)
      const replies = heard.flatMap(({ item }) => item._tag === "Message" ? [item.message.providerMessageId] : [])
      assert.strictEqual(new Set([...sent, ...replies]).size, 1000)
    }))

  it.effect("the undeliverable number is refused", () =>
    Effect.gen(function*() {
      const { provider } = yield* start()
      const outcome = yield* provider.send(command(numbers.undeliverable))
      assert.strictEqual(outcome._tag, "Refused")
      if (outcome._tag !== "Refused") return
      assert.instanceOf(outcome.error, Errors.InvalidBody)
      const { code, param, provider: detail, reason } = outcome.error
      assert.deepStrictEqual({ code, reason, param, detail }, {
        code: "invalid_body",
        reason: "undeliverable",
        param: "to",
        detail: { code: "131026", message: "Message undeliverable" }
      })
    }))

  it.effect("the throttled number must wait for a second", () =>
    Effect.gen(function*() {
      const { provider } = yield* start()
      const outcome = yield* provider.send(command(numbers.throttled))
      assert.strictEqual(outcome._tag, "NotSent")
      if (outcome._tag !== "NotSent") return
      assert.instanceOf(outcome.error, Errors.RateLimited)
      assert.strictEqual(outcome.error.reason, "provider")
      assert.strictEqual(outcome.error.provider?.code, "130429")
      assert.deepStrictEqual(Errors.retryAfterOf(outcome.error), Duration.seconds(1))
    }))

  it.effect("the unavailable number gets provider_unavailable", () =>
    Effect.gen(function*() {
      const { provider } = yield* start()
      const outcome = yield* provider.send(command(numbers.unavailable))
      assert.strictEqual(outcome._tag, "NotSent")
      if (outcome._tag !== "NotSent") return
      assert.instanceOf(outcome.error, Errors.ServerError)
      assert.strictEqual(outcome.error.reason, "provider_unavailable")
      assert.strictEqual(outcome.error.provider?.code, "131016")
    }))

  it.effect("the unknown number leaves the outcome unknown, immediately", () =>
    Effect.gen(function*() {
      const { provider } = yield* start()
      assert.deepStrictEqual(yield* provider.send(command(numbers.outcomeUnknown)), { _tag: "Unknown" })
    }))

  it.effect("the slow number takes 3 seconds", () =>
    Effect.gen(function*() {
      const { provider } = yield* start()
      const sending = yield* Effect.forkChild(provider.send(command(numbers.slow)), { startImmediately: true })
      yield* TestClock.adjust("2999 millis")
      assert.isUndefined(sending.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.isDefined(sending.pollUnsafe())
      assert.strictEqual((yield* Fiber.join(sending))._tag, "Accepted")
    }))

  it.effect("nothing is reported for a message whose sender was interrupted before the response", () =>
    Effect.gen(function*() {
      const { heard, provider } = yield* start()
      const sending = yield* Effect.forkChild(provider.send(command(numbers.slow)), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(sending)
      yield* TestClock.adjust("1 hour")
      assert.isEmpty(heard)
    }))
})

describe("the content of a report", () => {
  it.effect("a failure has a reason", () =>
    Effect.gen(function*() {
      const { heard, provider } = yield* start()
      yield* provider.send(command(numbers.failing))
      yield* TestClock.adjust("200 millis")
      const item = heard[0]?.item
      assert.deepStrictEqual(item?._tag === "Status" ? item.report.error : item, {
        code: "invalid_body",
        reason: "undeliverable",
        message: "the recipient cannot be reached",
        provider: { code: "131026", message: "Message undeliverable" }
      })
    }))

  const replies = [
    { to: numbers.replying, text: "Thank you, got it!" },
    { to: numbers.stopping, text: "STOP" },
    { to: "US.15005550008", text: "Thank you, got it!" }
  ]
  for (const { text, to } of replies) {
    it.effect(`the reply ${text} from ${to}`, () =>
      Effect.gen(function*() {
        yield* TestClock.adjust("1 day")
        const { heard, provider } = yield* start()
        const outcome = yield* provider.send(command(to))
        yield* TestClock.adjust("1 second")
        const [message] = heard.flatMap(({ item }) => item._tag === "Message" ? [item.message] : [])
        assert.match(message!.providerMessageId, acceptedAs)
        assert.isTrue(outcome._tag === "Accepted" && outcome.providerMessageId !== message!.providerMessageId)
        assert.deepStrictEqual(message, {
          providerNumberId: sender.providerNumberId,
          providerMessageId: message!.providerMessageId,
          customer: to.startsWith("+") ? { phone: to, userId: null } : { phone: null, userId: to },
          at: Duration.toMillis("1 day") + 200,
          type: "text",
          content: { body: text },
          context: null,
          preference: undefined
        })
      }))
  }
})

describe("in the background", () => {
  /** Fails the first `times` times. */
  const failing = (times: number) => {
    let calls = 0
    return Effect.suspend(() => {
      calls += 1
      return calls <= times
        ? Effect.fail(new StoreError.StoreError({ operation: "MessageStore.applyReport" }))
        : Effect.void
    })
  }

  /** The sandbox, with a logger that records. */
  const startLogged = Effect.fnUntraced(function*(before: Effect.Effect<void, StoreError.StoreError>) {
    const logged: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      logged.push(`${logLevel}: ${String(message)}`)
    })
    const started = yield* start(before).pipe(Effect.provide(Logger.layer([logger])))
    return { ...started, logged }
  })
  const notTaken = "Error: a report of the sandbox could not be applied"

  it.effect("a report is retried if the storage was unavailable, with the time of the first try", () =>
    Effect.gen(function*() {
      const { heard, logged, provider } = yield* startLogged(failing(5))
      yield* provider.send(command(numbers.failing))
      yield* TestClock.setTime(5199)
      assert.isEmpty(heard)
      yield* TestClock.setTime(5200)
      assert.deepStrictEqual(summary(heard), [[5200, "failed"]])
      assert.isTrue(heard[0]?.item._tag === "Status" && heard[0].item.report.at === 200)
      assert.isEmpty(logged)
    }))

  it.effect("the sandbox gives up after the fifth retry, logs that, and continues", () =>
    Effect.gen(function*() {
      const { heard, logged, provider } = yield* startLogged(failing(6))
      yield* provider.send(command(numbers.failing))
      yield* TestClock.adjust("1 hour")
      assert.isEmpty(heard)
      assert.deepStrictEqual(logged, [notTaken])
      yield* provider.send(command(numbers.failing))
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(heard.length, 1)
    }))

  it.effect("a defect is logged, and the sandbox continues", () =>
    Effect.gen(function*() {
      let broken = true
      const { heard, logged, provider } = yield* startLogged(
        Effect.suspend(() => broken ? Effect.die("broken") : Effect.void)
      )
      yield* provider.send(command(numbers.failing))
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(logged, [notTaken])
      broken = false
      yield* provider.send(command(ordinary))
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(heard.length, 2)
    }))

  it.effect("closing the scope silently cancels reports that are still due", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { heard, logged, provider } = yield* Scope.provide(startLogged(Effect.void), scope)
      yield* provider.send(command(ordinary))
      yield* provider.send(command(numbers.outcomeUnknown))
      yield* TestClock.adjust("200 millis")
      assert.deepStrictEqual(summary(heard), [[200, "delivered"]])
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(heard.length, 1)
      assert.isEmpty(logged)
    }))

  it.effect("closing the scope interrupts a report in progress", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      let interrupted = false
      const { heard, logged, provider } = yield* Scope.provide(
        startLogged(Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted = true))),
        scope
      )
      yield* provider.send(command(numbers.failing))
      yield* TestClock.adjust("1 second")
      assert.isFalse(interrupted)
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(interrupted)
      assert.isEmpty(heard)
      assert.isEmpty(logged)
    }))

  it.effect("reports continue when the sender's fiber ends, without its context", () =>
    Effect.gen(function*() {
      const Transaction = Context.Reference<string>("test/Transaction", { defaultValue: () => "none" })
      const seen: Array<string> = []
      const { heard, provider } = yield* start(Effect.map(Transaction, (value) => void seen.push(value)))
      const sending = yield* Effect.forkChild(
        Effect.provideService(provider.send(command(ordinary)), Transaction, "the sender's")
      )
      yield* Fiber.join(sending)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(heard.length, 2)
      assert.deepStrictEqual(seen, ["none", "none"])
    }))
})
