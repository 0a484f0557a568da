/**
 * Starting, as those see it who ask from the first moment on.
 */
import { assert, describe, it } from "@effect/vitest"
import * as FreePort from "@wac/testkit/FreePort"
import { Effect, Fiber, Schedule } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { call, start } from "./harness.ts"

describe("a start", () => {
  it.live("lets nobody in before it can answer", () =>
    Effect.gen(function*() {
      const port = yield* Effect.promise(FreePort.find)
      // embedded storage takes its time to open
      const directory = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(tmpdir(), "wac-starting-"))),
        (directory) => Effect.promise(() => rm(directory, { recursive: true }))
      )
      const server = yield* Effect.forkChild(
        start({ environment: { PORT: `${port}`, DATABASE_URL: `pglite:${directory}` } })
      )
      const first = yield* Effect.retry(
        Effect.sandbox(call(`http://127.0.0.1:${port}/readyz`)),
        { while: () => server.pollUnsafe() === undefined, schedule: Schedule.spaced("10 millis") }
      )
      assert.strictEqual(first.status, 200)
      yield* Fiber.join(server)
    }).pipe(Effect.scoped))
})
