import { Delivery, DeliveryStore, type Id, StorageTime, type Time, Webhook } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { log } from "../events/Journal.ts"
import { type Memory, State } from "../State.ts"
import type { Consignment, Outbox } from "./Outbox.ts"

type Store = DeliveryStore.DeliveryStore["Service"]

/**
 * Webhooks take turns of one delivery each. Who was served longest ago begins, so that a small limit is shared over
 * many claims as well.
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
  // who was passed over is for others: to be told of them at once would help nobody whose hands are full
  if (leftSome || !isPassedOver) memory.hint.claimed(leftSome)
  return { deliveries: claimed, at: now, nextDueAt: earliest([...memory.outboxes.values()].filter(isAsked), now) }
}

const claimedOf = (
  { delivery, event, outbox: { standing, webhook } }: Consignment,
  now: Time.Instant
): DeliveryStore.ClaimedDelivery => ({
  delivery,
  event,
  url: webhook.url,
  secrets: webhook.secrets.filter(({ expiresAt }) => expiresAt === null || expiresAt > now),
  standing,
  at: now,
  isBacklog: Delivery.line(delivery, webhook) === "backlog"
})

const beginTest = (
  memory: Memory,
  { deliveryId, event, leaseUntil, now, token, trigger }: Parameters<Store["beginTest"]>[0]
): Option.Option<DeliveryStore.ClaimedDelivery> => {
  const outbox = memory.outboxes.get(event.workspaceId)
  if (outbox === undefined) return Option.none()
  log(memory, event)
  const consignment = outbox.beginTest(event, deliveryId, trigger, { token, until: leaseUntil })
  memory.deliveries.set(consignment)
  return Option.some(claimedOf(consignment, now))
}

/** When the next delivery of these webhooks is due, given that nothing but time passes; `null`: never. */
export const earliest = (outboxes: Iterable<Outbox>, now: Time.Instant): Time.Instant | null => {
  let least: Time.Instant | null = null
  for (const outbox of outboxes) {
    const at = outbox.nextAt(now)
    if (at !== null && (least === null || at < least)) least = at
  }
  return least
}

const complete = (
  memory: Memory,
  { attempt, delivery, jitter, now, token }: Parameters<Store["complete"]>[0]
): boolean => {
  const consignment = memory.deliveries.get(delivery.id)
  if (consignment?.lease?.token !== token) return false
  consignment.outbox.complete(consignment, attempt, jitter, now)
  memory.hint.notify()
  return true
}

const release = (memory: Memory, token: string, deliveries: Parameters<Store["release"]>[1]): void => {
  for (const { id } of deliveries) {
    const consignment = memory.deliveries.get(id)
    if (consignment?.lease?.token === token) consignment.outbox.release(consignment)
  }
  memory.hint.notify()
}

const retry = (
  memory: Memory,
  workspaceId: Id.WorkspaceId,
  id: Id.DeliveryId,
  now: Time.Instant
): Consignment | undefined => {
  const consignment = memory.deliveries.of(workspaceId, id)
  if (consignment === undefined || Delivery.isTest(consignment.delivery)) return undefined
  if (consignment.outbox !== memory.outboxes.get(workspaceId)) return undefined
  consignment.outbox.beginRound(consignment, "manual", now)
  memory.hint.notify()
  return consignment
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
    failingWebhooks: active.filter(({ webhook }) => Webhook.isFailing(webhook.health)).length,
    pending: outboxes.reduce((sum, { open }) => sum + open.size, 0),
    webhooksByBacklog: DeliveryStore.backlogSizes.map((size) => due.filter(({ waiting }) => waiting >= size).length)
  }
}

const view = ({ delivery, outbox: { webhook } }: Consignment): DeliveryStore.DeliveryView => ({
  delivery,
  status: Delivery.statusShown(delivery, webhook),
  webhook: { id: webhook.id, pausedAt: webhook.pausedAt }
})

export const layer = Layer.effect(
  DeliveryStore.DeliveryStore,
  Effect.map(State, (memory) =>
    DeliveryStore.DeliveryStore.of({
      claimDue: (command) =>
        Effect.sync(() => claimDue(memory, StorageTime.judgedAt(command, memory.now(command.now), "leaseUntil"))),
      beginTest: (command) =>
        Effect.sync(() => {
          const now = memory.now(command.now)
          const { event, ...judged } = StorageTime.judgedAt(command, now, "leaseUntil")
          return beginTest(memory, { ...judged, event: { ...event, createdAt: event.createdAt - command.now + now } })
        }),
      complete: (command) =>
        Effect.sync(() => complete(memory, StorageTime.judgedAt(command, memory.now(command.now)))),
      release: (token, deliveries) => Effect.sync(() => release(memory, token, deliveries)),
      retry: (workspaceId, id, now) =>
        Effect.sync(() => Option.map(Option.fromUndefinedOr(retry(memory, workspaceId, id, memory.now(now))), view)),
      awaitHint: memory.hint.wait,
      // what is skipped is written out at once
      tidySkipped: () => Effect.succeed(0),
      backlog: (now) => Effect.sync(() => backlog(memory, memory.now(now))),
      list: (workspaceId, { status }, page) =>
        Effect.sync(() => {
          const { items, next } = memory.deliveries.page(
            workspaceId,
            page,
            ({ delivery, outbox: { webhook } }) =>
              status === undefined || (
                Delivery.statusShown(delivery, webhook) === status &&
                !(Delivery.isTest(delivery) && Delivery.isOpen(delivery))
              )
          )
          return { items: items.map(view), next }
        }),
      get: (workspaceId, id) =>
        Effect.sync(() =>
          Option.map(
            Option.fromUndefinedOr(memory.deliveries.of(workspaceId, id)),
            (consignment) => ({ ...view(consignment), attempts: [...consignment.attempts] })
          )
        )
    }))
)
