/**
 * The background task that writes the status of skipped deliveries (`DeliveryStore.tidySkipped`). A resume only notes
 * which deliveries it skips, so that it returns immediately, however many there are.
 */
import { Clock, Duration, Effect, Layer } from "effect"
import * as BackgroundLoop from "../BackgroundLoop.ts"
import { Polling } from "../Polling.ts"
import { DeliveryStore } from "./DeliveryStore.ts"

/** The wait between two rounds. A delivery behind a skipped one becomes due at most about this much later. */
const every = Duration.seconds(1)

/** The maximum number of deliveries in a transaction: its locks should hardly delay attempts at the same webhook. */
const batch = 1000

/** Runs as long as its scope. Any number of processes may run it. */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const store = yield* DeliveryStore
    const { rest } = yield* Polling
    const tidy = Clock.currentTimeMillis.pipe(
      Effect.flatMap((now) => store.tidySkipped(now, batch)),
      Effect.repeat({ while: (written) => written > 0 })
    )
    yield* Effect.forkScoped(
      BackgroundLoop.rested("tidying skipped deliveries", tidy, rest("skippedDeliveries", every))
    )
  })
)
