import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { aheadAfter, type Answered, createdAt, judgedAt } from "../src/StorageTime.ts"
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
    "the estimate is never further off than the quickest answer took, whatever slow answers come before or after",
    [between(-5000, 5000), upTo(Schema.Struct({ forth: between(0, 2000), back: between(0, 2000) }), 20)],
    ([ahead, delays]) => {
      const quick = { forth: 2, back: 3 }
      const all = [...delays, quick, ...delays.toReversed()]
      const answers = all.map((each, i) => answer(ahead, 1_000_000 + 5000 * i, each))
      assert.isAtMost(Math.abs(estimated(answers) - ahead), quick.forth + quick.back)
    },
    checks
  )

  it("the estimate follows a clock that was set with the next quick answer", () => {
    const quick = { forth: 3, back: 4 }
    for (const set of [-60_000, -200, 200, 60_000]) {
      assert.closeTo(estimated([answer(0, 0, quick), answer(set, 1000, quick)]), set, 7)
    }
  })
})

describe("the storage's time in the place of the asker's", () => {
  it("a command and its instants move together", () => {
    const command = { now: 50, leaseUntil: 80, retryAt: null, key: "k" }
    assert.deepStrictEqual(judgedAt(command, 1000, "leaseUntil", "retryAt"), {
      ...command,
      now: 1000,
      leaseUntil: 1030
    })
  })

  it("a row begins at the storage's time and keeps its durations", () => {
    const row = { createdAt: 50, idleUntil: 80, absoluteUntil: 150 }
    assert.deepStrictEqual(createdAt(row, 1000, "idleUntil", "absoluteUntil"), {
      createdAt: 1000,
      idleUntil: 1030,
      absoluteUntil: 1100
    })
  })
})
