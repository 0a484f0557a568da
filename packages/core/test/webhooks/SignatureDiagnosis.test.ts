import { assert, describe, it } from "@effect/vitest"
import { sign, signStandardWebhook } from "@wac/verifier"
import { Effect } from "effect"
import { createHmac } from "node:crypto"
import { diagnose, type Evidence } from "../../src/webhooks/SignatureDiagnosis.ts"
import { start } from "../samples.ts"
import { crypto } from "../world.ts"

const secret = `whsec_${"aB3d".repeat(10)}`
const other = `whsec_${"zZ9y".repeat(10)}`
const part = Buffer.from(secret.slice(6), "base64")
const id = "evt_01JD0000000000000000000000"
const body = JSON.stringify({
  id,
  type: "message.sent",
  data: { text: "čau 👋 <b>", n: [1, 2.5, null, true], to: "+1" }
})
const t = Math.floor(start / 1000)

const hmac = (key: string | Buffer, message: string) => createHmac("sha256", key).update(message)
const v1 = (key: string | Buffer = secret, message = `${t}.${body}`) => hmac(key, message).digest("hex")

const judge = (evidence: Partial<Evidence>) =>
  diagnose({ header: "", body, secrets: [{ secret, expiresAt: null }], now: start, ...evidence }).pipe(
    Effect.provide(crypto)
  )

/** Which parts are wrong, and why. */
const wrong = (evidence: Partial<Evidence>) =>
  Effect.map(judge(evidence), ({ checks, ok }) => {
    const found = checks.filter((check) => !check.ok).map(({ part, reason }) => `${part}: ${reason}`)
    assert.strictEqual(ok, found.length === 0)
    for (const { message } of checks) assert.notInclude(message, secret.slice(6))
    return found
  })

const signature = (reason: string) => [`signature: ${reason}`]

describe("a valid delivery", () => {
  it.effect("a correct delivery is accepted in either family", () =>
    Effect.gen(function*() {
      const ours = yield* Effect.promise(() => sign(body, [other, secret], t))
      const report = yield* judge({ header: ours })
      assert.isTrue(report.ok)
      assert.strictEqual(report.scheme, "service")
      assert.deepStrictEqual(report.checks.map(({ ok, part, reason }) => [part, ok, reason]), [
        ["header", true, null],
        ["timestamp", true, null],
        ["signature", true, null]
      ])
      const standard = yield* Effect.promise(() =>
        signStandardWebhook({ id, timestamp: t, body, secret: [other, secret] })
      )
      const headers = `Webhook-Id: ${id}\nwebhook-timestamp: ${t}\r\nWEBHOOK-SIGNATURE: ${standard}`
      const judged = yield* judge({ header: headers })
      assert.deepStrictEqual([judged.ok, judged.scheme, judged.checks.length], [true, "standard", 3])
    }))

  it.effect("a correct delivery is accepted in every way that people copy it", () =>
    Effect.gen(function*() {
      const header = `t=${t},v1=${v1()}`
      for (
        const pasted of [
          header,
          `  ${header}\n`,
          `X-Service-Signature: ${header}`,
          `content-type: application/json\nx-service-signature: ${header}\nhost: a.example:80\n`,
          `HTTP_X_SERVICE_SIGNATURE: ${header}`,
          `  "x-service-signature": "${header}",`
        ]
      ) assert.deepStrictEqual(yield* wrong({ header: pasted }), [], pasted)
    }))

  it.effect("a delivery is accepted to the second of its tolerance, with any live secret and a rotation's new one", () =>
    Effect.gen(function*() {
      const header = `t=${t},v1=${v1()}`
      assert.deepStrictEqual(yield* wrong({ header, now: start + 300_000 }), [])
      assert.deepStrictEqual(yield* wrong({ header, now: start + 301_000 }), ["timestamp: timestamp_too_old"])
      assert.deepStrictEqual(yield* wrong({ header, now: start - 301_000 }), ["timestamp: timestamp_too_new"])
      const rotated = (expiresAt: number) => [{ secret: other, expiresAt: null }, { secret, expiresAt }]
      assert.deepStrictEqual(yield* wrong({ header, secrets: rotated(start + 1) }), [])
      assert.deepStrictEqual(yield* wrong({ header, secrets: rotated(start) }), signature("secret_expired"))
    }))
})

