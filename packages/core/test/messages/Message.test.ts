import { assert, describe, it } from "@effect/vitest"
import { Duration, Result, Schema } from "effect"
import {
  apply,
  deliveryUnknown,
  isConcluded,
  isDeliveryUnknown,
  type Message,
  notSent,
  OutboundMessage,
  rankOf,
  ranks,
  type Report,
  retryTimeout,
  type Transition,
  unknownTimeout
} from "../../src/messages/Message.ts"
import { between, checks, hour, minute, upTo } from "../checks.ts"
import { customer, message, report, start } from "../samples.ts"

const [t1, t2, t3, t4, now] = [start + 1, start + 2, start + 3, start + 4, start + 100] as const
const refused = { code: "forbidden", reason: "provider_policy", message: "no" }
const silent = { status: "failed", failedAt: t1, error: deliveryUnknown, sequence: 1 } as const
const corrected = { failedAt: null, error: null } as const
const corrects = "failed"

describe("one report", () => {
  const rows: ReadonlyArray<{
    readonly what: string
    readonly before: Partial<Message>
    readonly report: Report
    /** The changed fields of the message. */
    readonly changed: Partial<Message>
    readonly transitions: ReadonlyArray<Transition>
  }> = [
    {
      what: "sent, of one that is sending",
      before: {},
      report: report("sent", t1),
      changed: { status: "sent", statusAt: now, sentAt: t1, providerMessageId: "wamid.1" },
      transitions: [{ to: "sent", at: t1 }]
    },
    {
      what: "sent, of one that is queued",
      before: { status: "queued" },
      report: report("sent", t1),
      changed: { status: "sent", statusAt: now, sentAt: t1, providerMessageId: "wamid.1" },
      transitions: [{ to: "sent", at: t1 }]
    },
    {
      what: "delivered, of one that is unknown: both steps, with the later time",
      before: { status: "unknown" },
      report: report("delivered", t2),
      changed: { status: "delivered", statusAt: now, sentAt: t2, deliveredAt: t2, providerMessageId: "wamid.1" },
      transitions: [{ to: "sent", at: t2 }, { to: "delivered", at: t2 }]
    },
    {
      what: "read, of one that is sending: all three steps, with the later time",
      before: {},
      report: report("read", t3),
      changed: { status: "read", statusAt: now, sentAt: t3, deliveredAt: t3, readAt: t3, providerMessageId: "wamid.1" },
      transitions: [{ to: "sent", at: t3 }, { to: "delivered", at: t3 }, { to: "read", at: t3 }]
    },
    {
      what: "read, of one that is sent: the skipped step first",
      before: { status: "sent", sentAt: t1, providerMessageId: "wamid.1" },
      report: report("read", t3),
      changed: { status: "read", statusAt: now, deliveredAt: t3, readAt: t3 },
      transitions: [{ to: "delivered", at: t3 }, { to: "read", at: t3 }]
    },
    {
      what: "delivered again",
      before: { status: "delivered", sentAt: t1, deliveredAt: t2, providerMessageId: "wamid.1" },
      report: report("delivered", t4),
      changed: {},
      transitions: []
    },
    {
      what: "sent, late: its time is known already",
      before: { status: "read", sentAt: t3, deliveredAt: t3, readAt: t3, providerMessageId: "wamid.1" },
      report: report("sent", t1),
      changed: {},
      transitions: []
    },
    {
      what: "sent, late: its time was not known",
      before: { status: "delivered", deliveredAt: t2, providerMessageId: "wamid.1" },
      report: report("sent", t1),
      changed: { sentAt: t1 },
      transitions: []
    },
    {
      what: "another name: the first one stays",
      before: { status: "sent", sentAt: t1, providerMessageId: "wamid.0" },
      report: report("delivered", t2),
      changed: { status: "delivered", statusAt: now, deliveredAt: t2 },
      transitions: [{ to: "delivered", at: t2 }]
    },
    {
      what: "a name with nothing new",
      before: { status: "sent", sentAt: t1 },
      report: report("sent", t1),
      changed: { providerMessageId: "wamid.1" },
      transitions: []
    },
    {
      what: "delivered, by a clock that is behind: not before it was sent",
      before: { status: "sent", sentAt: t2, providerMessageId: "wamid.1" },
      report: report("delivered", t1),
      changed: { status: "delivered", statusAt: now, deliveredAt: t2 },
      transitions: [{ to: "delivered", at: t2 }]
    },
    {
      what: "sent, by a clock that is behind: not before it was asked for",
      before: {},
      report: report("sent", start - 1),
      changed: { status: "sent", statusAt: now, sentAt: start, providerMessageId: "wamid.1" },
      transitions: [{ to: "sent", at: start }]
    },
    {
      what: "failed, by a clock that is behind: not before it was sent",
      before: { status: "sent", sentAt: t2, providerMessageId: "wamid.1" },
      report: report("failed", t1),
      changed: { status: "failed", statusAt: now, failedAt: t2, error: refused },
      transitions: [{ to: "failed", at: t2 }]
    },
    {
      what: "failed, of one that is sending",
      before: {},
      report: report("failed", t1, { providerMessageId: null }),
      changed: { status: "failed", statusAt: now, failedAt: t1, error: refused },
      transitions: [{ to: "failed", at: t1 }]
    },
    {
      what: "failed, of one that is sent",
      before: { status: "sent", sentAt: t1, providerMessageId: "wamid.1" },
      report: report("failed", t2),
      changed: { status: "failed", statusAt: now, failedAt: t2, error: refused },
      transitions: [{ to: "failed", at: t2 }]
    },
    {
      what: "failed, of one that is delivered",
      before: { status: "delivered", sentAt: t1, deliveredAt: t2, providerMessageId: "wamid.1" },
      report: report("failed", t3),
      changed: {},
      transitions: []
    },
    {
      what: "failed, of one that is read",
      before: { status: "read", sentAt: t1, deliveredAt: t2, readAt: t3, providerMessageId: "wamid.1" },
      report: report("failed", t4),
      changed: {},
      transitions: []
    },
    {
      what: "failed again, otherwise",
      before: { status: "failed", failedAt: t1, error: refused, sequence: 1, providerMessageId: "wamid.1" },
      report: report("failed", t2, { error: notSent }),
      changed: {},
      transitions: []
    },
    ...[deliveryUnknown, notSent].map((error) => ({
      what: `failed, with our own reason ${error.reason}: reported all the same, so no conclusion`,
      before: {},
      report: report("failed", t1, { error }),
      changed: {
        status: "failed" as const,
        statusAt: now,
        failedAt: t1,
        error: { code: error.code, message: error.message },
        providerMessageId: "wamid.1"
      },
      transitions: [{ to: "failed" as const, at: t1 }]
    })),
    {
      what: "sent, of one that failed: only its time",
      before: { status: "failed", failedAt: t1, error: refused, sequence: 1, providerMessageId: "wamid.1" },
      report: report("sent", t2),
      changed: { sentAt: t2 },
      transitions: []
    },
    {
      what: "delivered, of one that failed after it was sent",
      before: { status: "failed", sentAt: t1, failedAt: t2, error: refused, sequence: 2, providerMessageId: "wamid.1" },
      report: report("delivered", t3),
      changed: { ...corrected, status: "delivered", statusAt: now, deliveredAt: t3 },
      transitions: [{ to: "delivered", at: t3, corrects }]
    },
    {
      what: "read, of one that failed after it was sent: the skipped step first",
      before: { status: "failed", sentAt: t1, failedAt: t2, error: refused, sequence: 2, providerMessageId: "wamid.1" },
      report: report("read", t3),
      changed: { ...corrected, status: "read", statusAt: now, deliveredAt: t3, readAt: t3 },
      transitions: [{ to: "delivered", at: t3, corrects }, { to: "read", at: t3, corrects }]
    },
    {
      what: "delivered, of one that failed before it was sent: both steps",
      before: { status: "failed", failedAt: t1, error: refused, sequence: 1, providerMessageId: "wamid.1" },
      report: report("delivered", t2),
      changed: { ...corrected, status: "delivered", statusAt: now, sentAt: t2, deliveredAt: t2 },
      transitions: [{ to: "sent", at: t2, corrects }, { to: "delivered", at: t2, corrects }]
    },
    {
      what: "delivered, of one that failed and whose sending was reported late, without an event",
      before: { status: "failed", sentAt: t1, failedAt: t2, error: refused, sequence: 1, providerMessageId: "wamid.1" },
      report: report("delivered", t3),
      changed: { ...corrected, status: "delivered", statusAt: now, deliveredAt: t3 },
      transitions: [{ to: "sent", at: t1, corrects }, { to: "delivered", at: t3, corrects }]
    },
    {
      what: "delivered before it failed, by the provider's time",
      before: { status: "failed", sentAt: t1, failedAt: t4, error: refused, sequence: 2, providerMessageId: "wamid.1" },
      report: report("delivered", t2),
      changed: { ...corrected, status: "delivered", statusAt: now, deliveredAt: t2 },
      transitions: [{ to: "delivered", at: t2, corrects }]
    },
    {
      what: "sent, after ten minutes of silence",
      before: silent,
      report: report("sent", t2),
      changed: { ...corrected, status: "sent", statusAt: now, sentAt: t2, providerMessageId: "wamid.1" },
      transitions: [{ to: "sent", at: t2, corrects }]
    },
    {
      what: "sent, after 24 hours without a retry",
      before: { ...silent, error: notSent },
      report: report("sent", t2),
      changed: { ...corrected, status: "sent", statusAt: now, sentAt: t2, providerMessageId: "wamid.1" },
      transitions: [{ to: "sent", at: t2, corrects }]
    },
    {
      what: "delivered, after ten minutes of silence",
      before: silent,
      report: report("delivered", t2),
      changed: {
        ...corrected,
        status: "delivered",
        statusAt: now,
        sentAt: t2,
        deliveredAt: t2,
        providerMessageId: "wamid.1"
      },
      transitions: [{ to: "sent", at: t2, corrects }, { to: "delivered", at: t2, corrects }]
    },
    {
      what: "failed, after ten minutes of silence: its workspace was told already",
      before: silent,
      report: report("failed", t2),
      changed: { status: "failed", statusAt: now, failedAt: t2, error: refused, providerMessageId: "wamid.1" },
      transitions: []
    },
    {
      what: "failed, of one that was sent after all: it failed again",
      before: { status: "sent", sentAt: t2, sequence: 2, providerMessageId: "wamid.1" },
      report: report("failed", t3),
      changed: { status: "failed", statusAt: now, failedAt: t3, error: refused },
      transitions: [{ to: "failed", at: t3 }]
    },
    {
      what: "read, of one that was skipped: its status is final",
      before: { status: "skipped", error: refused },
      report: report("read", t3),
      changed: { readAt: t3, providerMessageId: "wamid.1" },
      transitions: []
    }
  ]

  it.each(rows)("$what", ({ before, changed, report, transitions }) => {
    const given = message(before)
    assert.deepStrictEqual(apply(given, report, now), { message: { ...given, ...changed }, transitions })
  })
})

