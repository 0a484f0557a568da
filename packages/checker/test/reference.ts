/**
 * A small service that keeps every promise, with its callers, its provider and a receiver: histories of random runs.
 */
import type { Entry, History, ListedEvent, Read, Report, Send } from "../src/History.ts"

const minute = 60_000
const day = 24 * 60 * minute

/** Random numbers that a seed repeats. */
export class Random {
  private state: number
  constructor(seed: number) {
    this.state = seed
  }
  /** From 0 up to, and without, 1: mulberry32. */
  next(): number {
    this.state = (this.state + 0x6D2B79F5) | 0
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }
  chance(probability: number): boolean {
    return this.next() < probability
  }
  pick<A>(items: ReadonlyArray<A>): A {
    return items[this.below(items.length)]!
  }
}

const rank = ["queued", "sending", "unknown", "sent", "failed", "delivered", "read"]

/** One message on its way; its clock is its own, as messages do not wait for each other. */
class Run {
  private status = "sending"
  private readonly events: Array<ListedEvent["event"]> = []
  readonly entries: Array<Entry> = []
  now: number
  private readonly random: Random
  private readonly id: string
  private readonly key: string
  private readonly body: Readonly<Record<string, unknown>>

  constructor(random: Random, id: string, key: string, now: number, sendAt?: number) {
    this.random = random
    this.id = id
    this.key = key
    this.now = now
    this.body = {
      to: `+1555${random.below(10_000_000)}`,
      text: { body: id },
      ...(sendAt === undefined
        ? {}
        : { send_at: new Date(sendAt).toISOString(), send_until: new Date(sendAt + minute).toISOString() })
    }
  }

  /** Time passes. */
  private pass(atMost = 1000): number {
    this.now += 1 + this.random.below(atMost)
    return this.now
  }

  private during(): { readonly begun: number; readonly ended: number; readonly process: string } {
    return { begun: this.pass(), ended: this.pass(), process: this.random.pick(["a", "b"]) }
  }

  private send(fields: Pick<Send, "status" | "answer" | "replayed"> & Partial<Send>): void {
    this.entries.push({
      kind: "send",
      ...this.during(),
      workspace: "ws_1",
      key: this.key,
      body: this.body,
      ...fields
    })
  }

  private call(outcome: "accepted" | "refused" | "not_sent" | "unknown"): void {
    const named = outcome === "accepted" ? { provider_message_id: `up-${this.id}` } : {}
    this.entries.push({ kind: "provider_call", ...this.during(), message_id: this.id, outcome, ...named })
  }

  private emit(type: string, corrects: boolean): void {
    if (type !== "message.failed" && this.events.some((event) => event.type === type)) return
    const sequence = this.events.length + 1
    this.events.push({
      id: `evt_${this.id}_${sequence}`,
      type,
      created_at: new Date(this.pass()).toISOString(),
      data: { message_id: this.id, sequence, ...(corrects ? { corrects: "failed" } : {}) }
    })
  }

  private apply(status: string): void {
    if (rank.indexOf(status) <= rank.indexOf(this.status)) return
    const corrects = this.status === "failed"
    this.status = status
    if (status === "failed") return this.emit("message.failed", false)
    for (const each of ["sent", "delivered", "read"]) {
      if (rank.indexOf(each) <= rank.indexOf(status)) this.emit(`message.${each}`, corrects)
    }
  }

  read(fields: Partial<Read> = {}): void {
    this.entries.push({ kind: "read", ...this.during(), message_id: this.id, status: this.status, ...fields })
  }

  private report(status: Report["status"]): void {
    this.entries.push({ kind: "report", ...this.during(), message_id: this.id, status })
    this.apply(status)
  }

  private readonly accepted = () => ({
    status: 200,
    answer: JSON.stringify({ status: "sent", message_id: this.id, provider_message_id: `up-${this.id}` })
  })

  private readonly error = (status: number, reason: string, provider?: object) => ({
    status,
    answer: JSON.stringify({ error: { reason, provider } })
  })

  private readonly ofOther = () => ({ ...this.body, to: "+15550000000" })