describe("the header", () => {
  const cases: ReadonlyArray<readonly [header: string, wrong: ReadonlyArray<string>]> = [
    ["", ["header: missing_header"]],
    ["nonsense", ["header: malformed_header"]],
    ["v1=", ["header: missing_timestamp"]],
    [`v1=${v1()}`, ["header: missing_timestamp"]],
    [`t=${t}`, ["header: missing_signature"]],
    [`t=${t}, v1=${v1()}`, ["header: malformed_header"]],
    [`t=${t},t=${t},v1=${v1()}`, ["header: duplicate_timestamp"]],
    [`t=0${t},v1=${v1(secret, `0${t}.${body}`)}`, ["header: malformed_timestamp"]],
    [`t=${t},v1=${v1().slice(1)}`, ["header: malformed_signature", "signature: signature_mismatch"]],
    [`t=${t},v1=${v1().toUpperCase()}`, ["header: malformed_signature", "signature: signature_encoding"]],
    [`t=${t},v1=${hmac(secret, `${t}.${body}`).digest("base64")}`, [
      "header: malformed_signature",
      "signature: signature_encoding"
    ]],
    [`t=${t},v1=${hmac(secret, `${t}.${body}`).digest("base64url")}`, [
      "header: malformed_signature",
      "signature: signature_encoding"
    ]],
    [`t=${t}000,v1=${v1(secret, `${t}000.${body}`)}`, ["timestamp: timestamp_in_milliseconds"]],
    [`t=${t},v1=${Array.from({ length: 9 }, () => v1()).join(",v1=")}`, ["header: too_many_signatures"]],
    [`t=${t},${"x".repeat(5000)}`, ["header: header_too_long"]],
    [`v1,${hmac(part, `${id}.${t}.${body}`).digest("base64")}`, ["header: missing_header"]],
    [`webhook-id: ${id}\nwebhook-timestamp: soon\nwebhook-signature: v1,AA==`, ["header: malformed_timestamp"]]
  ]
  for (const [header, expected] of cases) {
    it.effect(
      header.slice(0, 60),
      () => Effect.map(wrong({ header }), (found) => assert.deepStrictEqual(found, expected))
    )
  }
})

describe("a known mistake in a signature", () => {
  const python = "{\"id\": \"" + id + "\", \"type\": \"message.sent\", \"data\": {\"text\": " +
    "\"\\u010dau \\ud83d\\udc4b <b>\", \"n\": [1, 2.5, null, true], \"to\": \"+1\"}}"
  const ways: ReadonlyArray<readonly [reason: string, header: string]> = [
    ["signature_mismatch", v1(other)],
    ["secret_decoded", v1(part)],
    ["secret_without_prefix", v1(secret.slice(6))],
    ["secret_with_line_end", v1(`${secret}\n`)],
    ["timestamp_not_signed", v1(secret, body)],
    ["dot_not_signed", v1(secret, `${t}${body}`)],
    ["id_signed", v1(secret, `${id}.${t}.${body}`)],
    ["signed_line_end", v1(secret, `${t}.${body}\n`)],
    ["signed_rewritten_body", v1(secret, `${t}.${JSON.stringify(JSON.parse(body), null, 2)}`)],
    ["signed_rewritten_body", v1(secret, `${t}.${python}`)]
  ]
  for (const [reason, made] of ways) {
    it.effect(
      reason,
      () =>
        Effect.map(wrong({ header: `t=${t},v1=${made}` }), (found) => assert.deepStrictEqual(found, signature(reason)))
    )
  }

  const standard: ReadonlyArray<readonly [reason: string, signature: string]> = [
    ["secret_not_decoded", hmac(secret, `${id}.${t}.${body}`).digest("base64")],
    ["secret_without_prefix", hmac(secret.slice(6), `${id}.${t}.${body}`).digest("base64")],
    ["id_not_signed", hmac(part, `${t}.${body}`).digest("base64")],
    ["timestamp_not_signed", hmac(part, body).digest("base64")],
    ["signature_encoding", hmac(part, `${id}.${t}.${body}`).digest("hex")],
    ["signature_mismatch", hmac(other, `${id}.${t}.${body}`).digest("base64")]
  ]
  for (const [reason, made] of standard) {
    it.effect(`Standard Webhooks: ${reason}`, () => {
      const header = `webhook-id: ${id}\nwebhook-timestamp: ${t}\nwebhook-signature: v1,${made}`
      return Effect.map(wrong({ header }), (found) => assert.deepStrictEqual(found, signature(reason)))
    })
  }

  it.effect("two combined mistakes are both reported", () =>
    Effect.gen(function*() {
      const header = `t=${t},v1=${hmac(part, body).digest("base64")}`
      const { checks } = yield* judge({ header })
      const { message, reason } = checks.find((check) => check.part === "signature")!
      assert.strictEqual(reason, "secret_decoded")
      assert.include(message, "without the timestamp")
      assert.include(message, "v1 is written in base64")
    }))
})

