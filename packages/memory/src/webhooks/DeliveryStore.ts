/**
 * `DeliveryStore` in memory: each method is one synchronous step over `State`, decided by `DeliveryStep`.
 */
import { type Delivery, DeliveryStep, DeliveryStore, Event, Id, StorageTime, type Time, WebhookHealth } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { log } from "../events/Journal.ts"
import { type Memory, State } from "../State.ts"
import type { Consignment, Outbox } from "./Outbox.ts"

type Store = DeliveryStore.DeliveryStore["Service"]

/**
 * Webhooks take turns of one delivery each. The one served longest ago comes first, so that even a small limit is
 * shared fairly over many claims.
 */
const claimDue = (
  memory: Memory,
  { leaseUntil, limit, now, token }: Parameters<Store["claimDue"]>[0]
): DeliveryStore.Claimed => {
  const claimed: Array<DeliveryStore.ClaimedDelivery> = []
  const left = { ...limit }
  const isAsked = ({ standing }: Outbox) => limit[standing] > 0
  let turn: ReadonlyArray<Outbox> = [...memory.outboxes.values()].filter((outbox) => outbox.isReady(now))
  const isPassedOver = turn.some((outbox) => !isAsked(outbox))
  turn = turn.filter(isAsked)
  while (turn.some(({ standing }) => left[standing] > 0)) {
    turn = turn.filter((outbox) => {
      const { standing } = outbox
      if (left[standing] === 0) return true
      const consignment = outbox.claim(now, { token, until: leaseUntil })
      if (consignment === undefined) return false
      claimed.push(claimedOf(consignment, now))
      left[standing]--
      memory.outboxes.delete(consignment.workspaceId)
      memory.outboxes.set(consignment.workspaceId, outbox)
      return true
    })
  }
  const leftSome = turn.some((outbox) => outbox.isReady(now))
  // a webhook whose standing had no slots left is for other claimers; notifying would wake this one without free slots
  if (leftSome || !isPassedOver) memory.hint.claimed(leftSome)
  return { deliveries: claimed, at: now, nextDueAt: earliest([...memory.outboxes.values()].filter(isAsked), now) }
}

const claimedOf = ({ delivery, event, outbox: { webhook } }: Consignment, now: Time.Instant) =>
  DeliveryStore.claimedOf({ delivery, event, webhook }, now)

const beginTest = (
  memory: Memory,
  command: DeliveryStep.BeginTest
): DeliveryStore.ClaimedDelivery | undefined => {
  const outbox = memory.outboxes.get(command.event.workspaceId)
  const { answers: [begun], writes } = DeliveryStep.beginTest({ now: memory.now, present: () => outbox?.webhook }, [
    command
  ])
  for (const { delivery, event, leaseUntil, token } of writes.tests) {
    log(memory, event)
    memory.deliveries.set(outbox!.beginTest(event, delivery, { token, until: leaseUntil }))
  }
  return begun && DeliveryStore.claimedOf(begun, begun.at)
}

/** When the next delivery of these webhooks is due, if only time passes; `null` if never. */
export const earliest = (outboxes: Iterable<Outbox>, now: Time.Instant): Time.Instant | null => {
  let least: Time.Instant | null = null
  for (const outbox of outboxes) {
    const at = outbox.nextAt(now)
    if (at !== null && (least === null || at < least)) least = at
  }
  return least
}

/** What the steps load of a webhook's deliveries. */
export const loaded = (memory: Memory, outbox: Outbox): DeliveryStep.Loaded => ({
  now: memory.now,
  order: (_, orderKey) => outbox.order(orderKey)
})

/** Writes deliveries as a step has left them. */
export const keepAll = (memory: Memory, deliveries: ReadonlyArray<Delivery.Delivery>): void => {
  for (const delivery of deliveries) {
    const consignment = memory.deliveries.get(delivery.id)!
    consignment.outbox.keep(consignment, delivery)
  }
}

/** Writes deliveries that a step has begun a new round of, or made due, and notifies claimers. */
export const keepRounds = (memory: Memory, { begun, freed }: DeliveryStep.RoundWrites): void => {
  for (const delivery of begun) {
    const consignment = memory.deliveries.get(delivery.id)!
    consignment.outbox.begin(consignment, delivery)
  }
  keepAll(memory, freed)
  memory.hint.notify()
}

