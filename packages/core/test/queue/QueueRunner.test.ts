import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Exit, Fiber, Layer, Option, Scope } from "effect"
import { ContactStore } from "../../src/contacts/ContactStore.ts"
import { Forbidden, RateLimited, ServerError } from "../../src/Errors.ts"
import { EventStore } from "../../src/events/EventStore.ts"
import type { MessageId } from "../../src/Id.ts"
import { Inbound } from "../../src/inbound/Inbound.ts"
import { ApiKeys } from "../../src/keys/ApiKeys.ts"
import type { OutboundMessage } from "../../src/messages/Message.ts"
import { Messages } from "../../src/messages/Messages.ts"
import { PhoneNumberStore } from "../../src/numbers/PhoneNumberStore.ts"
import * as SenderBlock from "../../src/numbers/SenderBlock.ts"
import type { ProviderOutcome } from "../../src/provider/Provider.ts"
import { Heartbeats, layerRestored } from "../../src/queue/Heartbeats.ts"
import { QueuedMessages } from "../../src/queue/QueuedMessages.ts"
import type { QueueEnd } from "../../src/queue/QueueEndStep.ts"
import * as QueueRetry from "../../src/queue/QueueRetry.ts"
import * as QueueRunner from "../../src/queue/QueueRunner.ts"
import { QueueStore } from "../../src/queue/QueueStore.ts"
import type { RequestedTimes } from "../../src/queue/SendTimes.ts"
import type { StoreError } from "../../src/StoreError.ts"
import { TemplateStore } from "../../src/templates/TemplateStore.ts"
import { day, hour, minute, second } from "../checks.ts"
import { advance, at, settle } from "../clock.ts"
import { message } from "../posting.ts"
import { start } from "../samples.ts"
import { foundation, heldVault, issueKey, key, newId, plain, stubProvider, text, world } from "../world.ts"

const setUp = () => {
  const provider = stubProvider()
  return {
    provider,
    layer: Layer.mergeAll(QueuedMessages.layer, Messages.layer, Inbound.layer, ApiKeys.layer).pipe(
      Layer.provideMerge(Layer.merge(provider.layer, heldVault)),
      Layer.provideMerge(foundation)
    )
  }
}

type Given = ReturnType<typeof setUp>

/** Runs a test at {@link start}. */
const queueing =
  <E>(test: (given: Given) => Effect.Effect<void, E, Layer.Success<Given["layer"]> | Scope.Scope>) => () =>
    Effect.suspend(() => {
      const given = setUp()
      return test(given).pipe(Effect.provide(given.layer), at(start))
    })

/** Starts the runner like a process. Returns, as `stop`, the effect that stops it gracefully. */
const startRunner = (isRestored = false) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    const layer = Layer.provide(QueueRunner.layer, Heartbeats.layer)
    yield* Layer.buildWithScope(Layer.fresh(Layer.provide(layer, layerRestored(isRestored))), scope)
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    return { stop: Scope.close(scope, Exit.void) }
  })

/** A caller of a workspace. */
const caller = Effect.gen(function*() {
  const messages = yield* Messages
  const events = yield* EventStore
  const { number, workspace } = yield* world()
  const { key: apiKey } = yield* issueKey(workspace.id)
  const requestId = yield* newId("req")
  const get = (id: string) => messages.get(workspace.id, id)
  return {
    workspace,
    number,
    get,
    cancel: (id: string) => messages.cancel({ workspaceId: workspace.id, boundTo: null, id }),
    /** Queues a message. Returns its id. */
    enqueue: (name: string, times: RequestedTimes = {}, message: OutboundMessage = plain()) =>
      Effect.map(
        messages.send({
          workspaceId: workspace.id,
          apiKeyId: apiKey.id,
          key: key(name),
          requestId,
          message,
          later: { ...times, isInBatch: false }
        }),
        ({ messageId }) => messageId
      ),
    types: Effect.map(
      events.list(workspace.id, {}, { limit: 100, after: null }),
      ({ items }) => items.map(({ type }) => type)
    )
  }
})

