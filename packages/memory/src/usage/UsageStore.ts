/**
 * `UsageStore` in memory: each method is one synchronous step over `State`.
 */
import { type Activity, type Id, Retention, type Time, UsageStore } from "@wac/core"
import { Effect, Layer } from "effect"
import { quotaCounter } from "../messages/Sends.ts"
import { type Memory, State } from "../State.ts"

const add = (memory: Memory, counts: ReadonlyArray<Activity.Count>): void => {
  for (const { activity, count, hour, workspaceId } of counts) {
    const name = `${workspaceId} ${hour} ${activity}`
    const before = memory.usage.get(name)?.count ?? 0
    memory.usage.set(name, { workspaceId, hour, activity, count: before + count })
  }
}

const months = (memory: Memory, workspaceId: Id.WorkspaceId) => {
  const prefix = quotaCounter(workspaceId, "")
  return [...memory.quotaUsed].flatMap(([name, used]) =>
    name.startsWith(prefix) ? [{ month: name.slice(prefix.length), used }] : []
  ).sort((a, b) => a.month < b.month ? 1 : -1).slice(0, UsageStore.maxMonths)
}

const forget = (memory: Memory, before: Time.Instant): Retention.Forgotten =>
  Retention.together([memory.usage, memory.priced].map((counts: Map<string, { readonly hour: Time.Instant }>) => {
    const old = [...counts].filter(([, { hour }]) => hour < before)
    for (const [name] of old) counts.delete(name)
    return { removed: old.length, isMore: false }
  }))

export const layer = Layer.effect(
  UsageStore.UsageStore,
  Effect.map(State, (memory) =>
    UsageStore.UsageStore.of({
      add: (counts) => Effect.sync(() => add(memory, counts)),
      counts: (workspaceId, { since, until }) =>
        Effect.sync(() =>
          [...memory.usage.values()].filter((count) =>
            count.workspaceId === workspaceId && count.hour >= since && count.hour < until
          )
        ),
      months: (workspaceId) => Effect.sync(() => months(memory, workspaceId)),
      priced: (workspaceId, { since, until }) =>
        Effect.sync(() =>
          [...memory.priced.values()].filter((count) =>
            count.workspaceId === workspaceId && count.hour >= since && count.hour < until &&
            count.messages !== 0
          )
        ),
      forget: (before) => Effect.sync(() => forget(memory, before))
    }))
)
