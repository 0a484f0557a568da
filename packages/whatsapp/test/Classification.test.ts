import { assert, describe, it } from "@effect/vitest"
import { Message, type Provider } from "@wac/core"
import { Duration } from "effect"
import * as Classification from "../src/Classification.ts"
import * as ErrorCodes from "../src/ErrorCodes.ts"
import type { GraphError } from "../src/GraphError.ts"

const error = (code: number): GraphError => ({ code, subcode: undefined, message: "in Meta's words" })
const answered = (code: number, status = 400) => Classification.outcomeOf({ status, error: error(code) })

const errorOf = (outcome: Provider.ProviderOutcome) => {
  assert.include(["Refused", "NotSent"], outcome._tag)
  return (outcome as Extract<Provider.ProviderOutcome, { readonly error: unknown }>).error
}

const codes = [...ErrorCodes.byCode.keys(), 200, 250, 299]

describe("an answer to a send", () => {
  it("refuses for good or says that nothing was sent, whatever the HTTP status", () => {
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

  it("never counts as not sent for a code that is not known", () => {
    for (const code of [5, 300, 131_999, 900_000, -1]) {
      for (const status of [400, 401, 404, 422, 429, 499]) {
        assert.strictEqual(answered(code, status)._tag, "Refused")
        assert.strictEqual(errorOf(answered(code, status)).reason, "provider_policy")
      }
      for (const status of [200, 302, 500, 502, 503, 504]) {
        assert.deepStrictEqual(answered(code, status), { _tag: "Unknown" })
      }
    }
  })

  it("names the field at fault", () => {
    assert.strictEqual(errorOf(answered(131026)).param, "to")
    assert.strictEqual(errorOf(answered(132000)).param, "template.bodyParams")
    assert.notProperty(errorOf(answered(131009)), "param")
  })

  it("takes Meta's word for how long calls are not taken, when it is longer than ours, up to an hour", () => {
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

describe("a report of a failure", () => {
  it("says the same as an answer with the same code", () => {
    for (const code of [...codes, 131_999]) {
      assert.deepStrictEqual(
        Classification.messageErrorOf(error(code)),
        Message.errorOf(errorOf(answered(code)))
      )
    }
  })
})
