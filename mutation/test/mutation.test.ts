import { assert, describe, it } from "vitest"
import * as Report from "../Report.ts"
import * as Trial from "../Trial.ts"

const planted = "mutation/test/planted"
const file = `${planted}/PlantedStep.ts`

describe("mutation testing", () => {
  it("a mutant that a test notices is killed, and the others are reported with their place", async () => {
    const verdicts = await Trial.judge(Trial.read([file]), [
      { root: `${import.meta.dirname}/planted`, test: { name: "planted", include: ["*.trial.ts"] } }
    ])
    const fates = (line: number) =>
      verdicts.filter(({ mutant }) => mutant.line === line).map(({ fate, mutant }) => `${mutant.after}: ${fate}`)
    assert.deepEqual(fates(2), [
      "() => undefined: static",
      "true: killed",
      "false: killed",
      "count >= most: killed",
      "count <= most: killed"
    ])
    assert.deepEqual(fates(5), ["() => undefined: static", "one - other: uncovered"])
    assert.deepEqual(fates(8), [
      "() => undefined: static",
      "true: killed",
      "false: survived",
      "count >= most: survived",
      "count <= most: killed"
    ])

    const figures = { killed: 6, survived: 2, uncovered: 1, score: 600 / 9 }
    assert.deepEqual(Report.figures(verdicts, []), figures)
    assert.include(Report.of(verdicts, []), `${file}:8 survived ConditionalExpression: count > most → false\n`)
    const named = [
      { file, mutator: "EqualityOperator", before: "count > most", after: "count >= most", reason: "the same number" }
    ]
    assert.deepEqual(Report.figures(verdicts, named), { ...figures, survived: 1, score: 600 / 8 })
  })
})
