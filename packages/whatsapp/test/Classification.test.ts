import { assert, describe, it } from "@effect/vitest"
import { Message, type Provider } from "@wac/core"
import { Duration } from "effect"
import * as Classification from "../src/Classification.ts"
import * as ErrorCodes from "../src/ErrorCodes.ts"
import * as ErrorEffects from "../src/ErrorEffects.ts"
import type { GraphError } from "../src/GraphError.ts"

const error = (code: number, isTransient = false): GraphError => ({
  code,
  subcode: undefined,
  isTransient,
  message: "in Meta's words"
})
const answered = (code: number, status = 400, isTransient = false) =>
  Classification.outcomeOf({ status, error: error(code, isTransient) })

const errorOf = (outcome: Provider.ProviderOutcome) => {
  assert.include(["Refused", "NotSent"], outcome._tag)
  return (outcome as Extract<Provider.ProviderOutcome, { readonly error: unknown }>).error
}

const codes = [...ErrorCodes.byCode.keys(), 200, 250, 299]

describe("an answer to a send", () => {
  it("each documented code is a final refusal or an unsent message, whatever the HTTP status", () => {
    for (const code of codes) {
      const { verdict } = ErrorCodes.of({ code })!
      const tag = verdict.code === "invalid_body" || verdict.code === "forbidden" ? "Refused" : "NotSent"
      for (const status of [200, 400, 401, 403, 404, 429, 500, 503]) {
        const outcome = answered(code, status)
        assert.strictEqual(outcome._tag, tag, `${code}`)
        const { code: name, reason } = errorOf(outcome)
        assert.deepStrictEqual({ name, reason }, { name: verdict.code, reason: verdict.reason })
        assert.deepStrictEqual(errorOf(outcome).provider, { code: String(code), message: "in Meta's words" })
      }
    }
  })

  it("an unknown code is a final refusal only if neither the status nor Meta calls it transient", () => {
    for (const code of [5, 300, 131_999, 900_000, -1]) {
      for (const status of [400, 403, 404, 422, 499]) {
        assert.strictEqual(answered(code, status)._tag, "Refused")
        assert.strictEqual(errorOf(answered(code, status)).reason, "provider_policy")
        const passing = answered(code, status, true)
        assert.strictEqual(passing._tag, "NotSent")
        assert.deepInclude(errorOf(passing), { code: "server_error", reason: "provider_unavailable" })
      }
      for (const isTransient of [false, true]) {
        const throttled = answered(code, 429, isTransient)
        assert.strictEqual(throttled._tag, "NotSent")
        assert.deepInclude(errorOf(throttled), {
          code: "rate_limited",
          reason: "provider",
          retryAfter: Duration.minutes(1)
        })
        const unauthorized = answered(code, 401, isTransient)
        assert.strictEqual(unauthorized._tag, "NotSent")
        assert.deepInclude(errorOf(unauthorized), { code: "server_error", reason: "provider_error" })
        // it may have been taken
        for (const status of [200, 302, 500, 502, 503, 504]) {
          assert.deepStrictEqual(answered(code, status, isTransient), { _tag: "Unknown" })
        }
      }
    }
  })

  it("status 401 blocks the number as the code for an invalid token does", () => {
    const subject = { accountId: "1", numberId: "2", customer: undefined, at: 0 }
    const changes = (code: number, status: number | undefined) =>
      ErrorEffects.of(error(code), { ...subject, status }).map(({ _tag }) => _tag)
    assert.deepStrictEqual(changes(999_999, 401), ["Number"])
    assert.deepStrictEqual(changes(190, 401), ["Number"])
    for (const status of [400, 429, undefined]) assert.deepStrictEqual(changes(999_999, status), [])
  })

  it("a refusal names the field at fault", () => {
    assert.strictEqual(errorOf(answered(131026)).param, "to")
    assert.strictEqual(errorOf(answered(132000)).param, "template.bodyParams")
    assert.notProperty(errorOf(answered(131009)), "param")
  })

  it("the wait after a refusal is the longer of Meta's and ours, and at most an hour", () => {
    const waits = (code: number, regainAfter: Duration.Duration) => {
      const error_ = errorOf(Classification.outcomeOf({ status: 400, error: error(code), regainAfter }))
      return "retryAfter" in error_ && error_.retryAfter !== undefined ? Duration.toSeconds(error_.retryAfter) : null
    }
    assert.strictEqual(waits(80007, Duration.minutes(5)), 300)
    assert.strictEqual(waits(80007, Duration.seconds(5)), 60)
    assert.strictEqual(waits(80007, Duration.days(1)), 3600)
    assert.strictEqual(waits(131026, Duration.minutes(5)), null)
  })
})

describe("an answer to an upload", () => {
  it("a refused file is a final refusal of an upload, and every other code means the same as for a send", () => {
    const refused = Classification.uploadErrorOf({ status: 400, error: error(131053) })
    assert.deepInclude(refused, { code: "invalid_body", reason: "invalid_field" })
    for (const code of codes.filter((code) => code !== 131053 && code !== 131052)) {
      assert.deepStrictEqual(Classification.uploadErrorOf({ status: 400, error: error(code) }), errorOf(answered(code)))
    }
  })

  it("an upload has no unknown outcome, since it sends nothing", () => {
    assert.deepInclude(Classification.uploadErrorOf({ status: 500, error: error(999_999) }), {
      code: "server_error",
      reason: "provider_unavailable"
    })
  })
})

describe("a report of a failure", () => {
  it("a reported failure has the same error as a response with its code", () => {
    for (const code of [...codes, 131_999]) {
      assert.deepStrictEqual(
        Classification.messageErrorOf(error(code)),
        Message.errorOf(errorOf(answered(code)))
      )
    }
    assert.strictEqual(Classification.messageErrorOf(error(131_999, true)).reason, "provider_unavailable")
  })
})
