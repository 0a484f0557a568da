/**
 * A webhook with its waiting deliveries: which of them are due, and which are claimed. In memory only; holds no other
 * state.
 */
import { AttemptSlots, Delivery, type Event, type Id, type Time, type Webhook, WebhookHealth } from "@wac/core"
import { Heap } from "../Heap.ts"

/** A delivery with its claim and attempts. */
export interface Consignment {
  readonly id: Id.DeliveryId
  readonly workspaceId: Id.WorkspaceId
  readonly event: Event.Event
  readonly outbox: Outbox
  /** The order of recording or of the last new round. Breaks ties between deliveries due at the same time. */
  serial: number
  delivery: Delivery.Delivery
  /** The last claim. It stays after its end, until the next claim. */
  lease: { readonly token: string; readonly until: Time.Instant } | null
  readonly attempts: Array<Delivery.Attempt>
  /** Its place in a queue; while it is claimed, the place it had. */
  place: Place | null
}

/** A place in a queue. Void once the consignment has another place or none. */
interface Place {
  /** The sort key of the queue. */
  readonly at: Time.Instant
  readonly dueAt: Time.Instant
  readonly line: Delivery.Line
  /** When its round began; `Infinity` before that. */
  readonly roundAt: Time.Instant
  readonly serial: number
  readonly consignment: Consignment
}

const isBefore = (a: Place, b: Place): boolean => a.at < b.at || (a.at === b.at && a.serial < b.serial)

const beganBefore = (a: Place, b: Place): boolean =>
  a.roundAt < b.roundAt || (a.roundAt === b.roundAt && a.serial < b.serial)

