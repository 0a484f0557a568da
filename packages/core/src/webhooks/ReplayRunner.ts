/**
 * Works at replay jobs, in the background: `ReplayStore.step`, again and again.
 */
import { Clock, Duration, Effect, Layer } from "effect"
import { Polling } from "../Polling.ts"
import { ReplayStore } from "./ReplayStore.ts"

/** A new job, or one that has paused, is taken up within this. */
const every = Duration.seconds(1)

/** Deliveries looked at in one step: few enough that attempts at the same webhook hardly wait for it. */
const batch = 500

/** Runs as long as its scope. Any number of processes may do so. */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const store = yield* ReplayStore
    const { rest } = yield* Polling
    const work = Clock.currentTimeMillis.pipe(
      Effect.flatMap((now) => store.step(now, batch)),
      Effect.repeat({ while: (worked) => worked })
    )
    yield* work.pipe(
      Effect.catchCause((cause) => Effect.logWarning("a step of a replay failed; the next one follows", cause)),
      (looking) => Effect.andThen(rest("replays", every), looking),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