describe("a changed body", () => {
  const changed: ReadonlyArray<readonly [reason: string, body: string]> = [
    ["body_padded", `${body}\n`],
    ["body_padded", `${body}\r\n`],
    ["body_padded", `\uFEFF${body}`],
    ["body_rewritten", JSON.stringify(JSON.parse(body), null, 2)],
    ["body_rewritten", body.replace("<", "\\u003c")],
    ["body_rewritten", body.replaceAll("\"type\":", "\"type\": ")],
    ["body_encoded_twice", JSON.stringify(body)],
    ["body_misread", Buffer.from(body).toString("latin1")],
    ["signature_mismatch", body.replace("čau", "cau")],
    ["signature_mismatch", ""],
    ["signature_mismatch", "{".repeat(20_000)],
    ["signature_mismatch", "[".repeat(30_000) + "]".repeat(30_000)],
    ["signature_mismatch", "[\"\\\"]\",".repeat(8000) + "1" + "]".repeat(8000)]
  ]
  for (const [reason, had] of changed) {
    it.effect(`${reason}: ${had.slice(0, 20)}`, () =>
      Effect.map(
        wrong({ header: `t=${t},v1=${v1()}`, body: had }),
        (found) => assert.deepStrictEqual(found, signature(reason))
      ))
  }

  it.effect("a body is judged in a bounded time, however long it is", () =>
    Effect.gen(function*() {
      const secrets = Array.from(
        { length: 8 },
        (_, i) => ({ secret: `whsec_${`${i}Zz9`.repeat(10)}`, expiresAt: null })
      )
      const long = JSON.stringify({ text: "é".repeat(32_000) })
      const header = `t=${t},v1=${Array.from({ length: 8 }, () => v1()).join(",v1=")}`
      assert.deepStrictEqual(yield* wrong({ header, body: long, secrets }), signature("signature_mismatch"))
    }))

  const endless: ReadonlyArray<readonly [what: string, evidence: Partial<Evidence>]> = [
    ["white space", { header: `a:${" ".repeat(900)}b${" ".repeat(1800)}\u2028c` }],
    ["padding", { header: `t=${t},v1=${"=".repeat(8000)}x` }],
    ["a string without an end", { header: `t=${t},v1=${v1()}`, body: `"${"\\\"".repeat(32_000)}` }]
  ]
  for (const [what, evidence] of endless) {
    it.effect(`a body is scanned once: ${what}`, () =>
      Effect.gen(function*() {
        const begun = process.cpuUsage()
        assert.isFalse((yield* judge(evidence)).ok)
        // a repeated scan from every position would take several seconds of the processor
        const { system, user } = process.cpuUsage(begun)
        assert.isBelow((system + user) / 1000, 1000)
      }))
  }
})
