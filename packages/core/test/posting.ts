/**
 * Provider posts under virtual time: signed and received, with runners that a test starts and stops.
 */
import { MemoryStorage } from "@wac/memory"
import { StubProviderWebhook } from "@wac/testkit"
import { Effect, Exit, Layer, Metric, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import type { IgnoredItem } from "../src/inbound/IgnoredItems.ts"
import { Inbound } from "../src/inbound/Inbound.ts"
import type { InboundItem } from "../src/inbound/InboundItem.ts"
import { InboundPosts } from "../src/inbound/InboundPosts.ts"
import { InboundPostStore } from "../src/inbound/InboundPostStore.ts"
import * as InboundRunner from "../src/inbound/InboundRunner.ts"
import { Polling, steady } from "../src/Polling.ts"
import type { StoreError } from "../src/StoreError.ts"
import { settle } from "./clock.ts"
import { start } from "./samples.ts"
import { crypto } from "./world.ts"

const foundation = InboundPosts.layer.pipe(
  Layer.provideMerge(Layer.merge(MemoryStorage.layer, crypto)),
  Layer.provideMerge(Layer.sync(Metric.MetricRegistry, () => new Map()))
)

/** Runs a test of posts over its own storage, at {@link start}. */
export const posting = <E>(
  test: Effect.Effect<void, E, Layer.Success<typeof foundation> | Scope.Scope>
): Effect.Effect<void, E> =>
  TestClock.setTime(start).pipe(Effect.andThen(test), Effect.scoped, Effect.provide(Layer.fresh(foundation)))

const webhook = StubProviderWebhook.make()

/** Posts a body, by default with its right signature. */
export const postBody = (text: string, signature = StubProviderWebhook.sign(text)) =>
  InboundPosts.use(({ receive }) => receive(webhook, new TextEncoder().encode(text), () => signature))

/** Posts items. */
export const post = (items: ReadonlyArray<InboundItem>, nonce?: string) =>
  postBody(StubProviderWebhook.bodyOf(items, nonce))

/** Starts a runner that applies items with `apply`. `stop` ends it. */
export const startRunner = Effect.fnUntraced(function*(
  apply: (item: InboundItem, receivedAt: number) => Effect.Effect<IgnoredItem | undefined | void, StoreError>,
  options: {
    /** The store as a process has it. If omitted, the runner is as in a process of its own. */
    readonly process?: InboundPostStore["Service"]
    readonly store?: Partial<InboundPostStore["Service"]>
    readonly webhook?: Layer.Layer<never>
    /** The waits between polls. If omitted, it is as if hints could be lost. */
    readonly polling?: typeof steady
  } = {}
) {
  const store = yield* InboundPostStore
  const random = yield* SecureRandom.SecureRandom
  const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
  yield* Layer.buildWithScope(
    Layer.fresh(InboundRunner.layer).pipe(
      Layer.provide(Layer.mergeAll(
        Layer.mock(Inbound, {
          apply: (item, receivedAt) => Effect.map(apply(item, receivedAt), (ignored) => ignored ?? undefined)
        }),
        Layer.succeed(InboundPostStore, options.process ?? InboundPostStore.of({ ...store, ...options.store })),
        Layer.succeed(SecureRandom.SecureRandom, random),
        Layer.succeed(Polling, options.polling ?? steady),
        options.webhook ?? StubProviderWebhook.layer()
      ))
    ),
    scope
  )
  yield* settle
  return { stop: Scope.close(scope, Exit.void) }
})

/** A report about the `n`th message. */
export const status = (n: number, status: "sent" | "delivered" | "read" = "delivered"): InboundItem => ({
  _tag: "Status",
  providerNumberId: "number",
  reference: null,
  report: { status, at: start, providerMessageId: `wamid.${n}`, error: null }
})

/** The `n`th message of a customer, to a number. */
export const message = (n: number, customer = "+12025550123", providerNumberId = "number"): InboundItem => ({
  _tag: "Message",
  message: {
    providerNumberId,
    providerMessageId: `wamid.in.${n}`,
    customer: { phone: customer, userId: null },
    at: start,
    type: "text",
    content: { body: `message ${n}` },
    context: null,
    preference: undefined
  }
})

/** The name of an item in a test. */
export const nameOf = (item: InboundItem): string =>
  item._tag === "Status"
    ? `${item.report.providerMessageId} ${item.report.status}`
    : item._tag === "Message"
    ? item.message.providerMessageId
    : item._tag

/** The waiting and failing posts. */
export const backlog = InboundPostStore.use((store) => store.backlog)
