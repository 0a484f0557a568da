import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { UsageStore } from "../src/usage/UsageStore.ts"
import * as WaitingRunner from "../src/WaitingRunner.ts"
import { Webhooks } from "../src/webhooks/Webhooks.ts"
import { hour, minute } from "./checks.ts"
import { advance } from "./clock.ts"
import { start } from "./samples.ts"
import { receiver, scheduling } from "./scheduling.ts"

it.effect(
  "the most that waited in an hour is kept, whichever of several servers saw it, and the next hour begins anew",
  scheduling(() =>
    Effect.gen(function*() {
      const { happens, workspace } = yield* receiver()
      const begun = start - start % hour
      const held = UsageStore.use((usage) => usage.waited(workspace.id, { since: 0, until: start + 24 * hour })).pipe(
        Effect.map((peaks) => peaks.map(({ held, hour: at, queued }) => [(at - begun) / hour, held, queued]))
      )
      yield* Layer.build(Layer.fresh(WaitingRunner.layer))
      yield* Layer.build(Layer.fresh(WaitingRunner.layer))
      yield* advance(0)
      // at once: where everything runs in shifts of seconds, it never comes to a second count
      assert.deepStrictEqual(yield* held, [[0, 0, 0]])
      yield* Webhooks.use((webhooks) => webhooks.pause(workspace.id))
      yield* Effect.all([happens, happens, happens])
      yield* advance(6 * minute)
      assert.deepStrictEqual(yield* held, [[0, 3, 0]])
      yield* Webhooks.use((webhooks) => webhooks.remove(workspace.id))
      yield* advance(6 * minute)
      assert.deepStrictEqual(yield* held, [[0, 3, 0]])
      yield* advance(hour)
      assert.deepStrictEqual(yield* held, [[0, 3, 0], [1, 0, 0]])
    })
  )
)