  private repeat(answer: Pick<Send, "status" | "answer">): void {
    for (let count = this.random.below(3); count > 0; count--) {
      this.send({ ...answer, replayed: true })
      if (this.random.chance(0.4)) {
        this.send({ ...this.error(409, "payload_mismatch"), body: this.ofOther(), replayed: false })
      }
      if (this.random.chance(0.4)) this.read()
    }
  }

  /** A call, and the request around it. */
  private around(outcome: "accepted" | "refused" | "not_sent" | "unknown"): Pick<Send, "begun" | "ended"> {
    const begun = this.pass()
    this.call(outcome)
    return { begun, ended: this.pass() }
  }

  private sync(): void {
    while (this.random.chance(0.2)) {
      this.send({ ...this.error(429, "provider"), replayed: false, ...this.around("not_sent") })
    }
    const end = this.random.below(4)
    if (end === 0) {
      const refused = this.error(400, "undeliverable", { code: 1 })
      this.send({ ...refused, replayed: false, ...this.around("refused") })
      this.apply("failed")
      return this.repeat(refused)
    }
    if (end === 1) {
      this.send({ status: null, answer: null, replayed: false, ...this.around("unknown"), ended: null })
      this.status = "unknown"
      this.repeat(this.error(504, "outcome_unknown"))
      this.report(this.random.pick(["sent", "delivered"] as const))
    } else {
      const around = this.around("accepted")
      this.apply("sent")
      this.send({ ...this.accepted(), replayed: false, ...around })
    }
    this.repeat(this.accepted())
  }

  private queued(sendAt: number): void {
    this.status = "queued"
    const answer = { status: 202, answer: JSON.stringify({ status: "queued", message_id: this.id }) }
    this.send({ ...answer, replayed: false })
    this.repeat(answer)
    const cancel = (status: number) =>
      this.entries.push({ kind: "cancel", ...this.during(), message_id: this.id, status })
    if (this.random.chance(0.4)) {
      cancel(200)
      this.status = "cancelled"
      this.read()
      return
    }
    this.now = Math.max(this.now, sendAt)
    if (this.random.chance(0.2)) this.call("not_sent")
    this.call("accepted")
    this.apply("sent")
    if (this.random.chance(0.3)) cancel(403)
    this.repeat(answer)
  }

  /** A subscription handles the events, and fails now and then. */
  private handle(): void {
    let at = 0
    for (const { created_at: createdAt, id } of this.events) {
      at = Math.max(at, Date.parse(createdAt)) + 1
      let attempt = 0
      for (let ok = false; !ok;) {
        ok = this.random.chance(0.6)
        attempt++
        this.entries.push({
          kind: "handled",
          begun: at,
          ended: at + 3,
          process: this.random.pick(["a", "b"]),
          subscription: "s_1",
          event_id: id,
          ok,
          attempt
        })
        at += 3 + this.random.below(minute)
      }
    }
  }

  private deliver(): void {
    let free = 0
    for (const event of this.events) {
      this.entries.push({ kind: "event", ...this.during(), event })
      let at = Math.max(free, Date.parse(event.created_at)) + 1
      const first = at
      const attempt = (status: number | null) => {
        this.entries.push({
          kind: "attempt",
          begun: at,
          ended: at + 5,
          process: "receiver",
          webhook: "whk_1",
          event_id: event.id,
          body: JSON.stringify(event),
          status,
          genuine: true
        })
        at += 5 + this.random.below(minute)
      }
      while (this.random.chance(0.3)) attempt(this.random.pick([500, null, 204]))
      if (this.random.chance(0.1)) {
        attempt(500)
        const begun = first + day + 5
        const status = this.random.pick(["exhausted", "skipped"] as const)
        this.entries.push({
          kind: "delivery_end",
          begun,
          ended: begun,
          process: "a",
          webhook: "whk_1",
          event_id: event.id,
          status
        })
        free = begun
      } else {
        attempt(200)
        free = at
        if (this.random.chance(0.2)) attempt(200)
      }
    }
  }

