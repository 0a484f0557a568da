import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Changes } from "../../src/changes/Changes.ts"
import { ChangeStore } from "../../src/changes/ChangeStore.ts"
import { EventStore } from "../../src/events/EventStore.ts"
import { StoreError } from "../../src/StoreError.ts"
import { logged } from "../logged.ts"
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

/** Storage that cannot read events. */
const broken = Layer.effect(
  EventStore,
  Effect.map(
    EventStore,
    (store) =>
      EventStore.of({ ...store, latest: () => Effect.fail(new StoreError({ operation: "EventStore.latest" })) })
  )
)

it.effect("while events cannot be read for open pages, the log says so once a minute", () =>
  logged((lines) =>
    Effect.gen(function*() {
      yield* Effect.asVoid((yield* Changes).watch(yield* newId("ws")))
      yield* TestClock.adjust("2 minutes")
      const said = "reading events for open pages failed; it is tried again"
      assert.deepStrictEqual(lines.map(({ level, message }) => [level, message.split(",")[0]]), [
        ["Warn", said],
        ["Warn", `${said} (and 59 more times since the last line)`],
        ["Warn", `${said} (and 59 more times since the last line)`]
      ])
    }).pipe(
      Effect.scoped,
      Effect.provide(Changes.layer.pipe(Layer.provideMerge(broken), Layer.provideMerge(foundation)))
    )
  ))
