import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Change } from "../../src/changes/Change.ts"
import * as ChangeRecorder from "../../src/changes/ChangeRecorder.ts"
import { ChangeStore } from "../../src/changes/ChangeStore.ts"
import { advance } from "../clock.ts"
import { crypto, newId } from "../world.ts"

it.effect("the changes of a second are published once each, however many a busy workspace has", () => {
  const published: Array<ReadonlyArray<Change>> = []
  const store = ChangeStore.of({
    publish: (batch) => Effect.sync(() => void published.push(batch)),
    changes: Effect.succeed(Effect.never)
  })
  return Effect.gen(function*() {
    const record = yield* ChangeRecorder.ChangeRecorder
    const [busy, quiet] = [yield* newId("ws"), yield* newId("ws")]
    const messages: Change = { workspaceId: busy, topic: "messages" }
    const usage: Change = { workspaceId: busy, topic: "usage" }
    const ofQuiet: Change = { workspaceId: quiet, topic: "messages" }
    for (let n = 0; n < 20_000; n++) {
      record(messages)
      record(usage)
    }
    record(ofQuiet)
    yield* advance("1 second")
    assert.deepStrictEqual(published, [[messages, usage, ofQuiet]])
    record(usage)
    yield* advance("1 second")
    assert.deepStrictEqual(published, [[messages, usage, ofQuiet], [usage]])
  }).pipe(
    Effect.provide(Layer.merge(Layer.provide(ChangeRecorder.layer, Layer.succeed(ChangeStore, store)), crypto))
  )
})