  /** Sends it, and lets the provider report. */
  go(sendAt?: number): void {
    if (sendAt === undefined) this.sync()
    else this.queued(sendAt)
    if (this.status !== "cancelled") {
      for (let count = this.random.below(5); count > 0; count--) {
        this.report(this.random.pick(["sent", "delivered", "read", "failed"] as const))
        if (this.random.chance(0.5)) this.read()
      }
    }
    this.deliver()
    this.handle()
  }
}

/** A customer with a number and a user id, which the provider may tell together. Messages are calls alone. */
class Person {
  readonly entries: Array<Entry> = []
  /** The customer of each name; both names have the same customer once a report joins them. */
  private known = new Map<string, { window: number; isOut: boolean; readonly campaigns: Set<string> }>()
  private readonly names: readonly [string, string]
  private readonly random: Random
  private readonly id: string
  private now: number
  private count = 0

  constructor(random: Random, index: number) {
    this.random = random
    this.id = `person_${index}`
    this.names = [`+1666000${index}`, `US.${index}`]
    this.now = 40_000 + random.below(minute)
    for (const name of this.names) this.known.set(name, { window: -1, isOut: false, campaigns: new Set() })
  }

  private during() {
    this.now += this.random.chance(0.3) ? 45_000 : 1 + this.random.below(5000)
    const begun = this.now
    this.now += 1 + this.random.below(300)
    return { begun, ended: this.now, process: "a" }
  }

  private call(to: string, fields: Partial<Extract<Entry, { readonly kind: "provider_call" }>>): void {
    this.entries.push({
      kind: "provider_call",
      ...this.during(),
      message_id: `${this.id}_${++this.count}`,
      outcome: "accepted",
      workspace: "ws_2",
      from: "+1",
      to,
      ...fields
    })
  }

  /** A customer's message gets its event, which is delivered and handled. */
  private tell(providerMessageId: string): void {
    const [begun, process] = [this.now, "a"]
    const event = {
      id: `evt_${providerMessageId}`,
      type: "message.received",
      created_at: new Date(begun).toISOString(),
      data: { message_id: `msg_${providerMessageId}`, provider_message_id: providerMessageId, sequence: 1 }
    }
    const timed = { begun, ended: begun + 1, process, event_id: event.id }
    this.entries.push(
      { kind: "event", begun, ended: begun + 1, process, event },
      { kind: "handled", ...timed, subscription: "s_1", ok: true },
      { kind: "attempt", ...timed, webhook: "whk_1", body: JSON.stringify(event), status: 200, genuine: true }
    )
  }

  /** One thing happens. */
  step(): void {
    const name = this.random.pick(this.names)
    const customer = this.known.get(name)!
    const preference = this.random.pick(["opt_out", "opt_out", "opt_in"] as const)
    switch (this.random.below(6)) {
      case 0: {
        const isWord = this.random.chance(0.3)
        const received = { kind: "received", ...this.during(), from: name, to: "+1" } as const
        const providerMessageId = `in_${this.id}_${++this.count}`
        this.entries.push({
          ...received,
          provider_message_id: providerMessageId,
          at: received.begun,
          ...(isWord ? { preference } : {})
        })
        this.tell(providerMessageId)
        customer.window = received.begun + day
        if (isWord) customer.isOut = preference === "opt_out"
        return
      }
      case 1:
        this.entries.push({ kind: "preference", ...this.during(), name, preference, status: 200 })
        customer.isOut = preference === "opt_out"
        return
      case 2: {
        this.entries.push({ kind: "customer", ...this.during(), names: this.names })
        const [one, other] = this.names.map((each) => this.known.get(each)!)
        const both = {
          window: Math.max(one!.window, other!.window),
          isOut: one!.isOut || other!.isOut,
          campaigns: new Set([...one!.campaigns, ...other!.campaigns])
        }
        for (const each of this.names) this.known.set(each, both)
        return
      }
      case 3:
        if (customer.isOut || customer.window < this.now + 50_000) return
        return this.call(name, { type: "text" })
      case 4: {
        const campaign = this.random.pick(["c_1", "c_2"])
        if (customer.isOut || customer.campaigns.has(campaign)) return
        customer.campaigns.add(campaign)
        return this.call(name, { type: "template", category: "marketing", campaign })
      }
      default:
        return this.call(name, { type: "template", category: "utility" })
    }
  }
}

