/**
 * The judgement of a history. What a history leaves open is decided for the service: two entries of which neither ended
 * before the other began have happened in whichever order the contract allows.
 */
import type {
  Attempt,
  Cancel,
  DeliveryEnd,
  Entry,
  History,
  ListedEvent,
  ProviderCall,
  Read,
  Report
} from "./History.ts"
import type { Send, WebhookSet } from "./History.ts"
import { type PromiseName, promises } from "./Promises.ts"

/** A broken promise. */
export interface Broken {
  readonly promise: PromiseName
  /** The section of the contract. */
  readonly section: number
  /** What was found. */
  readonly found: string
  /** The entries that prove it, in the order of their beginning. */
  readonly evidence: ReadonlyArray<Entry>
}

/** Whether every promise was kept, and which were not. */
export interface Verdict {
  readonly ok: boolean
  readonly broken: ReadonlyArray<Broken>
}

type Blame = (promise: PromiseName, found: string, ...evidence: ReadonlyArray<Entry>) => void

const endOf = ({ ended }: Entry): number => ended ?? Infinity

const day = 24 * 60 * 60 * 1000

const grouped = <A>(entries: ReadonlyArray<A>, keyOf: (entry: A) => string): ReadonlyMap<string, ReadonlyArray<A>> => {
  const groups = new Map<string, Array<A>>()
  for (const entry of entries) {
    const key = keyOf(entry)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [entry])
    else group.push(entry)
  }
  return groups
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const canonical = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(canonical)
    : isRecord(value)
    ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, canonical(value[key])]))
    : value

const parsed = (text: string | null): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text ?? "")
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}

/** A send with what its answer says. */
interface Answered {
  readonly send: Send
  readonly body: string
  readonly messageId: string | undefined
  readonly answer: Readonly<Record<string, unknown>>
  readonly isStored: boolean
  /** Whether the answer shows that the key is bound to this body. */
  readonly isBound: boolean
}

const finalReasons: ReadonlySet<unknown> = new Set(["undeliverable", "provider_policy", "template_params_mismatch"])
const unknownReasons: ReadonlySet<unknown> = new Set(["outcome_unknown", "delivery_unknown"])

const answered = (send: Send): Answered => {
  const answer = parsed(send.answer)
  const error = isRecord(answer["error"]) ? answer["error"] : {}
  const isTaken = send.status === 200 || send.status === 202
  const isRefusedForGood = error["provider"] !== undefined && finalReasons.has(error["reason"])
  const messageId = answer["message_id"]
  return {
    send,
    body: JSON.stringify(canonical(send.body)),
    messageId: isTaken && typeof messageId === "string" ? messageId : undefined,
    answer,
    isStored: isTaken || isRefusedForGood,
    isBound: isTaken || isRefusedForGood || (send.status === 504 && unknownReasons.has(error["reason"]))
  }
}

const checkKey = (sends: ReadonlyArray<Answered>, clockError: number, blame: Blame): void => {
  // from the first request that can have bound the key: whatever is later than a day after may be another binding
  let closesAt = -Infinity
  let nextBegun: number | undefined
  let holder: Answered | undefined
  let stored: Answered | undefined
  let fresh: Answered | undefined
  for (const each of sends) {
    const { begun } = each.send
    if (begun >= closesAt) nextBegun ??= begun
    if (!each.isBound) continue
    const isOpen = holder !== undefined && begun < closesAt
    if (!isOpen && (holder === undefined || each.messageId === undefined || each.messageId !== stored?.messageId)) {
      closesAt = (nextBegun ?? begun) + day - clockError
      nextBegun = undefined
      holder = each
      stored = fresh = undefined
    }
    if (holder!.body !== each.body) {
      blame("other-body-conflicts", "two bodies were accepted under one key", holder!.send, each.send)
      continue
    }
    if (!each.isStored) continue
    if (!each.send.replayed && fresh !== undefined) {
      blame("same-answer", "two answers under one key are not marked as replayed", fresh.send, each.send)
    }
    if (!each.send.replayed) fresh ??= each
    if (stored === undefined) stored = each
    else if (stored.messageId !== each.messageId) {
      blame("one-message-per-key", "one key has two messages", stored.send, each.send)
    } else if (stored.send.status !== each.send.status || stored.send.answer !== each.send.answer) {
      blame("same-answer", "a repetition has another answer", stored.send, each.send)
    }
  }
}

