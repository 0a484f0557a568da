import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Duration, Effect, Exit, Fiber, Latch, Layer, Option, Result, Scope } from "effect"
import { Digest } from "effect/crypto"
import { ContactStore } from "../../src/contacts/ContactStore.ts"
import {
  type DomainError,
  Forbidden,
  InvalidBody,
  RateLimited,
  reasonOf,
  retryAfterOf,
  ServerError
} from "../../src/Errors.ts"
import { type Event, maxPerReport } from "../../src/events/Event.ts"
import { EventStore } from "../../src/events/EventStore.ts"
import type { MessageId } from "../../src/Id.ts"
import * as Idempotency from "../../src/Idempotency.ts"
import { Inbound } from "../../src/inbound/Inbound.ts"
import { ApiKeys } from "../../src/keys/ApiKeys.ts"
import { ApiKeyStore } from "../../src/keys/ApiKeyStore.ts"
import { standard } from "../../src/limits/Limits.ts"
import * as RateLimit from "../../src/limits/RateLimit.ts"
import type { Report } from "../../src/messages/Message.ts"
import { Messages, type SendRequest } from "../../src/messages/Messages.ts"
import { MessageStore, type SendEnd } from "../../src/messages/MessageStore.ts"
import * as MessageSweeper from "../../src/messages/MessageSweeper.ts"
import * as SendBinding from "../../src/messages/SendBinding.ts"
import { MaxInFlight } from "../../src/messages/SendLifecycle.ts"
import * as Capabilities from "../../src/provider/Capabilities.ts"
import type { ProviderOutcome } from "../../src/provider/Provider.ts"
import { StoreError } from "../../src/StoreError.ts"
import { WorkspaceStore } from "../../src/workspaces/WorkspaceStore.ts"
import { day, hour, minute, second } from "../checks.ts"
import { advance, at, settle } from "../clock.ts"
import { logged } from "../logged.ts"
import { start } from "../samples.ts"
import { foundation, issueKey, key, newId, plain, stubProvider, text, world } from "../world.ts"

type Store = MessageStore["Service"]

/** Everything that sending needs, with a provider and a store that a test can intercept. */
const setUp = () => {
  const provider = stubProvider()
  /** Wrappers around the store's methods. */
  const interfere: { -readonly [method in keyof Store]?: (real: Store[method]) => Store[method] } = {}
  const store = Layer.effect(
    MessageStore,
    Effect.map(MessageStore, (real) => {
      const around = <Method extends "accept" | "settle" | "abandon" | "lookUp">(method: Method): Store[Method] =>
        ((...args: Array<never>) => {
          const call = (interfere[method] as ((real: unknown) => unknown) | undefined)?.(real[method]) ?? real[method]
          return (call as (...args: Array<never>) => unknown)(...args)
        }) as Store[Method]
      return MessageStore.of({
        ...real,
        accept: around("accept"),
        settle: around("settle"),
        abandon: around("abandon"),
        lookUp: around("lookUp")
      })
    })
  )
  const layer = Messages.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(ApiKeys.layer, Inbound.layer, provider.layer)),
    Layer.provideMerge(store),
    Layer.provideMerge(foundation)
  )
  return { provider, interfere, layer }
}

/** Runs a test of sending at {@link start}. */
const sending = <E>(
  test: (
    given: ReturnType<typeof setUp>
  ) => Effect.Effect<void, E, Layer.Success<ReturnType<typeof setUp>["layer"]> | Scope.Scope>
) =>
() =>
  Effect.suspend(() => {
    const given = setUp()
    return test(given).pipe(Effect.provide(given.layer), at(start))
  })

/** A workspace with an API key, and a send by it. */
const caller = (options: { readonly monthlyQuota?: number } = {}) =>
  Effect.gen(function*() {
    const made = yield* world({ monthlyQuota: options.monthlyQuota ?? null })
    const { key: apiKey, token } = yield* issueKey(made.workspace.id)
    const requestId = yield* newId("req")
    const request = (name: string, message = plain()): SendRequest => ({
      workspaceId: made.workspace.id,
      apiKeyId: apiKey.id,
      key: key(name),
      requestId,
      message
    })
    return { ...made, apiKey, token, request, requestId }
  })

/** Sends, and returns the exit and what the replay observer got. */
const send = (request: SendRequest) =>
  Effect.gen(function*() {
    const replays: Array<SendBinding.Answer> = []
    const exit = yield* Messages.use((messages) => messages.send(request)).pipe(
      Effect.provideService(SendBinding.ReplayObserver, (answer) => void replays.push(answer)),
      Effect.exit
    )
    return { exit, replays, at: yield* Clock.currentTimeMillis }
  })

type Sending = Effect.Success<ReturnType<typeof send>>

const errorOf = ({ exit }: Sending): DomainError => {
  if (Exit.isSuccess(exit)) return assert.fail("it was sent")
  return Option.getOrElse(Exit.findErrorOption(exit), () => assert.fail(`no error but ${exit.cause}`))
}
const reason = (sending: Sending) => reasonOf(errorOf(sending))
const answerOf = ({ exit }: Sending): SendBinding.Sent =>
  Exit.isSuccess(exit) && exit.value._tag === "Sent" ? exit.value : assert.fail(`not sent: ${exit}`)

const events = (workspaceId: SendRequest["workspaceId"]) =>
  Effect.map(
    EventStore.use((store) => store.list(workspaceId, {}, { limit: 100, after: null })),
    ({ items }): ReadonlyArray<Event> => items
  )
const eventTypes = (workspaceId: SendRequest["workspaceId"]) =>
  Effect.map(events(workspaceId), (all) => all.map(({ type }) => type))

const messageOf = (request: SendRequest, messageId: string) =>
  Messages.use((messages) => messages.get(request.workspaceId, messageId))

/** Applies a provider report about a message, by our reference. */
const reported = (
  reference: MessageId,
  status: Report["status"],
  name: string | null = "wamid.up"
) =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    yield* Inbound.use((inbound) =>
      inbound.receive([{
        _tag: "Status",
        providerNumberId: null,
        reference,
        report: { status, at: now, providerMessageId: name, error: null }
      }])
    )
  })

const never: Effect.Effect<ProviderOutcome> = Effect.never
const accepted = (providerMessageId: string): ProviderOutcome => ({ _tag: "Accepted", providerMessageId })