const beginnings = {
  queued: message({ status: "queued" }),
  sending: message(),
  unknown: message({ status: "unknown" }),
  sent: message({ status: "sent", sentAt: start, sequence: 1, providerMessageId: "wamid.1" }),
  delivered: message({
    status: "delivered",
    sentAt: start,
    deliveredAt: start,
    sequence: 2,
    providerMessageId: "wamid.1"
  }),
  silent: message(silent),
  notSent: message({ ...silent, error: notSent }),
  refused: message({ status: "failed", failedAt: start, error: refused, sequence: 1 }),
  bounced: message({ status: "failed", sentAt: start, failedAt: start, error: refused, sequence: 2 })
}
type Beginning = keyof typeof beginnings
const beginning = Schema.Literals(Object.keys(beginnings) as Array<Beginning>)
const statuses = ["sent", "delivered", "read", "failed", "played"] as const
const reports = upTo(
  Schema.Struct({
    status: Schema.Literals(statuses),
    // the provider's times are whole seconds, so they may precede ours of the same moment
    at: between(start - 10, start + 50),
    providerMessageId: Schema.NullOr(Schema.Literals(["wamid.1", "wamid.2"]))
  }),
  12
)
type Given = (typeof reports.Type)[number]

interface Step {
  readonly before: Message
  readonly report: Report
  readonly after: Message
  readonly transitions: ReadonlyArray<Transition>
  readonly now: number
}