const checkKeys = (sends: ReadonlyArray<Answered>, clockError: number, blame: Blame): void => {
  const bySend = ({ send }: Answered) => JSON.stringify([send.workspace, send.key])
  for (const group of grouped(sends, bySend).values()) {
    checkKey(group, clockError, blame)
    const bodies = grouped(group, ({ body }) => body)
    const firsts = [...bodies.values()].map(([first]) => first!)
    for (const { body, send } of group) {
      // the two that begin first are enough: one of them has another body
      const other = firsts.slice(0, 2).find((first) => first.body !== body)
      if (send.status === 409 && !(other !== undefined && other.send.begun <= endOf(send) + clockError)) {
        blame("conflict-has-another-body", "409 without another body under the key", send)
      }
    }
  }
  for (const group of grouped(sends.filter(({ messageId }) => messageId !== undefined), (a) => a.messageId!).values()) {
    const other = group.find((each) => bySend(each) !== bySend(group[0]!))
    if (other !== undefined) blame("one-message-per-key", "one message has two keys", group[0]!.send, other.send)
  }
}

/** All that concerns one message, each in the order of its beginning. */
interface Message {
  readonly sends: ReadonlyArray<Answered>
  readonly calls: ReadonlyArray<ProviderCall>
  readonly reports: ReadonlyArray<Report>
  readonly cancels: ReadonlyArray<Cancel>
  readonly reads: ReadonlyArray<Read>
  /** In the order of their sequence. */
  readonly events: ReadonlyArray<ListedEvent>
}

const checkCalls = ({ calls, reports, sends }: Message, clockError: number, blame: Blame): void => {
  let sent: ProviderCall | undefined
  let over: ProviderCall | undefined
  for (const call of calls) {
    const before = call.outcome === "not_sent" ? over : sent
    if (before !== undefined && (call.outcome !== "not_sent" || endOf(before) + clockError < call.begun)) {
      blame("one-provider-call", `${call.outcome}, besides a call that was ${before.outcome}`, before, call)
    }
    if (call.outcome === "not_sent") continue
    sent ??= call
    if (over === undefined || endOf(call) < endOf(over)) over = call
  }
  const accepted = calls.find(({ outcome }) => outcome === "accepted")
  const report = reports.find(({ status }) => status !== "failed")
  for (const { answer, send } of sends) {
    const end = endOf(send) + clockError
    if (send.status === 200 && !((accepted?.begun ?? Infinity) <= end || (report?.begun ?? Infinity) <= end)) {
      blame("sent-was-accepted", "answered with 200, and not accepted by the provider", send, ...calls)
    } else if (
      send.status === 200 && accepted?.provider_message_id !== undefined &&
      accepted.provider_message_id !== answer["provider_message_id"]
    ) {
      blame("sent-was-accepted", "the answer has another provider_message_id", send, accepted)
    }
    const sendAt = isRecord(send.body) ? Date.parse(String(send.body["send_at"])) : NaN
    const [first] = calls
    if (send.status === 202 && first !== undefined && first.begun < sendAt - clockError) {
      blame("not-before-send-at", "called before send_at", send, first)
    }
  }
}

const checkCancels = ({ calls, cancels, events }: Message, blame: Blame): void => {
  const cancelled = cancels.find(({ status }) => status === 200)
  if (cancelled === undefined) return
  for (const entry of [...calls, ...events]) {
    blame("cancelled-is-never-sent", "cancelled, and yet there is this", cancelled, entry)
  }
}

const atLeast: Readonly<Record<string, ReadonlyArray<string>>> = {
  sent: ["sent", "failed", "delivered", "read"],
  failed: ["sent", "failed", "delivered", "read"],
  delivered: ["delivered", "read"],
  read: ["read"],
  cancelled: ["cancelled"],
  skipped: ["skipped"]
}

