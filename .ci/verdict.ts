/**
 * The verdict on a test run: its closing line, and whether anything failed. Believes neither the status of the run nor
 * its report alone.
 *
 * `node .ci/verdict.ts REPORT passed|failed|not-run`, with Vitest's JSON report.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"

/** What Vitest's JSON report says that a verdict needs. */
export interface Report {
  readonly numTotalTests: number
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly status: string
    readonly assertionResults: ReadonlyArray<{ readonly status: string }>
  }>
}

/** How `npm test` ended. */
export type Suite = "passed" | "failed" | "not-run"

export interface Verdict {
  readonly passed: number
  /** Failed tests, and one for each other failure. */
  readonly failed: number
  readonly reasons: ReadonlyArray<string>
}

/** Judges a run. A repository with `expected` tests must not lose any without a change of that number. */
export const verdict = (report: Report | undefined, suite: Suite, expected: number): Verdict => {
  if (report === undefined) return { passed: 0, failed: 1, reasons: ["the test run left no report"] }
  const { numFailedTests, numPassedTests, numTotalTests, testResults } = report
  const broken = testResults.filter(({ assertionResults, status }) =>
    status === "failed" && assertionResults.every(({ status }) => status !== "failed")
  )
  const found = numFailedTests + broken.length
  const reasons = [
    ...broken.map(({ name }) => `${name} failed outside of its tests`),
    ...found > 0 && suite === "passed" ? ["npm test ended with status 0, although something failed"] : [],
    ...found === 0 && suite !== "passed" ? ["npm test did not end with status 0, although no test failed"] : [],
    ...numTotalTests < expected
      ? [`the run has ${numTotalTests} tests instead of ${expected}: if tests went on purpose, change .ci/tests`]
      : []
  ]
  return { passed: numPassedTests, failed: Math.max(found, reasons.length > 0 ? 1 : 0), reasons }
}

const readReport = (file: string): Report | undefined => {
  try {
    return JSON.parse(readFileSync(file, "utf8"))
  } catch {
    return undefined
  }
}

if (import.meta.main) {
  const [file, suite] = process.argv.slice(2)
  const expected = Number(readFileSync(join(import.meta.dirname, "tests"), "utf8"))
  const report = readReport(file!)
  const { failed, passed, reasons } = verdict(report, suite as Suite, expected)
  for (const reason of reasons) process.stdout.write(`== ${reason}\n`)
  if (report !== undefined && report.numTotalTests > expected) {
    process.stdout.write(
      `== the run has ${report.numTotalTests} tests: .ci/tests, which says ${expected}, can be raised\n`
    )
  }
  process.stdout.write(`${passed} passed, ${failed} failed\n`)
  process.exitCode = failed > 0 ? 1 : 0
}
