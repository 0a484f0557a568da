import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as UsageRecorder from "../../src/usage/UsageRecorder.ts"
import { UsageStore } from "../../src/usage/UsageStore.ts"
import { advance } from "../clock.ts"
import { foundation, newId } from "../world.ts"

it.effect("usage counts everything that a busy process does in a second", () =>
  Effect.gen(function*() {
    const counts: Array<number> = []
    const store = Layer.effect(
      UsageStore,
      Effect.map(UsageStore, (store) =>
        UsageStore.of({
          ...store,
          add: ({ activities }) => Effect.sync(() => void counts.push(...activities.map(({ count }) => count)))
        }))
    )
    const workspaceId = yield* newId("ws")
    yield* Effect.gen(function*() {
      const record = yield* UsageRecorder.UsageRecorder
      for (let n = 0; n < 30_000; n++) record({ workspaceId, activity: "sendsAccepted", at: 0 })
      yield* advance("1 second")
      assert.strictEqual(counts.reduce((sum, count) => sum + count, 0), 30_000)
    }).pipe(Effect.provide(Layer.provide(UsageRecorder.layer, store)))
  }).pipe(Effect.provide(foundation)))
