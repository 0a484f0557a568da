import { Delivery, type Id, Replay, ReplayStore, type Time } from "@wac/core"
import { Duration, Effect, Layer, Option } from "effect"
import { type Memory, type ReplayJob, State } from "../State.ts"
import type { Consignment, Outbox } from "./Outbox.ts"

type Store = ReplayStore.ReplayStore["Service"]

/** What a job looks at, up to `limit`, oldest first: what has ended of its range. */
const endedIn = (
  memory: Memory,
  workspaceId: Id.WorkspaceId,
  { since, until, webhookId }: Replay.ReplayRange,
  after: Id.DeliveryId | null,
  limit: number
): ReadonlyArray<Consignment> =>
  memory.deliveries.after(
    workspaceId,
    after,
    limit,
    ({ delivery }) =>
      delivery.webhookId === webhookId && !Delivery.isOpen(delivery) &&
      delivery.createdAt >= since && delivery.createdAt < until
  )

const create = (memory: Memory, { id, now, workspaceId, ...range }: Parameters<Store["create"]>[0]) => {
  const webhook = memory.outboxes.get(workspaceId)?.webhook
  if (webhook === undefined) return undefined
  const covered = { ...range, webhookId: webhook.id }
  const ended = endedIn(memory, workspaceId, covered, null, Replay.countedAtOnce + 1)
  const replay: Replay.Replay = {
    ...covered,
    id,
    workspaceId,
    state: "running",
    total: ended.length > Replay.countedAtOnce
      ? null
      : ended.filter(({ delivery }) => Replay.covers(covered, delivery)).length,
    replayed: 0,
    createdAt: now,
    completedAt: null
  }
  memory.replays.set({ id, workspaceId, replay, after: null, stepAt: now })
  memory.runningReplays.add(id)
  memory.replayHint.notify()
  return replay
}

const end = (memory: Memory, job: ReplayJob, state: "completed" | "cancelled", now: Time.Instant): Replay.Replay => {
  memory.runningReplays.delete(job.id)
  return job.replay = Replay.end(job.replay, state, now)
}

const cancel = (memory: Memory, workspaceId: Id.WorkspaceId, id: Id.ReplayId, now: Time.Instant) => {
  const job = memory.replays.of(workspaceId, id)
  return job === undefined ? undefined : end(memory, job, "cancelled", now)
}

const step = (memory: Memory, now: Time.Instant, limit: number): boolean => {
  const [job] = [...memory.runningReplays]
    .map((id) => memory.replays.get(id)!)
    .filter(({ stepAt }) => stepAt <= now)
    .sort((a, b) => a.stepAt - b.stepAt)
  if (job === undefined) return false
  const outbox = memory.outboxes.get(job.workspaceId)
  if (outbox?.webhook.id === job.replay.webhookId) take(memory, job, outbox, now, limit)
  else end(memory, job, "cancelled", now)
  return true
}

const take = (memory: Memory, job: ReplayJob, outbox: Outbox, now: Time.Instant, limit: number): void => {
  // behind the others that are due
  memory.runningReplays.delete(job.id)
  memory.runningReplays.add(job.id)
  job.stepAt = now
  let room = Replay.maxWaiting - outbox.replaysWaiting()
  const batch = endedIn(memory, job.workspaceId, job.replay, job.after, limit)
  for (const consignment of batch) {
    if (Replay.covers(job.replay, consignment.delivery)) {
      if (room <= 0) {
        job.stepAt = now + Duration.toMillis(Replay.pause)
        return
      }
      outbox.beginRound(consignment, "replay", now)
      memory.hint.notify()
      job.replay = { ...job.replay, replayed: job.replay.replayed + 1 }
      room--
    }
    job.after = consignment.id
  }
  if (batch.length < limit) end(memory, job, "completed", now)
}

export const layer = Layer.effect(
  ReplayStore.ReplayStore,
  Effect.map(State, (memory) =>
    ReplayStore.ReplayStore.of({
      create: (command) =>
        Effect.sync(() => {
          const now = memory.now(command.now)
          const until = command.until < command.now ? Math.min(command.until, now) : now
          return Option.fromUndefinedOr(create(memory, { ...command, now, until }))
        }),
      get: (workspaceId, id) =>
        Effect.sync(() =>
          Option.map(Option.fromUndefinedOr(memory.replays.of(workspaceId, id)), ({ replay }) => replay)
        ),
      list: (workspaceId, page) =>
        Effect.sync(() => {
          const { items, next } = memory.replays.page(workspaceId, page, () => true)
          return { items: items.map(({ replay }) => replay), next }
        }),
      cancel: (workspaceId, id, now) =>
        Effect.sync(() => Option.fromUndefinedOr(cancel(memory, workspaceId, id, memory.now(now)))),
      step: (now, limit) => Effect.sync(() => step(memory, memory.now(now), limit))
    }))
)
