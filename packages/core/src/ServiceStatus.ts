/**
 * How the service is doing, told to anybody (`GET /status`): a word for each part, with nothing about workspaces or
 * customers.
 */
import { Clock, Duration, Effect, Exit } from "effect"
import { InboundPostStore } from "./inbound/InboundPostStore.ts"
import { Readiness } from "./Readiness.ts"
import type { Instant } from "./Time.ts"
import { DeliveryStore } from "./webhooks/DeliveryStore.ts"

/** How a part is doing: as it should, late, or not at all. */
export type Condition = "operational" | "degraded" | "down"

/** From best to worst. */
const conditions = ["operational", "degraded", "down"] as const satisfies ReadonlyArray<Condition>

/** The parts: requests to the API, deliveries to webhooks, and messages and reports from the provider. */
export const parts = ["requests", "deliveries", "inbound"] as const

/** One of {@link parts}. */
export type Part = (typeof parts)[number]

/** The condition of the service and of its parts. */
export interface ServiceStatus {
  /** That of the worst part. */
  readonly status: Condition
  readonly parts: { readonly [part in Part]: Condition }
  readonly checkedAt: Instant
}

/** How long something may wait before its part is late: as long as before the alerts that deploy/ contains. */
export const patience = Duration.minutes(1)

/** The observations; `undefined` if one could not be read. */
export interface Seen {
  readonly isReady: boolean
  /** Since when the oldest due delivery waits; `null` if none is due. */
  readonly oldestDueAt: Instant | null | undefined
  /** Since when the oldest of the provider's posts waits; `null` if none does. */
  readonly oldestPostAt: Instant | null | undefined
}

const ofWait = (since: Instant | null | undefined, now: Instant): Condition =>
  since === undefined
    ? "down"
    : since !== null && now - since > Duration.toMillis(patience)
    ? "degraded"
    : "operational"

/** Judges what was seen. */
export const judge = ({ isReady, oldestDueAt, oldestPostAt }: Seen, now: Instant): ServiceStatus => {
  const found: ServiceStatus["parts"] = {
    requests: isReady ? "operational" : "down",
    deliveries: ofWait(oldestDueAt, now),
    inbound: ofWait(oldestPostAt, now)
  }
  const worst = Math.max(...Object.values(found).map((condition) => conditions.indexOf(condition)))
  return { status: conditions[worst]!, parts: found, checkedAt: now }
}

/** The time limit for each look, so that the answer comes while the storage does not. */
const timeLimit = Duration.seconds(1)

/** How long an answer stays true enough. Strangers may ask as often as they like. */
export const lifetime = Duration.seconds(5)

/** Builds an effect that looks at the parts, at most once in {@link lifetime}. */
export const observer: Effect.Effect<
  Effect.Effect<ServiceStatus>,
  never,
  DeliveryStore | InboundPostStore | Readiness
> = Effect.gen(function*() {
  const deliveries = yield* DeliveryStore
  const posts = yield* InboundPostStore
  const readiness = yield* Readiness
  const look = <A, E>(effect: Effect.Effect<A, E>) => Effect.exit(Effect.timeout(effect, timeLimit))
  return yield* Effect.cachedWithTTL(
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const [ready, due, kept] = yield* Effect.all(
        [look(readiness.check), look(deliveries.backlog(now)), look(posts.backlog)],
        { concurrency: "unbounded" }
      )
      return judge({
        isReady: Exit.isSuccess(ready),
        oldestDueAt: Exit.isSuccess(due) ? due.value.oldestDueAt : undefined,
        oldestPostAt: Exit.isSuccess(kept) ? kept.value.oldestReceivedAt : undefined
      }, now)
    }),
    lifetime
  )
})
