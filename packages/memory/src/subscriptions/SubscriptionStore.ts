/**
 * `SubscriptionStore` in memory: each method is one synchronous step over `State`, decided by `SubscriptionStep`.
 */
import { type Event, type Id, Page, Subscription, SubscriptionStep, SubscriptionStore, type Time } from "@wac/core"
import { Effect, Layer } from "effect"
import { type Memory, State, type SubscriptionRecord } from "../State.ts"

const find = (memory: Memory, { name, workspaceId }: Subscription.Key): SubscriptionRecord | undefined =>
  memory.subscriptions.get(workspaceId)?.get(name)

const all = (memory: Memory, workspaceId: Id.WorkspaceId): ReadonlyArray<SubscriptionRecord> => [
  ...memory.subscriptions.get(workspaceId)?.values() ?? []
]

/** The index of a workspace's first event after a place. */
const indexAfter = (memory: Memory, log: ReadonlyArray<Event.Event>, place: number): number => {
  let low = 0
  let high = log.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (memory.eventPlaces.get(log[middle]!.id)! > place) high = middle
    else low = middle + 1
  }
  return low
}

/** Events of the subscription's types after its place, oldest first. */
const after = function*(
  memory: Memory,
  { place, types, workspaceId }: Subscription.Subscription
): Generator<Event.Event> {
  const log = memory.events.get(workspaceId) ?? []
  for (let i = indexAfter(memory, log, place); i < log.length; i++) if (types.includes(log[i]!.type)) yield log[i]!
}

const eventOf = (memory: Memory, { eventId, workspaceId }: Subscription.Entry): Event.Event =>
  memory.events.get(workspaceId)![memory.eventPosition.get(eventId)!]!

const open = (memory: Memory, { name, now, types, workspaceId }: SubscriptionStore.Open): void => {
  const kept = find(memory, { workspaceId, name })
  if (kept !== undefined) {
    const [next] = after(memory, kept.subscription)
    kept.subscription = Subscription.retyped(kept.subscription, types, {
      next: next === undefined ? null : memory.eventPlaces.get(next.id)!,
      settled: memory.lastPlace
    })
    return
  }
  const named = memory.subscriptions.get(workspaceId) ?? new Map<string, SubscriptionRecord>()
  memory.subscriptions.set(
    workspaceId,
    named.set(name, {
      subscription: {
        workspaceId,
        name,
        types,
        place: memory.lastPlace,
        owner: null,
        leaseUntil: null,
        createdAt: memory.now(now)
      },
      entries: new Map()
    })
  )
}

const tasks = (
  memory: Memory,
  { entries, subscription }: SubscriptionRecord,
  { ended }: SubscriptionStep.Work,
  { now, room }: SubscriptionStep.Need
): SubscriptionStep.Tasks => {
  const unfinished = [...entries.values()].filter(({ state }) => state !== "failed").sort((a, b) => a.place - b.place)
  const taken = (entry: Subscription.Entry) => ({ entry, event: eventOf(memory, entry) })
  const running = unfinished.filter(({ state }) => state === "running")
  const followers = running.flatMap(({ orderKey }) =>
    orderKey === null
      ? []
      : unfinished.filter((entry) => entry.orderKey === orderKey && entry.state !== "running").slice(0, 1)
        .filter(({ state }) => state === "held")
  )
  const isBusy = ({ orderKey }: Subscription.Entry) =>
    orderKey !== null &&
    running.some((entry) => entry.orderKey === orderKey && !ended.some(({ eventId }) => eventId === entry.eventId))
  const waiting = unfinished.filter(({ state }) => state === "waiting").sort((a, b) => a.nextAt! - b.nextAt!)
  const fresh: Array<SubscriptionStep.Fresh> = []
  for (const event of after(memory, subscription)) {
    if (fresh.length === room) break
    const same = unfinished.filter(({ orderKey }) => orderKey !== null && orderKey === event.orderKey)
    const behind = same.findLast(({ state }) => state !== "running") ?? same.at(-1)
    fresh.push({ event, place: memory.eventPlaces.get(event.id)!, behind: behind?.eventId ?? null })
  }
  return {
    running,
    followers: followers.map(taken),
    due: waiting.filter((entry) => entry.nextAt! <= now && !isBusy(entry)).slice(0, room).map(taken),
    fresh,
    settled: memory.lastPlace,
    nextAt: waiting.find(({ nextAt }) => nextAt! > now)?.nextAt ?? null
  }
}

const work = (memory: Memory, command: SubscriptionStep.Work): SubscriptionStep.WorkResult => {
  const kept = find(memory, command)
  const loaded: SubscriptionStep.LoadedWork = { now: memory.now, subscription: kept?.subscription, tasks: null }
  let decided = SubscriptionStep.work(loaded, [command])
  if ("needs" in decided) {
    const [need] = decided.needs as readonly [SubscriptionStep.Need]
    decided = SubscriptionStep.work({ ...loaded, tasks: tasks(memory, kept!, command, need) }, [command])
  }
  const { answers: [worked], writes: { entries, removed, subscription } } = decided as Exclude<
    typeof decided,
    { readonly needs: unknown }
  >
  if (kept !== undefined && subscription !== undefined) {
    kept.subscription = subscription
    for (const entry of entries) kept.entries.set(entry.eventId, entry)
    for (const { eventId } of removed) kept.entries.delete(eventId)
  }
  return worked!
}

const release = (memory: Memory, key: Subscription.Key, owner: string): void => {
  const kept = find(memory, key)
  if (kept?.subscription.owner !== owner) return
  kept.subscription = { ...kept.subscription, owner: null, leaseUntil: null }
}

