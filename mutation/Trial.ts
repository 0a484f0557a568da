import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { TestProjectInlineConfiguration } from "vitest/config"
import { createVitest, type Vite } from "vitest/node"
import * as Mutants from "./Mutants.ts"
import type { Finding, Task } from "./runner.ts"

const root = join(import.meta.dirname, "..")

/** `survived`: some test reaches it, and none fails. */
export type Fate = "killed" | "survived" | "uncovered" | "static"

/** A mutant and what became of it. */
export interface Verdict {
  readonly mutant: Mutants.Mutant
  readonly fate: Fate
}

/** Tests up to this time, in milliseconds, try their mutants first; the slower ones try only what is left. */
const quick = 50

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

/** One run of the tests of the projects. */
const run = async (
  projects: ReadonlyArray<TestProjectInlineConfiguration>,
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
    projects: projects.map((project) => ({
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
    }))
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
    return tests.flatMap((test) => test.meta().finding ?? [])
  } finally {
    await vitest.close()
  }
}

/** Reads sources by their paths in the repository. */
export const read = (files: ReadonlyArray<string>): ReadonlyArray<Mutants.Source> =>
  files.map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }))

/** Judges the mutants of sources by the tests of projects. */
export const judge = async (
  sources: ReadonlyArray<Mutants.Source>,
  projects: ReadonlyArray<TestProjectInlineConfiguration>
): Promise<ReadonlyArray<Verdict>> => {
  const mutated = await Mutants.of(sources)
  const ids = mutated.mutants.map(({ id }) => id)
  const first = await run(projects, mutated.sources, { alive: ids, tests: null, longest: quick })
  const killed = new Set(first.flatMap((finding) => finding.killed))
  const slow = first.filter(({ isSlow, reached }) => isSlow && reached.some((id) => !killed.has(id)))
  process.stderr.write(
    `${killed.size} of ${ids.length} killed by quick tests; ${slow.length} slow tests try the rest\n`
  )
  const second = slow.length === 0
    ? []
    : await run(projects, mutated.sources, {
      alive: ids.filter((id) => !killed.has(id)),
      tests: slow.map(({ test }) => test),
      longest: 2_000
    })
  for (const finding of second) for (const id of finding.killed) killed.add(id)
  const reached = new Set(first.flatMap((finding) => finding.reached))
  const early = new Set(first.flatMap((finding) => finding.before))
  const fate = (id: string): Fate =>
    killed.has(id) ? "killed" : reached.has(id) ? "survived" : early.has(id) ? "static" : "uncovered"
  return mutated.mutants.map((mutant) => ({ mutant, fate: fate(mutant.id) }))
}
