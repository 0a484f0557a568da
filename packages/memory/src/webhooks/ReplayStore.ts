/**
 * `ReplayStore` in memory: each method is one synchronous step over `State`, decided by `ReplayStep`.
 */
import { Delivery, type Id, Replay, ReplayStep, ReplayStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { type Memory, State } from "../State.ts"
import { keepRounds, loaded } from "./DeliveryStore.ts"

/** Deliveries of the job's range that have ended, oldest first, up to `limit`. */
const endedIn = (
  memory: Memory,
  workspaceId: Id.WorkspaceId,
  { since, until, webhookId }: Replay.ReplayRange,
  after: Id.DeliveryId | null,
  limit: number
): ReadonlyArray<Delivery.Delivery> =>
  memory.deliveries.after(
    workspaceId,
    after,
    limit,
    ({ delivery }) =>
      delivery.webhookId === webhookId && !Delivery.isOpen(delivery) &&
      delivery.createdAt >= since && delivery.createdAt < until
  ).map(({ delivery }) => delivery)

const write = (memory: Memory, { jobs }: ReplayStep.Writes): void => {
  for (const job of jobs) {
    const { id, state, workspaceId } = job.replay
    memory.replays.set({ id, workspaceId, job })
    // moved behind the other jobs that are due
    memory.runningReplays.delete(id)
    if (state === "running") memory.runningReplays.add(id)
  }
}

const create = (memory: Memory, command: ReplayStep.Create): Replay.Replay | undefined => {
  const { workspaceId } = command
  const { answers: [made], writes } = ReplayStep.create({
    now: memory.now,
    present: () => memory.outboxes.get(workspaceId)?.webhook.id,
    covered: (range) => {
      const ended = endedIn(memory, workspaceId, range, null, Replay.countedAtOnce + 1)
      return ended.length > Replay.countedAtOnce
        ? null
        : ended.filter((delivery) => Replay.covers(range, delivery)).length
    }
  }, [command])
  write(memory, writes)
  memory.replayHint.notify()
  return made
}

const cancel = (memory: Memory, command: ReplayStep.Cancel): Replay.Replay | undefined => {
  const { answers: [cancelled], writes } = ReplayStep.cancel({
    now: memory.now,
    job: (workspaceId, id) => memory.replays.of(workspaceId, id)?.job
  }, [command])
  write(memory, writes)
  return cancelled
}

const step = (memory: Memory, command: ReplayStep.Step): boolean => {
  const now = memory.now(command.now)
  const [next] = [...memory.runningReplays]
    .map((id) => memory.replays.get(id)!.job)
    .filter(({ stepAt }) => stepAt <= now)
    .sort((a, b) => a.stepAt - b.stepAt)
  if (next === undefined) return false
  const { reached, replay } = next
  const outbox = memory.outboxes.get(replay.workspaceId)
  const isPresent = outbox?.webhook.id === replay.webhookId
  const isPaused = isPresent && outbox.webhook.pausedAt !== null
  const { begun, freed, jobs } = ReplayStep.step({
    now: memory.now,
    order: (webhookId, orderKey) => outbox === undefined ? [] : loaded(memory, outbox).order(webhookId, orderKey),
    job: next,
    isPresent,
    isPaused,
    // skipped deliveries are written immediately
    isWritten: true,
    waiting: outbox?.replaysWaiting() ?? 0,
    ended: isPresent ? endedIn(memory, replay.workspaceId, replay, reached?.id ?? null, command.limit) : []
  }, command)
  write(memory, { jobs })
  if (begun.length > 0) keepRounds(memory, { begun, freed })
  return true
}

export const layer = Layer.effect(
  ReplayStore.ReplayStore,
  Effect.map(State, (memory) =>
    ReplayStore.ReplayStore.of({
      create: (command) => Effect.sync(() => Option.fromUndefinedOr(create(memory, command))),
      get: (workspaceId, id) =>
        Effect.sync(() =>
          Option.map(Option.fromUndefinedOr(memory.replays.of(workspaceId, id)), ({ job }) => job.replay)
        ),
      list: (workspaceId, page) =>
        Effect.sync(() => {
          const { items, next } = memory.replays.page(workspaceId, page, () => true)
          return { items: items.map(({ job }) => job.replay), next }
        }),
      cancel: (workspaceId, id, now) =>
        Effect.sync(() => Option.fromUndefinedOr(cancel(memory, { workspaceId, id, now }))),
      step: (now, limit) => Effect.sync(() => step(memory, { now, limit }))
    }))
)
