import { assert, describe, it } from "@effect/vitest"
import { Duration, Schema } from "effect"
import { regainAfter } from "../src/UsageHeaders.ts"

const usage = (...waits: ReadonlyArray<unknown>) => ({
  "x-business-use-case-usage": JSON.stringify({
    "102290129340398": waits.map((wait) => ({
      type: "whatsapp_messaging",
      call_count: 99,
      estimated_time_to_regain_access: wait
    }))
  })
})

describe("when calls will be taken again", () => {
  it("the wait is the longest in both headers, of which one is in minutes and one in seconds", () => {
    assert.deepStrictEqual(regainAfter(usage(0, 3, 2)), Duration.minutes(3))
    assert.deepStrictEqual(regainAfter({ "retry-after": "30" }), Duration.seconds(30))
    assert.deepStrictEqual(regainAfter({ ...usage(1), "retry-after": "90" }), Duration.seconds(90))
  })

  it("other values of the headers give no wait", () => {
    for (const wait of [0, -5, null, "soon", {}]) assert.isUndefined(regainAfter(usage(wait)))
    assert.isUndefined(regainAfter({}))
    assert.isUndefined(regainAfter({ "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT" }))
    for (const text of ["", "{", "null", "[1]", "{\"a\":1}", "{\"a\":[1,null]}"]) {
      assert.isUndefined(regainAfter({ "x-business-use-case-usage": text }))
    }
  })

  it.prop("reading the headers never fails", { u: Schema.Json, text: Schema.String }, ({ text, u }) => {
    regainAfter({ "x-business-use-case-usage": JSON.stringify(u), "retry-after": text })
    regainAfter({ "x-business-use-case-usage": text, "retry-after": [text] })
  })
})
