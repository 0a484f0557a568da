import { assert, describe, it } from "@effect/vitest"
import * as FrequencyCap from "../../src/limits/FrequencyCap.ts"
import { day, hour } from "../checks.ts"

const cap = { messages: 2, days: 7 }

describe("the frequency cap", () => {
  it("in no period of its days are more messages than it allows, and as many as it allows", () => {
    let sent: ReadonlyArray<number> = []
    const all: Array<number> = []
    for (let now = 0; now < 60 * day; now += 5 * hour) {
      if (!FrequencyCap.allows(cap, sent, now)) continue
      sent = FrequencyCap.note(cap, sent, now)
      all.push(now)
      assert.isAtMost(sent.length, cap.messages)
    }
    for (const from of all) {
      assert.isAtMost(all.filter((at) => at >= from && at < from + 7 * day).length, cap.messages)
    }
    assert.strictEqual(all.length, 2 * Math.ceil(60 / 7.3))
  })

  it("messages beyond the cap, which others than campaigns send, count too", () => {
    let sent: ReadonlyArray<number> = []
    for (const at of [0, day, 2 * day, 3 * day]) sent = FrequencyCap.note(cap, sent, at)
    assert.deepStrictEqual(sent, [2 * day, 3 * day])
    assert.isFalse(FrequencyCap.allows(cap, sent, 9 * day - 1))
    assert.isTrue(FrequencyCap.allows(cap, sent, 9 * day))
  })
})
