import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { InvalidBody } from "../../src/Errors.ts"
import { deliveryUnknown, type Message, type MessageStatus, notSent } from "../../src/messages/Message.ts"
import {
  type Answer,
  judge,
  observeReplay,
  ReplayObserver,
  type SendBinding,
  sent,
  settledByReport,
  unknown,
  type Verdict
} from "../../src/messages/SendBinding.ts"
import { between, checks } from "../checks.ts"
import { binding, id, message, start } from "../samples.ts"

const name = "wamid.1"
const refusal: Answer = {
  _tag: "Failed",
  error: new InvalidBody({ reason: "undeliverable", param: "to", message: "no" }),
  requestId: id("req")
}
const success: Answer = {
  _tag: "Sent",
  messageId: id("msg"),
  providerMessageId: name,
  workspaceId: id("ws"),
  apiKeyId: id("key")
}
const running = { token: "t", leaseUntil: start + 1 }
const ended = { token: "t", leaseUntil: start }
const named = { providerMessageId: name }
const refused = { code: "invalid_body", reason: "undeliverable", message: "no" }

describe("judging a key", () => {
  const rows: ReadonlyArray<{
    readonly what: string
    readonly binding: SendBinding | undefined
    readonly message: Message | undefined
    readonly fingerprint?: string
    readonly verdict: Verdict
  }> = [
    { what: "never seen", binding: undefined, message: undefined, verdict: { _tag: "Unbound" } },
    { what: "its message is gone", binding: binding(), message: undefined, verdict: { _tag: "Unbound" } },
    {
      what: "kept to the last millisecond",
      binding: binding({ answer: success, expiresAt: start + 1 }),
      message: message({ status: "sent", ...named }),
      verdict: { _tag: "Answered", answer: success }
    },
    {
      what: "forgotten at the end of its time",
      binding: binding({ answer: success, expiresAt: start }),
      message: message({ status: "sent", ...named }),
      verdict: { _tag: "Unbound" }
    },
    {
      what: "forgotten, with another body",
      binding: binding({ answer: success, expiresAt: start - 1 }),
      message: message({ status: "sent", ...named }),
      fingerprint: "two",
      verdict: { _tag: "Unbound" }
    },
    {
      what: "another body, answered",
      binding: binding({ answer: success }),
      message: message({ status: "sent", ...named }),
      fingerprint: "two",
      verdict: { _tag: "Conflict" }
    },
    {
      what: "another body, running",
      binding: binding({ claim: running }),
      message: message(),
      fingerprint: "two",
      verdict: { _tag: "Conflict" }
    },
    {
      what: "another body, unknown",
      binding: binding({ claim: ended }),
      message: message({ status: "unknown" }),
      fingerprint: "two",
      verdict: { _tag: "Conflict" }
    },
    {
      what: "another body, released",
      binding: binding({ lastFailure: refusal }),
      message: message(),
      fingerprint: "two",
      verdict: { _tag: "Conflict" }
    },
    {
      what: "accepted",
      binding: binding({ answer: success, expiresAt: start + 1 }),
      message: message({ status: "read", ...named }),
      verdict: { _tag: "Answered", answer: success }
    },
    {
      what: "accepted, failed later",
      binding: binding({ answer: success, expiresAt: start + 1 }),
      message: message({ status: "failed", error: refused, ...named }),
      verdict: { _tag: "Answered", answer: success }
    },
    {
      what: "refused for good",
      binding: binding({ answer: refusal, expiresAt: start + 1 }),
      message: message({ status: "failed", error: refused }),
      verdict: { _tag: "Answered", answer: refusal }
    },
    { what: "running", binding: binding({ claim: running }), message: message(), verdict: { _tag: "Running" } },
    {
      what: "running, reported on already",
      binding: binding({ claim: running }),
      message: message({ status: "delivered", ...named }),
      verdict: { _tag: "Running" }
    },
    {
      what: "running again after a failure",
      binding: binding({ claim: running, lastFailure: refusal }),
      message: message(),
      verdict: { _tag: "Running" }
    },
    {
      what: "its lease ended this millisecond",
      binding: binding({ claim: ended }),
      message: message(),
      verdict: { _tag: "Unknown", reason: "outcome_unknown" }
    },
    {
      what: "its lease ended after an earlier failure",
      binding: binding({ claim: ended, lastFailure: refusal }),
      message: message(),
      verdict: { _tag: "Unknown", reason: "outcome_unknown" }
    },
    {
      what: "its lease ended, but upstream reported",
      binding: binding({ claim: ended }),
      message: message({ status: "sent", ...named }),
      verdict: { _tag: "Answered", answer: success }
    },
    {
      what: "unknown",
      binding: binding(),
      message: message({ status: "unknown" }),
      verdict: { _tag: "Unknown", reason: "outcome_unknown" }
    },
    {
      what: "unknown, then delivered",
      binding: binding(),
      message: message({ status: "delivered", ...named }),
      verdict: { _tag: "Answered", answer: success }
    },
    {
      what: "unknown, then failed upstream: it had been taken",
      binding: binding(),
      message: message({ status: "failed", error: refused, ...named }),
      verdict: { _tag: "Answered", answer: success }
    },
    {
      what: "unknown for ten minutes",
      binding: binding(),
      message: message({ status: "failed", error: deliveryUnknown }),
      verdict: { _tag: "Unknown", reason: "delivery_unknown" }
    },
    {
      what: "unknown for ten minutes, the ended claim still there",
      binding: binding({ claim: ended }),
      message: message({ status: "failed", error: deliveryUnknown }),
      verdict: { _tag: "Unknown", reason: "delivery_unknown" }
    },
    {
      what: "certainly not sent",
      binding: binding({ lastFailure: refusal }),
      message: message(),
      verdict: { _tag: "Released", lastFailure: refusal }
    },
    {
      what: "abandoned by a later try before the provider was asked",
      binding: binding(),
      message: message(),
      verdict: { _tag: "Released", lastFailure: null }
    }
  ]

  it.each(rows)("$what", ({ fingerprint = "one", verdict, ...found }) => {
    assert.deepStrictEqual(judge(found.binding, found.message, fingerprint, start), verdict)
  })

  const statuses: ReadonlyArray<MessageStatus> = ["sending", "unknown", "sent", "delivered", "read", "failed"]
  const found = {
    claim: Schema.Literals(["none", "running", "ended"]),
    answer: Schema.Literals(["none", "sent", "failed"]),
    kept: Schema.NullOr(between(-1, 1)),
    status: Schema.Literals(statuses),
    name: Schema.NullOr(Schema.Literal(name)),
    error: Schema.Literals(["refused", "delivery_unknown", "not_sent"]),
    failedBefore: Schema.Boolean
  }
  const circumstances = (_: { [K in keyof typeof found]: typeof found[K]["Type"] }) => ({
    binding: binding({
      claim: { none: null, running, ended }[_.claim],
      answer: { none: null, sent: success, failed: refusal }[_.answer],
      expiresAt: _.kept === null ? null : start + _.kept,
      lastFailure: _.failedBefore ? refusal : null
    }),
    message: message({
      status: _.status,
      providerMessageId: _.name,
      error: _.status === "failed" ? { refused, delivery_unknown: deliveryUnknown, not_sent: notSent }[_.error] : null
    })
  })

  it.prop("a different body is a conflict whatever happened to the first, until the key is forgotten", found, (_) => {
    const given = circumstances(_)
    assert.strictEqual(
      judge(given.binding, given.message, "two", start)._tag,
      _.kept !== null && _.kept <= 0 ? "Unbound" : "Conflict"
    )
  }, checks)

  it.prop("a stored answer is returned as it is", found, (_) => {
    const given = circumstances(_)
    const verdict = judge(given.binding, given.message, "one", start)
    if (verdict._tag !== "Unbound" && given.binding.answer !== null) {
      assert.deepStrictEqual(verdict, { _tag: "Answered", answer: given.binding.answer })
    }
  }, checks)

  it.prop("a claim is never taken over", found, (_) => {
    const given = circumstances(_)
    const verdict = judge(given.binding, given.message, "one", start)
    if (_.claim !== "none") assert.notStrictEqual(verdict._tag, "Released")
    if (verdict._tag === "Running") assert.strictEqual(_.claim, "running")
  }, checks)

  it("a send may be tried again only if it is certain that nothing was sent", () => {
    for (const status of statuses) {
      for (const name of [named, {}]) {
        const given = message({ status, ...name, error: status === "failed" ? refused : null })
        assert.strictEqual(judge(binding(), given, "one", start)._tag === "Released", status === "sending", status)
      }
    }
  })
})

