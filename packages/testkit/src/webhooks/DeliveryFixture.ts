/**
 * Claims and attempts deliveries like the scheduler. Claims act on the whole storage, so deliveries of other workspaces
 * are released immediately and not returned.
 */
import { assert } from "@effect/vitest"
import { type Delivery, DeliveryStore, Event, type Id, type Time, type WebhookHealth } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"

/** How a claim differs from the default. */
export interface ClaimOptions {
  readonly now: Time.Instant
  /** The maximum number of deliveries to webhooks of each standing. */
  readonly limit?: number | { readonly [standing in WebhookHealth.Standing]: number }
  readonly token?: string
  /** How long the claim lasts. */
  readonly lease?: number
}

/** A claim's lease (contract §8). */
export const lease = 15 * Fixture.second

/** Claims what is due for these workspaces, under a fresh token. */
export const claim = (
  worlds: Fixture.World | ReadonlyArray<Fixture.World>,
  options: ClaimOptions
): Fixture.Step<DeliveryStore.Claimed & { readonly token: string }> =>
  Effect.gen(function*() {
    const store = yield* DeliveryStore.DeliveryStore
    const { limit = 100 } = options
    const token = options.token ?? (yield* Fixture.word)
    const workspaces = new Set(("start" in worlds ? [worlds] : worlds).map(({ workspace }) => workspace.id))
    const { at, deliveries, nextDueAt } = yield* store.claimDue({
      now: options.now,
      limit: typeof limit === "number" ? { healthy: limit, doubtful: limit } : limit,
      token,
      leaseUntil: options.now + (options.lease ?? lease)
    })
    const foreign = deliveries.filter(({ delivery }) => !workspaces.has(delivery.workspaceId))
    if (foreign.length > 0) yield* store.release(token, foreign.map(({ delivery }) => delivery))
    return {
      token,
      at,
      nextDueAt,
      deliveries: deliveries.filter(({ delivery }) => workspaces.has(delivery.workspaceId))
    }
  })

/** Writes the status of all skipped deliveries. */
export const tidy = (now: number, limit: number) =>
  Effect.gen(function*() {
    const store = yield* DeliveryStore.DeliveryStore
    for (let written = 1; written > 0;) {
      written = yield* store.tidySkipped(now, limit)
      assert.isAtMost(written, limit)
    }
  })

/** A claimed delivery with the token of its claim. */
export interface Owned extends DeliveryStore.ClaimedDelivery {
  readonly token: string
}

/** Claims exactly one delivery. */
export const claimOne = (world: Fixture.World, options: ClaimOptions): Fixture.Step<Owned> =>
  Effect.map(claim(world, options), ({ deliveries, token }) => {
    assert.strictEqual(deliveries.length, 1)
    return { ...deliveries[0]!, token }
  })

/** How a test of a webhook differs from the default. */
export interface TestOptions {
  readonly now: Time.Instant
  readonly trigger?: "test" | "probe"
}

/** A command to begin a test of a workspace's webhook, under a fresh token. */
export const test = ({ workspace }: Fixture.World, { now, trigger = "test" }: TestOptions) =>
  Effect.gen(function*() {
    const webhook = { id: yield* Fixture.id("whk"), workspaceId: workspace.id }
    return {
      now,
      event: Event.ofTest(webhook, { id: yield* Fixture.id("evt"), createdAt: now, trace: Fixture.trace }),
      deliveryId: yield* Fixture.id("dlv"),
      trigger,
      token: yield* Fixture.word,
      leaseUntil: now + lease
    }
  })

/** Begins a test of the workspace's webhook, which must exist. */
export const beginTest = (world: Fixture.World, options: TestOptions): Fixture.Step<Owned> =>
  Effect.gen(function*() {
    const command = yield* test(world, options)
    const claimed = yield* DeliveryStore.DeliveryStore.use((store) => store.beginTest(command))
    return { ...Option.getOrThrow(claimed), token: command.token }
  })

/** How an attempt ends, by default with a plain failure after 100 ms. */
export interface EndOptions {
  readonly startedAt: Time.Instant
  readonly outcome?: Delivery.AttemptOutcome
  readonly durationMs?: number
  readonly jitter?: number
  readonly now?: Time.Instant
  readonly attempt?: Partial<Delivery.Attempt>
}

