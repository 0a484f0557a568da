import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { TestProjectInlineConfiguration } from "vitest/config"
import { createVitest, type Vite } from "vitest/node"
import * as Mutants from "./Mutants.ts"
import type { Finding, Task } from "./runner.ts"

const root = join(import.meta.dirname, "..")

/** `survived`: some test reaches it, and none fails. */
type Fate = "killed" | "survived" | "uncovered" | "static"

/** A mutant and what became of it. */
export interface Verdict {
  readonly mutant: Mutants.Mutant
  readonly fate: Fate
}

/** Tests up to this time of the processor, in milliseconds, try their mutants first; the slower ones try only what is left. */
const quick = 50

/** Tests beyond this time try no mutants: each would take it for every mutant that is left. */
const bearable = 500

/** Gives Vitest the mutated sources in place of the files, which stay as they are. */
const inPlaceOfFiles = (sources: ReadonlyArray<Mutants.Source>): Vite.Plugin => {
  const texts = new Map(sources.map(({ file, text }) => [join(root, file), text]))
  const fresh = join(root, "mutation/freshLayers.ts")
  return {
    name: "wac:mutation",
    enforce: "pre",
    resolveId: (id, importer) => id === "@effect/vitest" && importer !== fresh ? fresh : undefined,
    load: (id) => texts.get(id)
  }
}

/** One run of a project's tests. */
const run = async (
  project: TestProjectInlineConfiguration,
  sources: ReadonlyArray<Mutants.Source>,
  task: Task
): Promise<ReadonlyArray<Finding>> => {
  const vitest = await createVitest("test", {
    root,
    config: false,
    // it would keep the mutated sources for other runs
    fsModuleCache: false,
    watch: false,
    silent: true,
    reporters: [{}],
    maxWorkers: 2,
    projects: [{
      ...project,
      extends: false,
      plugins: [inPlaceOfFiles(sources)],
      test: {
        ...project.test,
        pool: "forks",
        isolate: false,
        fsModuleCache: false,
        testTimeout: 600_000,
        hookTimeout: 600_000,
        setupFiles: [],
        runner: join(root, "mutation/runner.ts"),
        provide: { mutation: task }
      }
    }]
  })
  try {
    const { testModules, unhandledErrors } = await vitest.start()
    const tests = testModules.flatMap((module) => [...module.children.allTests()])
    const failed = tests.filter((test) => test.result().state === "failed")
    const errors = [...testModules.flatMap((module) => module.errors()), ...unhandledErrors]
    if (errors.length > 0) process.stderr.write(`${errors.map((error) => JSON.stringify(error)).join("\n")}\n`)
    if (failed.length > 0) {
      process.stderr.write(`Fails without a mutant: ${failed.map(({ fullName }) => fullName).join(", ")}\n`)
    }
    const unrepeatable = tests.filter((test) => test.meta().finding?.isUnrepeatable)
    if (unrepeatable.length > 0) {
      process.stderr.write(`Fails when it runs again: ${unrepeatable.map(({ fullName }) => fullName).join(", ")}\n`)
    }
    return tests.flatMap((test) => test.meta().finding ?? [])
  } finally {
    await vitest.close()
  }
}

/** Reads sources by their paths in the repository. */
export const read = (files: ReadonlyArray<string>): ReadonlyArray<Mutants.Source> =>
  files.map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }))

/** Judges the mutants of sources by the tests of projects. A project tries the mutants that those before it leave. */
export const judge = async (
  sources: ReadonlyArray<Mutants.Source>,
  projects: ReadonlyArray<TestProjectInlineConfiguration>
): Promise<ReadonlyArray<Verdict>> => {
  const mutated = await Mutants.of(sources)
  const killed = new Set<string>()
  const reached = new Set<string>()
  const early = new Set<string>()
  const attempt = async (project: TestProjectInlineConfiguration, task: Omit<Task, "alive">) => {
    const alive = mutated.mutants.map(({ id }) => id).filter((id) => !killed.has(id))
    const findings = await run(project, mutated.sources, { ...task, alive })
    for (const finding of findings) {
      for (const id of finding.killed) killed.add(id)
      for (const id of finding.reached) reached.add(id)
      for (const id of finding.before) early.add(id)
    }
    return findings
  }
  for (const project of projects) {
    const findings = await attempt(project, { tests: null, longest: quick })
    const slow = findings.filter(({ isSlow, reached }) => isSlow && reached.some((id) => !killed.has(id)))
    if (slow.length > 0) await attempt(project, { tests: slow.map(({ test }) => test), longest: bearable })
  }
  const fate = (id: string): Fate =>
    killed.has(id) ? "killed" : reached.has(id) ? "survived" : early.has(id) ? "static" : "uncovered"
  return mutated.mutants.map((mutant) => ({ mutant, fate: fate(mutant.id) }))
}
