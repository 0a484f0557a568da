/**
 * Changes that another process publishes, received as the database's notifications.
 */
import { assert, it } from "@effect/vitest"
import { ChangeStore, Id } from "@wac/core"
import { Context, Effect, Layer } from "effect"
import { freshDatabase, storageIn } from "../servers.ts"

it.live("a published change reaches the listeners of other processes", () =>
  Effect.gen(function*() {
    const url = yield* freshDatabase()
    const process = Effect.map(
      Layer.build(Layer.fresh(storageIn(url))),
      (services) => Context.get(services, ChangeStore.ChangeStore)
    )
    const [one, other] = [yield* process, yield* process]
    const next = yield* other.changes
    // the reader listens once it has returned null for missed changes
    while ((yield* next) !== null) { /* until then */ }
    const change = { workspaceId: Id.WorkspaceId.make("ws_01ARZ3NDEKTSV4RRFFQ69G5FAV"), topic: "webhook" } as const
    yield* one.publish([change])
    let told = yield* next
    while (told === null) told = yield* next
    assert.deepStrictEqual(told, change)
  }).pipe(Effect.scoped))