/** Queues so many messages, each to a different customer. Returns their ids. */
const enqueueMany = (enqueue: Effect.Success<typeof caller>["enqueue"], count: number) =>
  Effect.forEach(
    Array.from({ length: count }, (_, n) => n),
    (n) => enqueue(`k${n}`, {}, plain(`+1202555${String(n).padStart(4, "0")}`))
  )

/** The provider reports a block of a number, or that it is lifted. */
const observe = (providerNumberId: string, at: number, block: SenderBlock.SenderBlock | null) =>
  PhoneNumberStore.use((numbers) => numbers.observe({ name: { providerNumberId }, now: at, at, change: { block } }))

const notSent: ProviderOutcome = {
  _tag: "NotSent",
  error: new ServerError({ reason: "provider_unavailable", message: "the provider is not reachable" })
}

describe("the runner of the queue", () => {
  it.effect(
    "a message is sent once, at its time, however many processes run",
    queueing(({ provider }) =>
      Effect.gen(function*() {
        yield* startRunner()
        yield* startRunner()
        const { enqueue, get, types } = yield* caller
        const id = yield* enqueue("k", { sendAt: start + hour })
        yield* advance(hour - 1)
        assert.lengthOf(provider.calls, 0)
        assert.deepInclude(yield* get(id), { status: "queued", sendAt: start + hour })
        yield* advance(2 * second)
        assert.lengthOf(provider.calls, 1)
        assert.isAtLeast(provider.calls[0]!.at, start + hour)
        assert.isAtMost(provider.calls[0]!.at, start + hour + second)
        yield* advance(day)
        assert.lengthOf(provider.calls, 1)
        assert.strictEqual((yield* get(id)).status, "sent")
        assert.deepStrictEqual(yield* types, ["message.sent"])
      })
    )
  )

  it.effect(
    "a message without a time is sent within a second",
    queueing(({ provider }) =>
      Effect.gen(function*() {
        yield* startRunner()
        const { enqueue } = yield* caller
        yield* advance(minute)
        yield* enqueue("k")
        yield* advance(second)
        assert.lengthOf(provider.calls, 1)
      })
    )
  )

  it.effect(
    "a defect in the first heartbeat, which messages wait for, is tried again",
    queueing(({ provider }) =>
      Effect.gen(function*() {
        let beats = 0
        const store = yield* QueueStore
        const failing = QueueStore.of({
          ...store,
          beat: (command) => Effect.suspend(() => beats++ === 0 ? Effect.die("a defect") : store.beat(command))
        })
        yield* Effect.provideService(startRunner(), QueueStore, failing)
        const { enqueue } = yield* caller
        yield* enqueue("k")
        yield* advance(minute)
        assert.lengthOf(provider.calls, 1)
      })
    )
  )

  it.effect(
    "a process that stops gives back the messages that it has taken and not begun to send, and another sends them soon",
    queueing(({ provider }) =>
      Effect.gen(function*() {
        const { enqueue } = yield* caller
        const ids = yield* enqueueMany(enqueue, 50)
        const { stop } = yield* startRunner()
        while (provider.calls.length === 0) yield* advance("10 millis")
        // those that the provider has not answered yet are not given back, as they may be sent
        provider.answer = () => Effect.as(Effect.sleep("1 second"), { _tag: "Accepted", providerMessageId: "wamid.1" })
        yield* advance("100 millis")
        yield* Effect.forkChild(stop)
        yield* settle
        const begun = provider.calls.length
        assert.isBelow(begun, 20)
        yield* startRunner()
        yield* advance("2 seconds")
        assert.sameMembers(provider.calls.map(({ messageId }) => messageId), ids as Array<MessageId>)
        yield* advance("5 minutes")
        assert.lengthOf(provider.calls, 50)
      })
    )
  )

  it.effect(
    "messages that a process gives back keep their places before those that were due after them",
    queueing(({ provider }) =>
      Effect.gen(function*() {
        const { enqueue } = yield* caller
        const ids = yield* Effect.forEach(
          Array.from({ length: 100 }, (_, n) => `+1202555${String(n).padStart(4, "0")}`),
          (to, n) => enqueue(to, { sendAt: start + n }, plain(to))
        )
        yield* advance(100)
        const { stop } = yield* startRunner()
        while (provider.calls.length === 0) yield* advance("10 millis")
        yield* stop
        assert.isBelow(provider.calls.length, 20)
        yield* startRunner()
        yield* advance("5 seconds")
        assert.lengthOf(provider.calls, 100)
        // those of one moment may overtake each other
        provider.calls.forEach(({ messageId }, i) => assert.approximately(ids.indexOf(messageId), i, 10))
      })
    )
  )

  it.effect(
    "a process that stops while the storage hands messages out gives them back",
    queueing(({ provider }) =>
      Effect.gen(function*() {
        const { enqueue } = yield* caller
        yield* Effect.forEach(["a", "b"], (name) => enqueue(name))
        const store = yield* QueueStore
        const slow = QueueStore.of({
          ...store,
          work: (command) => Effect.tap(store.work(command), Effect.sleep(second))
        })
        const { stop } = yield* Effect.provideService(startRunner(), QueueStore, slow)
        yield* advance("600 millis")
        const stopping = yield* Effect.forkChild(stop)
        yield* advance(second)
        yield* Fiber.join(stopping)
        assert.lengthOf(provider.calls, 0)
        yield* startRunner()
        yield* advance("2 seconds")
        assert.lengthOf(provider.calls, 2)
      })
    )
  )

  it.effect(
    "what the provider asks for while a process stops is kept: its message is not tried again before",
    queueing(({ provider }) =>
      Effect.gen(function*() {
        const { enqueue } = yield* caller
        yield* enqueue("k")
        const error = new RateLimited({ reason: "provider", message: "x", retryAfter: Duration.minutes(15) })
        provider.answer = () => Effect.as(Effect.sleep(second), { _tag: "NotSent", error })
        const { stop } = yield* startRunner()
        while (provider.calls.length === 0) yield* advance("10 millis")
        const stopping = yield* Effect.forkChild(stop)
        yield* advance(2 * second)
        assert.isDefined(stopping.pollUnsafe())
        yield* startRunner()
        yield* advance(14 * minute)
        assert.lengthOf(provider.calls, 1)
        yield* advance(2 * minute)
        assert.lengthOf(provider.calls, 2)
      })
    )
  )

  it.effect(
    "a stop ends in time if neither the end of a try nor more messages come from the storage",
    queueing(({ provider }) =>
      Effect.gen(function*() {
        const { enqueue } = yield* caller
        yield* enqueue("k")
        provider.answer = () => Effect.as(Effect.sleep(second), notSent)
        const store = yield* QueueStore
        let isAway = false
        const hanging = <A, E>(call: Effect.Effect<A, E>) => Effect.suspend(() => isAway ? Effect.never : call)
        const away = QueueStore.of({
          ...store,
          work: (command) => hanging(store.work(command)),
          end: (command) => hanging(store.end(command))
        })
        const { stop } = yield* Effect.provideService(startRunner(), QueueStore, away)
        while (provider.calls.length === 0) yield* advance("10 millis")
        isAway = true
        yield* advance(600)
        const stopping = yield* Effect.forkChild(stop)
        yield* advance(9 * second)
        assert.isUndefined(stopping.pollUnsafe())
        yield* advance(second / 2)
        assert.isDefined(stopping.pollUnsafe())
      })
    )
  )

  it.effect(
    "a process that stops waits only a moment for a storage that does not respond",
    queueing(({ provider }) =>
      Effect.gen(function*() {
        const { enqueue } = yield* caller
        yield* enqueueMany(enqueue, 50)
        const store = yield* QueueStore
        let isAway = false
        const hanging = <A, E>(call: Effect.Effect<A, E>) => Effect.suspend(() => isAway ? Effect.never : call)
        const away = QueueStore.of({
          ...store,
          work: (command) => hanging(Effect.tap(store.work(command), () => Effect.sync(() => void (isAway = true)))),
          end: (command) => hanging(store.end(command))
        })
        const { stop } = yield* Effect.provideService(startRunner(), QueueStore, away)
        yield* settle
        const stopping = yield* Effect.forkChild(stop)
        yield* advance("5 seconds")
        assert.isDefined(stopping.pollUnsafe())
        assert.isBelow(provider.calls.length, 10)
      })
    )
  )

  it.effect(
    "a process that stood still while it took a message, until the lease was over, leaves the message to other processes",
    queueing(({ provider }) =>
      Effect.gen(function*() {
        const store = yield* QueueStore
        const { enqueue, get } = yield* caller
        const error = new ServerError({
          reason: "provider_unavailable",
          message: "x",
          retryAfter: Duration.minutes(15)
        })
        provider.answer = (_, call) =>
          Effect.succeed(call < 2 ? { _tag: "NotSent", error } : { _tag: "Accepted", providerMessageId: "wamid.1" })
        const id = yield* enqueue("k")
        let stalls = 1
        yield* Effect.provideService(startRunner(), QueueStore, {
          ...store,
          work: (command) =>
            Effect.tap(
              store.work(command),
              (worked) => Option.isSome(worked) && stalls-- > 0 ? Effect.sleep("2 minutes") : Effect.void
            )
        })
        yield* advance(second)
        yield* startRunner()
        yield* advance("10 minutes")
        assert.lengthOf(provider.calls, 1)
        yield* advance("7 minutes")
        assert.lengthOf(provider.calls, 2)
        assert.strictEqual((yield* get(id)).status, "sent")
      })
    )
  )

  it.effect(
    "what is temporary is tried again after growing delays, and each try is of the same message",
    queueing(({ provider }) =>
      Effect.gen(function*() {
        yield* startRunner()
        const { enqueue, get } = yield* caller
        provider.answer = (_, call) =>
          Effect.succeed(call < 6 ? notSent : { _tag: "Accepted", providerMessageId: "wamid.1" })
        const id = yield* enqueue("k")
        yield* advance(hour)
        const expected = [5, 15, 60, 300, 900].map((seconds) => seconds * second)
        const times = provider.calls.map(({ at }) => at)
        assert.lengthOf(times, 6)
        expected.forEach((delay, i) => {
          assert.isAtLeast(times[i + 1]! - times[i]!, delay)
          assert.isAtMost(times[i + 1]! - times[i]!, delay + 2 * second)
        })
        assert.deepStrictEqual(new Set(provider.calls.map(({ messageId }) => messageId)), new Set([id]))
        assert.strictEqual((yield* get(id)).status, "sent")
      })
    )
  )

  it.effect(
    "a message that could not be sent fails at its end, with the event",
    queueing(({ provider }) =>
      Effect.gen(function*() {
        yield* startRunner()
        const { enqueue, get, types } = yield* caller
        provider.answer = () => Effect.succeed(notSent)
        const until = start + 10 * minute
        const id = yield* enqueue("k", { sendUntil: until })
        yield* advance(10 * minute - second)
        assert.strictEqual((yield* get(id)).status, "sending")
        const tries = provider.calls.length
        yield* advance(3 * second)
        const failed = yield* get(id)
        assert.deepInclude(failed, { status: "failed" })
        assert.strictEqual(failed.error?.reason, "not_sent")
        assert.lengthOf(provider.calls, tries)
        assert.deepStrictEqual(yield* types, ["message.failed"])
      })
    )
  )

  it.effect(
    "messages wait for the end of a block of their number, and one whose time is over before it fails",
    queueing(({ provider }) =>
      Effect.gen(function*() {
        yield* startRunner()
        const { enqueue, get, number: { providerNumberId } } = yield* caller
        const ids = yield* Effect.forEach([1, 2, 3], (n) => enqueue(`k${n}`, { sendAt: start + n * minute }))
        const short = yield* enqueue("short", { sendAt: start + minute, sendUntil: start + hour })
        yield* observe(
          providerNumberId,
          start,
          SenderBlock.of("quality", start, { code: "131048", message: "Spam rate limit hit" })
        )
        yield* advance(hour - second)
        assert.lengthOf(provider.calls, 0)
        assert.deepStrictEqual((yield* Effect.forEach(ids, get)).map(({ status }) => status), [
          "queued",
          "queued",
          "queued"
        ])
        const failed = yield* get(short)
        assert.deepStrictEqual([failed.status, failed.error?.reason], ["failed", "sender_not_available"])
        yield* advance(3 * second)
        assert.lengthOf(provider.calls, 3)
        provider.calls.forEach(({ at }) => assert.isAtLeast(at, start + hour))
      })
    )
  )

  it.effect(
    "messages that wait for the end of a block leave soon after it is lifted before",
    queueing(({ provider }) =>
      Effect.gen(function*() {
        yield* startRunner()
        const { enqueue, number: { providerNumberId } } = yield* caller
        yield* enqueue("k", { sendAt: start + minute })
        const block = { ...SenderBlock.of("restricted", start, null), until: start + 20 * hour }
        yield* observe(providerNumberId, start, block)
        yield* advance(2 * minute)
        yield* observe(providerNumberId, start + 2 * minute, null)
        yield* advance(15 * minute)
        assert.lengthOf(provider.calls, 1)
      })
    )
  )

  it.effect(
    "a message of a number that is blocked without an end fails",
    queueing(({ provider }) =>
      Effect.gen(function*() {
        yield* startRunner()
        const { enqueue, get, number: { providerNumberId } } = yield* caller
        const id = yield* enqueue("k", { sendAt: start + minute })
        yield* observe(providerNumberId, start, { ...SenderBlock.of("restricted", start, null), until: null })
        yield* advance(2 * minute)
        assert.lengthOf(provider.calls, 0)
        const { error, status } = yield* get(id)
        assert.deepStrictEqual([status, error?.reason], ["failed", "sender_not_available"])
      })
    )
  )

  it.effect(
    "a message whose refusal tells of a block of its number waits for the end of the block",
    queueing(({ provider }) =>
      Effect.gen(function*() {
        yield* startRunner()
        const { enqueue, get, number: { providerNumberId }, types } = yield* caller
        const numbers = yield* PhoneNumberStore
        const error = new Forbidden({ reason: "sender_not_available", message: "the account is not paid" })
        // each trial renews the block
        provider.answer = (_, call) =>
          call === 4 ? Effect.succeed({ _tag: "Accepted", providerMessageId: "wamid.1" }) : Effect.gen(function*() {
            const now = yield* Clock.currentTimeMillis
            const block = SenderBlock.of("payment", now, null, "send")
            yield* Effect.orDie(numbers.observe({ name: { providerNumberId }, now, at: now, change: { block } }))
            return { _tag: "Refused", error, ofSender: true }
          })
        const id = yield* enqueue("k")
        yield* advance(hour)
        assert.strictEqual((yield* get(id)).status, "sent")
        const times = provider.calls.map(({ at }) => at)
        assert.lengthOf(times, 4)
        // no call of a number that is blocked
        for (const [i, time] of times.slice(1).entries()) assert.isAtLeast(time - times[i]!, 5 * minute)
        assert.deepStrictEqual(yield* types, ["message.sent"])
      })
    )
  )

  it.effect(
    "a message that quotes one that is still to be sent follows it, and fails if that one fails",
    queueing(({ provider }) =>
      Effect.gen(function*() {
        yield* startRunner()
        const { enqueue, get, number: { providerNumberId }, types } = yield* caller
        yield* Inbound.use((inbound) => inbound.receive([message(1, "+12025550123", providerNumberId)]))
        provider.answer = (_, call) =>
          call === 1 ?
            Effect.as(Effect.sleep("300 millis"), notSent)
            : call === 2 ?
            Effect.succeed({ _tag: "Accepted", providerMessageId: "wamid.1" })
            : call === 3 ?
            Effect.succeed({ _tag: "Accepted", providerMessageId: "wamid.2" })
            : Effect.as(
              Effect.sleep("300 millis"),
              {
                _tag: "Refused",
                error: new Forbidden({ reason: "provider_policy", message: "no" })
              } as const
            )
        const first = yield* enqueue("k1", {}, text())
        const reply = yield* enqueue("k2", {}, { ...text(), context: { message_id: first } } as OutboundMessage)
        yield* advance(3 * second)
        assert.deepStrictEqual([(yield* get(first)).status, (yield* get(reply)).status], ["sending", "sending"])
        yield* advance(minute)
        assert.deepStrictEqual([(yield* get(first)).status, (yield* get(reply)).status], ["sent", "sent"])
        assert.strictEqual(provider.calls.at(-1)!.refers.quoted, "wamid.1")
        const refused = yield* enqueue("k3", {}, text())
        const toRefused = yield* enqueue("k4", {}, { ...text(), context: { message_id: refused } } as OutboundMessage)
        yield* advance(minute)
        const { error, status } = yield* get(toRefused)
        assert.deepStrictEqual([status, error?.reason], ["failed", "invalid_field"])
        assert.lengthOf(provider.calls, 4)
        assert.deepStrictEqual(
          (yield* types).filter((type) => type !== "message.received").toSorted(),
          ["message.failed", "message.failed", "message.sent", "message.sent"]
        )
      })
    )
  )

  it.effect(
    "what is judged only when it is sent fails a message, with the event",
    queueing(({ provider }) =>
      Effect.gen(function*() {
        yield* startRunner()
        const { enqueue, get, types } = yield* caller
        const id = yield* enqueue("k", {}, text())
        yield* advance(2 * second)
        assert.lengthOf(provider.calls, 0)
        const failed = yield* get(id)
        assert.deepInclude(failed, { status: "failed" })
        assert.deepInclude(failed.error, { code: "forbidden", reason: "outside_service_window" })
        assert.deepStrictEqual(yield* types, ["message.failed"])
      })
    )
  )

  it.effect(
    "a message whose number, template or consent is gone by its time fails with that reason",
    queueing(({ provider }) =>
      Effect.gen(function*() {
        yield* startRunner()
        const reasonAfter = Effect.fnUntraced(function*(
          change: (own: Effect.Success<typeof caller>) => Effect.Effect<unknown, StoreError>,
          message = plain()
        ) {
          const own = yield* caller
          const id = yield* own.enqueue("k", { sendAt: (yield* Clock.currentTimeMillis) + minute }, message)
          yield* Effect.orDie(change(own))
          yield* advance(2 * minute)
          const { error, status } = yield* own.get(id)
          assert.deepStrictEqual(yield* own.types, ["message.failed"])
          return [status, error?.reason]
        })
        const numbers = yield* PhoneNumberStore
        const templates = yield* TemplateStore
        const contacts = yield* ContactStore
        assert.deepStrictEqual(
          yield* reasonAfter(({ number }) => numbers.remove(number.id)),
          ["failed", "sender_not_available"]
        )
        assert.deepStrictEqual(
          yield* reasonAfter(({ number: { providerAccountId }, workspace }) =>
            Effect.flatMap(Clock.currentTimeMillis, (now) =>
              templates.replaceAll({
                now,
                listedAt: now,
                workspaceId: workspace.id,
                providerAccountId,
                listed: [],
                ids: []
              }))
          ),
          ["failed", "template_not_found"]
        )
        const promo: OutboundMessage = {
          type: "template",
          to: "+12025550123",
          template: { name: "promo", language: "en_US", bodyParams: ["shoes"] }
        }
        assert.deepStrictEqual(
          yield* reasonAfter(({ number: { providerNumberId } }) =>
            Effect.flatMap(Clock.currentTimeMillis, (now) =>
              contacts.setPreference({
                now,
                at: now,
                providerNumberId,
                hashes: {},
                customer: { phone: "+12025550123", userId: null },
                preference: "opt_out"
              })), promo),
          ["failed", "opted_out"]
        )
        assert.lengthOf(provider.calls, 0)
      })
    )
  )

  it.effect(
    "a cancelled message is never sent",
    queueing(({ provider }) =>
      Effect.gen(function*() {
        yield* startRunner()
        const { cancel, enqueue, get, types } = yield* caller
        const id = yield* enqueue("k", { sendAt: start + minute })
        assert.strictEqual((yield* cancel(id)).status, "cancelled")
        yield* advance(day)
        assert.lengthOf(provider.calls, 0)
        assert.strictEqual((yield* get(id)).status, "cancelled")
        assert.deepStrictEqual(yield* types, [])
      })
    )
  )

  it.effect(
    "a restored copy sends nothing queued before a person releases the queue",
    queueing(({ provider }) =>
      Effect.gen(function*() {
        yield* startRunner(true)
        const { enqueue } = yield* caller
        yield* advance(second)
        yield* enqueue("k")
        yield* advance(hour)
        assert.lengthOf(provider.calls, 0)
        assert.isTrue(yield* QueueStore.use((store) => store.release(null)))
        yield* advance(2 * second)
        assert.lengthOf(provider.calls, 1)
      })
    )
  )
})

