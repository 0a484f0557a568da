/**
 * The promises about one message: its provider calls, its status, its events (contract §3, §6, §15).
 */
import { type Blame, endOf } from "./Broken.ts"
import { claimLease } from "./Customers.ts"
import type { Cancel, Entry, ListedEvent, ProviderCall, Read, Report } from "./History.ts"
import { isRecord } from "./Json.ts"
import type { Answered } from "./Keys.ts"

/** The entries about one message. Each list but `events` is in the order of `begun`. */
export interface Message {
  readonly sends: ReadonlyArray<Answered>
  readonly calls: ReadonlyArray<ProviderCall>
  readonly reports: ReadonlyArray<Report>
  readonly cancels: ReadonlyArray<Cancel>
  readonly reads: ReadonlyArray<Read>
  /** In the order of `data.sequence`. */
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
      blame("sent-was-accepted", "answered with 200, and not accepted by the provider", send, calls)
    } else if (
      send.status === 200 && accepted?.provider_message_id !== undefined &&
      accepted.provider_message_id !== answer["provider_message_id"]
    ) {
      blame("sent-was-accepted", "the answer has another provider_message_id", send, accepted)
    }
    const timeIn = (name: string) => isRecord(send.body) ? Date.parse(String(send.body[name])) : NaN
    const [sendAt, sendUntil] = [timeIn("send_at"), timeIn("send_until")]
    const [first] = calls
    if (send.status === 202 && first !== undefined && first.begun < sendAt - clockError) {
      blame("not-before-send-at", "called before send_at", send, first)
    }
    const late = calls.find(({ begun }) => begun > sendUntil + claimLease + clockError)
    if (send.status === 202 && late !== undefined) {
      blame("not-after-send-until", "called after send_until", send, late)
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
  { cancels, reads, reports, sends }: Message,
  clockError: number,
  settledAt: number,
  blame: Blame
): void => {
  // of the entries that ended before a read began, the floor is the one whose status allows the fewest later statuses
  const answers = sends.map(({ send }) => send)
  const known = [...reads, ...[...cancels, ...answers].filter(({ status }) => status === 200)]
    .sort((a, b) => endOf(a) - endOf(b))
  let next = 0
  let floor: { readonly status: string; readonly entry: Entry } | undefined
  for (const read of reads) {
    for (; next < known.length && endOf(known[next]!) + clockError < read.begun; next++) {
      const entry = known[next]!
      const status = entry.kind === "read" ? entry.status : entry.kind === "cancel" ? "cancelled" : "sent"
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

/** The event's place among the events of its message: `data.sequence`. */
export const sequenceOf = ({ event }: ListedEvent): number => Number(event.data["sequence"])

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
  // if a failure is reported before the acceptance is recorded, `message.failed` is the only event
  const hasFailed = reports.some(({ status }) => status === "failed")
  if (sent !== undefined) expect(sent.send, "message.sent", ...(hasFailed ? ["message.failed"] : []))
  const queued = sends.find(({ send }) => send.status === 202)
  if (queued !== undefined && !cancels.some(({ status }) => status !== 403)) {
    expect(queued.send, "message.sent", "message.failed")
  }
  const refused = calls.find(({ outcome }) => outcome === "refused")
  if (refused !== undefined) expect(refused, "message.failed")
  // one report of each status is enough, so that repeated reports cost nothing
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

/** The statuses of a message that has no outcome yet. */
const open = ["queued", "sending", "unknown"]

const checkEnds = ({ reads, sends }: Message, mayWait: boolean, settledAt: number, blame: Blame): void => {
  for (const read of reads) {
    // a campaign may keep its recipients in its queue for good, those that were tried as `sending`
    const waits = read.status !== "unknown" && mayWait && sends.length === 0
    if (read.begun >= settledAt && open.includes(read.status) && !waits) {
      blame("every-send-ends", `${read.status} when nothing is in progress`, read, sends.map(({ send }) => send))
    }
  }
}

/**
 * Checks the promises of §3, §6 and §15 about one message. `hasEvents`: whether the history lists any events. `mayWait`:
 * whether the message may be in the queue of a campaign in the end, if no send has it.
 */
export const checkMessage = (
  message: Message,
  { clockError, hasEvents, mayWait, settledAt }: {
    readonly clockError: number
    readonly settledAt: number
    readonly hasEvents: boolean
    readonly mayWait: boolean
  },
  blame: Blame
): void => {
  const isSettled = settledAt < Infinity
  checkCalls(message, clockError, blame)
  checkCancels(message, blame)
  checkReads(message, clockError, settledAt, blame)
  checkEnds(message, mayWait, settledAt, blame)
  checkEvents(message, isSettled, blame)
  if (isSettled && hasEvents) checkEveryEvent(message, blame)
}
