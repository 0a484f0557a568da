/**
 * Webhook delivery under virtual time: a workspace with a webhook, events, receivers that a test controls, and the
 * scheduler, which a test starts and stops.
 */
import { assert } from "@effect/vitest"
import { StubTransport } from "@wac/testkit"
import { Clock, type Duration, Effect, Exit, Layer, Option, Random, Redacted, Scope } from "effect"
import { EventStore } from "../src/events/EventStore.ts"
import type { DeliveryId, EventId, WorkspaceId } from "../src/Id.ts"
import { Inbound } from "../src/inbound/Inbound.ts"
import { ApiKeys } from "../src/keys/ApiKeys.ts"
import { Messages } from "../src/messages/Messages.ts"
import { Polling, steady } from "../src/Polling.ts"
import type { Attempt } from "../src/webhooks/Delivery.ts"
import { DeliveryStore, type DeliveryView } from "../src/webhooks/DeliveryStore.ts"
import { ReceiverGuard } from "../src/webhooks/ReceiverGuard.ts"
import { type PutWebhook, Webhooks } from "../src/webhooks/Webhooks.ts"
import * as WebhookScheduler from "../src/webhooks/WebhookScheduler.ts"
import { WebhookStore } from "../src/webhooks/WebhookStore.ts"
import { at, hold } from "./clock.ts"
import { start } from "./samples.ts"
import { foundation, stubProvider, world } from "./world.ts"

type Store = DeliveryStore["Service"]

/** Whether the scheduler polls steadily, as if hints could be lost, or skips polls that would find nothing, as in memory. */
export type Polls = "steady" | "skipped"

const setUp = (polls: Polls = "steady") => {
  const provider = stubProvider()
  /** Wrappers around the store's methods. */
  const interfere: {
    claimDue?: (real: Store["claimDue"]) => Store["claimDue"]
    complete?: (real: Store["complete"]) => Store["complete"]
    awaitHint?: Store["awaitHint"]
  } = {}
  const store = Layer.effect(
    DeliveryStore,
    Effect.map(DeliveryStore, (real) =>
      DeliveryStore.of({
        ...real,
        // an attempt begins with its signature
        claimDue: (command) =>
          Effect.tap(
            (interfere.claimDue?.(real.claimDue) ?? real.claimDue)(command),
            ({ deliveries }) => deliveries.length === 0 ? Effect.void : hold
          ),
        complete: (command) => (interfere.complete?.(real.complete) ?? real.complete)(command),
        awaitHint: Effect.suspend(() => interfere.awaitHint ?? real.awaitHint)
      }))
  )
  const guard = Layer.succeed(ReceiverGuard, ReceiverGuard.of({ allowInsecure: false, check: () => Effect.void }))
  const layer = Layer.mergeAll(Webhooks.layer, Inbound.layer, Messages.layer).pipe(
    Layer.provideMerge(Layer.mergeAll(ApiKeys.layer, guard, provider.layer, StubTransport.layer())),
    Layer.provideMerge(polls === "steady" ? Layer.merge(store, Layer.succeed(Polling, steady)) : store),
    Layer.provideMerge(foundation)
  )
  return { provider, interfere, layer }
}

type Services = Layer.Success<ReturnType<typeof setUp>["layer"]>

/** Runs a test of the scheduler at {@link start}. By default jitter is random, but the same on every machine. */
export const scheduling = <E>(
  test: (given: ReturnType<typeof setUp>) => Effect.Effect<void, E, Services | Scope.Scope>,
  options: { readonly jitter?: number; readonly seed?: string; readonly polls?: Polls } = {}
) =>
() =>
  Effect.suspend(() => {
    const given = setUp(options.polls)
    const timed = test(given).pipe(Effect.provide(given.layer), at(start))
    return options.jitter === undefined
      ? Random.withSeed(timed, options.seed ?? "wac")
      : Effect.provideService(timed, Random.Random, {
        nextDoubleUnsafe: () => options.jitter!,
        nextIntUnsafe: () => 0
      })
  })

/** Starts the scheduler like a process. `stop` closes its scope. */
export const startScheduler: Effect.Effect<{ readonly stop: Effect.Effect<void> }, never, Services> = Effect.gen(
  function*() {
    const scope = yield* Scope.make()
    yield* Layer.buildWithScope(Layer.fresh(WebhookScheduler.layer), scope)
    return { stop: Scope.close(scope, Exit.void) }
  }
)

