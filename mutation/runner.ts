/**
 * Vitest's runner in the workers: runs each test as it is, then again under each mutant that it reaches and that no
 * other test has killed in this process.
 */
import { inject, type RunnerTestCase, TestRunner } from "vitest"
import * as Switch from "./Switch.ts"

/** The task of one run of Vitest. */
export interface Task {
  /** The mutants to try. */
  readonly alive: ReadonlyArray<string>
  /** The tests to run; `null` for all. */
  readonly tests: ReadonlyArray<string> | null
  /** A test that takes more of the processor's time, in milliseconds, is left to a later run. */
  readonly longest: number
}

/** What a test says about mutants. */
export interface Finding {
  readonly test: string
  /** The mutants that it reaches. */
  readonly reached: ReadonlyArray<string>
  /** Those that were reached since the previous test, by imports and set-ups. */
  readonly before: ReadonlyArray<string>
  readonly killed: ReadonlyArray<string>
  /** It tried no mutant, because it takes too long for this run. */
  readonly isSlow: boolean
  /** It fails when it runs again as it is, so it says nothing about mutants. */
  readonly isUnrepeatable: boolean
}

declare module "vitest" {
  interface ProvidedContext {
    readonly mutation: Task
  }
  interface TaskMeta {
    finding?: Finding
  }
}

/** For a mutant with which a test waits forever: many times what the test takes, in milliseconds. */
const patience = (normal: number): number => 2_000 + 20 * normal

/** For a mutant with which a step loops forever. */
const mostHits = (normal: number): number => 10_000 + 50 * normal

type Run = () => PromiseLike<void> | void

/** Whether the run passes in time. */
const passes = async (run: Run, time: number): Promise<boolean> => {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), time)
  const { error, log } = console
  const { stackTraceLimit } = Error
  // a killed mutant is no news
  Object.assign(console, { error: () => {}, log: () => {} })
  // nobody reads the stacks of what fails here, and mapping them takes longer than most tests
  Error.stackTraceLimit = 0
  try {
    return await Promise.race([Promise.resolve(run()).then(() => true, () => false), promise])
  } catch {
    return false
  } finally {
    clearTimeout(timer)
    Object.assign(console, { error, log })
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** The mutants that some test of this process has killed. */
const killed = new Set<string>()

const judge = async (test: string, run: Run): Promise<Finding> => {
  const { alive, longest } = inject("mutation")
  const before = [...Switch.takeReached()]
  Switch.turn(undefined)
  const begun = performance.now()
  const used = process.cpuUsage()
  await run()
  const normal = performance.now() - begun
  const { system, user } = process.cpuUsage(used)
  const hits = Switch.count()
  const reached = [...Switch.takeReached()]
  const finding = { test, reached, before, killed: [], isSlow: false, isUnrepeatable: false }
  const tried = new Set(alive)
  const ids = reached.filter((id) => tried.has(id) && !killed.has(id))
  if ((system + user) / 1_000 > longest && ids.length > 0) return { ...finding, isSlow: true }
  const killedHere: Array<string> = []
  for (const id of ids) {
    Switch.turn(id, mostHits(hits))
    const isAlive = await passes(run, patience(normal))
    Switch.turn(undefined)
    if (isAlive) continue
    if (!await passes(run, patience(normal))) {
      Switch.takeReached()
      return { ...finding, killed: killedHere, isUnrepeatable: true }
    }
    killedHere.push(id)
    killed.add(id)
  }
  Switch.takeReached()
  return { ...finding, killed: killedHere }
}

// oxlint-disable-next-line import/no-default-export -- Vitest takes a runner as a module's default
export default class MutationRunner extends TestRunner {
  async runTask(test: RunnerTestCase) {
    const { tests } = inject("mutation")
    if (tests !== null && !tests.includes(test.id)) return
    test.meta.finding = await judge(test.id, TestRunner.getTestFn(test))
  }
}
