import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { CheckedRow } from "../../src/campaigns/CheckedRow.ts"
import { type Problem, ProblemReason } from "../../src/campaigns/Problem.ts"
import * as ProblemKind from "../../src/campaigns/ProblemKind.ts"
import { between, checks, upTo } from "../checks.ts"

const malformed = (message: string): Problem => ({ reason: "malformed", message })
const duplicate: Problem = { reason: "duplicate", message: "an earlier row has the same customer" }

/** Rows at the places from 1 on. */
const checkedRows = (problems: ReadonlyArray<Problem | null>): ReadonlyArray<CheckedRow> =>
  problems.map((problem, i) => ({ place: i + 1, problem, message: null, line: i + 2, value: `value ${i + 1}` }))

/** A campaign whose rows were checked in pieces of this size. */
const checkedBy = (rows: ReadonlyArray<CheckedRow>, size: number) => {
  let campaign = { checked: 0, problems: 0, problemKinds: [] as ReadonlyArray<ProblemKind.ProblemKind>, replaced: 0 }
  for (let i = 0; i < rows.length; i += size) {
    const piece = rows.slice(i, i + size)
    campaign = {
      ...campaign,
      checked: campaign.checked + piece.length,
      problems: campaign.problems + piece.filter(({ problem }) => problem !== null).length,
      problemKinds: ProblemKind.add(ProblemKind.countedIn(campaign), piece)
    }
  }
  return campaign
}

/** The rows at the places of a campaign's examples. */
const found = (rows: ReadonlyArray<CheckedRow>, { problemKinds }: ReturnType<typeof checkedBy>) => {
  const places = ProblemKind.placesOf(problemKinds)
  return rows.filter(({ place }) => places.includes(place))
}

const sum = (items: ReadonlyArray<{ readonly rows: number }>) => items.reduce((sum, { rows }) => sum + rows, 0)

const problems = upTo(
  Schema.NullOr(Schema.Struct({ reason: ProblemReason, message: Schema.Literals(["a", "b", "c"]) })),
  60
)

describe("the problems of a campaign by kind", () => {
  it("a report has the most frequent reason and message first, each with its first rows", () => {
    const rows = checkedRows([
      malformed("to: is empty"),
      duplicate,
      null,
      malformed("the line is not JSON"),
      duplicate,
      duplicate,
      malformed("the line is not JSON"),
      duplicate
    ])
    const campaign = checkedBy(rows, 3)
    assert.deepStrictEqual(ProblemKind.report(campaign, found(rows, campaign)), {
      rows: 7,
      uncounted: 0,
      reasons: [
        {
          reason: "duplicate",
          rows: 4,
          messages: [{
            message: duplicate.message,
            rows: 4,
            examples: [2, 5, 6, 8].map((place) => ({ place, line: place + 1, value: `value ${place}` }))
          }]
        },
        {
          reason: "malformed",
          rows: 3,
          messages: [
            {
              message: "the line is not JSON",
              rows: 2,
              examples: [{ place: 4, line: 5, value: "value 4" }, { place: 7, line: 8, value: "value 7" }]
            },
            { message: "to: is empty", rows: 1, examples: [{ place: 1, line: 2, value: "value 1" }] }
          ]
        }
      ]
    })
  })

  it.prop(
    "the numbers of a report add up to all problems, in whatever pieces the rows were checked",
    [problems, between(1, 40)],
    ([problems, size]) => {
      const rows = checkedRows(problems)
      const campaign = checkedBy(rows, size)
      const report = ProblemKind.report(campaign, found(rows, campaign))
      assert.strictEqual(sum(report.reasons), report.rows)
      assert.strictEqual(report.uncounted, 0)
      for (const { messages, rows } of report.reasons) {
        assert.strictEqual(sum(messages), rows)
        for (const { examples, rows } of messages) {
          assert.lengthOf(examples, Math.min(rows, ProblemKind.maxExamples))
        }
      }
      assert.deepStrictEqual(campaign.problemKinds, checkedBy(rows, problems.length + 1).problemKinds)
    },
    checks
  )

  it("a campaign keeps a bounded number of messages and examples, and counts all other rows by their reason", () => {
    const long = malformed("x".repeat(ProblemKind.maxMessage + 1))
    const many = Array.from({ length: 500 }, (_, n) => malformed(`field ${n}`))
    const rows = checkedRows([long, ...many, ...many, duplicate, duplicate])
    const campaign = checkedBy(rows, 100)
    assert.lengthOf(campaign.problemKinds, ProblemKind.maxMessages + 2)
    const { reasons } = ProblemKind.report(campaign, found(rows, campaign))
    assert.deepStrictEqual(reasons.map(({ messages, reason, rows }) => [reason, rows, messages.length]), [
      ["malformed", 1001, ProblemKind.maxMessages + 1],
      ["duplicate", 2, 1]
    ])
    assert.deepStrictEqual(reasons[0]!.messages.at(-1), {
      message: null,
      rows: 1001 - 2 * ProblemKind.maxMessages,
      examples: [1, 12, 13, 14, 15].map((place) => ({ place, line: place + 1, value: `value ${place}` }))
    })
    assert.strictEqual(reasons[1]!.messages[0]!.message, duplicate.message)
  })

  it("rows that a version without kinds has checked are uncounted, and kinds of an earlier check are left out", () => {
    const rows = checkedRows([duplicate, malformed("to: is empty"), duplicate])
    const campaign = checkedBy(rows, 3)
    const more = ProblemKind.report({ ...campaign, checked: 9, problems: 5 }, found(rows, campaign))
    assert.deepStrictEqual([more.rows, sum(more.reasons), more.uncounted], [5, 3, 2])
    const fewer = ProblemKind.report({ ...campaign, problems: 2 }, found(rows, campaign))
    assert.deepStrictEqual(fewer, { rows: 2, reasons: [], uncounted: 2 })
    assert.deepStrictEqual(ProblemKind.countedIn({ ...campaign, checked: 0 }), [])
    assert.deepStrictEqual(ProblemKind.countedIn({ ...campaign, replaced: 3 }), [])
  })

  it("a list of rows with a problem begins behind the rows before the first of them, if all problems are counted", () => {
    const campaign = {
      ...checkedBy(checkedRows([null, null, duplicate, null, malformed("to: is empty")]), 2),
      replaced: 1
    }
    assert.strictEqual(ProblemKind.rowsBefore(campaign, undefined), 1)
    assert.strictEqual(ProblemKind.rowsBefore(campaign, "malformed"), 3)
    assert.strictEqual(ProblemKind.rowsBefore(campaign, "opted_out"), 5)
    assert.strictEqual(ProblemKind.rowsBefore({ ...campaign, problems: 3 }, "malformed"), 0)
  })

  it("rows that are gone or have another problem by now are no examples, and places are those of the present rows", () => {
    const rows = checkedRows([null, duplicate, duplicate, duplicate])
    const campaign = { ...checkedBy(rows, 4), replaced: 1 }
    const { reasons } = ProblemKind.report(campaign, [{ ...rows[1]!, problem: null }, rows[2]!])
    assert.deepStrictEqual(reasons[0]!.messages, [{
      message: duplicate.message,
      rows: 3,
      examples: [{ place: 2, line: 4, value: "value 3" }]
    }])
  })
})
