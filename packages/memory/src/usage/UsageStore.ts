/**
 * `UsageStore` in memory: each method is one synchronous step over `State`.
 */
import { type Activity, type Id, Retention, type Time, Timing, UsageStore, Waiting } from "@wac/core"
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

const addTimed = (memory: Memory, counts: ReadonlyArray<Timing.Count>): void => {
  for (const count of counts) {
    const name = `${count.workspaceId} ${count.span} ${count.at} ${count.kind} ${count.durationGroup}`
    const before = memory.timed.get(name)?.count ?? 0
    memory.timed.set(name, { ...count, count: before + count.count })
  }
}

const timed = (
  memory: Memory,
  workspaceId: Id.WorkspaceId,
  { since, span, step, until }: Timing.Range,
  kinds: ReadonlyArray<Timing.Kind>
): ReadonlyArray<Timing.StepCount> => {
  const steps = new Map<string, Timing.StepCount>()
  for (const { at, count, durationGroup, kind, ...of } of memory.timed.values()) {
    if (of.workspaceId !== workspaceId || of.span !== span || at < since || at >= until || !kinds.includes(kind)) {
      continue
    }
    const start = at - at % step
    const name = `${start} ${kind} ${durationGroup}`
    steps.set(name, { at: start, kind, durationGroup, count: (steps.get(name)?.count ?? 0) + count })
  }
  return [...steps.values()]
}

const months = (memory: Memory, workspaceId: Id.WorkspaceId) => {
  const prefix = quotaCounter(workspaceId, "")
  return [...memory.quotaUsed].flatMap(([name, used]) =>
    name.startsWith(prefix) ? [{ month: name.slice(prefix.length), used }] : []
  ).sort((a, b) => a.month < b.month ? 1 : -1).slice(0, UsageStore.maxMonths)
}

const forgetTimed = (memory: Memory, span: number, before: Time.Instant): Retention.Forgotten => {
  const old = [...memory.timed].filter(([, count]) => count.span === span && count.at < before)
  for (const [name] of old) memory.timed.delete(name)
  return { removed: old.length, isMore: false }
}

const raise = (memory: Memory, peak: Waiting.Peak): void => {
  const name = `${peak.workspaceId} ${peak.hour}`
  memory.waited.set(name, { ...peak, ...Waiting.highest([peak, memory.waited.get(name) ?? peak]) })
}

const forget = (memory: Memory, before: Time.Instant): Retention.Forgotten =>
  Retention.together([
    ...[memory.usage, memory.priced, memory.waited].map((counts: Map<string, { readonly hour: Time.Instant }>) => {
      const old = [...counts].filter(([, { hour }]) => hour < before)
      for (const [name] of old) counts.delete(name)
      return { removed: old.length, isMore: false }
    }),
    forgetTimed(memory, Timing.spans.hour, before)
  ])

export const layer = Layer.effect(
  UsageStore.UsageStore,
  Effect.map(State, (memory) =>
    UsageStore.UsageStore.of({
      add: ({ activities, timings }) =>
        Effect.sync(() => {
          add(memory, activities)
          addTimed(memory, timings)
        }),
      counts: (workspaceId, { since, until }) =>
        Effect.sync(() =>
          [...memory.usage.values()].filter((count) =>
            count.workspaceId === workspaceId && count.hour >= since && count.hour < until
          )
        ),
      timed: (workspaceId, range, kinds) => Effect.sync(() => timed(memory, workspaceId, range, kinds)),
      months: (workspaceId) => Effect.sync(() => months(memory, workspaceId)),
      priced: (workspaceId, { since, until }) =>
        Effect.sync(() =>
          [...memory.priced.values()].filter((count) =>
            count.workspaceId === workspaceId && count.hour >= since && count.hour < until &&
            count.messages !== 0
          )
        ),
      raise: (peak) => Effect.sync(() => raise(memory, peak)),
      waited: (workspaceId, { since, until }) =>
        Effect.sync(() =>
          [...memory.waited.values()].filter((peak) =>
            peak.workspaceId === workspaceId && peak.hour >= since && peak.hour < until
          ).sort((a, b) => a.hour - b.hour)
        ),
      forget: (before) => Effect.sync(() => forget(memory, before)),
      forgetShort: (before) => Effect.sync(() => forgetTimed(memory, Timing.spans.short, before))
    }))
)
