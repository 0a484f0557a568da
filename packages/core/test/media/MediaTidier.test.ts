import { assert, it } from "@effect/vitest"
import { Duration, Effect, Layer, Metric } from "effect"
import { TestClock } from "effect/testing"
import type { MediaId, WorkspaceId } from "../../src/Id.ts"
import { MediaBytes } from "../../src/media/MediaBytes.ts"
import { InboundFiles, MediaLibrary } from "../../src/media/MediaLibrary.ts"
import { MediaStore } from "../../src/media/MediaStore.ts"
import * as MediaTidier from "../../src/media/MediaTidier.ts"
import { StoreError } from "../../src/StoreError.ts"
import { retention } from "../retention.ts"

const workspaceId = "ws_1" as WorkspaceId

/** Starts a tidier over removed files, of which it cannot delete the bytes of some. */
const tidying = (ids: ReadonlyArray<MediaId>, isRefused: (id: MediaId) => boolean) =>
  Effect.gen(function*() {
    const left = new Set(ids)
    const store = Layer.mock(MediaStore, {
      due: () => Effect.succeed([]),
      removed: (_now, after, limit) =>
        Effect.sync(() => [...left].filter((id) => id > after).slice(0, limit).map((id) => ({ workspaceId, id }))),
      forget: ({ id }) => Effect.sync(() => void left.delete(id))
    })
    const bytes = Layer.mock(MediaBytes, {
      remove: ({ id }) =>
        isRefused(id)
          ? Effect.fail(new StoreError({ operation: "MediaBytes.remove" }))
          : Effect.succeed(false)
    })
    const sendable = {
      find: () => Effect.die("no send"),
      providerIdOf: () => Effect.die("no send"),
      sampleHandleOf: () => Effect.die("no send"),
      keepUntil: () => Effect.die("no send"),
      forgetProviderId: () => Effect.die("no send")
    }
    const needed = Layer.mergeAll(store, bytes, Layer.mock(MediaLibrary, { sendable }))
    yield* Layer.build(MediaTidier.layer.pipe(Layer.provide(needed)))
    yield* TestClock.adjust(1)
    return left
  }).pipe(Effect.provideService(InboundFiles, "on_demand"))

it.effect("a file whose bytes cannot be deleted does not keep the bytes of later files", () =>
  Effect.gen(function*() {
    const ids = Array.from({ length: 250 }, (_, i) => `med_${String(i).padStart(3, "0")}` as MediaId)
    const left = yield* tidying(ids, (id) => id === ids[0] || id === ids[120])
    assert.deepStrictEqual([...left], [ids[0], ids[120]])
  }))

it.effect("while bytes cannot be deleted, the deletion of files counts as failed and not as completed", () =>
  Effect.gen(function*() {
    let isRefused = true
    yield* TestClock.setTime(1_000_000)
    yield* tidying(["med_1" as MediaId], () => isRefused)
    const metrics = retention("media")
    assert.deepStrictEqual(yield* metrics, { completed: 1000, failures: 1, removed: 0 })
    yield* TestClock.adjust(Duration.minutes(5))
    assert.deepStrictEqual(yield* metrics, { completed: 1000, failures: 2, removed: 0 })
    isRefused = false
    yield* TestClock.adjust(Duration.minutes(5))
    assert.deepStrictEqual(yield* metrics, { completed: 1600, failures: 2, removed: 0 })
  }).pipe(Effect.provideService(Metric.MetricRegistry, new Map())))