describe("a send accepted by the provider", () => {
  it.effect(
    "an accepted send is answered with its five ids, stored, and recorded as an event",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { apiKey, number, request, workspace } = yield* caller()
        provider.answer = () =>
          Effect.as(Effect.sleep("300 millis"), { _tag: "Accepted", providerMessageId: "wamid.7" })
        const fiber = yield* Effect.forkChild(send(request("k", plain("+12025550123", { clientReference: "order 7" }))))
        yield* advance("1 second")
        const sent = yield* Fiber.join(fiber)
        const answer = answerOf(sent)
        assert.deepStrictEqual(answer, {
          _tag: "Sent",
          messageId: answer.messageId,
          providerMessageId: "wamid.7",
          workspaceId: workspace.id,
          apiKeyId: apiKey.id
        })
        assert.deepStrictEqual([sent.replays, sent.at], [[], start + 300])
        assert.deepStrictEqual(
          provider.calls.map((
            { message, messageId, sender, template }
          ) => [messageId, sender, message, template?.name]),
          [[answer.messageId, number, plain("+12025550123", { clientReference: "order 7" }), "plain"]]
        )
        const message = yield* messageOf(request("k"), answer.messageId)
        assert.deepStrictEqual(
          [message.status, message.createdAt, message.sentAt, message.providerMessageId, message.sequence],
          ["sent", start, start + 300, "wamid.7", 1]
        )
        const [event, ...others] = yield* events(workspace.id)
        assert.deepStrictEqual([event?.type, event?.createdAt, event?.data.client_reference, others], [
          "message.sent",
          start + 300,
          "order 7",
          []
        ])
      })
    )
  )

  it.effect(
    "an accepted send is replayed under its key for 24 hours, without the provider",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request, workspace } = yield* caller()
        const first = yield* send(request("k"))
        // the same request by another key of the workspace, with another request id
        const { key: other } = yield* issueKey(workspace.id)
        yield* advance(day - 1)
        const again = yield* send({ ...request("k"), apiKeyId: other.id, requestId: yield* newId("req") })
        assert.deepStrictEqual(answerOf(again), answerOf(first))
        assert.deepStrictEqual(again.replays, [answerOf(first)])
        assert.strictEqual(provider.calls.length, 1)
        yield* advance(1)
        const anew = yield* send(request("k"))
        assert.notStrictEqual(answerOf(anew).messageId, answerOf(first).messageId)
        assert.deepStrictEqual([anew.replays.length, provider.calls.length], [0, 2])
      })
    )
  )

  it.effect(
    "a key belongs to its workspace: another workspace's is a different key",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const one = yield* caller()
        const other = yield* caller()
        const [first, second] = [yield* send(one.request("k")), yield* send(other.request("k", text()))]
        assert.strictEqual(answerOf(first).workspaceId, one.workspace.id)
        assert.strictEqual(reason(second), "outside_service_window")
        assert.strictEqual(provider.calls.length, 1)
        assert.strictEqual(
          yield* messageOf(other.request("k"), answerOf(first).messageId).pipe(
            Effect.flip,
            Effect.map(({ _tag }) => _tag)
          ),
          "NotFound"
        )
      })
    )
  )

  it.effect(
    "the observer gets the readings of a send's limiters",
    sending(() =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        const readings: Array<string> = []
        yield* send(request("k")).pipe(
          Effect.provideService(
            RateLimit.Observer,
            ({ policy, remaining }) => void readings.push(`${policy.name} ${remaining}`)
          )
        )
        assert.deepStrictEqual(readings, ["workspace 199", "phone_number 159", "pair 44"])
      })
    )
  )
})

describe("concurrent identical sends", () => {
  it.effect(
    "of a hundred concurrent equal sends, one calls the provider, and 99 get its answer as replays",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request, workspace } = yield* caller()
        provider.answer = () => Effect.as(Effect.sleep("2 seconds"), { _tag: "Accepted", providerMessageId: "wamid.1" })
        const fibers = yield* Effect.forEach(
          Array.from({ length: 100 }),
          () => Effect.forkChild(send(request("k")), { startImmediately: true })
        )
        yield* advance("3 seconds")
        const sent = yield* Effect.forEach(fibers, Fiber.join)
        const answer = answerOf(sent[0]!)
        for (const one of sent) {
          assert.deepStrictEqual(answerOf(one), answer)
          assert.strictEqual(one.at, start + 2 * second)
        }
        assert.deepStrictEqual(sent.flatMap(({ replays }) => replays), Array.from({ length: 99 }, () => answer))
        assert.strictEqual(provider.calls.length, 1)
        assert.deepStrictEqual((yield* events(workspace.id)).map(({ data, type }) => [type, data.message_id]), [
          ["message.sent", answer.messageId]
        ])
      })
    )
  )

  it.effect(
    "concurrent sends all get the same failure, and a replayed one even if nothing was sent",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request, requestId } = yield* caller()
        const error = new RateLimited({ reason: "provider", message: "slow down", retryAfter: Duration.seconds(3) })
        provider.answer = () => Effect.as(Effect.sleep("1 second"), { _tag: "NotSent", error })
        const fibers = yield* Effect.replicateEffect(
          Effect.forkChild(send(request("k")), { startImmediately: true }),
          10
        )
        yield* advance("2 seconds")
        const sent = yield* Effect.forEach(fibers, Fiber.join)
        for (const one of sent) assert.deepStrictEqual(errorOf(one), error)
        assert.deepStrictEqual(
          sent.flatMap(({ replays }) => replays),
          Array.from({ length: 9 }, () => ({ _tag: "Failed" as const, error, requestId }))
        )
        assert.strictEqual(provider.calls.length, 1)
      })
    )
  )

  it.effect(
    "concurrent sends all get outcome_unknown if the outcome is not known",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        provider.answer = () => Effect.as(Effect.sleep("1 second"), { _tag: "Unknown" })
        const fibers = yield* Effect.replicateEffect(
          Effect.forkChild(send(request("k")), { startImmediately: true }),
          10
        )
        yield* advance("2 seconds")
        for (const one of yield* Effect.forEach(fibers, Fiber.join)) {
          assert.deepStrictEqual([reason(one), one.at], ["outcome_unknown", start + second])
        }
        assert.strictEqual(provider.calls.length, 1)
      })
    )
  )

  it.effect(
    "a different body conflicts immediately, while the first still runs and afterwards",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        provider.answer = () => Effect.as(Effect.sleep("2 seconds"), { _tag: "Accepted", providerMessageId: "wamid.1" })
        const first = yield* Effect.forkChild(send(request("k")), { startImmediately: true })
        yield* settle
        const other = yield* send(request("k", plain("+12025550124")))
        assert.strictEqual(errorOf(other).code, "idempotency_conflict")
        assert.deepStrictEqual([reason(other), other.at, other.replays], ["payload_mismatch", start, []])
        assert.isUndefined(first.pollUnsafe())
        yield* advance("3 seconds")
        answerOf(yield* Fiber.join(first))
        assert.strictEqual(reason(yield* send(request("k", plain("+12025550124")))), "payload_mismatch")
        assert.strictEqual(provider.calls.length, 1)
      })
    )
  )
})

/** Another process that owns the send: it accepted it and has not settled it. */
const elsewhere = (request: SendRequest) =>
  Effect.gen(function*() {
    const store = yield* MessageStore
    const now = yield* Clock.currentTimeMillis
    const messageId = yield* newId("msg")
    const accepted = yield* store.accept({
      now,
      request: {
        workspaceId: request.workspaceId,
        route: "POST /v1/messages",
        key: request.key,
        fingerprint: yield* Idempotency.fingerprint(yield* Digest.Digest, request.message)
      },
      apiKeyId: request.apiKeyId,
      queue: null,
      later: null,
      message: request.message,
      hash: "hash",
      messageId,
      claimToken: "elsewhere",
      leaseUntil: now + 30 * second,
      limits: standard,
      provider: "stub",
      capabilities: Capabilities.all
    })
    if (accepted._tag !== "Claimed") return assert.fail(accepted._tag)
    const { message } = accepted
    const ids = {
      events: yield* Effect.replicateEffect(newId("evt"), maxPerReport),
      deliveries: yield* Effect.replicateEffect(newId("dlv"), maxPerReport)
    }
    const settle = (end: SendEnd) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        store.settle({
          now,
          message,
          claimToken: "elsewhere",
          end,
          ids
        }))
    return { messageId, end: settle({ _tag: "Accepted", providerMessageId: "wamid.elsewhere" }), settle }
  })

