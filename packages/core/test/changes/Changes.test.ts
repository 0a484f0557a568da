import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Changes } from "../../src/changes/Changes.ts"
import { ChangeStore } from "../../src/changes/ChangeStore.ts"
import { foundation, newId } from "../world.ts"

const layer = Changes.layer.pipe(Layer.provideMerge(foundation))

it.layer(layer)("changes", (it) => {
  it.effect("a watcher gets the changes of a second together, each topic once, and the first one at once", () =>
    Effect.gen(function*() {
      const store = yield* ChangeStore
      const workspaceId = yield* newId("ws")
      const next = yield* (yield* Changes).watch(workspaceId)
      yield* store.publish([{ workspaceId, topic: "webhook" }])
      assert.deepStrictEqual(yield* next, ["webhook"])

      const told: Array<ReadonlyArray<string>> = []
      const reading = yield* next.pipe(
        Effect.tap((topics) => Effect.sync(() => told.push(topics))),
        Effect.forever,
        Effect.forkChild
      )
      for (let tenth = 0; tenth < 30; tenth++) {
        yield* store.publish([
          { workspaceId, topic: "messages" },
          { workspaceId, topic: tenth < 15 ? "usage" : "deliveries" }
        ])
        yield* TestClock.adjust("100 millis")
      }
      yield* Fiber.interrupt(reading)
      assert.deepStrictEqual(told, [
        ["messages", "usage"],
        ["deliveries", "messages", "usage"],
        ["deliveries", "messages"]
      ])
    }))
})
