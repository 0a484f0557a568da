import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { Digest } from "effect/crypto"
import { createHash } from "node:crypto"
import { InvalidBody } from "../../src/Errors.ts"
import {
  type Answer,
  type Binding,
  canonicalJson,
  fingerprint,
  judge,
  observeReplay,
  parseKey,
  ReplayObserver,
  sent,
  settledByReport,
  unknown,
  type Verdict
} from "../../src/messages/Idempotency.ts"
import { deliveryUnknown, type Message, type MessageStatus, notSent } from "../../src/messages/Message.ts"
import { between, checks, upTo } from "../checks.ts"
import { binding, id, message, start } from "../samples.ts"

const reasonOfKey = (value: string | undefined) =>
  Result.match(parseKey(value), { onFailure: ({ reason }) => reason, onSuccess: (key) => `key ${key}` })

const visible = Schema.String.check(Schema.isPattern(/^[\x21-\x7e]{1,40}$/))
const quoted = (key: string) => `"${key.replace(/["\\]/g, "\\$&")}"`

describe("the header's value", () => {
  it.each([
    ["8e03978e-40d5-43e8-bc93-6894a57f9324", "8e03978e-40d5-43e8-bc93-6894a57f9324"],
    ["\"8e03978e-40d5-43e8-bc93-6894a57f9324\"", "8e03978e-40d5-43e8-bc93-6894a57f9324"],
    ["k", "k"],
    ["\"k\"", "k"],
    ["\"a\\\"b\"", "a\"b"],
    ["\"a\\\\b\"", "a\\b"],
    ["a,b", "a,b"],
    ["~!#$%&'()*+-./:;<=>?@[]^_`{|}", "~!#$%&'()*+-./:;<=>?@[]^_`{|}"],
    ["k".repeat(255), "k".repeat(255)],
    [`"${"k".repeat(255)}"`, "k".repeat(255)]
  ])("%j is the key %j", (value, key) => {
    assert.strictEqual(reasonOfKey(value), `key ${key}`)
  })

  it.each([
    "",
    "\"\"",
    " ",
    "\" \"",
    "a b",
    " a",
    "a ",
    "\"a b\"",
    " \"a\"",
    "\"a\" ",
    "a\tb",
    "a\nb",
    "\"a\nb\"",
    "a\r\nX: y",
    "a\u0000",
    "\u001f",
    "\u007f",
    "\u0080",
    "ключ",
    "kéy",
    "🔑",
    "\"🔑\"",
    // what Node makes of a repeated header
    "k, k",
    "k1, k2",
    "\"k\", \"k\"",
    "k".repeat(256),
    `"${"k".repeat(256)}"`,
    "k".repeat(10_000)
  ])("%j is refused", (value) => {
    assert.strictEqual(reasonOfKey(value), "invalid_idempotency_key")
  })

  it("the header is required", () => {
    assert.strictEqual(reasonOfKey(undefined), "missing_idempotency_key")
  })

  it("the error names the header", () => {
    for (const value of [undefined, "", "a b"]) {
      const error = Result.getOrThrow(Result.flip(parseKey(value)))
      assert.instanceOf(error, InvalidBody)
      assert.strictEqual(error.code, "invalid_body")
      assert.strictEqual(error.param, "Idempotency-Key")
    }
  })

  it.prop("the quoted and the bare form are the same key", { key: visible }, ({ key }) => {
    if (!/^".*"$/.test(key)) assert.strictEqual(reasonOfKey(key), `key ${key}`)
    assert.strictEqual(reasonOfKey(quoted(key)), `key ${key}`)
  }, checks)

  it.prop("any text is a key of visible ASCII or refused", { value: Schema.String }, ({ value }) => {
    const result = parseKey(value)
    if (Result.isSuccess(result)) assert.match(result.success, /^[\x21-\x7e]{1,255}$/)
    else assert.strictEqual(result.failure.reason, "invalid_idempotency_key")
  }, checks)
})

