/**
 * A webhook and what waits for it: which of its deliveries are due, and which are claimed.
 */
import { Delivery, type Event, type Id, type Time, Webhook } from "@wac/core"
import { Heap } from "./Heap.ts"

/** A delivery, its claim and its attempts. */
export interface Consignment {
  readonly id: Id.DeliveryId
  readonly workspaceId: Id.WorkspaceId
  readonly event: Event.Event
  readonly outbox: Outbox
  /** In the order of recording: among those due at the same time the oldest comes first. */
  readonly serial: number
  delivery: Delivery.Delivery
  /** Who claimed it last; stays after its end until somebody else claims it. */
  lease: { readonly token: string; readonly until: Time.Instant } | null
  readonly attempts: Array<Delivery.Attempt>
  /** Its place in line. */
  place: Place | null
}

/** A place in line; void once the consignment has another, or none. */
interface Place {
  readonly at: Time.Instant
  readonly consignment: Consignment
}

const isBefore = (a: Place, b: Place): boolean =>
  a.at < b.at || (a.at === b.at && a.consignment.serial < b.consignment.serial)

/** The first place that still stands. */
const head = (line: Heap<Place>): Place | undefined => {
  for (let place = line.peek(); place !== undefined; place = line.peek()) {
    if (place.consignment.place === place) return place
    line.pop()
  }
  return undefined
}

export class Outbox {
  webhook: Webhook.Webhook
  /** Pending, oldest first. */
  readonly open = new Set<Consignment>()
  /** Pending ones of each order key, by sequence. */
  readonly #sequences = new Map<Id.MessageId, Array<Consignment>>()
  /** Claimed ones whose lease had not ended when we last looked. */
  readonly #leased = new Set<Consignment>()
  /** The lines of those not attempted in their round and of those to be tried again. */
  readonly #first = new Heap(isBefore)
  readonly #retries = new Heap(isBefore)
  #serial = 0

  constructor(webhook: Webhook.Webhook) {
    this.webhook = webhook
  }