const complete = (memory: Memory, command: DeliveryStep.Complete): boolean => {
  const consignment = memory.deliveries.get(command.delivery.id)
  if (consignment === undefined) return false
  const { outbox } = consignment
  const { answers: [answer], writes } = DeliveryStep.complete({
    ...loaded(memory, outbox),
    webhook: () => memory.outboxes.get(outbox.webhook.workspaceId) === outbox ? outbox.webhook : undefined,
    claimed: (_, token) => consignment.lease?.token === token ? consignment.delivery : undefined
  }, [command])
  for (const state of writes.webhooks) outbox.keepWebhook({ ...outbox.webhook, ...state })
  for (const { attempt } of writes.attempts) {
    consignment.attempts.push(attempt)
    outbox.endClaim(consignment)
  }
  keepAll(memory, writes.deliveries)
  memory.hint.notify()
  return answer!
}

const release = (memory: Memory, token: string, deliveries: Parameters<Store["release"]>[1]): void => {
  for (const { id } of deliveries) {
    const consignment = memory.deliveries.get(id)
    if (consignment?.lease?.token === token) consignment.outbox.release(consignment)
  }
  memory.hint.notify()
}

const retry = (memory: Memory, command: DeliveryStep.Retry): DeliveryStore.DeliveryView | undefined => {
  const outbox = memory.outboxes.get(command.workspaceId)
  if (outbox === undefined) return undefined
  const { answers: [retried], writes } = DeliveryStep.retry({
    ...loaded(memory, outbox),
    present: () => outbox.webhook,
    delivery: (workspaceId, id) => memory.deliveries.of(workspaceId, id)?.delivery
  }, [command])
  keepRounds(memory, writes)
  return retried && DeliveryStore.viewOf(retried.delivery, retried.webhook)
}

const backlog = (memory: Memory, now: Time.Instant): DeliveryStore.BacklogReport => {
  const outboxes = [...memory.outboxes.values()]
  const active = outboxes.filter(({ webhook }) => webhook.pausedAt === null)
  const due = active.flatMap((outbox) => {
    const since = outbox.dueSince(now)
    return since === null ? [] : [{ since, waiting: outbox.open.size }]
  })
  return {
    oldestDueAt: due.length === 0 ? null : Math.min(...due.map(({ since }) => since)),
    pausedWebhooks: outboxes.length - active.length,
    failingWebhooks: active.filter(({ webhook }) => WebhookHealth.isFailing(webhook.health)).length,
    pending: outboxes.reduce((sum, { open }) => sum + open.size, 0),
    webhooksByBacklog: DeliveryStore.backlogSizes.map((size) => due.filter(({ waiting }) => waiting >= size).length)
  }
}

const listed = ({ attempts, delivery, event, outbox: { webhook } }: Consignment): DeliveryStore.ListedDelivery => {
  const last = attempts.at(-1)
  return {
    ...DeliveryStore.viewOf(delivery, webhook),
    customer: Event.customerOf(event),
    lastAttempt: last === undefined ? null : { outcome: last.outcome, statusCode: last.statusCode }
  }
}

export const layer = Layer.effect(
  DeliveryStore.DeliveryStore,
  Effect.map(State, (memory) =>
    DeliveryStore.DeliveryStore.of({
      claimDue: (command) =>
        Effect.sync(() => claimDue(memory, StorageTime.judgedAt(command, memory.now(command.now), "leaseUntil"))),
      beginTest: (command) => Effect.sync(() => Option.fromUndefinedOr(beginTest(memory, command))),
      complete: (command) => Effect.sync(() => complete(memory, command)),
      release: (token, deliveries) => Effect.sync(() => release(memory, token, deliveries)),
      retry: (workspaceId, id, now) =>
        Effect.sync(() => Option.fromUndefinedOr(retry(memory, { workspaceId, id, now }))),
      awaitHint: memory.hint.wait,
      // skipped deliveries are written immediately
      tidySkipped: () => Effect.succeed(0),
      backlog: (now) => Effect.sync(() => backlog(memory, memory.now(now))),
      list: (workspaceId, filter, page) =>
        Effect.sync(() => {
          const { items, next } = memory.deliveries.page(
            workspaceId,
            page,
            (consignment) =>
              (filter.messageId === undefined || consignment.event.orderKey === filter.messageId) &&
              DeliveryStore.isOf(filter, listed(consignment))
          )
          return { items: items.map(listed), next }
        }),
      get: (workspaceId, id) =>
        Effect.sync(() =>
          Option.map(
            Option.fromUndefinedOr(memory.deliveries.of(workspaceId, id)),
            (consignment) => ({ ...listed(consignment), attempts: [...consignment.attempts] })
          )
        ),
      forgetAttempts: (before) =>
        Effect.sync(() => {
          const lowest = Id.lowestAt("dlv", before)
          let removed = 0
          for (const { attempts, id } of memory.deliveries.values()) {
            if (id >= lowest) continue
            const young = attempts.filter(({ startedAt }) => startedAt >= before)
            removed += attempts.length - young.length
            attempts.splice(0, attempts.length, ...young)
          }
          return { removed, isMore: false }
        })
    }))
)