const strictness = (status: string): number => Object.keys(atLeast).indexOf(status)

const checkReads = (
  { cancels, reads, reports }: Message,
  clockError: number,
  settledAt: number,
  blame: Blame
): void => {
  // what had ended before a read began, and the status of which leaves the fewest
  const known = [...reads, ...cancels.filter(({ status }) => status === 200)].sort((a, b) => endOf(a) - endOf(b))
  let next = 0
  let floor: { readonly status: string; readonly entry: Entry } | undefined
  for (const read of reads) {
    for (; next < known.length && endOf(known[next]!) + clockError < read.begun; next++) {
      const entry = known[next]!
      const status = entry.kind === "cancel" ? "cancelled" : String(entry.status)
      if (strictness(status) > strictness(floor?.status ?? "")) floor = { status, entry }
    }
    if (floor !== undefined && !atLeast[floor.status]!.includes(read.status)) {
      blame("status-never-falls", `${read.status} after ${floor.status}`, floor.entry, read)
    }
  }
  const acknowledged = reports.filter(({ ended }) => ended !== null)
  const best = ["read", "delivered", "failed", "sent"].map((status) =>
    acknowledged.find((report) => report.status === status)
  ).find((report) => report !== undefined)
  if (best === undefined) return
  const allowed = best.status === "failed" ? ["failed", "delivered", "read"] : atLeast[best.status]!
  for (const read of reads) {
    if (read.begun >= settledAt && !allowed.includes(read.status)) {
      blame("best-report", `${read.status}, and ${best.status} was reported`, best, read)
    }
  }
}

const sequenceOf = ({ event }: ListedEvent): number => Number(event.data["sequence"])

const ranks: Readonly<Record<string, number>> = {
  "message.sent": 0,
  "message.failed": 0,
  "message.delivered": 1,
  "message.read": 2
}

const checkEvents = ({ events }: Message, isSettled: boolean, blame: Blame): void => {
  const seen = new Map<string, ListedEvent>()
  let failed: ListedEvent | undefined
  for (const [index, entry] of events.entries()) {
    const before = events[index - 1]
    const { data, type } = entry.event
    const step = before === undefined ? 1 : sequenceOf(entry) - sequenceOf(before)
    if (step === 0) blame("event-order", "two events have one sequence", before!, entry)
    else if (step > 1 && isSettled) blame("event-order", "a gap in the sequence", before!, entry)
    if (before !== undefined && (ranks[type] ?? 0) < (ranks[before.event.type] ?? 0)) {
      blame("event-order", `${type} after ${before.event.type}`, before, entry)
    }
    const same = seen.get(type)
    if (same !== undefined && type !== "message.failed") blame("event-once", `${type} twice`, same, entry)
    seen.set(type, entry)
    const corrects = data["corrects"] === "failed"
    if (corrects && failed === undefined) blame("corrections", "corrects a failure that was not told", entry)
    if (before?.event.type === "message.failed" && type !== "message.failed" && !corrects) {
      blame("corrections", `${type} after message.failed does not say what it corrects`, before, entry)
    }
    if (type === "message.failed") failed = entry
  }
}