/** The same value with the keys of every object in another order. */
const reordered = (value: Schema.Json, turn: number): Schema.Json => {
  if (Array.isArray(value)) return value.map((item: Schema.Json) => reordered(item, turn))
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).map(([key, inner]) => [key, reordered(inner as Schema.Json, turn)] as const)
  return Object.fromEntries(
    [...entries.slice(turn % (entries.length || 1)), ...entries.slice(0, turn % (entries.length || 1))]
      .reverse()
  )
}

describe("canonical JSON", () => {
  it.each<[unknown, string]>([
    [{ b: 1, a: 2 }, "{\"a\":2,\"b\":1}"],
    [{ b: { d: 1, c: 2 }, a: [{ z: 1, y: 2 }] }, "{\"a\":[{\"y\":2,\"z\":1}],\"b\":{\"c\":2,\"d\":1}}"],
    [[3, 1, 2], "[3,1,2]"],
    [{ a: [], b: {} }, "{\"a\":[],\"b\":{}}"],
    [{ B: 1, a: 2, A: 3, _: 4 }, "{\"A\":3,\"B\":1,\"_\":4,\"a\":2}"],
    [{ "é": 1, e: 2, "z": 3 }, "{\"e\":2,\"z\":3,\"é\":1}"],
    [{ text: "olá 👋 \n\"\\" }, "{\"text\":\"olá 👋 \\n\\\"\\\\\"}"],
    [{ a: null, b: true, c: 1.5, d: "" }, "{\"a\":null,\"b\":true,\"c\":1.5,\"d\":\"\"}"],
    [{ a: undefined, b: 1 }, "{\"b\":1}"],
    [
      JSON.parse("{\"b\":1,\"__proto__\":{\"y\":1,\"x\":2},\"a\":3}"),
      "{\"__proto__\":{\"x\":2,\"y\":1},\"a\":3,\"b\":1}"
    ],
    ["text", "\"text\""],
    [null, "null"]
  ])("the canonical JSON of %j is %s", (value, text) => {
    assert.strictEqual(canonicalJson(value), text)
  })

  it("canonical JSON does not depend on the order of keys that look like numbers", () => {
    assert.strictEqual(canonicalJson({ b: 1, 10: 2, 9: 3, a: 4 }), canonicalJson({ a: 4, 9: 3, b: 1, 10: 2 }))
  })

  it("canonical JSON distinguishes array orders and nesting", () => {
    const texts = [[1, 2], [2, 1], [[1], 2], [1, [2]], { a: { b: 1 } }, { a: 1, b: 1 }, { "a.b": 1 }, "1", 1].map(
      canonicalJson
    )
    assert.strictEqual(new Set(texts).size, texts.length)
  })

  it.prop("canonical JSON means the same value, whatever the order of keys", {
    value: Schema.Json,
    turn: between(0, 7)
  }, (_) => {
    const canonical = canonicalJson(_.value)
    assert.strictEqual(canonicalJson(reordered(_.value, _.turn)), canonical)
    assert.deepEqual(JSON.parse(canonical), JSON.parse(JSON.stringify(_.value)))
    assert.strictEqual(canonicalJson(JSON.parse(canonical)), canonical)
  }, checks)

  it.effect("the fingerprint is computed from canonical JSON", () =>
    Effect.gen(function*() {
      const body = { type: "text", to: "+12025550123", text: { previewUrl: true, body: "olá 👋" } }
      assert.strictEqual(
        yield* fingerprint(yield* Digest.Digest, body),
        createHash("sha256")
          .update("{\"text\":{\"body\":\"olá 👋\",\"previewUrl\":true},\"to\":\"+12025550123\",\"type\":\"text\"}")
          .digest("hex")
      )
    }).pipe(Effect.provide(Digest.layerWebCrypto)))
})

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
    readonly binding: Binding | undefined
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
    assert.isNull(settledByReport(message({ status })))
  })

  it("a failure that we concluded from silence gives no answer", () => {
    assert.isNull(settledByReport(message({ status: "failed", error: deliveryUnknown, ...named })))
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

it.prop("lists of keys keep their order", { keys: upTo(visible, 5) }, ({ keys }) => {
  assert.deepStrictEqual(JSON.parse(canonicalJson(keys)), keys)
}, checks)