describe("a send in another process", () => {
  it.effect(
    "a send in another process is joined, and its answer found within 100 ms",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        const owner = yield* elsewhere(request("k"))
        const joined = yield* Effect.forkChild(send(request("k")))
        yield* advance(5050)
        assert.isTrue(yield* owner.end)
        yield* advance("1 second")
        const sent = yield* Fiber.join(joined)
        assert.deepStrictEqual([answerOf(sent).messageId, answerOf(sent).providerMessageId], [
          owner.messageId,
          "wamid.elsewhere"
        ])
        assert.deepStrictEqual(sent.replays, [answerOf(sent)])
        assert.strictEqual(sent.at, start + 5100)
        assert.strictEqual(provider.calls.length, 0)
      })
    )
  )

  it.effect(
    "a joined send with an unknown outcome counts as a replay, and a later request's does not",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request, requestId } = yield* caller()
        const { settle } = yield* elsewhere(request("k"))
        const joined = yield* Effect.forkChild(send(request("k")))
        yield* advance(5050)
        assert.isTrue(yield* settle({ _tag: "Unknown" }))
        yield* advance("1 second")
        const sent = yield* Fiber.join(joined)
        assert.deepStrictEqual([reason(sent), sent.at], ["outcome_unknown", start + 5100])
        assert.deepStrictEqual(sent.replays, [{ _tag: "Failed", error: errorOf(sent), requestId }])
        assert.deepStrictEqual((yield* send(request("k"))).replays, [])
        assert.strictEqual(provider.calls.length, 0)
      })
    )
  )

  it.effect(
    "a send in another process is awaited for ten seconds, then in_progress with a second to wait",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        yield* elsewhere(request("k"))
        const joined = yield* Effect.forkChild(send(request("k")))
        yield* advance(10 * second - 1)
        assert.isUndefined(joined.pollUnsafe())
        yield* advance(1)
        const sent = yield* Fiber.join(joined)
        const error = errorOf(sent)
        assert.deepStrictEqual([error.code, reasonOf(error), sent.at, sent.replays], [
          "server_error",
          "in_progress",
          start + 10 * second,
          []
        ])
        assert.strictEqual(Duration.toMillis(retryAfterOf(error)!), second)
        assert.strictEqual(provider.calls.length, 0)
      })
    )
  )

  it.effect(
    "a send of a crashed process is outcome_unknown from the end of its lease, and never sent again",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request, workspace } = yield* caller()
        yield* elsewhere(request("k"))
        yield* advance(25 * second)
        // joins with five seconds of the lease left
        const joined = yield* Effect.forkChild(send(request("k")))
        yield* advance("6 seconds")
        const sent = yield* Fiber.join(joined)
        assert.strictEqual(reason(sent), "outcome_unknown")
        assert.strictEqual(sent.at, start + 30 * second)
        assert.strictEqual(reason(yield* send(request("k"))), "outcome_unknown")
        assert.strictEqual(provider.calls.length, 0)
        assert.deepStrictEqual(yield* events(workspace.id), [])
      })
    )
  )
})

describe("a caller that disconnects", () => {
  it.effect(
    "a caller that disconnects does not stop the send, and a retry gets its answer",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request, workspace } = yield* caller()
        provider.answer = () => Effect.as(Effect.sleep("2 seconds"), { _tag: "Accepted", providerMessageId: "wamid.1" })
        const fiber = yield* Effect.forkChild(send(request("k")), { startImmediately: true })
        yield* advance("1 second")
        yield* Fiber.interrupt(fiber)
        const retry = yield* Effect.forkChild(send(request("k")), { startImmediately: true })
        yield* advance("2 seconds")
        const sent = yield* Fiber.join(retry)
        assert.deepStrictEqual([answerOf(sent).providerMessageId, sent.at], ["wamid.1", start + 2 * second])
        assert.deepStrictEqual(sent.replays, [answerOf(sent)])
        assert.deepStrictEqual([provider.calls.length, yield* eventTypes(workspace.id)], [1, ["message.sent"]])
      })
    )
  )

  it.effect(
    "a caller that disconnects immediately does not stop the send",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request, workspace } = yield* caller()
        const fiber = yield* Effect.forkChild(send(request("k")), { startImmediately: true })
        yield* Fiber.interrupt(fiber)
        yield* advance("1 second")
        assert.deepStrictEqual([provider.calls.length, yield* eventTypes(workspace.id)], [1, ["message.sent"]])
        assert.strictEqual((yield* send(request("k"))).replays.length, 1)
      })
    )
  )

  it.effect(
    "a caller that leaves a joined send does not disturb the first",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        provider.answer = () => Effect.as(Effect.sleep("2 seconds"), { _tag: "Accepted", providerMessageId: "wamid.1" })
        const first = yield* Effect.forkChild(send(request("k")), { startImmediately: true })
        const joined = yield* Effect.forkChild(send(request("k")), { startImmediately: true })
        yield* advance("1 second")
        yield* Fiber.interrupt(joined)
        yield* advance("1 second")
        assert.strictEqual((yield* Fiber.join(first)).at, start + 2 * second)
      })
    )
  )
})

describe("a provider that does not answer", () => {
  it.effect(
    "a provider that does not respond is interrupted after eight seconds, and the outcome is unknown",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request, workspace } = yield* caller()
        let interruptedAt: number | undefined
        provider.answer = () =>
          Effect.onInterrupt(never, () => Effect.map(Clock.currentTimeMillis, (at) => void (interruptedAt = at)))
        const fiber = yield* Effect.forkChild(send(request("k")))
        yield* advance(8 * second - 1)
        assert.isUndefined(fiber.pollUnsafe())
        yield* advance(1)
        const sent = yield* Fiber.join(fiber)
        const error = errorOf(sent)
        assert.deepStrictEqual([error.code, reasonOf(error), sent.at], [
          "server_error",
          "outcome_unknown",
          start + 8 * second
        ])
        assert.strictEqual(interruptedAt, start + 8 * second)
        const message = yield* messageOf(request("k"), provider.calls[0]!.messageId)
        assert.deepStrictEqual([message.status, message.statusAt], ["unknown", start + 8 * second])
        // a retry does not send it again
        assert.deepStrictEqual([reason(yield* send(request("k"))), provider.calls.length], ["outcome_unknown", 1])
        assert.deepStrictEqual(yield* events(workspace.id), [])
      })
    )
  )

  it.effect(
    "an uninterruptible provider delays the caller, and the outcome is unknown too",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        provider.answer = () =>
          Effect.uninterruptible(
            Effect.as(Effect.sleep("12 seconds"), { _tag: "Accepted", providerMessageId: "wamid.1" })
          )
        const fiber = yield* Effect.forkChild(send(request("k")))
        yield* advance("13 seconds")
        assert.strictEqual(reason(yield* Fiber.join(fiber)), "outcome_unknown")
        assert.strictEqual(provider.calls.length, 1)
      })
    )
  )

  it.effect.each<[string, () => Effect.Effect<ProviderOutcome>]>([
    ["dies", () => Effect.die(new Error("a bug in the adapter"))],
    ["throws", () => {
      throw new Error("a bug in the adapter")
    }],
    ["is interrupted", () => Effect.interrupt],
    ["says that it does not know", () => Effect.succeed({ _tag: "Unknown" })]
  ])("because it %s: the outcome is unknown", ([, answer]) =>
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        provider.answer = answer
        const sent = yield* send(request("k"))
        assert.deepStrictEqual([reason(sent), sent.at], ["outcome_unknown", start])
        const message = yield* messageOf(request("k"), provider.calls[0]!.messageId)
        assert.strictEqual(message.status, "unknown")
        assert.deepStrictEqual([reason(yield* send(request("k"))), provider.calls.length], ["outcome_unknown", 1])
      })
    )())

  it.effect(
    "if the adapter throws before it returns an effect, the outcome is unknown",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        provider.throws = new Error("a bug in the adapter")
        assert.strictEqual(reason(yield* send(request("k"))), "outcome_unknown")
        provider.throws = undefined
        assert.deepStrictEqual([reason(yield* send(request("k"))), provider.calls.length], ["outcome_unknown", 0])
      })
    )
  )
})

