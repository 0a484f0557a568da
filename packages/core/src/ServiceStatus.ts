/**
 * The public status of the service (`GET /status`): the condition of each part, with nothing about workspaces or
 * customers.
 */
import { Clock, Duration, Effect, Exit } from "effect"
import { InboundPostStore } from "./inbound/InboundPostStore.ts"
import { Readiness } from "./Readiness.ts"
import { Storage } from "./Storage.ts"
import type { Instant } from "./Time.ts"
import { DeliveryStore } from "./webhooks/DeliveryStore.ts"

/** The condition of a part: it works, it is late, or it does not work. */
export type Condition = "operational" | "degraded" | "down"

/** From best to worst. */
const conditions = ["operational", "degraded", "down"] as const satisfies ReadonlyArray<Condition>

/** The parts: requests to the API, deliveries to webhooks, and messages and reports from the provider. */
export const parts = ["requests", "deliveries", "inbound"] as const

/** One of {@link parts}. */
export type Part = (typeof parts)[number]

/** The condition of the service and of its parts. */
export interface ServiceStatus {
  /** The condition of the worst part. */
  readonly status: Condition
  readonly parts: { readonly [part in Part]: Condition }
  readonly checkedAt: Instant
}

/**
 * How long a due delivery or a post may wait before its part is late: the threshold of the alerts in
 * `deploy/prometheus/rules.yml`.
 */
export const lateAfter = Duration.minutes(1)

/** The observations; `undefined` if one could not be read. */
export interface Observations {
  readonly isReady: boolean
  /** Since when the oldest due delivery waits; `null` if none is due. */
  readonly oldestDueAt: Instant | null | undefined
  /** Since when the oldest of the provider's posts waits; `null` if none does. */
  readonly oldestPostAt: Instant | null | undefined
}

const ofWait = (since: Instant | null | undefined, now: Instant): Condition =>
  since === undefined
    ? "down"
    : since !== null && now - since > Duration.toMillis(lateAfter)
    ? "degraded"
    : "operational"

/** Judges the observations at `now`, the storage's time. */
export const judge = ({ isReady, oldestDueAt, oldestPostAt }: Observations, now: Instant): ServiceStatus => {
  const found: ServiceStatus["parts"] = {
    requests: isReady ? "operational" : "down",
    deliveries: ofWait(oldestDueAt, now),
    inbound: ofWait(oldestPostAt, now)
  }
  const worst = Math.max(...Object.values(found).map((condition) => conditions.indexOf(condition)))
  return { status: conditions[worst]!, parts: found, checkedAt: now }
}

/** The time limit of each observation, so that a status is returned even if the storage does not respond. */
const timeLimit = Duration.seconds(1)

/** How long a status is cached, because anybody may request it as often as they like. */
export const lifetime = Duration.seconds(5)

/** Builds an effect that observes the parts, at most once in {@link lifetime}, and returns the status. */
export const observer: Effect.Effect<
  Effect.Effect<ServiceStatus>,
  never,
  DeliveryStore | InboundPostStore | Readiness | Storage
> = Effect.gen(function*() {
  const deliveries = yield* DeliveryStore
  const posts = yield* InboundPostStore
  const readiness = yield* Readiness
  const storage = yield* Storage
  const observe = <A, E>(effect: Effect.Effect<A, E>) => Effect.exit(Effect.timeout(effect, timeLimit))
  return yield* Effect.cachedWithTTL(
    Effect.gen(function*() {
      const asked = yield* Clock.currentTimeMillis
      const [ready, now, due, kept] = yield* Effect.all(
        [
          observe(readiness.check),
          observe(storage.now(asked)),
          observe(deliveries.backlog(asked)),
          observe(posts.backlog)
        ],
        { concurrency: "unbounded" }
      )
      // what waits has the storage's times, so a process with a wrong clock must not subtract them from its own
      const isDated = Exit.isSuccess(now)
      return judge({
        isReady: Exit.isSuccess(ready),
        oldestDueAt: isDated && Exit.isSuccess(due) ? due.value.oldestDueAt : undefined,
        oldestPostAt: isDated && Exit.isSuccess(kept) ? kept.value.oldestReceivedAt : undefined
      }, isDated ? now.value : asked)
    }),
    lifetime
  )
})
