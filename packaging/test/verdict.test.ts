import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it, onTestFinished } from "vitest"
import { type Report, type Suite, verdict } from "../../.ci/verdict.ts"
import { root } from "../Published.ts"

const passing: Report = {
  numTotalTests: 12,
  numPassedTests: 10,
  numFailedTests: 0,
  testResults: [{ name: "a.test.ts", status: "passed", assertionResults: [{ status: "passed" }] }]
}

const failing: Report = {
  numTotalTests: 12,
  numPassedTests: 9,
  numFailedTests: 1,
  testResults: [{ name: "a.test.ts", status: "failed", assertionResults: [{ status: "failed" }] }]
}

const unloaded: Report = {
  ...passing,
  testResults: [...passing.testResults, { name: "b.test.ts", status: "failed", assertionResults: [] }]
}

const cases: ReadonlyArray<
  readonly [what: string, report: Report | undefined, suite: Suite, expected: number, passed: number, failed: number]
> = [
  ["every test passed", passing, "passed", 12, 10, 0],
  ["there are more tests than before", passing, "passed", 11, 10, 0],
  ["there are fewer tests than before", passing, "passed", 13, 10, 1],
  ["a test failed", failing, "failed", 12, 9, 1],
  ["a test failed and the status is 0", failing, "passed", 12, 9, 1],
  ["no test failed and the status is not 0", passing, "failed", 12, 10, 1],
  ["a file did not load", unloaded, "failed", 12, 10, 1],
  ["a file did not load and the status is 0", unloaded, "passed", 12, 10, 1],
  ["there is no report", undefined, "passed", 12, 0, 1],
  ["nothing ran", undefined, "not-run", 12, 0, 1]
]

describe("the verdict on a test run", () => {
  it.each(cases)("the verdict counts right if %s", (_, report, suite, expected, passed, failed) => {
    const found = verdict(report, suite, expected)
    assert.deepStrictEqual([found.passed, found.failed], [passed, failed])
  })

  it.each([[passing, 0], [failing, 1], [undefined, 1]] as const)(
    "the verdict is the program's last line and status (%#)",
    async (report, status) => {
      const folder = mkdtempSync(join(tmpdir(), "wac-verdict-"))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      const file = join(folder, "report.json")
      // more tests than any number that is expected
      if (report !== undefined) {
        writeFileSync(file, JSON.stringify({ ...report, numTotalTests: Number.MAX_SAFE_INTEGER }))
      }
      const ended = await promisify(execFile)(process.execPath, [join(root, ".ci/verdict.ts"), file, "passed"]).then(
        ({ stdout }) => ({ code: 0, stdout }),
        ({ code, stdout }) => ({ code, stdout })
      )
      assert.strictEqual(ended.code, status)
      assert.match(ended.stdout, /(^|\n)\d+ passed, \d+ failed\n$/)
    }
  )
})
