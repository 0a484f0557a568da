/**
 * Runs replay jobs in the background, by calling `ReplayStore.step` repeatedly.
 */
import { Clock, Duration, Effect, Layer } from "effect"
import * as BackgroundLoop from "../BackgroundLoop.ts"
import { Polling } from "../Polling.ts"
import { ReplayStore } from "./ReplayStore.ts"

/** A new or paused job is picked up within this time. */
const every = Duration.seconds(1)

/** The maximum number of deliveries scanned in one step: it should hardly delay attempts at the same webhook. */
const batch = 500

/** Runs as long as its scope. Any number of processes may run it. */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const store = yield* ReplayStore
    const { rest } = yield* Polling
    const work = Clock.currentTimeMillis.pipe(
      Effect.flatMap((now) => store.step(now, batch)),
      Effect.repeat({ while: (worked) => worked })
    )
    yield* Effect.forkScoped(BackgroundLoop.rested("work on replays", work, rest("replays", every)))
  })
)
