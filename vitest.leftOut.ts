import type { LeftOut } from "@wac/testbed/Program"
import type { Reporter, TestCase, TestModule, TestSpecification, TestSuite, Vite, Vitest } from "vitest/node"

declare module "vitest" {
  interface TaskMeta {
    readonly leftOut: LeftOut
  }
}

/** Whether a set-up failed around a test, which skips the test and fails the run by itself. */
const isAfterFailure = ({ parent }: TestCase | TestSuite): boolean =>
  parent.errors().length > 0 || (parent.type === "suite" && isAfterFailure(parent))

const tests = (count: number): string => count === 1 ? "1 test" : `${count} tests`

/**
 * Lists, at the end of a run, what was not tested because the machine lacks a program, with the number of tests. Fails the
 * run if it skipped a test for any other reason than the filters of the command line.
 */
class LeftOutReporter implements Reporter {
  readonly #vitest: Vitest
  #isPartial = false

  constructor(vitest: Vitest) {
    this.#vitest = vitest
  }

  onTestRunStart(specifications: ReadonlyArray<TestSpecification>) {
    this.#isPartial = this.#vitest.getGlobalTestNamePattern() !== undefined ||
      (this.#vitest.config.tagsFilter ?? []).length > 0 ||
      specifications.some(({ testLines = [] }) => testLines.length > 0)
  }

  onTestRunEnd(modules: ReadonlyArray<TestModule>, _: unknown, reason: "passed" | "interrupted" | "failed") {
    const pattern = this.#vitest.getGlobalTestNamePattern()
    const skipped = modules.flatMap((module) => [...module.children.allTests("skipped")])
      .filter(({ fullName }) => pattern === undefined || pattern.test(fullName.replaceAll(" > ", " ")))
    const counts = new Map<string, number>()
    for (const test of skipped) {
      const { leftOut } = test.meta()
      if (leftOut === undefined) continue
      const line = `${leftOut.untested}: no ${leftOut.missing.join(", no ")} here (${leftOut.install})`
      counts.set(line, (counts.get(line) ?? 0) + 1)
    }
    if (counts.size > 0) {
      const lines = [...counts].sort(([one], [other]) => one < other ? -1 : 1)
        .map(([line, count]) => `${String(count).padStart(5)}  ${line}\n`)
      const all = [...counts.values()].reduce((sum, count) => sum + count, 0)
      process.stderr.write(
        `\n${tests(all)} left out, because this machine lacks the programs:\n\n${lines.join("")}\n`
      )
    }
    if (this.#isPartial || reason === "interrupted") return
    const unexplained = skipped.filter((test) => test.meta().leftOut === undefined && !isAfterFailure(test))
    if (unexplained.length === 0) return
    const names = unexplained.map(({ fullName, module }) => `  ${module.relativeModuleId}: ${fullName}\n`)
    process.stderr.write(
      `\n${tests(unexplained.length)} skipped without a reason, which fails the run. Skip a test only by the options ` +
        `of Program.needed:\n\n${names.join("")}\n`
    )
    process.exitCode = 1
  }
}

/** Adds the reporter to the ones of the configuration or the command line. */
export const leftOut = (): Vite.Plugin => ({
  name: "wac:left-out",
  // called once per project, each of which may have loaded this module for itself
  configureVitest({ vitest: { config: { reporters } }, vitest }) {
    const isAdded = reporters.some((reporter) => reporter.constructor.name === LeftOutReporter.name)
    if (!isAdded) reporters.push(new LeftOutReporter(vitest))
  }
})