describe("answers from the provider's reports", () => {
  it.each<[MessageStatus, boolean]>([
    ["queued", false],
    ["sending", false],
    ["unknown", false],
    ["sent", true],
    ["delivered", true],
    ["read", true],
    ["failed", true]
  ])("%s under a name: %s", (status, settled) => {
    assert.deepStrictEqual(settledByReport(message({ status, ...named })), settled ? success : null)
    // a report by our reference alone: the provider knows the message by our id
    assert.deepStrictEqual(
      settledByReport(message({ status })),
      settled ? { ...success, providerMessageId: id("msg") } : null
    )
  })

  it.each<MessageStatus>(["skipped", "cancelled"])("a message that is %s was not sent", (status) => {
    assert.isNull(settledByReport(message({ status })))
  })

  it("a failure that we concluded from silence gives no answer", () => {
    assert.isNull(settledByReport(message({ status: "failed", error: deliveryUnknown, ...named })))
    for (const error of [deliveryUnknown, notSent]) assert.isNull(settledByReport(message({ status: "failed", error })))
  })

  it("the answer carries the message's own ids", () => {
    assert.deepStrictEqual(
      sent(message({ id: id("msg", 7), workspaceId: id("ws", 8), apiKeyId: id("key", 9) }), "wamid.7"),
      {
        _tag: "Sent",
        messageId: id("msg", 7),
        providerMessageId: "wamid.7",
        workspaceId: id("ws", 8),
        apiKeyId: id("key", 9)
      }
    )
  })
})

it.each(
  [
    ["outcome_unknown", /Repeat the request with the same Idempotency-Key/],
    ["delivery_unknown", /^the provider never confirmed/]
  ] as const
)(
  "%s is a server error without a time to retry, and explains what to do",
  (reason, words) => {
    const error = unknown(reason)
    assert.match(error.message, words)
    assert.strictEqual(error.code, "server_error")
    assert.strictEqual(error.reason, reason)
    assert.isUndefined(error.retryAfter)
  }
)

describe("the observer of replays", () => {
  it.effect("the observer gets a replayed answer, and is optional", () =>
    Effect.gen(function*() {
      const told: Array<Answer> = []
      yield* observeReplay(success)
      yield* observeReplay(refusal).pipe(Effect.provideService(ReplayObserver, (answer) => void told.push(answer)))
      assert.deepStrictEqual(told, [refusal])
    }))
})