/** A message that was played is reported as one that was read. */
const reportOf = ({ status, ...fields }: Given): Report =>
  status === "played" ? report("read", fields.at, { ...fields, isPlayed: true }) : report(status, fields.at, fields)

const play = (from: Message, given: ReadonlyArray<Given>) => {
  const steps: Array<Step> = []
  let before = from
  for (const [i, one] of given.entries()) {
    const report = reportOf(one)
    const { message: moved, transitions } = apply(before, report, now + i)
    const after = { ...moved, sequence: before.sequence + transitions.length }
    steps.push({ before, report, after, transitions, now: now + i })
    before = after
  }
  return { steps, end: before, told: steps.flatMap(({ transitions }) => transitions) }
}

/** The report's time, but not before the previous steps'. */
const timeOf = ({ createdAt, deliveredAt, sentAt }: Message, { at, status }: Report): number =>
  Math.max(
    ...[at, createdAt, status === "sent" ? null : sentAt, status === "read" ? deliveredAt : null]
      .filter((time) => time !== null)
  )

/** The best of some statuses. */
const bestOf = (all: ReadonlyArray<Message["status"]>): Message["status"] =>
  all.reduce((best, one) => rankOf(one) > rankOf(best) ? one : best)

/** The status that a beginning has by itself: a failure that we concluded says nothing about the message. */
const knownOf = (from: Message): Message["status"] => isConcluded(from) ? "unknown" : from.status

