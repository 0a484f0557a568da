import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import * as ErrorCodes from "../src/ErrorCodes.ts"

/**
 * Code, error code, reason, seconds to wait, what follows. Written from Meta's list of errors, not from the table.
 */
const expected: ReadonlyArray<
  readonly [code: number, error: string, reason: string, retryAfter?: number | null, consequence?: string]
> = [
  [0, "server_error", "provider_error", null, "block number credentials"],
  [1, "server_error", "provider_error"],
  [2, "server_error", "provider_unavailable"],
  [3, "server_error", "provider_error"],
  [4, "rate_limited", "provider", 60],
  [10, "server_error", "provider_error"],
  [33, "forbidden", "sender_not_available", null, "block number registration"],
  [100, "invalid_body", "invalid_field"],
  [190, "server_error", "provider_error", null, "block number credentials"],
  [200, "server_error", "provider_error"],
  [368, "forbidden", "sender_not_available", null, "block account restricted"],
  [613, "rate_limited", "provider", 60],
  [80007, "rate_limited", "provider", 60],
  [130429, "rate_limited", "provider", 1],
  [130472, "forbidden", "provider_policy"],
  [130497, "forbidden", "provider_policy"],
  [131000, "server_error", "provider_error"],
  [131005, "server_error", "provider_error"],
  [131008, "invalid_body", "invalid_field"],
  [131009, "invalid_body", "invalid_field"],
  [131016, "server_error", "provider_unavailable"],
  [131021, "invalid_body", "undeliverable"],
  [131026, "invalid_body", "undeliverable"],
  [131030, "invalid_body", "undeliverable"],
  [131031, "forbidden", "sender_not_available", null, "block account restricted"],
  [131037, "forbidden", "sender_not_available", null, "block number display_name"],
  [131042, "forbidden", "sender_not_available", null, "block account payment"],
  [131045, "forbidden", "sender_not_available", null, "block number registration"],
  [131047, "forbidden", "outside_service_window"],
  [131048, "rate_limited", "provider", 3600, "block number quality"],
  [131049, "forbidden", "provider_policy"],
  [131050, "forbidden", "opted_out", null, "opt out"],
  [131051, "invalid_body", "invalid_field"],
  [131052, "server_error", "provider_error"],
  [131053, "server_error", "provider_error"],
  [131056, "rate_limited", "pair", 6],
  [131057, "server_error", "provider_unavailable", 60],
  [131062, "invalid_body", "undeliverable"],
  [131063, "forbidden", "template_not_approved"],
  [131064, "rate_limited", "provider", 3600, "block number quality"],
  [132000, "invalid_body", "template_params_mismatch", null, "list templates"],
  [132001, "forbidden", "template_not_found", null, "list templates"],
  [132005, "invalid_body", "template_params_mismatch"],
  [132007, "invalid_body", "template_params_mismatch"],
  [132008, "invalid_body", "template_params_mismatch", null, "list templates"],
  [132012, "invalid_body", "template_params_mismatch", null, "list templates"],
  [132015, "forbidden", "template_not_approved", null, "template paused"],
  [132016, "forbidden", "template_not_approved", null, "template disabled"],
  [132068, "forbidden", "template_not_approved"],
  [132069, "rate_limited", "provider", 360],
  [133000, "forbidden", "sender_not_available"],
  [133004, "server_error", "provider_unavailable"],
  [133005, "forbidden", "sender_not_available"],
  [133006, "forbidden", "sender_not_available"],
  [133008, "forbidden", "sender_not_available"],
  [133009, "forbidden", "sender_not_available"],
  [133010, "forbidden", "sender_not_available", null, "block number registration"],
  [133015, "forbidden", "sender_not_available"],
  [133016, "rate_limited", "provider", 3600],
  [134011, "forbidden", "sender_not_available"],
  [135000, "invalid_body", "invalid_field"],
  [2494100, "server_error", "provider_unavailable", 60]
]

const consequenceOf = (known: ErrorCodes.ErrorCode): string | undefined => {
  const { consequence } = known
  switch (consequence?._tag) {
    case "OptOut":
      return "opt out"
    case "Block":
      return `block ${consequence.scope} ${consequence.reason}`
    case "TemplateStatus":
      return `template ${consequence.status}`
    case "TemplatesStale":
      return "list templates"
    case undefined:
      return undefined
  }
}

describe("the table of codes", () => {
  for (const [code, error, reason, retryAfter = null, consequence] of expected) {
    it(`${code} is ${error}, ${reason}`, () => {
      const known = ErrorCodes.of({ code })
      assert.isDefined(known)
      const { verdict } = known
      assert.deepStrictEqual({
        error: verdict.code,
        reason: verdict.reason,
        retryAfter: "retryAfter" in verdict ? Duration.toSeconds(verdict.retryAfter) : null,
        consequence: consequenceOf(known)
      }, { error, reason, retryAfter, consequence })
    })
  }

  it("holds no code beside these", () => {
    const codes = new Set(expected.map(([code]) => code))
    assert.deepStrictEqual([...ErrorCodes.byCode.keys()].filter((code) => !codes.has(code)), [])
  })

  it("takes 200 to 299 for permissions, and no code beside them", () => {
    for (const code of [200, 230, 299]) assert.strictEqual(ErrorCodes.of({ code })?.class, "permission")
    for (const code of [199, 300, -1, 5, 99999, 131_999]) assert.isUndefined(ErrorCodes.of({ code }))
  })

  it("takes the number that is not there, in Meta's other way to say it, for what it is", () => {
    assert.strictEqual(ErrorCodes.of({ code: 100, subcode: 33 }), ErrorCodes.of({ code: 33 }))
    assert.strictEqual(ErrorCodes.of({ code: 100, subcode: 34 }), ErrorCodes.of({ code: 100 }))
    assert.strictEqual(ErrorCodes.of({ code: 131009, subcode: 33 }), ErrorCodes.of({ code: 131009 }))
  })

  it("names fields of our own request only, and says each in words", () => {
    for (const { title, verdict } of ErrorCodes.byCode.values()) {
      assert.match(title, /^\S.*\S$/)
      if (verdict.code === "invalid_body") {
        assert.include([undefined, "to", "template.bodyParams"], verdict.param)
      }
    }
  })
})
