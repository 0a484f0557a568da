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
    consignment.serial = this.#serial++
    if (consignment.delivery.orderKey !== orderKey) this.#leaveOrder(consignment, orderKey!)
    this.open.add(consignment)
    if (!this.#leased.has(consignment)) this.#enqueue(consignment)
  }

  /** How many wait for the first attempt of their replay. */
  replaysWaiting(): number {
    let count = 0
    for (const { delivery } of this.open) if (delivery.trigger === "replay" && Delivery.isUntried(delivery)) count++
    return count
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
      if (Delivery.isTest(consignment.delivery)) this.#end(consignment, "exhausted", now)
      else this.#enqueue(consignment)
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
    if (after.webhook.health.recoveredAt !== before.recoveredAt) this.#realign()
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

  pause(now: Time.Instant): void {
    this.webhook = Webhook.pause(this.webhook, now)
  }

  /** Resumes the webhook, if it is paused; what was held before the first event since `from` came is skipped. */
  resume(now: Time.Instant, from: Time.Instant): void {
    if (this.webhook.pausedAt === null) return
    this.webhook = Webhook.resume(this.webhook, now)
    let first = Infinity
    for (const { event, serial } of this.open) if (event.createdAt >= from) first = Math.min(first, serial)
    const older = [...this.open].filter(({ serial }) => serial < first)
    this.#skip(older, now)
    const freed = new Set(older.flatMap(({ delivery: { orderKey } }) => orderKey ?? []))
    for (const orderKey of freed) this.#follow(orderKey, now)
    this.#realign()
  }

  /** Ends all that waits, for a webhook that goes. */
  skipAll(now: Time.Instant): void {
    this.webhook = { ...this.webhook, pausedAt: null }
    this.#skip(new Set([...this.open, ...this.#leased]), now)
  }

  #skip(consignments: Iterable<Consignment>, now: Time.Instant): void {
    for (const consignment of consignments) {
      this.#end(consignment, "skipped", now)
      this.#leased.delete(consignment)
      this.#leave(consignment)
    }
  }

  #end(consignment: Consignment, status: "exhausted" | "skipped", now: Time.Instant): void {
    consignment.delivery = { ...consignment.delivery, status, nextAttemptAt: null, completedAt: now }
    consignment.lease = null
    consignment.place = null
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

  #close(consignment: Consignment, now: Time.Instant): void {
    const { orderKey } = consignment.delivery
    this.#leave(consignment)
    if (orderKey !== null) this.#follow(orderKey, now)
  }

  /** Takes a delivery that has ended out of all lines. */
  #leave(consignment: Consignment): void {
    consignment.place = null
    this.open.delete(consignment)
    const { orderKey } = consignment.delivery
    if (orderKey === null) return
    this.#leaveOrder(consignment, orderKey)
  }

  #leaveOrder(consignment: Consignment, orderKey: Id.MessageId): void {
    const left = (this.#sequences.get(orderKey) ?? []).filter((other) => other !== consignment)
    if (left.length === 0) this.#sequences.delete(orderKey)
    else this.#sequences.set(orderKey, left)
  }

  /** The first that is left of an order key waits for nobody any more. */
  #follow(orderKey: Id.MessageId, now: Time.Instant): void {
    const next = this.#sequences.get(orderKey)?.[0]
    if (next === undefined || next.delivery.nextAttemptAt !== null) return
    next.delivery = { ...next.delivery, nextAttemptAt: now }
    this.#enqueue(next)
  }

  /** The webhook has recovered, or was resumed, which changes who is due when, and in which line. */
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