describe("a send that sent nothing", () => {
  const throttled = new RateLimited({ reason: "provider", message: "slow down", retryAfter: Duration.seconds(3) })
  const unavailable = new ServerError({ reason: "provider_unavailable", message: "the provider is not reachable" })

  it.effect(
    "a send that sent nothing is tried again with the same message, and records no event",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request, workspace } = yield* caller({ monthlyQuota: 1 })
        provider.answer = (_, call) =>
          Effect.succeed(
            call === 1
              ? { _tag: "NotSent", error: throttled }
              : call === 2
              ? { _tag: "NotSent", error: unavailable }
              : { _tag: "Accepted", providerMessageId: "wamid.3" }
          )
        const first = yield* send(request("k"))
        assert.deepStrictEqual([errorOf(first), first.replays], [throttled, []])
        const messageId = provider.calls[0]!.messageId
        const waiting = yield* messageOf(request("k"), messageId)
        assert.deepStrictEqual([waiting.status, waiting.error], ["sending", null])
        yield* advance("1 hour")
        const second = yield* send(request("k"))
        // its own failure, not the first one's; its quota was spent once
        assert.deepStrictEqual([errorOf(second), second.replays], [unavailable, []])
        yield* advance("1 hour")
        const third = yield* send(request("k"))
        assert.strictEqual(answerOf(third).messageId, messageId)
        assert.deepStrictEqual(third.replays, [])
        assert.deepStrictEqual(provider.calls.map((call) => call.messageId), [messageId, messageId, messageId])
        assert.deepStrictEqual(yield* eventTypes(workspace.id), ["message.sent"])
        assert.strictEqual(reason(yield* send(request("another"))), "quota_exhausted")
      })
    )
  )

  it.effect(
    "a send that sent nothing is given up after 24 hours without a retry",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request, workspace } = yield* caller({ monthlyQuota: 1 })
        provider.answer = () => Effect.succeed({ _tag: "NotSent", error: unavailable })
        yield* Layer.build(MessageSweeper.layer)
        yield* send(request("k"))
        const messageId = provider.calls[0]!.messageId
        yield* advance(day - 1)
        assert.strictEqual((yield* messageOf(request("k"), messageId)).status, "sending")
        yield* advance(second + 1)
        const message = yield* messageOf(request("k"), messageId)
        assert.deepStrictEqual([message.status, message.error?.reason], ["failed", "not_sent"])
        assert.deepStrictEqual(yield* eventTypes(workspace.id), ["message.failed"])
        // the key is forgotten and the quota returned, so it is a new send
        provider.answer = () => Effect.succeed({ _tag: "Accepted", providerMessageId: "wamid.1" })
        assert.notStrictEqual(answerOf(yield* send(request("k"))).messageId, messageId)
      })
    )
  )

  it.effect(
    "a retry may be refused, which leaves the send as it was",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request, workspace } = yield* caller()
        provider.answer = (_, call) =>
          Effect.succeed(
            call === 1 ? { _tag: "NotSent", error: throttled } : { _tag: "Accepted", providerMessageId: "w" }
          )
        yield* send(request("k"))
        yield* WorkspaceStore.use((store) => store.configure(workspace.id, { suspended: true }))
        assert.strictEqual(reason(yield* send(request("k"))), "workspace_suspended")
        yield* WorkspaceStore.use((store) => store.configure(workspace.id, { suspended: false }))
        assert.strictEqual(answerOf(yield* send(request("k"))).messageId, provider.calls[0]!.messageId)
      })
    )
  )
})

describe("a send refused by the provider", () => {
  const refusal = new InvalidBody({
    reason: "undeliverable",
    param: "to",
    message: "the recipient cannot be reached",
    provider: { code: "131026", message: "Message undeliverable" }
  })

  it.effect(
    "a final refusal is stored, and replayed with the first request's id",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request, requestId, workspace } = yield* caller({ monthlyQuota: 1 })
        provider.answer = (_, call) =>
          Effect.succeed(
            call === 1 ? { _tag: "Refused", error: refusal } : { _tag: "Accepted", providerMessageId: "w" }
          )
        const first = yield* send(request("k"))
        assert.deepStrictEqual([errorOf(first), first.replays], [refusal, []])
        yield* advance("23 hours")
        const again = yield* send({ ...request("k"), requestId: yield* newId("req") })
        assert.deepStrictEqual(errorOf(again), refusal)
        assert.deepStrictEqual(again.replays, [{ _tag: "Failed", error: refusal, requestId }])
        assert.strictEqual(provider.calls.length, 1)
        const message = yield* messageOf(request("k"), provider.calls[0]!.messageId)
        assert.deepStrictEqual([message.status, message.failedAt, message.error], ["failed", start, {
          code: "invalid_body",
          reason: "undeliverable",
          message: "the recipient cannot be reached",
          provider: { code: "131026", message: "Message undeliverable" }
        }])
        assert.deepStrictEqual(yield* eventTypes(workspace.id), ["message.failed"])
        // the quota was returned
        answerOf(yield* send(request("another")))
      })
    )
  )

  it.effect(
    "a refusal by the provider's policy is forbidden",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        const error = new Forbidden({ reason: "provider_policy", message: "not allowed" })
        provider.answer = () => Effect.succeed({ _tag: "Refused", error })
        assert.deepStrictEqual(errorOf(yield* send(request("k"))), error)
      })
    )
  )
})

describe("a refusal by our own checks", () => {
  it.effect(
    "our own refusal leaves nothing behind: the key is free and the send is judged again",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { number, request, workspace } = yield* caller()
        assert.strictEqual(reason(yield* send(request("k", text()))), "outside_service_window")
        assert.deepStrictEqual([provider.calls.length, yield* events(workspace.id)], [0, []])
        yield* wrote(number.providerNumberId, start)
        answerOf(yield* send(request("k", text())))
        assert.strictEqual(provider.calls.length, 1)
      })
    )
  )

  it.effect(
    "a send is refused if the window closes between accept and the provider's call",
    sending(({ interfere, provider }) =>
      Effect.gen(function*() {
        const { number, request, workspace } = yield* caller({ monthlyQuota: 1 })
        yield* wrote(number.providerNumberId, start)
        const told = (yield* events(workspace.id)).length
        let accepted: unknown
        interfere.accept = (real) => (command) =>
          Effect.tap(real(command), (answer) => {
            accepted = answer._tag
            return Effect.sleep("2 millis")
          })
        yield* advance(day - 1)
        const fiber = yield* Effect.forkChild(send(request("k", text())))
        yield* advance(10)
        const sent = yield* Fiber.join(fiber)
        assert.deepStrictEqual([accepted, reason(sent), sent.at], [
          "Claimed",
          "outside_service_window",
          start + day + 1
        ])
        assert.deepStrictEqual([provider.calls.length, (yield* events(workspace.id)).length], [0, told])
        // neither the key nor the quota was spent, and the limits are unchanged
        delete interfere.accept
        const readings: Array<string> = []
        const anew = yield* send(request("k")).pipe(
          Effect.provideService(RateLimit.Observer, ({ policy, remaining }) =>
            void readings.push(`${policy.name} ${remaining}`))
        )
        assert.strictEqual(answerOf(anew).workspaceId, workspace.id)
        assert.deepStrictEqual(readings, ["workspace 199", "phone_number 159", "pair 44"])
      })
    )
  )

  it.effect(
    "a send is refused if the key was revoked after it was authenticated",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { apiKey, request, token, workspace } = yield* caller()
        const principal = yield* ApiKeys.use((keys) => keys.authenticate(token))
        // by another process, so this one's cache still trusts the key
        yield* ApiKeyStore.use((store) => store.revoke(workspace.id, apiKey.id, start))
        assert.strictEqual(principal.key.revokedAt, null)
        const sent = yield* send({ ...request("k"), apiKeyId: principal.key.id })
        assert.deepStrictEqual([errorOf(sent).code, reason(sent)], ["unauthorized", "revoked_key"])
        assert.deepStrictEqual([provider.calls.length, yield* events(workspace.id)], [0, []])
      })
    )
  )

  it.effect(
    "a send is refused if the key expired after it was authenticated",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request, workspace } = yield* caller()
        const { key: expiring } = yield* issueKey(workspace.id, { expiresAt: start + second })
        yield* advance("1 second")
        assert.strictEqual(reason(yield* send({ ...request("k"), apiKeyId: expiring.id })), "expired_key")
        assert.strictEqual(provider.calls.length, 0)
      })
    )
  )

  it.effect(
    "a send that joined an abandoned one is asked to retry",
    sending(({ interfere }) =>
      Effect.gen(function*() {
        const { number, request } = yield* caller()
        yield* wrote(number.providerNumberId, start)
        let calls = 0
        interfere.accept = (real) => (command) =>
          Effect.tap(real(command), () => calls++ === 0 ? Effect.sleep("1 second") : Effect.void)
        yield* advance(day - 500)
        const first = yield* Effect.forkChild(send(request("k", text())), { startImmediately: true })
        yield* settle
        const joined = yield* Effect.forkChild(send(request("k", text())), { startImmediately: true })
        yield* advance("2 seconds")
        assert.strictEqual(reason(yield* Fiber.join(first)), "outside_service_window")
        assert.strictEqual(reason(yield* Fiber.join(joined)), "in_progress")
      })
    )
  )
})

