import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { leftOut } from "./vitest.leftOut.ts"
import { projects } from "./vitest.workspace.ts"

export default defineConfig({
  plugins: [leftOut()],
  test: {
    projects,
    setupFiles: process.env["VITEST_COSTS"] === undefined ? [] : [`${import.meta.dirname}/vitest.costs.ts`],
    pool: "forks",
    // The files of a project share their processes: loading a package takes longer than most of its tests. So a test
    // closes what it opens. Projects that need a process per file say so in vitest.workspace.ts.
    isolate: false,
    // two for each processor: many tests wait for servers, browsers and timers
    maxWorkers: availableParallelism() * 2,
    // for what hangs, on the slowest machine; no test waits for them, or says less
    testTimeout: 600_000,
    hookTimeout: 600_000,
    teardownTimeout: 10_000,
    allowOnly: false
  }
})
