import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { aheadAfter, type Answered } from "../src/StorageTime.ts"
import { between, checks, upTo } from "./checks.ts"

/** An answer at `at` by the storage's clock, to a process whose clock is ahead. */
const answer = (ahead: number, at: number, { back, forth }: { readonly forth: number; readonly back: number }) => ({
  asked: at - forth + ahead,
  at,
  answered: at + back + ahead
})

const estimated = (answers: ReadonlyArray<Answered>) =>
  answers.reduce<number | undefined>((estimate, each) => aheadAfter(estimate, each), undefined)!

describe("the estimate of how far a process's clock is ahead of the storage's", () => {
  it.prop(
    "is never further off than the quickest answer took, whatever slow answers come before or after it",
    [between(-5000, 5000), upTo(Schema.Struct({ forth: between(0, 2000), back: between(0, 2000) }), 20)],
    ([ahead, delays]) => {
      const quick = { forth: 2, back: 3 }
      const all = [...delays, quick, ...delays.toReversed()]
      const answers = all.map((each, i) => answer(ahead, 1_000_000 + 5000 * i, each))
      assert.isAtMost(Math.abs(estimated(answers) - ahead), quick.forth + quick.back)
    },
    checks
  )

  it("follows a clock that was set as soon as a quick answer tells", () => {
    const quick = { forth: 3, back: 4 }
    for (const set of [-60_000, -200, 200, 60_000]) {
      assert.closeTo(estimated([answer(0, 0, quick), answer(set, 1000, quick)]), set, 7)
    }
  })
})
