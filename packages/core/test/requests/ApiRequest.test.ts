import { assert, describe, it } from "@effect/vitest"
import type { ApiKeyId } from "../../src/Id.ts"
import { hourOf, summarize, type Tally, wordOf } from "../../src/requests/ApiRequest.ts"
import { hour } from "../checks.ts"
import { id, start } from "../samples.ts"

const tally = (fields: Partial<Tally>): Tally => ({
  apiKeyId: id("key"),
  code: "forbidden",
  reason: "opted_out",
  count: 1,
  lastAt: start,
  ...fields
})

describe("requests", () => {
  it("requests are counted by the hour of their arrival", () => {
    assert.deepStrictEqual(
      [0, 1, hour - 1].map((n) => hourOf(500 * hour + n)),
      Array.from({ length: 3 }, () => 500 * hour)
    )
    assert.strictEqual(hourOf(501 * hour), 501 * hour)
  })

  it("a refused request has the error's reason, or its code if it has none", () => {
    assert.strictEqual(wordOf({ code: "forbidden", reason: "opted_out" }), "opted_out")
    assert.strictEqual(wordOf({ code: "not_found", reason: null }), "not_found")
    assert.isNull(wordOf({ code: null, reason: null }))
  })

  it("requests are summed by reason, with the keys that made them, most first", () => {
    const other = id("key", 2) as ApiKeyId
    const summary = summarize([
      tally({ code: null, reason: null, count: 40 }),
      tally({ count: 2 }),
      tally({ count: 3, lastAt: start + 1, apiKeyId: other }),
      tally({ count: 2 }),
      tally({ code: "not_found", reason: null, count: 9 })
    ])
    assert.deepStrictEqual(summary, {
      total: 56,
      groups: [
        { code: "not_found", reason: null, count: 9, lastAt: start, keys: [{ apiKeyId: id("key"), count: 9 }] },
        {
          code: "forbidden",
          reason: "opted_out",
          count: 7,
          lastAt: start + 1,
          keys: [{ apiKeyId: id("key"), count: 4 }, { apiKeyId: other, count: 3 }]
        }
      ]
    })
    assert.deepStrictEqual(summarize([]), { total: 0, groups: [] })
  })
})
