/**
 * The promises about events on their way to a webhook (contract §5 and §6).
 */
import { type Blame, day, endOf, grouped } from "./Broken.ts"
import type { Attempt, DeliveryEnd, ListedEvent, WebhookSet } from "./History.ts"
import { canonical, isRecord, parsed } from "./Json.ts"

/** What is known of an event: as it was listed, or else as its first attempt has it. */
interface Known {
  readonly id: string
  readonly type: string
  readonly messageId: string | undefined
  readonly sequence: number
  readonly listed: ListedEvent | undefined
}

const knownBy = (
  { data, type }: { readonly type?: unknown; readonly data?: unknown },
  id: string,
  listed?: ListedEvent
): Known => {
  const { message_id: messageId, sequence } = isRecord(data) ? data : {}
  return {
    id,
    type: String(type),
    messageId: typeof messageId === "string" ? messageId : undefined,
    sequence: Number(sequence),
    listed
  }
}

/** All of one event to one webhook. */
export interface Delivery {
  readonly event: Known
  readonly attempts: ReadonlyArray<Attempt>
  readonly success: Attempt | undefined
  readonly ends: ReadonlyArray<DeliveryEnd>
}

const checkDelivery = ({ attempts, ends, event }: Delivery, clockError: number, blame: Blame): void => {
  const [first] = attempts
  const other = attempts.find(({ body }) => body !== first?.body)
  if (first !== undefined && other !== undefined) blame("event-fixed", "two attempts have two bodies", first, other)
  if (first !== undefined && event.type !== "webhook.test") {
    const told = knownBy(parsed(first.body), event.id)
    if (event.listed !== undefined && told.messageId !== undefined && told.messageId !== event.messageId) {
      blame("event-fixed", "the event is listed with another message", first, event.listed)
    }
  }
  for (const attempt of attempts) {
    if (!attempt.genuine) blame("genuine-signature", "the signature is wrong", attempt)
  }
  const exhausted = ends.find(({ status }) => status === "exhausted")
  if (
    exhausted !== undefined && event.type !== "webhook.test" &&
    !(endOf(exhausted) >= (first?.begun ?? Infinity) + day - clockError)
  ) blame("retried-for-a-day", "exhausted too early", ...attempts.slice(0, 1), exhausted)
}

const checkOrder = (deliveries: ReadonlyArray<Delivery>, clockError: number, blame: Blame): void => {
  // the event that was over last, of those before
  let last: { readonly delivery: Delivery; readonly at: number } | undefined
  for (const delivery of deliveries) {
    const [first] = delivery.attempts
    if (
      last !== undefined && first !== undefined && first.begun < last.at - clockError &&
      last.delivery.event.sequence !== delivery.event.sequence
    ) {
      blame("delivered-in-order", "the event before it was not over", ...last.delivery.attempts.slice(0, 1), first)
    }
    const overs = [delivery.success, ...delivery.ends.filter(({ status }) => status !== "held")]
    const at = Math.min(...overs.map((over) => over?.begun ?? Infinity))
    if (last === undefined || at > last.at) last = { delivery, at }
  }
}

/** The deliveries to one webhook, by their events. */
export const checkDeliveries = (
  attempts: ReadonlyArray<Attempt>,
  ends: ReadonlyArray<DeliveryEnd>,
  listed: ReadonlyMap<string, ListedEvent>,
  clockError: number,
  blame: Blame
): ReadonlyMap<string, Delivery> => {
  const attemptsOf = grouped(attempts, (attempt) => attempt.event_id)
  const endsOf = grouped(ends, (end) => end.event_id)
  const deliveries = new Map<string, Delivery>()
  for (const id of new Set([...attemptsOf.keys(), ...endsOf.keys()])) {
    const own = attemptsOf.get(id) ?? []
    const entry = listed.get(id)
    const event = entry === undefined ? knownBy(parsed(own[0]?.body ?? null), id) : knownBy(entry.event, id, entry)
    const success = own.find(({ status }) => status === 200)
    const delivery = { event, attempts: own, success, ends: endsOf.get(id) ?? [] }
    checkDelivery(delivery, clockError, blame)
    deliveries.set(id, delivery)
  }
  const ordered = [...deliveries.values()].filter(({ event }) =>
    event.messageId !== undefined && Number.isFinite(event.sequence)
  )
  for (const group of grouped(ordered, ({ event }) => event.messageId!).values()) {
    checkOrder([...group].sort((a, b) => a.event.sequence - b.event.sequence), clockError, blame)
  }
  return deliveries
}

/** Whether everything since a webhook was set was delivered to it. */
export const checkAtLeastOnce = (
  { ended, event_types: types }: WebhookSet,
  deliveries: ReadonlyMap<string, Delivery>,
  listed: ReadonlyMap<string, ListedEvent>,
  clockError: number,
  blame: Blame
): void => {
  if (ended === null) return
  for (const entry of listed.values()) {
    const { created_at: createdAt, id, type } = entry.event
    if (Date.parse(createdAt) <= ended + clockError || (types !== undefined && !types.includes(type))) continue
    const delivery = deliveries.get(id)
    if (delivery?.success === undefined && (delivery?.ends.length ?? 0) === 0) {
      blame("delivered-at-least-once", `${type} was not delivered`, entry, ...delivery?.attempts ?? [])
    }
  }
}

/** Events by their ids, as they are listed. */
export const checkListed = (
  events: ReadonlyArray<ListedEvent>,
  attempts: ReadonlyArray<Attempt>,
  isSettled: boolean,
  blame: Blame
): ReadonlyMap<string, ListedEvent> => {
  const listed = new Map<string, ListedEvent>()
  for (const entry of events) {
    const same = listed.get(entry.event.id)
    if (same === undefined) listed.set(entry.event.id, entry)
    else if (JSON.stringify(canonical(same.event)) !== JSON.stringify(canonical(entry.event))) {
      blame("event-fixed", "an event is listed in two forms", same, entry)
    }
  }
  if (!isSettled || listed.size === 0) return listed
  for (const attempt of attempts) {
    if (!listed.has(attempt.event_id) && parsed(attempt.body)["type"] !== "webhook.test") {
      blame("event-fixed", "what was delivered is not listed", attempt)
    }
  }
  return listed
}
