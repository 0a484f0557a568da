/**
 * A webhook and what waits for it: which of its deliveries are due, and which are claimed.
 */
import { Delivery, type Event, type Id, type Time, Webhook } from "@wac/core"
import { Heap } from "../Heap.ts"

/** A delivery, its claim and its attempts. */
export interface Consignment {
  readonly id: Id.DeliveryId
  readonly workspaceId: Id.WorkspaceId
  readonly event: Event.Event
  readonly outbox: Outbox
  /** In the order of recording, or of asking for it again: among those due at the same time the first comes first. */
  serial: number
  delivery: Delivery.Delivery
  /** Who claimed it last; stays after its end until somebody else claims it. */
  lease: { readonly token: string; readonly until: Time.Instant } | null
  readonly attempts: Array<Delivery.Attempt>
  /** Its place in line; while it is claimed, the one it had. */
  place: Place | null
}

/** A place in line; void once the consignment has another, or none. */
interface Place {
  /** The order of the line. */
  readonly at: Time.Instant
  readonly dueAt: Time.Instant
  readonly line: Delivery.Line
  readonly serial: number
  readonly consignment: Consignment
}

const isBefore = (a: Place, b: Place): boolean => a.at < b.at || (a.at === b.at && a.serial < b.serial)

export class Outbox {
  webhook: Webhook.Webhook
  /** Pending, oldest first. */
  readonly open = new Set<Consignment>()
  /** Pending ones of each order key, by sequence. */
  readonly #sequences = new Map<Id.MessageId, Array<Consignment>>()
  /** Claimed ones whose lease had not ended when we last looked. */
  readonly #leased = new Set<Consignment>()
  readonly #lines: { readonly [line in Delivery.Line]: Heap<Place> } = {
    fresh: new Heap(isBefore),
    backlog: new Heap(isBefore),
    retry: new Heap(isBefore)
  }
  /** When the next of the backlog may be attempted. */
  #nextDrainAt: Time.Instant = 0
  /** How much of the backlog the present claim may still take. */
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

  /** Takes the delivery of a test that has begun: it is claimed, and never due. */
  beginTest(event: Event.Event, delivery: Delivery.Delivery, lease: NonNullable<Consignment["lease"]>): Consignment {
    const consignment = this.#make(event, delivery)
    consignment.lease = lease
    this.#leased.add(consignment)
    return consignment
  }

  /** What is open of an order, in the order of `sequence`. */
  order(orderKey: Id.MessageId): ReadonlyArray<Delivery.Delivery> {
    return (this.#sequences.get(orderKey) ?? []).map(({ delivery }) => delivery)
  }

  /** Takes the webhook as a step has left it. */
  keepWebhook(webhook: Webhook.Webhook): void {
    const before = this.webhook
    this.webhook = webhook
    // either changes who is due when, and in which line
    if (webhook.health.recoveredAt !== before.health.recoveredAt || webhook.resumedAt !== before.resumedAt) {
      this.#realign()
    }
  }

  /** Takes a delivery as a step has left it. */
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
      consignment.place = null
    }
  }

  /** The same of one that has begun a new round, which puts it behind all that was recorded before. */
  begin(consignment: Consignment, delivery: Delivery.Delivery): void {
    consignment.serial = this.#serial++
    this.keep(consignment, delivery)
  }

  /** Its claim is over. The delivery as the step has left it is to be kept next. */
  unclaim(consignment: Consignment): void {
    consignment.lease = null
    this.#leased.delete(consignment)
  }

  /** How many wait for the first attempt of their replay. */
  replaysWaiting(): number {
    let count = 0
    for (const { delivery } of this.open) if (delivery.trigger === "replay" && Delivery.isUntried(delivery)) count++
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

  get standing(): Webhook.Standing {
    return Webhook.standing(this.webhook.health)
  }

  /** Since when what is longest due waits; `null` when nothing is due. */
  dueSince(now: Time.Instant): Time.Instant | null {
    const { resumedAt } = this.webhook
    let least: Time.Instant | null = null
    for (const consignment of this.open) {
      const at = this.#leased.has(consignment) ? null : Delivery.dueAt(consignment.delivery, this.webhook)
      if (at !== null && at <= now) least = Math.min(Math.max(at, resumedAt ?? at), least ?? Infinity)
    }
    return least
  }

  /** Whether something can be claimed; lets go of leases that have ended first. */
  isReady(now: Time.Instant): boolean {
    for (const consignment of this.#leased) {
      if (consignment.lease!.until > now) continue
      this.#leased.delete(consignment)
      if (!Delivery.isTest(consignment.delivery)) this.#enqueue(consignment)
      else {
        consignment.lease = null
        consignment.delivery = Delivery.end(consignment.delivery, "exhausted", now)
      }
    }
    if (this.open.size === 0) return false
    const slots = this.#slots(now)
    this.#allowance = Webhook.drainSlots({ inFlight: this.#draining(), nextAt: this.#nextDrainAt }, slots, now)
    return slots > 0 && this.#due(now) !== undefined
  }

  /** Claims the next delivery, if one is due and a slot is free. Comes after `isReady`. */
  claim(now: Time.Instant, lease: NonNullable<Consignment["lease"]>): Consignment | undefined {
    const place = this.#slots(now) > 0 ? this.#due(now) : undefined
    if (place === undefined) return undefined
    const { consignment, line } = place
    this.#lines[line].pop()
    if (line === "backlog") {
      this.#allowance--
      this.#nextDrainAt = Webhook.nextDrainAt({ nextAt: this.#nextDrainAt }, 1, now)
    }
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
    const times = Delivery.lines.flatMap((line) => {
      const place = this.#head(line)
      if (place === undefined) return []
      if (line !== "backlog") return [place.dueAt]
      return this.#draining() < Webhook.maxDraining ? [Math.max(place.dueAt, this.#nextDrainAt)] : []
    })
    return times.length + ends.length === 0 ? null : Math.max(opensAt, Math.min(...times, ...ends))
  }

  /** Gives a claim back. */
  release(consignment: Consignment): void {
    if (Delivery.isTest(consignment.delivery)) {
      consignment.lease = { token: "", until: -Infinity }
      return
    }
    this.unclaim(consignment)
    this.#enqueue(consignment)
  }

  /** What is open, and waits since before the first event that was recorded at or after a time. */
  heldBefore(from: Time.Instant): ReadonlyArray<Consignment> {
    let first = Infinity
    for (const { event, serial } of this.open) if (event.createdAt >= from) first = Math.min(first, serial)
    return [...this.open].filter(({ serial }) => serial < first)
  }

  /** All that has not ended, tests that are being made among it. */
  unended(): ReadonlyArray<Consignment> {
    return [...new Set([...this.open, ...this.#leased])]
  }

  /** Puts a delivery in line, by its own clock. */
  #enqueue(consignment: Consignment): void {
    const { delivery } = consignment
    const dueAt = Delivery.dueAt(delivery, this.webhook)
    consignment.place = null
    if (dueAt === null) return
    const line = Delivery.line(delivery, this.webhook)
    const at = Delivery.place(delivery, this.webhook)!
    consignment.place = { at, dueAt, line, serial: consignment.serial, consignment }
    this.#lines[line].push(consignment.place)
  }

  #leaveOrder(consignment: Consignment, orderKey: Id.MessageId): void {
    const left = (this.#sequences.get(orderKey) ?? []).filter((other) => other !== consignment)
    if (left.length === 0) this.#sequences.delete(orderKey)
    else this.#sequences.set(orderKey, left)
  }

  #realign(): void {
    for (const line of Delivery.lines) this.#lines[line].clear()
    for (const consignment of this.open) if (!this.#leased.has(consignment)) this.#enqueue(consignment)
  }

  #slots(now: Time.Instant): number {
    return Webhook.freeSlots(this.webhook, this.#leased.size, now)
  }

  /** How much of the backlog is being attempted. */
  #draining(): number {
    let count = 0
    for (const { place } of this.#leased) if (place?.line === "backlog") count++
    return count
  }

  /** The first place in a line that still stands. */
  #head(line: Delivery.Line): Place | undefined {
    const heap = this.#lines[line]
    for (let place = heap.peek(); place !== undefined; place = heap.peek()) {
      if (place.consignment.place === place) return place
      heap.pop()
    }
    return undefined
  }

  /** Who is next, given that a slot is free: line by line while the webhook is failing, else who has waited longest. */
  #due(now: Time.Instant): Place | undefined {
    let next: Place | undefined
    for (const line of Delivery.lines) {
      const place = this.#head(line)
      if (place === undefined || place.dueAt > now || (line === "backlog" && this.#allowance === 0)) continue
      if (next === undefined || (!Webhook.isFailing(this.webhook.health) && isBefore(place, next))) next = place
    }
    return next
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
