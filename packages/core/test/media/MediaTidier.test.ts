import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { MediaId, WorkspaceId } from "../../src/Id.ts"
import { MediaBytes } from "../../src/media/MediaBytes.ts"
import { InboundFiles, MediaLibrary } from "../../src/media/MediaLibrary.ts"
import { MediaStore } from "../../src/media/MediaStore.ts"
import * as MediaTidier from "../../src/media/MediaTidier.ts"
import { StoreError } from "../../src/StoreError.ts"

const workspaceId = "ws_1" as WorkspaceId

it.effect("a file whose bytes cannot be deleted does not keep the bytes of later files", () =>
  Effect.gen(function*() {
    const ids = Array.from({ length: 250 }, (_, i) => `med_${String(i).padStart(3, "0")}` as MediaId)
    const left = new Set(ids)
    const store = Layer.mock(MediaStore, {
      due: () => Effect.succeed([]),
      removed: (_now, after, limit) =>
        Effect.sync(() => [...left].filter((id) => id > after).slice(0, limit).map((id) => ({ workspaceId, id }))),
      forget: ({ id }) => Effect.sync(() => void left.delete(id))
    })
    const bytes = Layer.mock(MediaBytes, {
      remove: ({ id }) =>
        id === ids[0] || id === ids[120]
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
    assert.deepStrictEqual([...left], [ids[0], ids[120]])
  }).pipe(Effect.provideService(InboundFiles, "on_demand")))
