/**
 * Writes the status of skipped deliveries in the background, by calling `DeliveryStore.tidySkipped` repeatedly.
 */
import { Clock, Duration, Effect, Layer } from "effect"
import { Polling } from "../Polling.ts"
import * as RepeatedFailure from "../RepeatedFailure.ts"
import { DeliveryStore } from "./DeliveryStore.ts"

/** After a small resume, deliveries behind a skipped one become due within about this time. */
const every = Duration.seconds(1)

/** Deliveries written at once, few enough that attempts at the same webhook are hardly delayed. */
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
    yield* tidy.pipe(
      RepeatedFailure.watch("tidying skipped deliveries"),
      Effect.ignoreCause,
      (looking) => Effect.andThen(rest("skippedDeliveries", every), looking),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