/** The customer wrote to the number. */
const wrote = (providerNumberId: string, at: number) =>
  Inbound.use((inbound) =>
    inbound.receive([{
      _tag: "Message",
      message: {
        providerNumberId,
        providerMessageId: `wamid.in.${at}`,
        customer: { phone: "+12025550123", userId: null },
        at,
        type: "text",
        content: { body: "Hello" },
        context: null,
        preference: undefined
      }
    }])
  )

describe("an unknown outcome", () => {
  it.effect(
    "a provider report settles an unknown outcome, and a retry is answered as sent",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { apiKey, request, workspace } = yield* caller()
        provider.answer = () => Effect.succeed({ _tag: "Unknown" })
        assert.strictEqual(reason(yield* send(request("k"))), "outcome_unknown")
        const { messageId } = provider.calls[0]!
        yield* advance("5 minutes")
        yield* reported(messageId, "delivered")
        const again = yield* send(request("k"))
        assert.deepStrictEqual(answerOf(again), {
          _tag: "Sent",
          messageId,
          providerMessageId: "wamid.up",
          workspaceId: workspace.id,
          apiKeyId: apiKey.id
        })
        assert.deepStrictEqual(again.replays, [answerOf(again)])
        assert.deepStrictEqual(yield* eventTypes(workspace.id), ["message.sent", "message.delivered"])
        assert.strictEqual(provider.calls.length, 1)
      })
    )
  )

  it.effect(
    "an unknown outcome becomes delivery_unknown after ten minutes, and yields to an even later report",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request, workspace } = yield* caller()
        yield* Layer.build(MessageSweeper.layer)
        provider.answer = () => Effect.succeed({ _tag: "Unknown" })
        yield* send(request("k"))
        const { messageId } = provider.calls[0]!
        yield* advance(10 * minute - 1)
        assert.strictEqual(reason(yield* send(request("k"))), "outcome_unknown")
        assert.strictEqual((yield* messageOf(request("k"), messageId)).status, "unknown")
        yield* advance(second + 1)
        const failed = yield* messageOf(request("k"), messageId)
        assert.deepStrictEqual([failed.status, failed.error?.reason], ["failed", "delivery_unknown"])
        const retry = yield* send(request("k"))
        assert.deepStrictEqual([errorOf(retry).code, reason(retry)], ["server_error", "delivery_unknown"])
        yield* advance("2 hours")
        yield* reported(messageId, "read")
        assert.strictEqual(answerOf(yield* send(request("k"))).messageId, messageId)
        assert.deepStrictEqual(yield* eventTypes(workspace.id), [
          "message.failed",
          "message.sent",
          "message.delivered",
          "message.read"
        ])
        assert.deepStrictEqual((yield* events(workspace.id)).map(({ sequence }) => sequence), [1, 2, 3, 4])
        assert.strictEqual(provider.calls.length, 1)
      })
    )
  )

  it.effect(
    "after a crash the lease ends, ten minutes pass, and the send fails",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        yield* Layer.build(MessageSweeper.layer)
        const { messageId } = yield* elsewhere(request("k"))
        yield* advance(31 * second)
        assert.strictEqual((yield* messageOf(request("k"), messageId)).status, "unknown")
        yield* advance(10 * minute - 2 * second)
        assert.strictEqual((yield* messageOf(request("k"), messageId)).status, "unknown")
        yield* advance(3 * second)
        const message = yield* messageOf(request("k"), messageId)
        assert.deepStrictEqual([message.status, message.error?.reason], ["failed", "delivery_unknown"])
        assert.strictEqual(reason(yield* send(request("k"))), "delivery_unknown")
        assert.strictEqual(provider.calls.length, 0)
      })
    )
  )
})

describe("a report without the provider's identifier", () => {
  it.effect.each(["sent", "delivered", "read", "failed"] as const)(
    "a report without the provider's id settles the message (%s), which the provider then knows by our id",
    (status) =>
      sending(({ provider }) =>
        Effect.gen(function*() {
          const { request } = yield* caller()
          provider.answer = () => Effect.succeed({ _tag: "Unknown" })
          yield* send(request("k"))
          const { messageId } = provider.calls[0]!
          yield* reported(messageId, status, null)
          assert.deepInclude(answerOf(yield* send(request("k"))), { messageId, providerMessageId: messageId })
          assert.strictEqual(provider.calls.length, 1)
          assert.strictEqual((yield* messageOf(request("k"), messageId)).status, status)
        })
      )()
  )
})

describe("a report before the provider's answer", () => {
  it.effect(
    "a report before the provider's response stays in force",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request, workspace } = yield* caller()
        const inbound = yield* Inbound
        provider.answer = ({ messageId }) =>
          Effect.as(reported(messageId, "delivered", "wamid.1"), accepted("wamid.1")).pipe(
            Effect.provideService(Inbound, inbound),
            Effect.orDie
          )
        const sent = yield* send(request("k"))
        const message = yield* messageOf(request("k"), answerOf(sent).messageId)
        assert.strictEqual(message.status, "delivered")
        assert.deepStrictEqual(yield* eventTypes(workspace.id), ["message.sent", "message.delivered"])
      })
    )
  )

  it.effect(
    "a report settles a send whose response was then lost",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        provider.answer = () => never
        const fiber = yield* Effect.forkChild(send(request("k")))
        yield* advance("1 second")
        yield* reported(provider.calls[0]!.messageId, "sent")
        yield* advance("8 seconds")
        assert.strictEqual(reason(yield* Fiber.join(fiber)), "outcome_unknown")
        assert.strictEqual(answerOf(yield* send(request("k"))).providerMessageId, "wamid.up")
      })
    )
  )
})

