import { assert, describe, it } from "@effect/vitest"
import { Duration, Result, Schema } from "effect"
import {
  apply,
  deliveryUnknown,
  hasEnded,
  isDeliveryUnknown,
  type Message,
  type MessageStatus,
  notSent,
  OutboundMessage,
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
const silent = { status: "failed", failedAt: t1, error: deliveryUnknown } as const

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
      before: { status: "failed", failedAt: t1, error: notSent, providerMessageId: "wamid.1" },
      report: report("failed", t2),
      changed: {},
      transitions: []
    },
    {
      what: "read, of one that failed",
      before: { status: "failed", sentAt: t1, failedAt: t2, error: refused, providerMessageId: "wamid.1" },
      report: report("read", t3),
      changed: { readAt: t3 },
      transitions: []
    },
    {
      what: "delivered, after ten minutes of silence",
      before: silent,
      report: report("delivered", t2),
      changed: {
        status: "delivered",
        statusAt: now,
        sentAt: t2,
        deliveredAt: t2,
        failedAt: null,
        error: null,
        providerMessageId: "wamid.1"
      },
      transitions: [{ to: "sent", at: t2 }, { to: "delivered", at: t2 }]
    },
    {
      what: "failed, after ten minutes of silence: its workspace was told already",
      before: silent,
      report: report("failed", t2),
      changed: { status: "failed", statusAt: now, failedAt: t2, error: refused, providerMessageId: "wamid.1" },
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
  sent: message({ status: "sent", sentAt: start, providerMessageId: "wamid.1" }),
  delivered: message({ status: "delivered", sentAt: start, deliveredAt: start, providerMessageId: "wamid.1" }),
  silent: message(silent),
  refused: message({ status: "failed", failedAt: start, error: refused })
}
const beginning = Schema.Literals(Object.keys(beginnings) as Array<keyof typeof beginnings>)
const statuses = Schema.Literals(["sent", "delivered", "read", "failed"])
const reports = upTo(
  Schema.Struct({
    status: statuses,
    // the provider's times are whole seconds, so they may precede ours of the same moment
    at: between(start - 10, start + 50),
    providerMessageId: Schema.NullOr(Schema.Literals(["wamid.1", "wamid.2"]))
  }),
  12
)

interface Step {
  readonly before: Message
  readonly report: Report
  readonly after: Message
  readonly transitions: ReadonlyArray<Transition>
  readonly now: number
}

const play = (from: Message, given: typeof reports.Type) => {
  const steps: Array<Step> = []
  let before = from
  for (const [i, { status, ...fields }] of given.entries()) {
    const one = report(status, fields.at, fields)
    const moved = apply(before, one, now + i)
    steps.push({ before, report: one, after: moved.message, transitions: moved.transitions, now: now + i })
    before = moved.message
  }
  return { steps, end: before, told: steps.flatMap(({ transitions }) => transitions) }
}

/** The report's time, but not before the previous steps'. */
const timeOf = ({ createdAt, deliveredAt, sentAt }: Message, { at, status }: Report): number =>
  Math.max(
    ...[at, createdAt, status === "sent" ? null : sentAt, status === "read" ? deliveredAt : null]
      .filter((time) => time !== null)
  )

const rank = (status: MessageStatus): number => hasEnded(status) ? NaN : ranks[status]

describe("any reports in any order", () => {
  it.prop("a rank never falls", { beginning, reports }, (_) => {
    for (const { after, before } of play(beginnings[_.beginning], _.reports).steps) {
      if (before.status !== "failed" && after.status !== "failed") {
        assert.isAtLeast(rank(after.status), rank(before.status))
      }
    }
  }, checks)

  it.prop("failed is reached only from below delivered, and left only if it was concluded from silence", {
    beginning,
    reports
  }, (_) => {
    for (const { after, before } of play(beginnings[_.beginning], _.reports).steps) {
      if (before.status !== "failed" && after.status === "failed") assert.isBelow(rank(before.status), ranks.delivered)
      if (before.status === "failed" && !isDeliveryUnknown(before)) {
        assert.strictEqual(after.status, "failed")
        assert.deepStrictEqual([after.failedAt, after.error], [before.failedAt, before.error])
      }
    }
  }, checks)

  it.prop("every step is recorded once and in order", { beginning, reports }, (_) => {
    const { end, told } = play(beginnings[_.beginning], _.reports)
    const names = told.map(({ to }) => to)
    assert.strictEqual(new Set(names).size, names.length)
    const order = ["sent", "delivered", "read"]
    const climbed = names.filter((to) => to !== "failed")
    assert.deepStrictEqual(climbed, [...climbed].sort((a, b) => order.indexOf(a) - order.indexOf(b)))
    // without a gap: from the step after the first status to the last
    const from = beginnings[_.beginning].status
    const first = ranks[hasEnded(from) ? "unknown" : from]
    assert.deepStrictEqual(climbed, order.filter((_, i) => i + ranks.sent > first).slice(0, climbed.length))
    if (names.includes("failed")) assert.strictEqual(names.at(-1), "failed")
    if (names.length > 0 && end.status !== "failed") assert.strictEqual(names.at(-1), end.status)
  }, checks)

  it.prop("skipped steps get the time of the report that skipped them", { beginning, reports }, (_) => {
    for (const { after, before, report, transitions } of play(beginnings[_.beginning], _.reports).steps) {
      const told = timeOf(before, report)
      for (const { at, to } of transitions) {
        assert.strictEqual(at, told)
        assert.strictEqual(after[`${to}At`], told)
      }
    }
  }, checks)

  it.prop("no step has a time before the previous step's", { beginning, reports }, (_) => {
    const { createdAt, sentAt } = beginnings[_.beginning]
    const times = [createdAt, sentAt ?? createdAt, ...play(beginnings[_.beginning], _.reports).told.map(({ at }) => at)]
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
          providerMessageId: before.providerMessageId ?? report.providerMessageId
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
    for (const field of ["id", "workspaceId", "content", "createdAt", "sequence", "from", "apiKeyId"] as const) {
      assert.strictEqual(end[field], from[field])
    }
  }, checks)

  it.prop(
    "without a failure the result does not depend on the order",
    { beginning, reports, turn: between(0, 11) },
    (_) => {
      const good = _.reports.filter(({ status }) => status !== "failed")
      const turned = [...good.slice(_.turn % (good.length || 1)), ...good.slice(0, _.turn % (good.length || 1))]
        .reverse()
      const [one, other] = [play(beginnings[_.beginning], good), play(beginnings[_.beginning], turned)]
      assert.strictEqual(one.end.status, other.end.status)
      assert.deepStrictEqual(one.told.map(({ to }) => to), other.told.map(({ to }) => to))
    },
    checks
  )
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
      { status: "failed", error: deliveryUnknown, yields: true },
      { status: "failed", error: notSent, yields: false },
      { status: "failed", error: refused, yields: false },
      { status: "failed", error: null, yields: false },
      { status: "unknown", error: null, yields: false }
    ] as const
  )("$status with $error.reason yields to a report: $yields", ({ yields, ...fields }) => {
    assert.strictEqual(isDeliveryUnknown(message(fields)), yields)
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