/** A webhook with its open deliveries, of which it can claim the ones that are due. */
export class Outbox {
  webhook: Webhook.Webhook
  /** Pending deliveries, oldest first. */
  readonly open = new Set<Consignment>()
  /** Pending deliveries of each order key, by sequence. */
  readonly #sequences = new Map<Id.MessageId, Array<Consignment>>()
  /** Claimed deliveries whose lease had not ended at the last check. */
  readonly #leased = new Set<Consignment>()
  readonly #lines: { readonly [line in Delivery.Line]: Heap<Place> } = {
    fresh: new Heap(isBefore),
    backlog: new Heap(isBefore),
    retry: new Heap(isBefore)
  }
  /** The retries, by the beginning of their rounds. */
  readonly #rounds = new Heap(beganBefore)
  /** When the backlog's next attempt may begin. */
  #nextDrainAt: Time.Instant = 0
  /** How many deliveries of the backlog the present claim may still take. */
  #allowance = 0
  #serial = 0

  constructor(webhook: Webhook.Webhook) {
    this.webhook = webhook
  }

  /** Records a delivery of the event. */
  add(event: Event.Event, id: Id.DeliveryId): Consignment {
    const predecessors = event.orderKey === null ? [] : this.#sequences.get(event.orderKey) ?? []
    const waits = predecessors.length > 0
    const consignment = this.#make(event, Delivery.recorded(event, this.webhook, id, { trigger: "automatic", waits }))
    if (event.orderKey !== null) this.#sequences.set(event.orderKey, [...predecessors, consignment])
    this.keep(consignment, consignment.delivery)
    return consignment
  }

  /** Adds the delivery of a started test, which is claimed and never due. */
  beginTest(event: Event.Event, delivery: Delivery.Delivery, lease: NonNullable<Consignment["lease"]>): Consignment {
    const consignment = this.#make(event, delivery)
    consignment.lease = lease
    this.#leased.add(consignment)
    return consignment
  }

  /** The open deliveries of an order, by `sequence`. */
  order(orderKey: Id.MessageId): ReadonlyArray<Delivery.Delivery> {
    return (this.#sequences.get(orderKey) ?? []).map(({ delivery }) => delivery)
  }

  /** Replaces the webhook by the state that a step has left. */
  keepWebhook(webhook: Webhook.Webhook): void {
    const before = this.webhook
    this.webhook = webhook
    // either change affects when deliveries are due and in which queue
    if (webhook.health.recoveredAt !== before.health.recoveredAt || webhook.resumedAt !== before.resumedAt) {
      this.#realign()
    }
  }

  /** Replaces a delivery by the state that a step has left. */
  keep(consignment: Consignment, delivery: Delivery.Delivery): void {
    const { orderKey } = consignment.delivery
    consignment.delivery = delivery
    const isOpen = Delivery.isOpen(delivery)
    if (orderKey !== null && !(isOpen && delivery.orderKey === orderKey)) this.#leaveOrder(consignment, orderKey)
    if (isOpen) {
      this.open.add(consignment)
      if (!this.#leased.has(consignment)) this.#enqueue(consignment)
    } else {
      this.open.delete(consignment)
      if (!this.#leased.has(consignment)) consignment.place = null
    }
  }

  /** Replaces a delivery that has started a new round, and queues it behind everything recorded before. */
  begin(consignment: Consignment, delivery: Delivery.Delivery): void {
    consignment.serial = this.#serial++
    this.keep(consignment, delivery)
  }

  /** Ends the claim. The caller then calls `keep` with the delivery's new state. */
  endClaim(consignment: Consignment): void {
    consignment.lease = null
    this.#leased.delete(consignment)
  }

  /** How many deliveries wait for an attempt of a replay, whether it is the first one. */
  replaysWaiting(): number {
    let count = 0
    for (const { delivery } of this.open) if (delivery.trigger === "replay") count++
    return count
  }

  #make(event: Event.Event, delivery: Delivery.Delivery): Consignment {
    return {
      id: delivery.id,
      workspaceId: delivery.workspaceId,
      event,
      outbox: this,
      serial: this.#serial++,
      delivery,
      lease: null,
      attempts: [],
      place: null
    }
  }

  get standing(): WebhookHealth.Standing {
    return WebhookHealth.standing(this.webhook.health)
  }

  /** The due time of the delivery that has been due longest; `null` if none is due. */
  dueSince(now: Time.Instant): Time.Instant | null {
    const { resumedAt } = this.webhook
    let least: Time.Instant | null = null
    for (const consignment of this.open) {
      const at = this.#leased.has(consignment) ? null : Delivery.dueAt(consignment.delivery, this.webhook)
      if (at !== null && at <= now) least = Math.min(Math.max(at, resumedAt ?? at), least ?? Infinity)
    }
    return least
  }

  /** Whether something can be claimed. First drops expired leases. */
  isReady(now: Time.Instant): boolean {
    for (const consignment of this.#leased) {
      if (consignment.lease!.until > now) continue
      this.#leased.delete(consignment)
      if (!Delivery.isTest(consignment.delivery)) this.#enqueue(consignment)
      else {
        consignment.lease = null
        consignment.delivery = Delivery.end(consignment.delivery, Delivery.lostTestStatus, now)
      }
    }
    if (this.open.size === 0) return false
    const slots = this.#slots(now)
    this.#allowance = AttemptSlots.drainSlots({ inFlight: this.#draining(), nextAt: this.#nextDrainAt }, slots, now)
    return slots > 0 && this.#due(now) !== undefined
  }

  /** Claims the next delivery if one is due and a slot is free. Call `isReady` first. */
  claim(now: Time.Instant, lease: NonNullable<Consignment["lease"]>): Consignment | undefined {
    const place = this.#slots(now) > 0 ? this.#due(now) : undefined
    if (place === undefined) return undefined
    const { consignment, line } = place
    if (line === "backlog") {
      this.#allowance--
      this.#nextDrainAt = AttemptSlots.nextDrainAt({ nextAt: this.#nextDrainAt }, 1, now)
    }
    consignment.lease = lease
    this.#leased.add(consignment)
    return consignment
  }

  /** When something can be claimed if only time passes; `now` if immediately. Call `isReady` first. */
  nextAt(now: Time.Instant): Time.Instant | null {
    if (this.open.size === 0) return null
    const ends = [...this.#leased].map(({ lease }) => lease!.until)
    const opensAt = this.#slotAt(ends, now)
    if (opensAt === null) return null
    const times = Delivery.lines.flatMap((line) => {
      const place = this.#head(this.#lines[line])
      if (place === undefined) return []
      if (line !== "backlog") return [place.dueAt]
      return this.#draining() < AttemptSlots.maxDraining ? [Math.max(place.dueAt, this.#nextDrainAt)] : []
    })
    return times.length + ends.length === 0 ? null : Math.max(opensAt, Math.min(...times, ...ends))
  }

  /** Releases a claim. */
  release(consignment: Consignment): void {
    if (Delivery.isTest(consignment.delivery)) {
      consignment.lease = { token: "", until: -Infinity }
      return
    }
    this.endClaim(consignment)
    this.#enqueue(consignment)
  }

  /** Open deliveries that were queued before the first event recorded at or after a time. */
  heldBefore(from: Time.Instant): ReadonlyArray<Consignment> {
    let first = Infinity
    for (const { event, serial } of this.open) if (event.createdAt >= from) first = Math.min(first, serial)
    return [...this.open].filter(({ serial }) => serial < first)
  }

  /** All deliveries that have not ended, including tests in progress. */
  unended(): ReadonlyArray<Consignment> {
    return [...new Set([...this.open, ...this.#leased])]
  }

  /** Queues a delivery according to its own due time. */
  #enqueue(consignment: Consignment): void {
    const { delivery } = consignment
    const dueAt = Delivery.dueAt(delivery, this.webhook)
    consignment.place = null
    if (dueAt === null) return
    const line = Delivery.line(delivery, this.webhook)
    const at = Delivery.place(delivery, this.webhook)!
    const roundAt = delivery.firstAttemptAt ?? Infinity
    consignment.place = { at, dueAt, line, roundAt, serial: consignment.serial, consignment }
    this.#lines[line].push(consignment.place)
    if (line === "retry") this.#rounds.push(consignment.place)
  }

  #leaveOrder(consignment: Consignment, orderKey: Id.MessageId): void {
    const left = (this.#sequences.get(orderKey) ?? []).filter((other) => other !== consignment)
    if (left.length === 0) this.#sequences.delete(orderKey)
    else this.#sequences.set(orderKey, left)
  }

  #realign(): void {
    for (const line of Delivery.lines) this.#lines[line].clear()
    this.#rounds.clear()
    for (const consignment of this.open) if (!this.#leased.has(consignment)) this.#enqueue(consignment)
  }

  #slots(now: Time.Instant): number {
    return AttemptSlots.freeSlots(this.webhook, this.#leased.size, now)
  }

  /** How many deliveries of the backlog are in flight. */
  #draining(): number {
    let count = 0
    for (const { place } of this.#leased) if (place?.line === "backlog") count++
    return count
  }

  /** The first place of a queue that is valid, not taken, and still of use. */
  #head(heap: Heap<Place>, isOfUse: (place: Place) => boolean = () => true): Place | undefined {
    for (let place = heap.peek(); place !== undefined; place = heap.peek()) {
      const { consignment } = place
      if (consignment.place === place && !this.#leased.has(consignment) && isOfUse(place)) return place
      heap.pop()
    }
    return undefined
  }

  /**
   * The next place, provided a slot is free: while the webhook is failing, the last attempt of a round, then queue by
   * queue; else the delivery that has waited longest.
   */
  #due(now: Time.Instant): Place | undefined {
    // a round that a success has left behind never pauses the webhook
    const last = this.#head(this.#rounds, ({ consignment }) => Delivery.mayPause(consignment.delivery, this.webhook))
    if (last !== undefined && Delivery.endsRound(last.consignment.delivery, this.webhook, now)) return last
    let next: Place | undefined
    for (const line of Delivery.lines) {
      const place = this.#head(this.#lines[line])
      if (place === undefined || place.dueAt > now || (line === "backlog" && this.#allowance === 0)) continue
      if (next === undefined || (!WebhookHealth.isFailing(this.webhook.health) && isBefore(place, next))) next = place
    }
    return next
  }

  /** When a slot is free (possibly `now`) if only time passes; `null` if never. */
  #slotAt(leaseEnds: ReadonlyArray<Time.Instant>, now: Time.Instant): Time.Instant | null {
    const gapEnd = AttemptSlots.nextSlotAt(this.webhook.health)
    const moments = gapEnd === null ? [now, ...leaseEnds] : [now, ...leaseEnds, Math.max(now, gapEnd)]
    const free = moments.filter((at) =>
      AttemptSlots.freeSlots(this.webhook, leaseEnds.filter((end) => end > at).length, at) > 0
    )
    return free.length === 0 ? null : Math.min(...free)
  }
}