describe("a failing storage", () => {
  const fault = new StoreError({ operation: "MessageStore.test" })

  it.effect(
    "if the storage fails at accept, the error is storage_unavailable, and nothing was sent",
    sending(({ interfere, provider }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        interfere.accept = () => () => Effect.fail(fault)
        const sent = yield* send(request("k"))
        const error = errorOf(sent)
        assert.deepStrictEqual([error.code, reasonOf(error)], ["server_error", "storage_unavailable"])
        assert.strictEqual(Duration.toMillis(retryAfterOf(error)!), second)
        assert.notInclude(error.message, "MessageStore")
        delete interfere.accept
        answerOf(yield* send(request("k")))
        assert.strictEqual(provider.calls.length, 1)
      })
    )
  )

  it.effect(
    "if accept's answer is lost, the claim is abandoned, and a retry is judged again",
    sending(({ interfere, provider }) =>
      Effect.gen(function*() {
        const { request } = yield* caller({ monthlyQuota: 1 })
        interfere.accept = (real) => (command) => Effect.andThen(real(command), Effect.fail(fault))
        assert.strictEqual(reason(yield* send(request("k"))), "storage_unavailable")
        delete interfere.accept
        yield* settle
        answerOf(yield* send(request("k")))
        assert.strictEqual(provider.calls.length, 1)
      })
    )
  )

  it.effect(
    "if accept's answer is lost, it is unknown whether a message to send later is queued, and the same key returns it",
    sending(({ interfere }) =>
      Effect.gen(function*() {
        const { request, workspace } = yield* caller()
        const messages = yield* Messages
        const later = { ...request("k"), later: { isInBatch: false } }
        interfere.accept = (real) => (command) => Effect.andThen(real(command), Effect.fail(fault))
        const lost = errorOf(yield* send(later))
        assert.strictEqual(reasonOf(lost), "outcome_unknown")
        assert.include(lost.message, "queued")
        const batch = { ...request("batch"), items: [{ key: key("k2"), message: plain() }] }
        const [item] = yield* messages.sendBatch(batch)
        assert.strictEqual(item && Result.isFailure(item) && reasonOf(item.failure), "outcome_unknown")
        delete interfere.accept
        yield* settle
        const { items } = yield* messages.list(workspace.id, {}, { limit: 10, after: null })
        assert.deepStrictEqual(items.map(({ status }) => status), ["queued", "queued"])
        const found = yield* messages.send(later)
        const [again] = yield* messages.sendBatch(batch)
        const known = [found, again && Result.isSuccess(again) && again.success]
        assert.deepStrictEqual(
          known.map((answer) => answer && [answer._tag, answer.messageId]),
          items.toReversed().map(({ id }) => ["Queued" as const, id])
        )
      })
    )
  )

  it.effect(
    "if the storage certainly did not queue a message, the error is storage_unavailable",
    sending(({ interfere }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        interfere.accept = () => () => Effect.fail(new StoreError({ operation: "MessageStore.accept", isUndone: true }))
        const refused = yield* send({ ...request("k"), later: { isInBatch: false } })
        assert.strictEqual(reason(refused), "storage_unavailable")
      })
    )
  )

  it.effect(
    "if the storage certainly accepted nothing, no claim is abandoned",
    sending(({ interfere }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        let abandoned = 0
        interfere.accept = () => () => Effect.fail(new StoreError({ operation: "MessageStore.accept", isUndone: true }))
        interfere.abandon = (real) => (command) => Effect.suspend(() => (abandoned++, real(command)))
        assert.strictEqual(reason(yield* send(request("k"))), "storage_unavailable")
        yield* advance("20 seconds")
        assert.strictEqual(abandoned, 0)
      })
    )
  )

  it.effect(
    "if a later try's answer is lost, its claim is abandoned too",
    sending(({ interfere, provider }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        const error = new ServerError({ reason: "provider_unavailable", message: "not there" })
        provider.answer = (_, call) =>
          Effect.succeed(
            call === 1 ? { _tag: "NotSent", error } : { _tag: "Accepted", providerMessageId: "wamid.2" }
          )
        assert.strictEqual(reason(yield* send(request("k"))), "provider_unavailable")
        interfere.accept = (real) => (command) => Effect.andThen(real(command), Effect.fail(fault))
        assert.strictEqual(reason(yield* send(request("k"))), "storage_unavailable")
        delete interfere.accept
        yield* settle
        assert.strictEqual(answerOf(yield* send(request("k"))).messageId, provider.calls[0]!.messageId)
        assert.strictEqual(provider.calls.length, 2)
      })
    )
  )

  it.effect(
    "if the storage carries out accept late, the claim is abandoned then",
    sending(({ interfere, provider }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        interfere.accept = (real) => (command) =>
          Effect.andThen(
            Effect.forkDetach(Effect.delay(real(command), "5 seconds")),
            Effect.fail(fault)
          )
        assert.strictEqual(reason(yield* send(request("k"))), "storage_unavailable")
        delete interfere.accept
        yield* advance("15 seconds")
        answerOf(yield* send(request("k")))
        assert.strictEqual(provider.calls.length, 1)
      })
    )
  )

  it.effect(
    "if a lost claim cannot be abandoned, its outcome is unknown",
    sending(({ interfere, provider }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        interfere.accept = (real) => (command) => Effect.andThen(real(command), Effect.fail(fault))
        interfere.abandon = () => () => Effect.fail(fault)
        assert.strictEqual(reason(yield* send(request("k"))), "storage_unavailable")
        delete interfere.accept
        yield* advance(30 * second)
        assert.strictEqual(reason(yield* send(request("k"))), "outcome_unknown")
        assert.strictEqual(provider.calls.length, 0)
      })
    )
  )

  it.effect(
    "if the storage fails at settle, the outcome is unknown until a report comes",
    sending(({ interfere, provider }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        interfere.settle = () => () => Effect.fail(fault)
        const sent = yield* send(request("k"))
        assert.strictEqual(reason(sent), "outcome_unknown")
        delete interfere.settle
        // the send counts as running until the lease ends
        const joined = yield* Effect.forkChild(send(request("k")))
        yield* advance("11 seconds")
        assert.strictEqual(reason(yield* Fiber.join(joined)), "in_progress")
        yield* advance("19 seconds")
        assert.strictEqual(reason(yield* send(request("k"))), "outcome_unknown")
        yield* reported(provider.calls[0]!.messageId, "sent")
        assert.strictEqual(answerOf(yield* send(request("k"))).messageId, provider.calls[0]!.messageId)
        assert.strictEqual(provider.calls.length, 1)
      })
    )
  )

  it.effect(
    "a single failure at settle is not logged as an error, and is recorded a second later",
    sending(({ interfere, provider }) =>
      logged((lines) =>
        Effect.gen(function*() {
          const { request } = yield* caller()
          let tries = 0
          interfere.settle = (real) => (command) =>
            Effect.suspend(() => ++tries === 1 ? Effect.fail(fault) : real(command))
          assert.strictEqual(reason(yield* send(request("k"))), "outcome_unknown")
          yield* advance("1 second")
          assert.strictEqual(tries, 2)
          assert.strictEqual(answerOf(yield* send(request("k"))).messageId, provider.calls[0]!.messageId)
          yield* advance("1 minute")
          assert.deepStrictEqual(lines.filter(({ level }) => level !== "Debug"), [])
        })
      )
    )
  )

  it.effect(
    "repeated failures at settle are logged as an error, once recording is no longer possible",
    sending(({ interfere, provider }) =>
      logged((lines) =>
        Effect.gen(function*() {
          const { request } = yield* caller()
          let tries = 0
          interfere.settle = () => () =>
            Effect.suspend(() => {
              tries++
              return Effect.fail(fault)
            })
          assert.strictEqual(reason(yield* send(request("k"))), "outcome_unknown")
          const errors = () => lines.filter(({ level }) => level === "Error").map(({ message }) => message)
          // a second later, and then a second after pauses of 1, 2, 4 and 8
          yield* advance("15 seconds")
          assert.deepStrictEqual([tries, errors()], [5, []])
          yield* advance("5 seconds")
          assert.strictEqual(tries, 6)
          const { messageId } = provider.calls[0]!
          assert.lengthOf(errors(), 1)
          assert.include(errors()[0], `the outcome of ${messageId} could not be recorded`)
          yield* advance("1 minute")
          assert.deepStrictEqual([tries, errors().length], [6, 1])
        })
      )
    )
  )

  it.effect(
    "if settle's answer is lost, the outcome is unknown, and a retry is answered",
    sending(({ interfere, provider }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        interfere.settle = (real) => (command) => Effect.andThen(real(command), Effect.fail(fault))
        assert.strictEqual(reason(yield* send(request("k"))), "outcome_unknown")
        assert.strictEqual(answerOf(yield* send(request("k"))).providerMessageId, "wamid.1")
        assert.strictEqual(provider.calls.length, 1)
      })
    )
  )

  it.effect(
    "a defect at settle leaves the outcome unknown",
    sending(({ interfere, provider }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        interfere.settle = () => () => Effect.die(new Error("a bug in the storage's adapter"))
        const sent = yield* send(request("k"))
        assert.strictEqual(reason(sent), "outcome_unknown")
        assert.strictEqual(provider.calls.length, 1)
      })
    )
  )

  it.effect(
    "if the storage fails while a caller waits for another's send, the error is storage_unavailable",
    sending(({ interfere }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        yield* elsewhere(request("k"))
        interfere.lookUp = () => () => Effect.fail(fault)
        const joined = yield* Effect.forkChild(send(request("k")))
        yield* advance("1 second")
        assert.strictEqual(reason(yield* Fiber.join(joined)), "storage_unavailable")
      })
    )
  )

  it.effect(
    "a claim whose lease has ended is not settled",
    sending(({ interfere, provider }) =>
      Effect.gen(function*() {
        const { request, workspace } = yield* caller()
        yield* Layer.build(MessageSweeper.layer)
        // the process was suspended for half a minute between the response and its record
        interfere.settle = (real) => (command) => Effect.andThen(Effect.sleep("31 seconds"), real(command))
        const fiber = yield* Effect.forkChild(send(request("k")))
        yield* advance("32 seconds")
        assert.strictEqual(reason(yield* Fiber.join(fiber)), "outcome_unknown")
        assert.strictEqual((yield* messageOf(request("k"), provider.calls[0]!.messageId)).status, "unknown")
        assert.deepStrictEqual(yield* events(workspace.id), [])
      })
    )
  )
})