const checkEveryEvent = ({ cancels, calls, events, reports, sends }: Message, blame: Blame): void => {
  const types = new Set(events.map(({ event }) => event.type))
  const expect = (because: Entry, ...oneOf: ReadonlyArray<string>) => {
    if (!oneOf.some((type) => types.has(type))) blame("every-event", `${oneOf.join(" or ")} is missing`, because)
  }
  const sent = sends.find(({ send }) => send.status === 200)
  if (sent !== undefined) expect(sent.send, "message.sent")
  const queued = sends.find(({ send }) => send.status === 202)
  if (queued !== undefined && !cancels.some(({ status }) => status !== 403)) {
    expect(queued.send, "message.sent", "message.failed")
  }
  const refused = calls.find(({ outcome }) => outcome === "refused")
  if (refused !== undefined) expect(refused, "message.failed")
  // one of each status is enough, so that a report that is repeated costs nothing
  const acknowledged = new Map(reports.filter(({ ended }) => ended !== null).map((report) => [report.status, report]))
  for (const [status, report] of acknowledged) {
    if (status === "failed") expect(report, "message.failed", "message.delivered", "message.read")
    // a failure yields to `sent` only if the outcome was not known
    else if (status === "sent") expect(report, "message.sent", "message.failed")
    else {
      expect(report, "message.sent")
      expect(report, "message.delivered")
      if (status === "read") expect(report, "message.read")
    }
  }
}

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
interface Delivery {
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

const checkDeliveries = (
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

const checkAtLeastOnce = (
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

const checkListed = (
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

/**
 * Judges a history. Takes time and memory that grow with the number of entries, but for their sorting, and reads no clock.
 *
 * An event or a delivery can be missing only in a history that has `settled_at` and that lists events.
 */
export const check = ({ entries, header }: History): Verdict => {
  const broken: Array<Broken> = []
  const blame: Blame = (promise, found, ...evidence) => {
    const sorted = [...evidence].sort((a, b) => a.begun - b.begun)
    broken.push({ promise, section: promises[promise].section, found, evidence: sorted })
  }
  const clockError = header.clock_error ?? 0
  const settledAt = header.settled_at ?? Infinity
  const isSettled = settledAt < Infinity
  const sorted = [...entries].sort((a, b) => a.begun - b.begun)
  const of = <K extends Entry["kind"]>(kind: K) =>
    sorted.filter((entry): entry is Extract<Entry, { readonly kind: K }> => entry.kind === kind)

  const sends = of("send").map(answered)
  checkKeys(sends, clockError, blame)

  const attempts = of("attempt")
  const listed = checkListed(of("event"), attempts, isSettled, blame)
  const webhookOf = ({ webhook }: { readonly webhook: string }) => webhook
  const byWebhook = {
    set: grouped(of("webhook"), webhookOf),
    attempts: grouped(attempts, webhookOf),
    ends: grouped(of("delivery_end"), webhookOf)
  }
  for (const webhook of new Set(Object.values(byWebhook).flatMap((groups) => [...groups.keys()]))) {
    const [own, ends] = [byWebhook.attempts.get(webhook) ?? [], byWebhook.ends.get(webhook) ?? []]
    const deliveries = checkDeliveries(own, ends, listed, clockError, blame)
    const [set] = byWebhook.set.get(webhook) ?? []
    if (isSettled && set !== undefined) checkAtLeastOnce(set, deliveries, listed, clockError, blame)
  }

  const byMessage = {
    sends: grouped(sends.filter(({ messageId }) => messageId !== undefined), ({ messageId }) => messageId!),
    calls: grouped(of("provider_call"), (entry) => entry.message_id),
    reports: grouped(of("report"), (entry) => entry.message_id),
    cancels: grouped(of("cancel"), (entry) => entry.message_id),
    reads: grouped(of("read"), (entry) => entry.message_id),
    events: grouped(
      [...listed.values()].filter(({ event }) => typeof event.data["message_id"] === "string"),
      ({ event }) => String(event.data["message_id"])
    )
  }
  for (const id of new Set(Object.values(byMessage).flatMap((groups) => [...groups.keys()]))) {
    const message: Message = {
      sends: byMessage.sends.get(id) ?? [],
      calls: byMessage.calls.get(id) ?? [],
      reports: byMessage.reports.get(id) ?? [],
      cancels: byMessage.cancels.get(id) ?? [],
      reads: byMessage.reads.get(id) ?? [],
      events: [...byMessage.events.get(id) ?? []].sort((a, b) => sequenceOf(a) - sequenceOf(b))
    }
    checkCalls(message, clockError, blame)
    checkCancels(message, blame)
    checkReads(message, clockError, settledAt, blame)
    checkEvents(message, isSettled, blame)
    if (isSettled && listed.size > 0) checkEveryEvent(message, blame)
  }
  return { ok: broken.length === 0, broken }
}