/** All sequences of these reports, without repetition. */
const permutations = <A>(all: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  all.length === 0
    ? [[]]
    : all.flatMap((one, i) => permutations(all.toSpliced(i, 1)).map((rest) => [one, ...rest]))

/** All selections of some of these. */
const selections = <A>(all: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  all.reduce<ReadonlyArray<ReadonlyArray<A>>>((some, one) => [...some, ...some.map((few) => [...few, one])], [[]])

/** What receivers make of the events that they get: the last one counts. */
const lastTold = (told: ReadonlyArray<Transition>): Transition["to"] | undefined => told.at(-1)?.to

/** Checks that the end is the best report, and that the events say so and nothing else. */
const assertTrue = (from: Message, given: ReadonlyArray<Given>) => {
  const { end, told } = play(from, given)
  const reported = given.map((one) => reportOf(one).status)
  const best = bestOf([knownOf(from), ...reported])
  const isSilent = best === "unknown" && from.status === "failed"
  assert.strictEqual(end.status, isSilent ? "failed" : best)
  assert.strictEqual(lastTold(told) ?? from.status, end.status)
  assert.deepStrictEqual(
    [end.failedAt === null, end.error === null],
    end.status === "failed" ? [false, false] : [true, true]
  )
  assert.strictEqual(end.playedAt !== null, given.some(({ status }) => status === "played"))
  // every step of the end is told once, by a receiver's count of all events
  const before = { sent: 1, delivered: 2 }[knownOf(from) as "sent"] ?? (from === beginnings.bounced ? 1 : 0)
  const climbed = told.map(({ to }) => to).filter((to) => to !== "failed")
  const steps = ["sent", "delivered", "read"] as const
  assert.deepStrictEqual(climbed, steps.slice(before, before + climbed.length))
  if (end.status !== "failed" && rankOf(end.status) >= ranks.sent) {
    assert.strictEqual(before + climbed.length, steps.indexOf(end.status as "sent") + 1)
  }
  // corrections are marked: those events, and only those, that end a failure
  let isFailed = from.status === "failed"
  for (const { transitions } of play(from, given).steps) {
    for (const { corrects, to } of transitions) {
      assert.strictEqual(corrects, isFailed && to !== "failed" ? "failed" : undefined)
    }
    if (transitions.length > 0) isFailed = transitions.at(-1)!.to === "failed"
  }
}

const all = selections(statuses).flatMap(permutations)
const at = (status: (typeof statuses)[number], i: number): Given => ({ status, at: start + i, providerMessageId: null })

describe.each(Object.keys(beginnings) as Array<Beginning>)("one that is %s at first", (name) => {
  it(`a message ends as the best of its reports, and its events agree, in all ${all.length} orders`, () => {
    for (const given of all) assertTrue(beginnings[name], given.map(at))
  })

  it("a message ends the same if each report comes twice, at once or later", () => {
    for (const given of all) {
      assertTrue(beginnings[name], [...given, ...given].map(at))
      assertTrue(beginnings[name], given.flatMap((status) => [status, status]).map(at))
      assertTrue(beginnings[name], [...given, ...given.toReversed()].map(at))
    }
  })

  it("a message ends the same in every order of the same reports", () => {
    for (const chosen of selections(statuses)) {
      const ends = permutations(chosen).map((given) => play(beginnings[name], given.map(at)).end.status)
      assert.lengthOf([...new Set(ends)], 1)
    }
  })
})

describe("any reports in any order", () => {
  it.prop("the end is the best report, and the events say so", { beginning, reports }, (_) => {
    assertTrue(beginnings[_.beginning], _.reports)
  }, checks)

  it.prop("a rank never falls, and only a failure concluded from silence yields to a lower rank", {
    beginning,
    reports
  }, (_) => {
    for (const { after, before } of play(beginnings[_.beginning], _.reports).steps) {
      if (!isConcluded(before)) assert.isAtLeast(rankOf(after.status), rankOf(before.status))
    }
  }, checks)

  it.prop("a failure that comes below the status changes nothing", { beginning, reports }, (_) => {
    for (const { after, before, report } of play(beginnings[_.beginning], _.reports).steps) {
      if (report.status !== "failed" || isConcluded(before) || rankOf(before.status) < ranks.failed) continue
      const { providerMessageId } = after
      assert.deepStrictEqual(after, { ...before, providerMessageId })
    }
  }, checks)

  it.prop("skipped steps get the time of the report that skipped them, unless theirs is known", {
    beginning,
    reports
  }, (_) => {
    for (const { after, before, report, transitions } of play(beginnings[_.beginning], _.reports).steps) {
      const told = timeOf(before, report)
      for (const { at, to } of transitions) {
        const known = to === "failed" ? null : before[`${to}At`]
        assert.strictEqual(at, known ?? told)
        assert.strictEqual(after[`${to}At`], known ?? told)
      }
    }
  }, checks)

  it.prop("no step has a time before the previous step's", { beginning, reports }, (_) => {
    const { createdAt, sentAt } = beginnings[_.beginning]
    const climbed = play(beginnings[_.beginning], _.reports).told.filter(({ to }) => to !== "failed")
    const times = [createdAt, sentAt ?? createdAt, ...climbed.map(({ at }) => at)]
    assert.deepStrictEqual(times, [...times].sort((a, b) => a - b))
  }, checks)

  it.prop(
    "a repeated report changes nothing and records nothing",
    { beginning, reports, again: between(0, 11) },
    (_) => {
      const { end, steps } = play(beginnings[_.beginning], _.reports)
      const seen = steps[_.again % (steps.length || 1)]
      if (seen === undefined) return
      assert.deepStrictEqual(apply(end, seen.report, now + 1000), { message: end, transitions: [] })
    },
    checks
  )

  it.prop(
    "a report that advances nothing fills at most an unknown time and id",
    { beginning, reports },
    (_) => {
      for (const { after, before, report, transitions } of play(beginnings[_.beginning], _.reports).steps) {
        if (transitions.length > 0 || after.error !== before.error) continue
        const field = `${report.status}At` as const
        assert.deepStrictEqual(after, {
          ...before,
          [field]: report.status === "failed" ? before.failedAt : before[field] ?? timeOf(before, report),
          providerMessageId: before.providerMessageId ?? report.providerMessageId,
          playedAt: before.playedAt ?? (report.isPlayed === true ? Math.max(report.at, before.createdAt) : null)
        })
      }
    },
    checks
  )

  it.prop("the status's own time changes exactly with the status", { beginning, reports }, (_) => {
    for (const { after, before, now } of play(beginnings[_.beginning], _.reports).steps) {
      const moved = after.status !== before.status || after.error !== before.error
      assert.strictEqual(after.statusAt, moved ? now : before.statusAt)
    }
  }, checks)

  it.prop("the first provider id stays, and nothing else of the message changes", { beginning, reports }, (_) => {
    const from = beginnings[_.beginning]
    const { end } = play(from, _.reports)
    const names = [from.providerMessageId, ..._.reports.map((one) => one.providerMessageId)]
    assert.strictEqual(end.providerMessageId, names.find((name) => name !== null) ?? null)
    for (const field of ["id", "workspaceId", "content", "createdAt", "from", "apiKeyId"] as const) {
      assert.strictEqual(end[field], from[field])
    }
  }, checks)
})

describe("silence", () => {
  it("an unknown outcome is awaited for ten minutes, and a retry for 24 hours", () => {
    assert.deepStrictEqual([unknownTimeout, retryTimeout].map((duration) => Duration.toMillis(duration)), [
      10 * minute,
      24 * hour
    ])
  })

  it.each(
    [
      { status: "failed", error: deliveryUnknown, yields: true, isUnknown: true },
      { status: "failed", error: notSent, yields: true, isUnknown: false },
      { status: "failed", error: refused, yields: false, isUnknown: false },
      { status: "failed", error: null, yields: false, isUnknown: false },
      { status: "unknown", error: null, yields: false, isUnknown: false }
    ] as const
  )("$status with $error.reason yields to a report of sending: $yields", ({ isUnknown, yields, ...fields }) => {
    assert.strictEqual(isConcluded(message(fields)), yields)
    assert.strictEqual(isDeliveryUnknown(message(fields)), isUnknown)
  })
})

describe("a request to send", () => {
  const decode = (input: unknown) => Schema.decodeUnknownResult(OutboundMessage, { onExcessProperty: "error" })(input)
  const template = { name: "order", language: "en_US", bodyParams: ["1"] }

  it.each<[string, unknown]>([
    ["a template", { to: customer, type: "template", template }],
    ["a template without values", { to: customer, type: "template", template: { name: "plain", language: "en" } }],
    ["no values at all", { to: customer, type: "template", template: { ...template, bodyParams: [] } }],
    ["text", { to: customer, type: "text", text: { body: "olá 👋", previewUrl: true } }],
    ["the longest text", { to: customer, type: "text", text: { body: "👋".repeat(4096) } }],
    ["every option", {
      to: customer,
      from: "pn_1",
      clientReference: "x".repeat(255),
      type: "text",
      text: { body: "x" }
    }]
  ])("%s", (_, input) => {
    const decoded = decode(input)
    assert.isTrue(Result.isSuccess(decoded))
    if (Result.isSuccess(decoded)) assert.deepEqual(decoded.success, input as OutboundMessage)
  })

  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["a list", []],
    ["no kind", { to: customer, text: { body: "x" } }],
    ["an unknown kind", { to: customer, type: "image", text: { body: "x" } }],
    ["no recipient", { type: "text", text: { body: "x" } }],
    ["a recipient with separators", { to: "+1 202 555 0123", type: "text", text: { body: "x" } }],
    ["no content", { to: customer, type: "text" }],
    ["the other kind's content", { to: customer, type: "text", template }],
    ["both contents", { to: customer, type: "text", text: { body: "x" }, template }],
    ["empty text", { to: customer, type: "text", text: { body: "" } }],
    ["text beyond 4096 characters", { to: customer, type: "text", text: { body: "x".repeat(4097) } }],
    ["text with NUL", { to: customer, type: "text", text: { body: "a\u0000" } }],
    ["text with half a character", { to: customer, type: "text", text: { body: "\ud800" } }],
    ["a misspelt field", { to: customer, type: "template", template: { ...template, bodyparams: ["1"] } }],
    ["an unknown field", { to: customer, type: "text", text: { body: "x" }, ttl: 1 }],
    ["an empty value", { to: customer, type: "template", template: { ...template, bodyParams: ["1", ""] } }],
    ["a value that is no text", { to: customer, type: "template", template: { ...template, bodyParams: [1] } }],
    ["no language", { to: customer, type: "template", template: { name: "order" } }],
    ["a language of another shape", { to: customer, type: "template", template: { ...template, language: "en-US" } }],
    ["an empty name", { to: customer, type: "template", template: { ...template, name: "" } }],
    ["an empty reference", { to: customer, clientReference: "", type: "text", text: { body: "x" } }],
    ["a long reference", { to: customer, clientReference: "x".repeat(256), type: "text", text: { body: "x" } }],
    ["an empty sender", { to: customer, from: "", type: "text", text: { body: "x" } }],
    ["a preview that is no boolean", { to: customer, type: "text", text: { body: "x", previewUrl: "yes" } }],
    ["null for an option", { to: customer, from: null, type: "text", text: { body: "x" } }]
  ])("not %s", (_, input) => {
    assert.isTrue(Result.isFailure(decode(input)))
  })
})