describe("stopping", () => {
  it.effect(
    "stopping waits for sends in flight",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        const { messages, scope } = yield* another
        provider.answer = () => Effect.as(Effect.sleep("5 seconds"), { _tag: "Accepted", providerMessageId: "wamid.1" })
        const fiber = yield* Effect.forkChild(Effect.exit(messages.send(request("k"))))
        yield* advance("1 second")
        const stopped = yield* Effect.forkChild(Scope.close(scope, Exit.void))
        yield* advance("3 seconds")
        assert.isUndefined(stopped.pollUnsafe())
        yield* advance("1 second")
        assert.isTrue(Exit.isSuccess(yield* Fiber.join(fiber)))
        yield* Fiber.join(stopped)
        assert.strictEqual((yield* messageOf(request("k"), provider.calls[0]!.messageId)).status, "sent")
      })
    )
  )

  it.effect(
    "a send that does not end in time while stopping stays unknown",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        const { messages, scope } = yield* another
        provider.answer = () => never
        const fiber = yield* Effect.forkChild(Effect.exit(messages.send(request("k"))))
        yield* advance("1 second")
        const stopped = yield* Effect.forkChild(Scope.close(scope, Exit.void))
        yield* advance("10 seconds")
        yield* Fiber.join(stopped)
        const exit = yield* Fiber.join(fiber)
        assert.strictEqual(reason({ exit, replays: [], at: 0 }), "outcome_unknown")
        assert.strictEqual((yield* messageOf(request("k"), provider.calls[0]!.messageId)).status, "unknown")
      })
    )
  )

  it.effect(
    "stopping interrupts the provider's call in time, and that is recorded",
    sending(({ interfere, provider }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        const { messages, scope } = yield* another
        // so late that the call's eight seconds exceed what stopping waits for
        interfere.accept = (real) => (command) => Effect.tap(real(command), Effect.sleep("4 seconds"))
        let interruptedAt: number | undefined
        provider.answer = () =>
          Effect.onInterrupt(never, () => Effect.map(Clock.currentTimeMillis, (at) => void (interruptedAt = at)))
        const fiber = yield* Effect.forkChild(Effect.exit(messages.send(request("k"))))
        yield* advance("1 second")
        const stopped = yield* Effect.forkChild(Scope.close(scope, Exit.void))
        yield* advance("10 seconds")
        yield* Fiber.join(stopped)
        assert.deepStrictEqual([provider.calls[0]?.at, interruptedAt], [start + 4 * second, start + 10.5 * second])
        const exit = yield* Fiber.join(fiber)
        assert.strictEqual(reason({ exit, replays: [], at: 0 }), "outcome_unknown")
        assert.strictEqual((yield* messageOf(request("k"), provider.calls[0]!.messageId)).status, "unknown")
      })
    )
  )

  it.effect(
    "a send after stopping ends, and nothing is sent",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        const { messages, scope } = yield* another
        yield* Scope.close(scope, Exit.void)
        const fiber = yield* Effect.forkChild(Effect.exit(messages.send(request("k"))))
        yield* advance("1 minute")
        assert.isDefined(fiber.pollUnsafe())
        assert.strictEqual(provider.calls.length, 0)
      })
    )
  )
})

it.effect(
  "sends beyond the process's limit are asked to retry, and nothing of them is stored",
  sending(({ provider }) =>
    Effect.gen(function*() {
      const { request } = yield* caller()
      const messages = Context.get(
        yield* Layer.build(Layer.fresh(Messages.layer)).pipe(Effect.provideService(MaxInFlight, 2)),
        Messages
      )
      provider.answer = () => Effect.as(Effect.sleep("2 seconds"), { _tag: "Accepted", providerMessageId: "wamid.1" })
      const first = yield* Effect.forkChild(messages.send(request("a")), { startImmediately: true })
      const second = yield* Effect.forkChild(messages.send(request("b")), { startImmediately: true })
      const refused = yield* Effect.flip(messages.send(request("c")))
      assert.deepStrictEqual([refused.code, refused._tag === "ServerError" && refused.reason], [
        "server_error",
        "overloaded"
      ])
      yield* advance("3 seconds")
      yield* Fiber.join(first)
      yield* Fiber.join(second)
      assert.strictEqual(provider.calls.length, 2)
      const third = yield* Effect.forkChild(messages.send(request("c")), { startImmediately: true })
      yield* advance("3 seconds")
      assert.strictEqual((yield* Fiber.join(third))._tag, "Sent")
    })
  )
)

