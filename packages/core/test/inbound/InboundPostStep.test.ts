import { assert, describe, it } from "@effect/vitest"
import { complete, release } from "../../src/inbound/InboundPostStep.ts"
import { day, minute } from "../checks.ts"
import { start } from "../samples.ts"

const claim = { provider: "sandbox", digest: "00", token: "t", now: start }

describe("the end of a claim of provider posts", () => {
  it("a processed post is remembered for a week, and has no problem any more", () => {
    assert.deepStrictEqual(complete({}), {
      dueIn: null,
      isTry: false,
      problem: null,
      expires: { in: 7 * day, onlyIfNew: false }
    })
  })

  it("a failed post is due again after its delay, and kept for 30 days from its first problem", () => {
    assert.deepStrictEqual(release({ ...claim, problem: "storage", retryAt: start + minute }), {
      dueIn: minute,
      isTry: true,
      problem: "storage",
      expires: { in: 30 * day, onlyIfNew: true }
    })
  })

  it("an unreadable post is never due again", () => {
    assert.isNull(release({ ...claim, problem: "unreadable", retryAt: null }).dueIn)
  })

  it("a released post has not been tried", () => {
    assert.deepStrictEqual(release({ ...claim, problem: null, retryAt: start }), { dueIn: 0, isTry: false })
  })
})
