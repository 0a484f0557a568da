import { assert, describe, it } from "@effect/vitest"
import * as DocumentedCodes from "@wac/testbed/DocumentedCodes"
import { Duration } from "effect"
import * as ErrorCodes from "../src/ErrorCodes.ts"

const effectOf = (known: ErrorCodes.ErrorCode): string | undefined => {
  const { effect } = known
  switch (effect?._tag) {
    case "OptOut":
      return "opt out"
    case "Block":
      return `block ${effect.scope} ${effect.reason}`
    case "TemplateStatus":
      return `template ${effect.status}`
    case "TemplatesStale":
      return "list templates"
    case undefined:
      return undefined
  }
}

describe("the table of codes", () => {
  for (const { code, effect, error, reason, retryAfter } of DocumentedCodes.all) {
    it(`${code} is ${error}, ${reason}`, () => {
      const known = ErrorCodes.of({ code })
      assert.isDefined(known)
      const { verdict } = known
      assert.deepStrictEqual({
        error: verdict.code,
        reason: verdict.reason,
        retryAfter: "retryAfter" in verdict ? Duration.toSeconds(verdict.retryAfter) : null,
        effect: effectOf(known)
      }, { error, reason, retryAfter, effect })
    })
  }

  it("the table has only documented codes", () => {
    const codes = new Set(DocumentedCodes.all.map(({ code }) => code))
    assert.deepStrictEqual([...ErrorCodes.byCode.keys()].filter((code) => !codes.has(code)), [])
  })

  it("codes 200 to 299 are missing permissions, and other unknown codes have no class", () => {
    for (const code of [200, 230, 299]) assert.strictEqual(ErrorCodes.of({ code })?.class, "permission")
    for (const code of [199, 300, -1, 5, 99999, 131_999]) assert.isUndefined(ErrorCodes.of({ code }))
  })

  it("code 100 with subcode 33 is a missing number, as code 33 is", () => {
    assert.strictEqual(ErrorCodes.of({ code: 100, subcode: 33 }), ErrorCodes.of({ code: 33 }))
    assert.strictEqual(ErrorCodes.of({ code: 100, subcode: 34 }), ErrorCodes.of({ code: 100 }))
    assert.strictEqual(ErrorCodes.of({ code: 131009, subcode: 33 }), ErrorCodes.of({ code: 131009 }))
  })

  it("each code has a title, and names only fields of our own request", () => {
    for (const { title, verdict } of ErrorCodes.byCode.values()) {
      assert.match(title, /^\S.*\S$/)
      if (verdict.code === "invalid_body") {
        assert.include([undefined, "to", "template.bodyParams"], verdict.param)
      }
    }
  })
})
