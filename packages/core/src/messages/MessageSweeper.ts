/**
 * The background task that calls `MessageStore.sweep` every second.
 */
import { Clock, Duration, Effect, Layer } from "effect"
import * as BackgroundLoop from "../BackgroundLoop.ts"
import { Polling } from "../Polling.ts"
import { MessageStore } from "./MessageStore.ts"

/** How soon an ended lease or a timeout takes effect. Judging a key does not depend on it. */
const every = Duration.seconds(1)

/** Sweeps until its scope closes. Any number of processes may run it. */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const store = yield* MessageStore
    const { rest } = yield* Polling
    const sweep = Effect.flatMap(Clock.currentTimeMillis, store.sweep)
    yield* Effect.forkScoped(BackgroundLoop.rested("sweeping messages", sweep, rest("sends", every)))
  })
)
