/**
 * `QueueStore` in memory: each method is one synchronous step over `State`, decided by `QueueWorkStep`, `QueueEndStep`
 * and `Heartbeat`.
 */
import { Heartbeat, type Id, QueueEndStep, QueueStore, QueueWorkStep, type Time } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { loaded as loadedSends, write as writeSends } from "../messages/Sends.ts"
import { type Memory, State } from "../State.ts"
import { dequeue, heldSinceOf, heldSinceOfAny, nextAt, nextLane, setDue, takeDue } from "./Queue.ts"

const work = (memory: Memory, command: QueueWorkStep.Work): QueueWorkStep.WorkResult | undefined => {
  const now = memory.now(command.now)
  const kept = nextLane(memory)
  if (kept === undefined || kept.lane.workAt! > now) return undefined
  const { lane } = kept
  const given = { now: memory.now, lane, number: memory.phoneNumbers.get(lane.phoneNumberId) }
  const first = QueueWorkStep.work({ ...given, due: null }, [command])
  const decided = "needs" in first
    ? QueueWorkStep.work({ ...given, due: takeDue(memory, kept, first.needs[0]!.limit, now) }, [command])
    : first
  if ("needs" in decided) throw new Error("all that a number's work needs is given at once")
  const { answers: [worked], writes } = decided
  for (const { dueAt, messageId } of writes.leased) setDue(memory, kept, kept.queue.get(messageId)!, dueAt)
  kept.lane = writes.lane
  return worked
}

const end = (memory: Memory, command: QueueEndStep.EndQueued): void => {
  const { writes } = QueueEndStep.end(loadedSends(memory), [command])
  const campaignId = memory.messages.get(command.messageId)?.campaignId ?? null
  const lane = command.phoneNumberId === null ? undefined : memory.lanes.get(command.phoneNumberId)
  const queue = campaignId === null ? lane?.queue : memory.campaigns.get(campaignId)?.queue
  for (const { dueAt, messageId, tries, workAt } of writes.delayed) {
    const queued = queue?.get(messageId)
    if (queued === undefined) continue
    queued.tries += tries
    if (lane === undefined) queued.dueAt = dueAt
    else setDue(memory, lane, queued, dueAt, workAt)
  }
  for (const id of writes.dequeued) dequeue(memory, id)
  writeSends(memory, writes.sends)
}

/** There is one server: this process. */
const server = "memory"

const beat = (memory: Memory, command: Heartbeat.Beat): Heartbeat.BeatResult => {
  const jobs = [...memory.campaigns.values()].map(({ job }) => job).filter(({ workAt }) => workAt !== null)
  const decided = Heartbeat.beat({ now: memory.now, heartbeat: memory.heartbeat, server, jobs }, [command])
  if ("needs" in decided) throw new Error("all that a heartbeat needs is given")
  const { answers: [beaten], writes } = decided
  memory.heartbeat = writes.heartbeat
  for (const job of writes.jobs) memory.campaigns.get(job.campaign.id)!.job = job
  if (writes.jobs.length > 0) memory.campaignHint.notify()
  return beaten!
}

const backlog = (memory: Memory, workspaceId: Id.WorkspaceId | null, asked: Time.Instant): QueueStore.Backlog => {
  const now = memory.now(asked)
  let queued = 0
  let oldest: Time.Instant | null = null
  for (const { lane, queue } of memory.lanes.values()) {
    if (workspaceId !== null && lane.workspaceId !== workspaceId) continue
    queued += queue.size
    for (const { dueAt } of queue.values()) if (dueAt <= now && (oldest === null || dueAt < oldest)) oldest = dueAt
  }
  const heldSince = workspaceId === null ? heldSinceOfAny(memory) : heldSinceOf(memory, workspaceId)
  return { at: now, queued, oldestDueAt: oldest, heldSince }
}

const release = (memory: Memory, workspaceId: Id.WorkspaceId | null): boolean => {
  const heldSince = workspaceId === null ? heldSinceOfAny(memory) : heldSinceOf(memory, workspaceId)
  if (heldSince === null) return false
  if (workspaceId === null) memory.heartbeat = { ...memory.heartbeat!, heldSince: null }
  else memory.queueReleases.set(workspaceId, heldSince)
  memory.queueHint.notify()
  return true
}

export const layer = Layer.effect(
  QueueStore.QueueStore,
  Effect.map(State, (memory) =>
    QueueStore.QueueStore.of({
      work: (command) => Effect.sync(() => Option.fromUndefinedOr(work(memory, command))),
      end: (command) => Effect.sync(() => end(memory, command)),
      nextAt: Effect.sync(() => nextAt(memory)),
      beat: (command) => Effect.sync(() => beat(memory, command)),
      backlog: (workspaceId, now) => Effect.sync(() => backlog(memory, workspaceId, now)),
      heldSince: (workspaceId) => Effect.sync(() => heldSinceOf(memory, workspaceId)),
      release: (workspaceId) => Effect.sync(() => release(memory, workspaceId))
    }))
)