/** Some customers, and a quota that is used up. */
const people = (random: Random): ReadonlyArray<Entry> => {
  const entries = Array.from({ length: 4 }, (_, index) => {
    const person = new Person(random, index)
    for (let steps = 0; steps < 12; steps++) person.step()
    return person.entries
  }).flat()
  const messages = entries.filter(({ kind }) => kind === "provider_call").length
  return [{ kind: "quota", begun: 0, ended: 1, process: "a", workspace: "ws_2", messages }, ...entries]
}

/** A campaign that is paused, goes on and is completed or cancelled. */
const campaign = (random: Random, settledAt: number): ReadonlyArray<Entry> => {
  let now = 50_000
  let calls = 0
  const timed = (passes: number) => {
    now += passes
    return { begun: now - 1, ended: now, process: "a", campaign: "c_3" }
  }
  const change = (change: "start" | "pause" | "resume" | "cancel"): Entry => ({
    kind: "campaign_change",
    ...timed(10),
    change,
    status: 200
  })
  const some = (): ReadonlyArray<Entry> =>
    Array.from({ length: random.below(3) }, () => ({
      kind: "provider_call",
      ...timed(1000),
      message_id: `campaign_${++calls}`,
      outcome: "accepted"
    }))
  const entries = [change("start"), ...some(), change("pause"), { ...change("resume"), ...timed(60_000) }, ...some()]
  const status = random.pick(["completed", "cancelled"])
  if (status === "cancelled") entries.push(change("cancel"))
  const counts = { total: calls + 1, sent: calls, skipped: 1 }
  const event = {
    id: "evt_c_3",
    type: "campaign.completed",
    created_at: new Date(now).toISOString(),
    data: { campaign_id: "c_3", status }
  }
  const handled = { ...timed(10), subscription: "s_1", event_id: event.id, ok: true }
  const { campaign: _, ...attempt } = { ...timed(10), webhook: "whk_1", event_id: event.id }
  const to = Array.from({ length: counts.total }, (_, index) => `+1777000${index}`)
  return [
    { kind: "recipients", begun: 1, ended: 2, process: "a", campaign: "c_3", to, status: 200 },
    ...entries,
    { kind: "event", ...timed(1), event },
    { kind: "handled", ...handled },
    { kind: "attempt", ...attempt, body: JSON.stringify(event), status: 200, genuine: true },
    {
      kind: "campaign",
      begun: settledAt,
      ended: settledAt,
      process: "a",
      campaign: "c_3",
      status,
      counts,
      not_after: now
    }
  ]
}

/** The history of a run of ten messages or so, which came to rest. */
export const historyOf = (random: Random): History => {
  const runs = Array.from({ length: 10 }, (_, index) => {
    // the key of the first is used anew, two days later
    const [key, now] = index === 9 ? ["key_0", 2 * day] : [`key_${index}`, 100 + random.below(minute)]
    const sendAt = random.chance(0.4) ? now + 20_000 + random.below(minute) : undefined
    const run = new Run(random, `msg_${index}`, key, now, sendAt)
    run.go(sendAt)
    return run
  })
  const settledAt = Math.max(...runs.flatMap(({ entries }) => entries.map(({ begun }) => begun))) + minute
  for (const run of runs) run.read({ begun: settledAt, ended: settledAt + 1 })
  const webhook: Entry = { kind: "webhook", begun: 0, ended: 1, process: "a", webhook: "whk_1" }
  const subscription: Entry = { kind: "subscription", begun: 0, ended: 1, process: "a", subscription: "s_1" }
  const entries = [
    webhook,
    subscription,
    ...campaign(random, settledAt),
    ...runs.flatMap((run) => run.entries),
    ...people(random)
  ]
  return {
    header: { format: "wac-history", version: 1, settled_at: settledAt },
    // the order of the lines means nothing
    entries: random.chance(0.5) ? entries : entries.reverse()
  }
}
