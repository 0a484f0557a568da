/**
 * Random histories: those of a service that keeps its promises are never blamed, and those that were falsified always.
 */
import { assert, describe, it } from "vitest"
import { check } from "../src/Check.ts"
import { type Entry, type History, parse, print } from "../src/History.ts"
import { type PromiseName, promises } from "../src/Promises.ts"
import { historyOf, Random } from "./reference.ts"

type Kind<K extends Entry["kind"]> = Extract<Entry, { readonly kind: K }>

/** Falsifies a history; `undefined` if it has nothing to falsify in this way. */
type Falsify = (entries: ReadonlyArray<Entry>, random: Random) => ReadonlyArray<Entry> | undefined

const all = <K extends Entry["kind"]>(entries: ReadonlyArray<Entry>, kind: K) =>
  entries.filter((entry): entry is Kind<K> => entry.kind === kind)

/** Replaces one entry of a kind, by none, one or more. */
const replace = <K extends Entry["kind"]>(
  kind: K,
  isMeant: (entry: Kind<K>, entries: ReadonlyArray<Entry>) => boolean,
  by: (entry: Kind<K>, entries: ReadonlyArray<Entry>) => ReadonlyArray<Entry>
): Falsify =>
(entries, random) => {
  const meant = all(entries, kind).filter((entry) => isMeant(entry, entries))
  if (meant.length === 0) return undefined
  const chosen = random.pick(meant)
  return entries.flatMap((entry) => entry === chosen ? by(chosen, entries) : [entry])
}

const isTaken = ({ status }: Kind<"send">) => status === 200 || status === 202

const attemptsOf = (entries: ReadonlyArray<Entry>, id: string) =>
  all(entries, "attempt").filter((attempt) => attempt.event_id === id).sort((a, b) => a.begun - b.begun)

const predecessor = ({ event }: Kind<"event">, entries: ReadonlyArray<Entry>) =>
  all(entries, "event").find((each) =>
    each.event.data["message_id"] === event.data["message_id"] &&
    Number(each.event.data["sequence"]) === Number(event.data["sequence"]) - 1
  )

const withData = (entry: Kind<"event">, data: object, id = entry.event.id): Kind<"event"> => ({
  ...entry,
  event: { ...entry.event, id, data: { ...entry.event.data, ...data } }
})

/** A marketing template to a customer, well after something. */
const marketingAfter = ({ begun, process }: Entry, to: string): Kind<"provider_call"> => ({
  kind: "provider_call",
  message_id: "msg_late",
  outcome: "accepted",
  begun: begun + 90_000,
  ended: begun + 90_001,
  process,
  from: "+1",
  to,
  type: "template",
  category: "marketing"
})

/** The names that are told together with a name, if they ever are. */
const namesWith = (name: string, entries: ReadonlyArray<Entry>) =>
  all(entries, "customer").find(({ names }) => names.includes(name))?.names ?? [name]

/** Whether a customer is opted out by this choice, and never opted in later. */
const isLastChoice = (choice: Kind<"preference">, entries: ReadonlyArray<Entry>) => {
  const names = namesWith(choice.name, entries)
  return choice.preference === "opt_out" &&
    !entries.some((entry) =>
      (entry.kind === "preference" && names.includes(entry.name) ||
        entry.kind === "received" && names.includes(entry.from)) &&
      entry.preference === "opt_in" && entry.begun > choice.begun
    )
}