describe("batches of several workspaces", () => {
  /** A batch of so many messages, each to a customer of its own. */
  const batchOf = ({ apiKey, requestId, workspace }: Effect.Success<ReturnType<typeof caller>>, size: number) => ({
    workspaceId: workspace.id,
    apiKeyId: apiKey.id,
    requestId,
    items: Array.from({ length: size }, (_, i) => ({
      key: key(`batch ${i}`),
      message: plain(`+1202555${String(i).padStart(4, "0")}`)
    }))
  })

  /** Holds every *accept* until the latch opens, and notes whose it is. */
  const held = ({ interfere }: ReturnType<typeof setUp>) => {
    const latch = Latch.makeUnsafe(false)
    const asked: Array<SendRequest["workspaceId"]> = []
    interfere.accept = (real) => (command) => {
      asked.push(command.request.workspaceId)
      return Effect.andThen(Latch.await(latch), real(command))
    }
    return { asked, open: Effect.sync(() => Latch.openUnsafe(latch)) }
  }

  it.effect(
    "a workspace's large batch neither refuses nor delays another workspace's send",
    sending((given) =>
      Effect.gen(function*() {
        const [one, other] = [yield* caller(), yield* caller()]
        const messages = Context.get(
          yield* Layer.build(Layer.fresh(Messages.layer)).pipe(Effect.provideService(MaxInFlight, 100)),
          Messages
        )
        const { asked, open } = held(given)
        const batch = yield* Effect.forkChild(messages.sendBatch(batchOf(one, 500)), { startImmediately: true })
        const sent = yield* Effect.forkChild(Effect.exit(messages.send(other.request("k"))), { startImmediately: true })
        yield* open
        yield* advance("1 second")
        answerOf({ exit: yield* Fiber.join(sent), replays: [], at: 0 })
        const answers = yield* Fiber.join(batch)
        assert.deepStrictEqual(answers.map(Result.isSuccess), Array(500).fill(true))
        assert.strictEqual(asked.length, 501)
        assert.isBelow(asked.indexOf(other.workspace.id), 128)
      })
    )
  )

  it.effect(
    "the batches of several workspaces take turns, and each has its answers in order",
    sending((given) =>
      Effect.gen(function*() {
        const [one, other] = [yield* caller(), yield* caller()]
        const { asked, open } = held(given)
        const batches = yield* Effect.forEach([batchOf(one, 300), batchOf(other, 40)], (batch) =>
          Effect.forkChild(Messages.use((messages) => messages.sendBatch(batch)), { startImmediately: true }))
        yield* open
        yield* advance("1 second")
        for (const [i, answers] of (yield* Effect.forEach(batches, Fiber.join)).entries()) {
          const { workspace } = [one, other][i]!
          const texts = yield* Effect.forEach(answers, (answer) =>
            Effect.map(
              messageOf({ ...one.request(""), workspaceId: workspace.id }, Result.getOrThrow(answer).messageId),
              ({ content }) =>
                content.to
            ))
          assert.deepStrictEqual(
            texts,
            batchOf(one, answers.length).items.map(({ message }) => message.to)
          )
        }
        assert.isBelow(asked.lastIndexOf(other.workspace.id), 96 + 2 * 40)
      })
    )
  )

  it.effect(
    "messages of a batch that wait too long are to be repeated, and nothing of them is stored",
    sending((given) =>
      Effect.gen(function*() {
        const one = yield* caller()
        const { asked, open } = held(given)
        const batch = yield* Effect.forkChild(
          Messages.use((messages) => messages.sendBatch(batchOf(one, 160))),
          { startImmediately: true }
        )
        yield* advance("6 seconds")
        yield* open
        yield* advance("1 second")
        const answers = yield* Fiber.join(batch)
        const reasons = answers.map((answer) => Result.isSuccess(answer) ? "queued" : reasonOf(answer.failure))
        assert.deepStrictEqual(reasons, [...Array(96).fill("queued"), ...Array(64).fill("overloaded")])
        assert.lengthOf(asked, 96)
      })
    )
  )

  it.effect(
    "a batch runs to its end although its caller stops waiting, and stopping waits for it",
    sending((given) =>
      Effect.gen(function*() {
        const one = yield* caller()
        const { asked, open } = held(given)
        const { messages, scope } = yield* another
        const batch = yield* Effect.forkChild(messages.sendBatch(batchOf(one, 160)), { startImmediately: true })
        yield* Fiber.interrupt(batch)
        const stopped = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
        yield* open
        yield* advance("1 second")
        yield* Fiber.join(stopped)
        assert.lengthOf(asked, 160)
        const { items } = yield* Messages.use(({ list }) => list(one.workspace.id, {}, { limit: 200, after: null }))
        assert.lengthOf(items, 160)
      })
    )
  )

  it.effect(
    "messages of a batch whose keys other requests are sending take no other workspace's place",
    sending((given) =>
      Effect.gen(function*() {
        const [one, other] = [yield* caller(), yield* caller()]
        given.provider.answer = () => never
        const messages = yield* Messages
        const batch = batchOf(one, 96)
        yield* Effect.forEach(batch.items, ({ key, message }) =>
          Effect.forkChild(messages.send({ ...one.request(""), key, message }), { startImmediately: true }))
        // each has its key before the batch asks for it
        yield* settle
        const joined = yield* Effect.forkChild(messages.sendBatch(batch), { startImmediately: true })
        yield* advance("1 second")
        const queued = yield* Effect.forkChild(messages.sendBatch(batchOf(other, 1)), { startImmediately: true })
        yield* advance("1 second")
        assert.deepStrictEqual((yield* Fiber.join(queued)).map(Result.isSuccess), [true])
        assert.isUndefined(joined.pollUnsafe())
        yield* advance("10 seconds")
        const answers = yield* Fiber.join(joined)
        assert.deepStrictEqual(
          answers.map((answer) =>
            Result.isFailure(answer) && reasonOf(answer.failure)
          ),
          Array(96).fill("outcome_unknown")
        )
      })
    )
  )
})

/** The service again, as another process over the same storage, with its scope. */
const another = Effect.gen(function*() {
  const scope = yield* Scope.make()
  const context = yield* Layer.buildWithScope(Layer.fresh(Messages.layer), scope)
  return { messages: Context.get(context, Messages), scope }
})

describe("two processes over one storage", () => {
  it.effect(
    "two processes over one storage send one message",
    sending(({ provider }) =>
      Effect.gen(function*() {
        const { request } = yield* caller()
        const other = yield* another
        provider.answer = () => Effect.as(Effect.sleep("2 seconds"), { _tag: "Accepted", providerMessageId: "wamid.1" })
        const here = yield* Effect.replicateEffect(Effect.forkChild(send(request("k")), { startImmediately: true }), 10)
        const there = yield* Effect.replicateEffect(
          Effect.forkChild(Effect.exit(other.messages.send(request("k"))), { startImmediately: true }),
          10
        )
        yield* advance("3 seconds")
        const answers = [
          ...(yield* Effect.forEach(here, Fiber.join)).map(({ exit }) => exit),
          ...(yield* Effect.forEach(there, Fiber.join))
        ]
        for (const exit of answers) assert.deepStrictEqual(exit, answers[0])
        assert.isTrue(Exit.isSuccess(answers[0]!))
        assert.strictEqual(provider.calls.length, 1)
        yield* Scope.close(other.scope, Exit.void)
      })
    )
  )
})

it.effect(
  "a contact that a message opened can be looked up",
  sending(() =>
    Effect.gen(function*() {
      const { number, workspace } = yield* caller()
      yield* wrote(number.providerNumberId, start - hour)
      const found = yield* ContactStore.use((store) => store.get(workspace.id, number.id, "+12025550123"))
      assert.strictEqual(Option.getOrThrow(found).lastInboundAt, start - hour)
    })
  )
)
