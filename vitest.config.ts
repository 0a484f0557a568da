import { defineConfig } from "vitest/config"
import { projects } from "./vitest.workspace.ts"

export default defineConfig({
  test: {
    projects,
    // A process per file: a test that leaks a socket, a timer or a signal handler cannot touch another file.
    pool: "forks",
    maxWorkers: "100%",
    // for what hangs, on the slowest machine; no test waits for them
    testTimeout: 240_000,
    hookTimeout: 240_000,
    teardownTimeout: 10_000,
    allowOnly: false
  }
})
