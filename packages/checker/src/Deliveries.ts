/**
 * The promises about events on their way to a webhook (contract §5 and §6).
 */
import { type Blame, day, endOf, grouped } from "./Broken.ts"
import type { Attempt, DeliveryEnd, ListedEvent } from "./History.ts"
import { canonical, parsed } from "./Json.ts"
import { checkOrder, knownBy, type Passage } from "./Passage.ts"

/** The attempts of one event to one webhook, and how its delivery ended. */
interface Delivery extends Passage {
  readonly attempts: ReadonlyArray<Attempt>
  readonly ends: ReadonlyArray<DeliveryEnd>
}

const checkDelivery = ({ attempts, ends, event }: Delivery, clockError: number, blame: Blame): void => {
  const [first] = attempts
  const other = attempts.find(({ body }) => body !== first?.body)
  if (first !== undefined && other !== undefined) blame("event-fixed", "two attempts have two bodies", first, other)
  if (first !== undefined && event.type !== "webhook.test") {
    const sent = knownBy(parsed(first.body), event.id)
    if (event.listed !== undefined && sent.messageId !== undefined && sent.messageId !== event.messageId) {
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

/** Checks the deliveries to one webhook, and returns them by the ids of their events. */
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
    const ends = endsOf.get(id) ?? []
    const overs = [success, ...ends.filter(({ status }) => status !== "held")].filter((over) => over !== undefined)
    const delivery: Delivery = {
      event,
      attempts: own,
      ends,
      overs,
      isAccounted: success !== undefined || ends.length > 0
    }
    checkDelivery(delivery, clockError, blame)
    deliveries.set(id, delivery)
  }
  checkOrder(deliveries.values(), "delivered-in-order", clockError, blame)
  return deliveries
}

/**
 * Checks that no event is listed in two forms and that delivered events are listed. Returns the listed events by id.
 */
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
