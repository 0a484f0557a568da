/**
 * The service that writes this process's heartbeats (`Heartbeat`). Runners of queues wait for its first one before they
 * send. Calls `QueueStore`.
 */
import { Clock, Context, Deferred, Duration, Effect, Layer, Ref, Schedule } from "effect"
import { Polling } from "../Polling.ts"
import * as RepeatedFailure from "../RepeatedFailure.ts"
import type { Instant } from "../Time.ts"
import * as Heartbeat from "./Heartbeat.ts"
import { QueueStore } from "./QueueStore.ts"

const staleAfter = `${Duration.toMinutes(Heartbeat.staleAfter)} minutes`

/**
 * Whether the operator says that the database was restored from a backup (contract §11 `WAC_RESTORED`), and no heartbeat
 * has stored this yet. It outlives {@link Heartbeats}, which an instance without background work builds for each shift:
 * a second heartbeat that stored it would undo what a person has resumed and released meanwhile.
 */
export const IsRestored = Context.Reference<Ref.Ref<boolean>>("@wac/core/queue/Heartbeats/IsRestored", {
  defaultValue: () => Ref.makeUnsafe(false)
})

/** {@link IsRestored} at the start of an instance. */
export const layerRestored = (isRestored: boolean): Layer.Layer<never> => Layer.effect(IsRestored, Ref.make(isRestored))

export class Heartbeats extends Context.Service<Heartbeats, {
  /** Waits for the first heartbeat: nothing queued is sent before it is known whether the database was restored. */
  readonly begun: Effect.Effect<void>
}>()("@wac/core/queue/Heartbeats") {
  static readonly layer = Layer.effect(
    Heartbeats,
    Effect.gen(function*() {
      const store = yield* QueueStore
      const { rest } = yield* Polling
      const isRestored = yield* IsRestored
      const begun = yield* Deferred.make<void>()
      let lastBeat: Instant | null = null

      const beat = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const { at, isHolding, waiting } = yield* store.beat({
          now,
          last: lastBeat,
          isRestored: yield* Ref.get(isRestored)
        })
        lastBeat = at
        yield* Ref.set(isRestored, false)
        if (waiting > 0) {
          yield* Effect.logWarning(
            `the database was restored from a backup, or nothing ran for ${staleAfter}: ${waiting} ${
              waiting === 1 ? "campaign waits" : "campaigns wait"
            } until a ` +
              "person resumes them (`wac campaigns confirm`)"
          )
        }
        if (isHolding) {
          yield* Effect.logWarning(
            "the database was restored from a backup: queued messages wait, and files stay in an object store, until a " +
              "person releases the queue (`wac messages confirm`)"
          )
        }
      })

      // a defect is tried again too: without the first heartbeat nothing queued would ever be sent
      const first = Effect.retry(
        Effect.sandbox(RepeatedFailure.watch("the heartbeat that queued messages wait for")(beat)),
        Schedule.spaced(Heartbeat.interval)
      )
      const next = Effect.ignoreCause(RepeatedFailure.watch("writing heartbeats")(beat))
      yield* first.pipe(
        Effect.andThen(Deferred.succeed(begun, undefined)),
        Effect.andThen(Effect.forever(Effect.andThen(rest("restores", Heartbeat.interval), next))),
        Effect.forkScoped
      )
      return Heartbeats.of({ begun: Deferred.await(begun) })
    })
  )
}
