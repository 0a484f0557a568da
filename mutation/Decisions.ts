import { globSync } from "node:fs"
import { join } from "node:path"

/** The least share of mutants that the tests must kill, in percent. */
export const minimum = 95

/** The sources of core's decisions, relative to the repository: the steps, and the rules that several of them apply. */
export const files: ReadonlyArray<string> = globSync(
  ["packages/core/src/*/*Step.ts", "packages/core/src/*/{CustomerNames,KeyedMessage,Policy,RetrySchedule}.ts"],
  { cwd: join(import.meta.dirname, "..") }
).sort()

/**
 * The projects whose tests judge the decisions: the suites of the ports over the memory storage, then core's own for what
 * is left, since fewer of them run a step.
 */
export const projects = ["memory", "core"]
