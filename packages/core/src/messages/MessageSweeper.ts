/**
 * Draws the conclusions from silence, in the background: `MessageStore.sweep`, again and again.
 */
import { Clock, Duration, Effect, Layer } from "effect"
import { Polling } from "../Polling.ts"
import { MessageStore } from "./MessageStore.ts"

/** Ended leases and timeouts are noticed within this. Judging a key does not wait for it. */
const every = Duration.seconds(1)

/** Runs as long as its scope. Any number of processes may do so. */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const store = yield* MessageStore
    const { rest } = yield* Polling
    yield* Clock.currentTimeMillis.pipe(
      Effect.flatMap((now) => store.sweep(now)),
      Effect.catchCause((cause) => Effect.logWarning("a sweep over messages failed; the next one follows", cause)),
      (looking) => Effect.andThen(rest("sends", every), looking),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