/** The default duration of an attempt. */
export const durationMs = 100

/** The record of an attempt at a claimed delivery. */
export const attempt = (
  { attemptCount, trigger }: Pick<Delivery.Delivery, "attemptCount" | "trigger">,
  options: EndOptions
) =>
  Effect.map(Fixture.id("att"), (attemptId): Delivery.Attempt => {
    const delivered = options.outcome === "delivered"
    return {
      id: attemptId,
      number: attemptCount + 1,
      trigger,
      startedAt: options.startedAt,
      durationMs: options.durationMs ?? durationMs,
      outcome: options.outcome ?? "status",
      statusCode: delivered ? 200 : 500,
      message: delivered ? "answered 200" : "answered 500; only 200 counts",
      url: "https://receiver.example/hooks?tenant=1",
      address: "192.0.2.1",
      timings: { lookupMs: 3, connectMs: 20, tlsMs: 41, firstByteMs: 35, bodyMs: 1 },
      response: { headers: { "content-type": "text/plain" }, body: delivered ? "ok" : "no" },
      retryAfter: null,
      ...options.attempt
    }
  })

/** Completes a claimed delivery with an attempt, at the attempt's end. */
export const complete = (
  claimed: Pick<Owned, "delivery" | "token">,
  options: EndOptions
): Fixture.Step<{ readonly attempt: Delivery.Attempt; readonly recorded: boolean }> =>
  Effect.gen(function*() {
    const store = yield* DeliveryStore.DeliveryStore
    const ended = yield* attempt(claimed.delivery, options)
    const recorded = yield* store.complete({
      now: options.now ?? ended.startedAt + ended.durationMs,
      delivery: claimed.delivery,
      token: claimed.token,
      attempt: ended,
      jitter: options.jitter ?? 0
    })
    return { attempt: ended, recorded }
  })

/** Claims the one delivery that is due, and completes it. */
export const tryOne = (
  world: Fixture.World,
  options: EndOptions
): Fixture.Step<{ readonly attempt: Delivery.Attempt; readonly claimed: Owned }> =>
  Effect.gen(function*() {
    const claimed = yield* claimOne(world, { now: options.startedAt })
    const { attempt, recorded } = yield* complete(claimed, options)
    assert.isTrue(recorded)
    return { attempt, claimed }
  })

/** The views of a workspace's deliveries, oldest first. */
export const views = (
  { workspace }: Fixture.World,
  filter: DeliveryStore.DeliveryFilter = {}
): Fixture.Step<ReadonlyArray<DeliveryStore.ListedDelivery>> =>
  Effect.map(
    DeliveryStore.DeliveryStore.use((store) => store.list(workspace.id, filter, { limit: 100, after: null })),
    ({ items }) => items.toReversed()
  )

/** A delivery's view with its attempts. */
export const view = (
  { workspace }: Fixture.World,
  id: Id.DeliveryId
): Fixture.Step<DeliveryStore.ListedDelivery & { readonly attempts: ReadonlyArray<Delivery.Attempt> }> =>
  Effect.map(
    DeliveryStore.DeliveryStore.use((store) => store.get(workspace.id, id)),
    Option.getOrThrow
  )

/** Records `count` events of customers' messages, 1 ms apart, without an order. Returns their ids. */
export const record = (
  world: Fixture.World,
  count: number,
  from: Time.Instant = world.start
): Fixture.Step<ReadonlyArray<Id.EventId>> =>
  Effect.forEach(
    Array.from({ length: count }, (_, i) => i),
    (i) =>
      Effect.map(
        MessageFixture.inbound(world, { now: from + i, at: world.start, customer: MessageFixture.customer(i) }),
        ({ command }) => command.ids.events[0]!
      )
  )

/** The deliveries of a claim, in its order. */
export const idsOf = ({ deliveries }: DeliveryStore.Claimed) => deliveries.map(({ delivery }) => delivery.id)

/** The events of a claim's deliveries. */
export const eventsOf = ({ deliveries }: DeliveryStore.Claimed) => deliveries.map(({ event }) => event.id)
