/**
 * Lets runners skip polls of a storage in memory while nothing changes and nothing becomes due. This is safe because no
 * other process changes it. Reads `State`.
 */
import { Polling, type Time } from "@wac/core"
import { Clock, Duration, Effect, Layer } from "effect"
import { nextAt } from "./queue/Queue.ts"
import { type Memory, State } from "./State.ts"
import { dueAt as subscriptionsDueAt } from "./subscriptions/SubscriptionStore.ts"
import { earliest } from "./webhooks/DeliveryStore.ts"

/** When a poll would next find something, provided nothing changes, and an effect that waits for a change. */
interface Outlook {
  readonly dueAt: (memory: Memory, now: Time.Instant) => Time.Instant | null
  readonly changed: (memory: Memory) => Effect.Effect<void>
}

const least = (instants: ReadonlyArray<Time.Instant>): Time.Instant | null =>
  instants.length === 0 ? null : Math.min(...instants)

const outlooks: { readonly [look in Polling.Look]: Outlook } = {
  sends: {
    dueAt: ({ deadlines }) => deadlines.peek()?.at ?? null,
    changed: ({ deadlineHint }) => deadlineHint.wait
  },
  // claimers await the hint themselves, and must be the ones to consume it
  deliveries: {
    dueAt: ({ outboxes }, now) => earliest(outboxes.values(), now),
    changed: () => Effect.never
  },
  // skipped deliveries are written immediately
  skippedDeliveries: { dueAt: () => null, changed: () => Effect.never },
  replays: {
    dueAt: ({ replays, runningReplays }) => least([...runningReplays].map((id) => replays.get(id)!.job.stepAt)),
    changed: ({ replayHint }) => replayHint.wait
  },
  campaigns: {
    dueAt: ({ campaigns }) =>
      least([...campaigns.values()].flatMap(({ job: { workAt } }) => workAt === null ? [] : [workAt])),
    changed: ({ campaignHint }) => campaignHint.wait
  },
  queue: { dueAt: nextAt, changed: ({ queueHint }) => queueHint.wait },
  // what is lost with the process cannot be restored
  restores: { dueAt: () => null, changed: () => Effect.never },
  posts: {
    dueAt: ({ waitingPosts }) => least([...waitingPosts].flatMap(({ dueAt }) => dueAt === null ? [] : [dueAt])),
    changed: () => Effect.never
  },
  expiredPosts: {
    dueAt: ({ inboundPosts }) =>
      least([...inboundPosts.values()].flatMap(({ expiresAt }) => expiresAt === null ? [] : [expiresAt])),
    changed: ({ expiryHint }) => expiryHint.wait
  },
  files: {
    dueAt: ({ media }) => least([...media.values()].flatMap(({ fetchAt }) => fetchAt === null ? [] : [fetchAt])),
    changed: ({ mediaHint }) => mediaHint.wait
  },
  events: { dueAt: () => null, changed: ({ eventHint }) => eventHint.wait },
  subscriptions: { dueAt: subscriptionsDueAt, changed: ({ subscriptionHint }) => subscriptionHint.wait }
}

/** Waits for the next poll that may find something. Polls stay on their schedule: at whole intervals from now. */
const rest = (memory: Memory) => (look: Polling.Look, every: Duration.Duration): Effect.Effect<void> =>
  Effect.gen(function*() {
    const { changed, dueAt } = outlooks[look]
    const interval = Duration.toMillis(every)
    const start = yield* Clock.currentTimeMillis
    /** Sleeps until the first poll at or after this time. */
    const sleepUntil = Effect.fnUntraced(function*(at: Time.Instant) {
      const intervals = Math.max(1, Math.ceil((at - start) / interval))
      const now = yield* Clock.currentTimeMillis
      yield* Effect.sleep(Math.max(0, start + intervals * interval - now))
    })
    const due = dueAt(memory, start)
    const afterChange = Effect.flatMap(
      Effect.andThen(changed(memory), Clock.currentTimeMillis),
      sleepUntil
    )
    yield* due === null ? afterChange : Effect.raceFirst(sleepUntil(due), afterChange)
  })

export const layer = Layer.effect(
  Polling.Polling,
  Effect.map(State, (memory) => ({ rest: rest(memory) }))
)