/** A workspace with a webhook. */
export const receiver = (fields: Partial<Omit<PutWebhook, "workspaceId">> = {}) =>
  Effect.gen(function*() {
    const { number, workspace } = yield* world()
    const url = fields.url ?? `https://receiver.example/${workspace.id}`
    const { signingSecret, webhook } = yield* Webhooks.use((webhooks) =>
      webhooks.put({ envelope: undefined, eventTypes: undefined, ...fields, url, workspaceId: workspace.id })
    )
    let customers = 0
    /** Records an event now: a customer writes. */
    const happens = Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const before = yield* events(workspace.id)
      customers++
      yield* Inbound.use((inbound) =>
        inbound.receive([{
          _tag: "Message",
          message: {
            providerNumberId: number.providerNumberId,
            providerMessageId: `wamid.in.${customers}`,
            customer: { phone: `+1202555${String(customers).padStart(4, "0")}`, userId: null },
            at: now,
            type: "text",
            content: { body: `Hello ${customers}` },
            context: null,
            preference: undefined
          }
        }])
      )
      return (yield* events(workspace.id))[before.length]!.id
    })
    const health = Webhooks.use((webhooks) => webhooks.get(workspace.id))
    /** Makes the webhook healthy, as if it had succeeded yesterday. */
    const proveItself = Effect.flatMap(WebhookStore, (store) =>
      Effect.andThen(
        store.remove(workspace.id, start),
        store.put({ ...webhook, health: { ...webhook.health, lastSuccessAt: start - 86_400_000 } })
      ))
    return { workspace, number, url, webhook, secret: Redacted.value(signingSecret!), happens, health, proveItself }
  })

export const events = (workspaceId: WorkspaceId) =>
  Effect.map(
    EventStore.use((store) => store.list(workspaceId, {}, { limit: 1000, after: null })),
    ({ items }) => items
  )

/** The deliveries of a workspace, oldest first. */
export const deliveries = (workspaceId: WorkspaceId) =>
  Effect.map(
    DeliveryStore.use((store) => store.list(workspaceId, {}, { limit: 1000, after: null })),
    ({ items }): ReadonlyArray<DeliveryView> => [...items].reverse()
  )

/** The delivery of an event, with its attempts. */
export const deliveryOf = (
  workspaceId: WorkspaceId,
  eventId: EventId
): Effect.Effect<DeliveryView & { readonly attempts: ReadonlyArray<Attempt> }, never, DeliveryStore> =>
  Effect.gen(function*() {
    const found = (yield* deliveries(workspaceId)).find(({ delivery }) => delivery.eventId === eventId)
    const id: DeliveryId = found === undefined ? assert.fail(`no delivery of ${eventId}`) : found.delivery.id
    return Option.getOrThrow(yield* DeliveryStore.use((store) => store.get(workspaceId, id)))
  }).pipe(Effect.orDie)

/** What was posted so far: the times relative to {@link start}, and the events. */
export const posted = Effect.map(
  Effect.flatMap(StubTransport.StubTransport, ({ requests }) => requests),
  (requests) =>
    requests.map((request) => ({ ...request, at: request.at - start, eventId: request.headers["webhook-id"]! }))
)

/** When attempts at an event began, relative to {@link start}. */
export const startsOf = (eventId: EventId) =>
  Effect.map(posted, (all) => all.filter((request) => request.eventId === eventId).map((request) => request.at))

export const answerWith = (answer: StubTransport.Answer) =>
  Effect.flatMap(StubTransport.StubTransport, (stub) => stub.answerWith(answer))

export const inFlight = Effect.flatMap(StubTransport.StubTransport, (stub) => stub.inFlight)
export const interrupted = Effect.flatMap(StubTransport.StubTransport, (stub) => stub.interrupted)

/** A delayed response. */
export const after =
  (duration: Duration.Input, answer: ReturnType<typeof StubTransport.answered>): StubTransport.Answer => () =>
    Effect.as(Effect.sleep(duration), answer)

export const { answered, hang, ok } = StubTransport
export const failing: StubTransport.Answer = () => Effect.succeed(answered(500))
