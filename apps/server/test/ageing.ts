/**
 * The service as a process for which a test lets time pass, so that it deletes in minutes what it keeps for days. What
 * falls due on the way happens. Each order is answered with the memory that is in use once nothing more can be freed.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { StorageTime } from "@wac/core"
import { CloudApiClock } from "@wac/simulator"
import { Clock, Effect } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { run } from "../src/Run.ts"
import { teardown } from "../src/Teardown.ts"

/** How many milliseconds pass; with 0, only the memory is asked for. */
export interface Order {
  readonly pass: number
}

/** In bytes. */
export interface Memory {
  /** What JavaScript holds, in V8's heap and outside of it. */
  readonly used: number
  readonly resident: number
}

setFlagsFromString("--expose-gc")
const collect: () => void = runInNewContext("gc")

const memory = (): Memory => {
  collect()
  const { external, heapUsed, rss } = process.memoryUsage()
  return { used: heapUsed + external, resident: rss }
}

const main = Effect.gen(function*() {
  const { advance, clock } = CloudApiClock.make(yield* Clock.Clock)
  yield* run(process.env).pipe(
    Effect.provideService(Clock.Clock, clock),
    Effect.provideService(StorageTime.JudgedBy, "asker")
  )
  process.on("message", ({ pass }: Order) => {
    advance(pass)
    process.send!(memory())
  })
  return yield* Effect.never
})

NodeRuntime.runMain(Effect.scoped(main), { disableErrorReporting: true, teardown: teardown("text") })