/**
 * The entries of events that were set aside after they failed, in the order of event ids: all, or the one of `eventId`.
 */
const setAside = (
  memory: Memory,
  key: Subscription.Key,
  eventId: Id.EventId | null = null
): ReadonlyArray<Subscription.Entry> =>
  [...find(memory, key)?.entries.values() ?? []]
    .filter((entry) => entry.state === "failed" && (eventId === null || entry.eventId === eventId))
    .sort((a, b) => a.eventId < b.eventId ? -1 : 1)

const failed = (memory: Memory, key: Subscription.Key, page: Page.PageRequest): Page.Page<SubscriptionStore.Failed> => {
  const found = setAside(memory, key).filter(({ eventId }) => page.after === null || eventId > page.after)
    .slice(0, page.limit + 1)
    .map((entry) => ({
      event: eventOf(memory, entry),
      attempts: entry.attempts,
      failedAt: entry.failedAt!,
      failure: entry.failure!
    }))
  return Page.fromOverread(found, page, ({ event }) => event.id)
}

const retry = (memory: Memory, command: SubscriptionStore.Choice & { readonly now: Time.Instant }): number => {
  const chosen = setAside(memory, command, command.eventId)
  const { entries } = find(memory, command) ?? { entries: new Map<Id.EventId, Subscription.Entry>() }
  const now = memory.now(command.now)
  for (const entry of chosen) entries.set(entry.eventId, Subscription.retried(entry, now))
  if (chosen.length > 0) memory.subscriptionHint.notify()
  return chosen.length
}

const discard = (memory: Memory, command: SubscriptionStore.Choice): number => {
  const chosen = setAside(memory, command, command.eventId)
  for (const { eventId } of chosen) find(memory, command)!.entries.delete(eventId)
  return chosen.length
}

const unhandledSince = (memory: Memory, { entries, subscription }: SubscriptionRecord): Time.Instant | null => {
  const [next] = after(memory, subscription)
  const open = [...entries.values()].filter(({ state }) => state !== "failed").map(({ recordedAt }) => recordedAt)
  const times = next === undefined ? open : [...open, next.createdAt]
  return times.length === 0 ? null : Math.min(...times)
}

const oldestOf = (memory: Memory, kept: ReadonlyArray<SubscriptionRecord>): Time.Instant | null => {
  const times = kept.map((one) => unhandledSince(memory, one)).filter((at) => at !== null)
  return times.length === 0 ? null : Math.min(...times)
}

/**
 * When the oldest event that some subscription of a workspace has not handled was recorded; `null` if there is none.
 */
export const oldestUnhandled = (memory: Memory, workspaceId: Id.WorkspaceId): Time.Instant | null =>
  oldestOf(memory, all(memory, workspaceId))

/** Removes a deleted event from all subscriptions, and releases the next event with its order key if that was held. */
export const forgetEvent = (memory: Memory, workspaceId: Id.WorkspaceId, eventId: Id.EventId): void => {
  for (const { entries } of all(memory, workspaceId)) {
    const forgotten = entries.get(eventId)
    if (forgotten === undefined) continue
    entries.delete(eventId)
    const [next] = [...entries.values()]
      .filter(({ orderKey, state }) => orderKey !== null && orderKey === forgotten.orderKey && state !== "failed")
      .sort((a, b) => a.place - b.place)
    if (next?.state !== "held") continue
    entries.set(next.eventId, Subscription.released(next, next.recordedAt))
    memory.subscriptionHint.notify()
  }
}

/** When work on some subscription may next find something; `null` if never. */
export const dueAt = (memory: Memory, now: Time.Instant): Time.Instant | null => {
  const times: Array<Time.Instant> = []
  for (const named of memory.subscriptions.values()) {
    for (const { entries, subscription } of named.values()) {
      // once a process's lease has ended, another process tries its events
      if (subscription.leaseUntil !== null) times.push(subscription.leaseUntil)
      for (const { nextAt } of entries.values()) if (nextAt !== null) times.push(nextAt)
      const [next] = after(memory, subscription)
      if (next !== undefined) times.push(now)
    }
  }
  return times.length === 0 ? null : times.reduce((a, b) => Math.min(a, b))
}

export const layer = Layer.effect(
  SubscriptionStore.SubscriptionStore,
  Effect.map(State, (memory) =>
    SubscriptionStore.SubscriptionStore.of({
      open: (command) => Effect.sync(() => open(memory, command)),
      work: (command) => Effect.sync(() => work(memory, command)),
      release: (key, owner) => Effect.sync(() => release(memory, key, owner)),
      failed: (key, page) => Effect.sync(() => failed(memory, key, page)),
      retry: (command) => Effect.sync(() => retry(memory, command)),
      discard: (command) => Effect.sync(() => discard(memory, command)),
      remove: (key) => Effect.sync(() => memory.subscriptions.get(key.workspaceId)?.delete(key.name) ?? false),
      standings: (workspaceId) =>
        Effect.sync(() =>
          all(memory, workspaceId).map((kept) => ({
            name: kept.subscription.name,
            oldestUnhandledAt: unhandledSince(memory, kept),
            failed: Math.min(setAside(memory, kept.subscription).length, SubscriptionStore.maxCounted)
          })).sort((a, b) => a.name < b.name ? -1 : 1)
        ),
      oldestUnhandledAt: Effect.sync(() =>
        oldestOf(memory, [...memory.subscriptions.values()].flatMap((kept) => [...kept.values()]))
      )
    }))
)