describe("the end of a try", () => {
  const given = { tries: 0, sendUntil: start + day, message: { sendAt: start } }

  it("a refusal that time may change is followed by another try, and any other fails the message", () => {
    const error = new RateLimited({ reason: "pair", message: "x", retryAfter: Duration.seconds(6) })
    const again: QueueEnd = { _tag: "Again", after: Duration.seconds(6), until: start + day }
    assert.deepStrictEqual(QueueRetry.after({ _tag: "Refused", error }, given), again)
    const busy = new RateLimited({ reason: "phone_number", message: "x", retryAfter: Duration.seconds(1) })
    assert.deepStrictEqual(QueueRetry.after({ _tag: "Refused", error: busy }, given), {
      _tag: "Missed",
      after: Duration.seconds(1)
    })
    const refused = new Forbidden({ reason: "messaging_limit_reached", message: "x" })
    assert.deepStrictEqual(QueueRetry.after({ _tag: "Refused", error: refused }, given), {
      _tag: "Failed",
      error: { code: "forbidden", reason: "messaging_limit_reached", message: "x" }
    })
  })

  it("a message that was not tried yet keeps its place in the queue, and one that was tried waits for another slot", () => {
    assert.deepStrictEqual(QueueRetry.after({ _tag: "TooLate" }, given), { _tag: "Missed", dueAt: start })
    assert.deepStrictEqual(QueueRetry.after({ _tag: "TooLate" }, { ...given, tries: 1 }), { _tag: "Missed" })
  })

  it("a refusal by a block that ends in time is followed by tries until its end", () => {
    const error = new Forbidden({ reason: "sender_not_available", message: "x" })
    const after = (blockedUntil: number) => QueueRetry.after({ _tag: "Refused", error, blockedUntil }, given)
    const atItsEnd: QueueEnd = { _tag: "Again", after: Duration.minutes(15), until: start + hour }
    assert.deepStrictEqual(after(start + hour), atItsEnd)
    assert.deepStrictEqual(after(start + day), {
      _tag: "Failed",
      error: { code: "forbidden", reason: "sender_not_available", message: "x" }
    })
  })

  it("each delay is at least what the provider asks for, and the last one stays", () => {
    const delayAfter = (tries: number, retryAfter: Duration.Duration) => {
      const error = new RateLimited({ reason: "provider", message: "x", retryAfter })
      const end = QueueRetry.after({ _tag: "NotSent", error }, { ...given, tries })
      return end?._tag === "Again" ? Duration.toMillis(end.after) : undefined
    }
    assert.strictEqual(delayAfter(1, Duration.seconds(1)), 15 * second)
    assert.strictEqual(delayAfter(1, Duration.seconds(20)), 20 * second)
    assert.strictEqual(delayAfter(4, Duration.zero), 15 * minute)
    assert.strictEqual(delayAfter(40, Duration.zero), 15 * minute)
  })
})