  /** Records a delivery of the event. */
  add(event: Event.Event, id: Id.DeliveryId): Consignment {
    const predecessors = event.orderKey === null ? [] : this.#sequences.get(event.orderKey) ?? []
    const consignment = this.#make(event, id, {
      trigger: "automatic",
      nextAttemptAt: predecessors.length === 0 ? event.createdAt : null
    })
    this.open.add(consignment)
    if (event.orderKey !== null) this.#sequences.set(event.orderKey, [...predecessors, consignment])
    this.#enqueue(consignment)
    return consignment
  }

  /** Records a delivery of a test event, which is claimed at once and never due. */
  beginTest(
    event: Event.Event,
    id: Id.DeliveryId,
    trigger: "test" | "probe",
    lease: NonNullable<Consignment["lease"]>
  ): Consignment {
    const consignment = this.#make(event, id, { trigger, nextAttemptAt: null })
    consignment.lease = lease
    this.#leased.add(consignment)
    return consignment
  }

  /** Begins a new round of a delivery. */
  beginRound(consignment: Consignment, trigger: "manual" | "replay", now: Time.Instant): void {
    const { orderKey } = consignment.delivery
    consignment.delivery = Delivery.newRound(consignment.delivery, trigger, now)
    if (consignment.delivery.orderKey !== orderKey) this.#leaveOrder(consignment, orderKey!)
    this.open.add(consignment)
    if (!this.#leased.has(consignment)) this.#enqueue(consignment)
  }

  #make(
    event: Event.Event,
    id: Id.DeliveryId,
    fields: Pick<Delivery.Delivery, "trigger" | "nextAttemptAt">
  ): Consignment {
    return {
      id,
      workspaceId: event.workspaceId,
      event,
      outbox: this,
      serial: this.#serial++,
      delivery: {
        id,
        workspaceId: event.workspaceId,
        webhookId: this.webhook.id,
        eventId: event.id,
        eventType: event.type,
        envelope: this.webhook.envelope,
        orderKey: event.orderKey,
        sequence: event.sequence,
        status: "pending",
        attemptCount: 0,
        roundAttempts: 0,
        firstAttemptAt: null,
        lastAttemptAt: null,
        createdAt: event.createdAt,
        completedAt: null,
        ...fields
      },
      lease: null,
      attempts: [],
      place: null
    }
  }

  /** Whether something can be claimed; lets go of leases that have ended first. */
  isReady(now: Time.Instant): boolean {
    for (const consignment of this.#leased) {
      if (consignment.lease!.until > now) continue
      this.#leased.delete(consignment)
      if (Delivery.isTest(consignment.delivery)) this.#end(consignment, "exhausted", now)
      else this.#enqueue(consignment)
    }
    if (this.open.size === 0) return false
    return this.#slots(now) > 0 && this.#due(now) !== undefined
  }

  /** Claims the next delivery, if one is due and a slot is free. */
  claim(now: Time.Instant, lease: NonNullable<Consignment["lease"]>): Consignment | undefined {
    const line = this.#slots(now) > 0 ? this.#due(now) : undefined
    if (line === undefined) return undefined
    const { consignment } = line.pop()!
    consignment.place = null
    consignment.lease = lease
    this.#leased.add(consignment)
    return consignment
  }

  /** When something can be claimed, if nothing but time passes; `now` if it can be at once. Comes after `isReady`. */
  nextAt(now: Time.Instant): Time.Instant | null {
    if (this.open.size === 0) return null
    const ends = [...this.#leased].map(({ lease }) => lease!.until)
    const opensAt = this.#slotAt(ends, now)
    if (opensAt === null) return null
    const heads = [head(this.#first), head(this.#retries)].filter((place) => place !== undefined)
    const times = [...ends, ...heads.map(({ at }) => at)]
    return times.length === 0 ? null : Math.max(opensAt, Math.min(...times))
  }

  /** Records an attempt at a delivery and what follows from it. */
  complete(consignment: Consignment, attempt: Delivery.Attempt, jitter: number, now: Time.Instant): void {
    const before = this.webhook.health
    const after = Delivery.afterAttempt(consignment.delivery, this.webhook, attempt, jitter)
    this.webhook = after.webhook
    consignment.delivery = after.delivery
    consignment.attempts.push(attempt)
    consignment.lease = null
    this.#leased.delete(consignment)
    if (Delivery.isOpen(after.delivery)) this.#enqueue(consignment)
    else this.#close(consignment, now)
    if (after.webhook.health.recoveredAt !== before.recoveredAt) this.#bringForward()
  }

  /** Gives a claim back. */
  release(consignment: Consignment): void {
    if (Delivery.isTest(consignment.delivery)) {
      consignment.lease = { token: "", until: -Infinity }
      return
    }
    consignment.lease = null
    this.#leased.delete(consignment)
    this.#enqueue(consignment)
  }

  /** Ends all that waits, for a webhook that goes. */
  skipAll(now: Time.Instant): void {
    for (const consignment of [...this.open, ...this.#leased]) this.#end(consignment, "skipped", now)
    this.open.clear()
    this.#sequences.clear()
    this.#leased.clear()
  }

  #end(consignment: Consignment, status: "exhausted" | "skipped", now: Time.Instant): void {
    consignment.delivery = { ...consignment.delivery, status, nextAttemptAt: null, completedAt: now }
    consignment.lease = null
    consignment.place = null
  }

  /** Puts a delivery in line, by its own clock. */
  #enqueue(consignment: Consignment): void {
    const at = Delivery.dueAt(consignment.delivery, this.webhook.health)
    consignment.place = at === null ? null : { at, consignment }
    if (consignment.place === null) return
    const line = Delivery.isUntried(consignment.delivery) ? this.#first : this.#retries
    line.push(consignment.place)
  }

  #close(consignment: Consignment, now: Time.Instant): void {
    consignment.place = null
    this.open.delete(consignment)
    const { orderKey } = consignment.delivery
    if (orderKey === null) return
    const next = this.#leaveOrder(consignment, orderKey)
    if (next === undefined) return
    next.delivery = { ...next.delivery, nextAttemptAt: now }
    this.#enqueue(next)
  }

  /** Answers with the first of those that are left. */
  #leaveOrder(consignment: Consignment, orderKey: Id.MessageId): Consignment | undefined {
    const left = (this.#sequences.get(orderKey) ?? []).filter((other) => other !== consignment)
    if (left.length === 0) this.#sequences.delete(orderKey)
    else this.#sequences.set(orderKey, left)
    return left[0]
  }

  /** The receiver has recovered, which changes when waiting retries are due. */
  #bringForward(): void {
    this.#retries.clear()
    for (const consignment of this.open) {
      if (!Delivery.isUntried(consignment.delivery) && !this.#leased.has(consignment)) this.#enqueue(consignment)
    }
  }

  #slots(now: Time.Instant): number {
    return Webhook.freeSlots(this.webhook, this.#leased.size, now)
  }

  /** The line that is next: first attempts while the webhook is failing, else that of the longest due. */
  #due(now: Time.Instant): Heap<Place> | undefined {
    const first = head(this.#first)
    const retry = head(this.#retries)
    const firstIsDue = first !== undefined && first.at <= now
    if (retry === undefined || retry.at > now) return firstIsDue ? this.#first : undefined
    return firstIsDue && (Webhook.isFailing(this.webhook.health) || isBefore(first, retry))
      ? this.#first
      : this.#retries
  }

  /** When a slot is free, `now` included, given that nothing but time passes; `null`: never. */
  #slotAt(leaseEnds: ReadonlyArray<Time.Instant>, now: Time.Instant): Time.Instant | null {
    const gapEnd = Webhook.nextSlotAt(this.webhook.health)
    const moments = gapEnd === null ? [now, ...leaseEnds] : [now, ...leaseEnds, Math.max(now, gapEnd)]
    const free = moments.filter((at) =>
      Webhook.freeSlots(this.webhook, leaseEnds.filter((end) => end > at).length, at) > 0
    )
    return free.length === 0 ? null : Math.min(...free)
  }
}
