import { assert, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Layer, Metric } from "effect"
import { TestClock } from "effect/testing"
import { NotFound } from "../../src/Errors.ts"
import type { MediaId, WorkspaceId } from "../../src/Id.ts"
import { MediaBytes } from "../../src/media/MediaBytes.ts"
import { InboundFiles, MediaLibrary } from "../../src/media/MediaLibrary.ts"
import { type Claimed, MediaStore } from "../../src/media/MediaStore.ts"
import * as MediaTidier from "../../src/media/MediaTidier.ts"
import { Heartbeats } from "../../src/queue/Heartbeats.ts"
import { StoreError } from "../../src/StoreError.ts"
import { advance } from "../clock.ts"
import { retention } from "../retention.ts"

const workspaceId = "ws_1" as WorkspaceId

/** Starts a tidier over removed files, of which it cannot delete the bytes of some, after the first heartbeat. */
const tidying = (
  ids: ReadonlyArray<MediaId>,
  isRefused: (id: MediaId) => boolean,
  { begun = Effect.void, isHeld = false }: { readonly begun?: Effect.Effect<void>; readonly isHeld?: boolean } = {}
) =>
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
          ? Effect.fail(new StoreError({ operation: "MediaBytes.remove", ...(isHeld ? { isHeld } : {}) }))
          : Effect.succeed(false)
    })
    const sendable = {
      find: () => Effect.die("no send"),
      providerIdOf: () => Effect.die("no send"),
      sampleHandleOf: () => Effect.die("no send"),
      keepUntil: () => Effect.die("no send"),
      forgetProviderId: () => Effect.die("no send")
    }
    const needed = Layer.mergeAll(
      store,
      bytes,
      Layer.mock(MediaLibrary, { sendable }),
      Layer.succeed(Heartbeats, Heartbeats.of({ begun }))
    )
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

it.effect("files that a restored copy holds stay, and their deletion does not count as failed", () =>
  Effect.gen(function*() {
    const [held, free] = ["med_1", "med_2"] as [MediaId, MediaId]
    yield* TestClock.setTime(1_000_000)
    const left = yield* tidying([held, free], (id) => id === held, { isHeld: true })
    assert.deepStrictEqual([...left], [held])
    yield* TestClock.adjust(Duration.minutes(5))
    assert.deepStrictEqual(yield* retention("media"), { completed: 1300, failures: 0, removed: 0 })
  }).pipe(Effect.provideService(Metric.MetricRegistry, new Map())))

it.effect("before the first heartbeat nothing is deleted, but the metrics are there", () =>
  Effect.gen(function*() {
    const first = yield* Deferred.make<void>()
    yield* TestClock.setTime(1_000_000)
    const left = yield* tidying(["med_1" as MediaId], () => false, { begun: Deferred.await(first) })
    yield* TestClock.adjust(Duration.minutes(10))
    assert.deepStrictEqual(yield* retention("media"), { completed: 1000, failures: 0, removed: 0 })
    assert.strictEqual(left.size, 1)
    yield* Deferred.succeed(first, undefined)
    yield* TestClock.adjust(1)
    assert.strictEqual(left.size, 0)
  }).pipe(Effect.provideService(Metric.MetricRegistry, new Map())))

it.effect("a download that hangs takes one place, and as many others as there are places go on", () =>
  Effect.gen(function*() {
    const due = Array.from({ length: 12 }, (_, i) => ({ id: `med_${i}` as MediaId, workspaceId })) as Array<Claimed>
    const begun: Array<MediaId> = []
    const running = { now: 0, most: 0 }
    const library = Layer.mock(MediaLibrary, {
      sendable: {} as MediaLibrary["Service"]["sendable"],
      fetch: ({ id }) =>
        Effect.suspend(() => {
          begun.push(id)
          running.most = Math.max(running.most, ++running.now)
          return id === "med_0"
            ? Effect.never
            : Effect.andThen(
              Effect.sleep("1 second"),
              Effect.suspend(() => {
                running.now--
                return Effect.fail(new NotFound({ message: "gone" }))
              })
            )
        })
    })
    const store = Layer.mock(MediaStore, {
      due: () => Effect.succeed([]),
      removed: () => Effect.succeed([]),
      claimAwaited: ({ limit }) => Effect.sync(() => due.splice(0, limit))
    })
    const needed = Layer.mergeAll(
      store,
      Layer.mock(MediaBytes, {}),
      library,
      Layer.succeed(Heartbeats, Heartbeats.of({ begun: Effect.void }))
    )
    yield* Layer.build(MediaTidier.layer.pipe(Layer.provide(needed)))
    yield* advance("5 seconds")
    assert.lengthOf(begun, 12)
    assert.strictEqual(running.most, 4)
    due.push({ id: "med_late" as MediaId, workspaceId } as Claimed)
    yield* advance("2 seconds")
    assert.strictEqual(begun.at(-1), "med_late")
  }).pipe(Effect.scoped))