const mutations: Readonly<Record<PromiseName, Readonly<Record<string, Falsify>>>> = {
  "one-provider-call": {
    "a call that was accepted is repeated": replace(
      "provider_call",
      ({ outcome }) => outcome === "accepted",
      (call) => [call, { ...call, begun: call.begun + 50_000, ended: call.begun + 50_001 }]
    ),
    "a call without an outcome is repeated": replace(
      "provider_call",
      ({ outcome }) => outcome === "unknown",
      (call) => [call, { ...call, outcome: "accepted", begun: call.begun + 50_000, ended: call.begun + 50_001 }]
    )
  },
  "sent-was-accepted": {
    "the only call and the reports of a message are dropped": (entries, random) => {
      const sends = all(entries, "send").filter(({ status }) => status === 200)
      if (sends.length === 0) return undefined
      const { message_id: id } = JSON.parse(random.pick(sends).answer!)
      return entries.filter((entry) =>
        !((entry.kind === "provider_call" || entry.kind === "report") && entry.message_id === id)
      )
    }
  },
  "best-report": {
    "the last status is worse than a report": (entries) => {
      const reported = new Set(all(entries, "report").filter((r) => r.status === "read").map((r) => r.message_id))
      const last = all(entries, "read").sort((a, b) => b.begun - a.begun).find((r) => reported.has(r.message_id))
      if (last === undefined) return undefined
      return entries.map((entry) => entry === last ? { ...last, status: "delivered" } : entry)
    }
  },
  "every-send-ends": {
    "a message has no outcome in the end": (entries) => {
      const last = all(entries, "read").sort((a, b) => b.begun - a.begun)[0]!
      return entries.map((entry) => entry === last ? { ...last, status: "unknown" } : entry)
    }
  },
  "status-never-falls": {
    "a message falls back after its delivery": replace(
      "read",
      ({ status }) => status === "delivered" || status === "read",
      (read) => [read, { ...read, begun: read.begun + 10_000, ended: read.begun + 10_001, status: "sent" }]
    )
  },
  "corrections": {
    "a correction does not say that it is one": replace(
      "event",
      (entry, entries) =>
        entry.event.data["corrects"] === "failed" && predecessor(entry, entries)?.event.type === "message.failed",
      (entry) => [withData(entry, { corrects: undefined })]
    )
  },
  "one-message-per-key": {
    "a repetition makes another message": replace(
      "send",
      (send, entries) =>
        isTaken(send) && send.replayed && all(entries, "send").some((a) => a !== send && a.answer === send.answer),
      (send) => [{ ...send, answer: send.answer!.replace(/msg_\d/, "msg_99") }]
    ),
    "two keys get one message": replace("send", isTaken, (send) => [send, { ...send, key: "another" }])
  },
  "same-answer": {
    "a repetition differs in a byte": replace(
      "send",
      (send, entries) =>
        isTaken(send) && all(entries, "send").some((a) => a !== send && a.status === 200 && a.answer === send.answer),
      (send) => [{ ...send, answer: `${send.answer}\n` }]
    ),
    "a repetition is not marked": replace(
      "send",
      (send, entries) =>
        isTaken(send) && send.replayed &&
        all(entries, "send").some((a) => !a.replayed && a.answer === send.answer),
      (send) => [{ ...send, replayed: false }]
    )
  },
  "other-body-conflicts": {
    "a repetition has another body": replace(
      "send",
      (send) => isTaken(send) && send.replayed,
      (send) => [send, { ...send, body: { to: "+1" }, begun: send.begun + 1 }]
    )
  },
  "conflict-has-another-body": {
    "a repetition gets a conflict": (entries, random) => {
      const conflicts = new Set(all(entries, "send").filter((s) => s.status === 409).map(({ key }) => key))
      return replace(
        "send",
        ({ key, replayed }) => replayed && !conflicts.has(key) && key !== "key_0",
        (send) => [{ ...send, status: 409, replayed: false }]
      )(entries, random)
    }
  },
  "every-event": {
    "the event of a sent message is dropped": replace(
      "event",
      ({ event: { data, type } }, entries) =>
        type === "message.sent" &&
        !all(entries, "event").some(({ event }) =>
          event.data["message_id"] === data["message_id"] && event.type === "message.failed"
        ),
      () => []
    ),
    "a report gets no event": (entries, random) => {
      const read = new Set(all(entries, "report").filter((r) => r.status === "read").map((r) => r.message_id))
      return replace(
        "event",
        ({ event }) => event.type === "message.read" && read.has(String(event.data["message_id"])),
        () => []
      )(entries, random)
    }
  },
  "received-once": {
    "a customer's message gets no event": replace(
      "event",
      ({ event }) => event.type === "message.received",
      () => []
    ),
    "a customer's message gets another event under another id": replace(
      "event",
      ({ event }) => event.type === "message.received",
      (entry) => [entry, withData(entry, { message_id: "msg_again" }, "evt_again")]
    )
  },
  "event-once": {
    "an event is recorded twice": replace(
      "event",
      ({ event }) => event.type !== "message.failed" && event.data["message_id"] !== undefined,
      (entry) => [entry, withData(entry, { sequence: Number(entry.event.data["sequence"]) + 9 }, "evt_twice")]
    )
  },
  "event-order": {
    "two events change places": (entries, random) => {
      const later = all(entries, "event").filter((entry) =>
        ["message.delivered", "message.read"].includes(entry.event.type) && predecessor(entry, entries) !== undefined &&
        predecessor(entry, entries)!.event.type !== "message.failed"
      )
      if (later.length === 0) return undefined
      const chosen = random.pick(later)
      const before = predecessor(chosen, entries)!
      const exchanged = (entry: Kind<"event">, other: Kind<"event">) =>
        withData(entry, { sequence: other.event.data["sequence"] })
      return entries.map((entry) =>
        entry === chosen ? exchanged(chosen, before) : entry === before ? exchanged(before, chosen) : entry
      )
    },
    "a number of the sequence is left out": replace(
      "event",
      (entry, entries) =>
        predecessor(entry, entries) !== undefined &&
        !all(entries, "event").some((each) => predecessor(each, entries) === entry),
      (entry) => [withData(entry, { sequence: Number(entry.event.data["sequence"]) + 1 })]
    )
  },
  "event-fixed": {
    "an attempt has another body": replace(
      "attempt",
      (attempt, entries) => attemptsOf(entries, attempt.event_id).length > 1,
      (attempt) => [{ ...attempt, body: `${attempt.body} ` }]
    ),
    "what was delivered is not listed": replace("event", () => true, () => [])
  },
  "delivered-in-order": {
    "an event overtakes the one before it": (entries, random) => {
      const later = all(entries, "event").filter((entry) =>
        predecessor(entry, entries) !== undefined && attemptsOf(entries, entry.event.id).length > 0
      )
      if (later.length === 0) return undefined
      const { event } = random.pick(later)
      const [first] = attemptsOf(entries, event.id)
      return entries.map((entry) => entry === first ? { ...first, begun: 1, ended: 2 } : entry)
    }
  },
  "delivered-at-least-once": {
    "an event is never delivered": (entries, random) => {
      const delivered = all(entries, "attempt").filter(({ event_id: id }) =>
        !all(entries, "delivery_end").some((end) => end.event_id === id)
      )
      if (delivered.length === 0) return undefined
      const { event_id: id } = random.pick(delivered)
      return entries.filter((entry) => !(entry.kind === "attempt" && entry.event_id === id && entry.status === 200))
    }
  },
  "retried-for-a-day": {
    "a delivery is given up early": replace(
      "delivery_end",
      ({ status }) => status === "exhausted",
      (end) => [{ ...end, begun: end.begun - 60_000, ended: end.begun - 60_000 }]
    )
  },
  "genuine-signature": {
    "an attempt is not signed": replace("attempt", () => true, (attempt) => [{ ...attempt, genuine: false }])
  },
  "service-window": {
    "a text is sent when the window is over": replace(
      "provider_call",
      ({ type }) => type === "text",
      (call) => [{ ...call, begun: call.begun + 2 * day, ended: call.begun + 2 * day }]
    ),
    "a text is sent to a customer who never wrote": (entries, random) => {
      const texts = all(entries, "provider_call").filter(({ type }) => type === "text")
      if (texts.length === 0) return undefined
      const names = namesWith(random.pick(texts).to!, entries)
      return entries.filter((entry) => !(entry.kind === "received" && names.includes(entry.from)))
    }
  },
  "quota": {
    "a message more than the quota is sent": replace("quota", () => true, (quota) => [
      { ...quota, messages: quota.messages! - 1 }
    ])
  },
  "campaign-once": {
    "a campaign writes again": replace(
      "provider_call",
      ({ campaign, to }) => campaign !== undefined && to !== undefined,
      (call) => [
        call,
        { ...call, message_id: "msg_again", begun: call.begun + 40_000, ended: call.begun + 40_001 }
      ]
    ),
    "a campaign writes again under another name": replace(
      "provider_call",
      ({ campaign, to }, entries) => campaign !== undefined && to !== undefined && namesWith(to, entries).length > 1,
      (call, entries) => {
        const later = Math.max(...entries.map(({ begun }) => begun))
        const to = namesWith(call.to!, entries).find((name) => name !== call.to)!
        return [call, { ...call, to, message_id: "msg_again", begun: later, ended: later }]
      }
    )
  },
  "campaign-counts": {
    "a recipient is counted twice": replace("campaign", () => true, (read) => [
      { ...read, counts: { ...read.counts, failed: 1 } }
    ]),
    "a customer of an upload is not counted": replace("recipients", () => true, (upload) => [
      { ...upload, to: [...upload.to, "+16660009"] }
    ]),
    "a recipient who was not uploaded is counted": replace("recipients", () => true, (upload) => [
      { ...upload, to: upload.to.slice(1) }
    ]),
    "a message that was sent is counted as skipped": replace(
      "campaign",
      ({ counts }) => counts["sent"]! > 0,
      (read) => [
        { ...read, counts: { ...read.counts, sent: read.counts["sent"]! - 1, skipped: read.counts["skipped"]! + 1 } }
      ]
    ),
    "a message that was only sent is counted as read": replace(
      "campaign",
      ({ counts }) => counts["sent"]! > 0,
      (read) => [{ ...read, counts: { ...read.counts, sent: read.counts["sent"]! - 1, read: 1 } }]
    )
  },
  "campaign-completed": {
    "a campaign is completed twice": replace(
      "event",
      ({ event }) => event.type === "campaign.completed",
      (entry) => [entry, { ...entry, event: { ...entry.event, id: "evt_twice" } }]
    ),
    "a campaign is completed while somebody is in its queue": replace(
      "campaign",
      ({ status }) => status === "completed",
      (read) => [{ ...read, counts: { ...read.counts, skipped: 0, queued: 1 } }]
    ),
    "a campaign is over without its event": replace(
      "event",
      ({ event }) => event.type === "campaign.completed",
      () => []
    )
  },
  "campaign-stopped": {
    "a campaign sends while it is paused": replace(
      "campaign_change",
      ({ change }) => change === "pause",
      ({ campaign, ended, process }) => [
        { kind: "campaign_change", begun: ended! - 1, ended, process, campaign, change: "pause", status: 200 },
        {
          kind: "provider_call",
          begun: ended! + 35_000,
          ended: ended! + 35_001,
          process,
          campaign,
          message_id: "msg_paused",
          outcome: "accepted"
        }
      ]
    ),
    "a campaign sends after it is cancelled": replace(
      "campaign_change",
      ({ change }) => change === "cancel",
      (cancel) => [cancel, {
        kind: "provider_call",
        begun: cancel.begun + 35_000,
        ended: null,
        process: "a",
        campaign: cancel.campaign,
        message_id: "msg_cancelled",
        outcome: "accepted"
      }]
    )
  },
  "opt-out": {
    "a customer is sent an offer after the opt-out": replace(
      "preference",
      isLastChoice,
      (choice) => [choice, marketingAfter(choice, choice.name)]
    ),
    "a customer is sent an offer under another name": replace(
      "preference",
      (choice, entries) => isLastChoice(choice, entries) && namesWith(choice.name, entries).length > 1,
      (choice, entries) => {
        const names = namesWith(choice.name, entries)
        const told = all(entries, "customer").find((entry) => entry.names === names)!
        return [
          choice,
          marketingAfter(choice.begun > told.begun ? choice : told, names.find((name) => name !== choice.name)!)
        ]
      }
    )
  },
  "not-before-send-at": {
    "a message is sent early": (entries, random) => {
      const queued = all(entries, "send").filter(({ status }) => status === 202)
      const early = new Map(queued.map(({ answer, body }) => [
        JSON.parse(answer!).message_id,
        Date.parse((body as { readonly send_at: string }).send_at) - 1
      ]))
      return replace("provider_call", (call) => early.has(call.message_id), (call) => [
        { ...call, begun: early.get(call.message_id)! }
      ])(entries, random)
    }
  },
  "not-after-send-until": {
    "a message is sent late": (entries, random) => {
      const until = new Map(
        all(entries, "send").filter(({ status }) => status === 202).map(({ answer, body }) => [
          JSON.parse(answer!).message_id,
          Date.parse((body as { readonly send_until: string }).send_until)
        ])
      )
      return replace("provider_call", (call) => until.has(call.message_id), (call) => {
        const begun = until.get(call.message_id)! + 30_001
        return [{ ...call, begun, ended: begun }]
      })(entries, random)
    },
    "a campaign sends after its end": replace(
      "campaign",
      ({ not_after: end }) => typeof end === "number",
      (read) => [read, {
        kind: "provider_call",
        begun: read.not_after! + 30_001,
        ended: null,
        process: "a",
        campaign: read.campaign,
        message_id: "msg_late",
        outcome: "accepted"
      }]
    )
  },
  "cancelled-is-never-sent": {
    "a cancelled message is sent": replace(
      "cancel",
      ({ status }) => status === 200,
      (
        cancel
      ) => [cancel, { ...cancel, kind: "provider_call", begun: 10 * cancel.begun, ended: null, outcome: "accepted" }]
    )
  },
  "handled-at-least-once": {
    "an event is never handled": (entries, random) => {
      const { event_id: id } = random.pick(all(entries, "handled"))
      return entries.filter((entry) => !(entry.kind === "handled" && entry.event_id === id && entry.ok))
    }
  },
  "handled-in-order": {
    "an event is handled before the one before it": (entries, random) => {
      const later = all(entries, "event").filter((entry) => predecessor(entry, entries) !== undefined)
      if (later.length === 0) return undefined
      const { event } = random.pick(later)
      return replace("handled", ({ event_id: id }) => id === event.id, (handled) => [
        { ...handled, begun: 1, ended: 2 }
      ])(entries, random)
    }
  },
  "repetition-is-told": {
    "a repetition is told to be the first attempt": replace(
      "handled",
      ({ attempt }) => attempt === 2,
      (handled) => [{ ...handled, attempt: 1 }]
    )
  }
}

const day = 24 * 60 * 60 * 1000

const runs = 200

it("the histories of a service that keeps its promises are never blamed", () => {
  for (let seed = 0; seed < runs; seed++) {
    assert.deepStrictEqual(check(historyOf(new Random(seed))).broken, [], `seed ${seed}`)
  }
})

describe.each(Object.keys(promises) as Array<PromiseName>)("%s", (promise) => {
  it.each(Object.entries(mutations[promise]))("%s: the history is blamed for it", (_, falsify) => {
    let count = 0
    for (let seed = 0; seed < runs && count < 30; seed++) {
      const random = new Random(seed)
      const { entries, header } = historyOf(random)
      const falsified = falsify(entries, random)
      if (falsified === undefined) continue
      count++
      const blamed = check({ header, entries: falsified }).broken.map((broken) => broken.promise)
      assert.include(blamed, promise, `seed ${seed}`)
    }
    assert.isAtLeast(count, 20)
  })
})

it("a history that is printed and read again is judged as before", () => {
  const history: History = historyOf(new Random(1))
  assert.deepStrictEqual(parse(print(history)), history)
})
