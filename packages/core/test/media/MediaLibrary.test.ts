import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Exit, Fiber, Layer, Stream } from "effect"
import * as MediaInspector from "../../src/media/MediaInspector.ts"
import { MediaLibrary, providerUploadTimeout, uploadPatience } from "../../src/media/MediaLibrary.ts"
import { MediaStore } from "../../src/media/MediaStore.ts"
import * as Capabilities from "../../src/provider/Capabilities.ts"
import { Provider } from "../../src/provider/Provider.ts"
import { StoreError } from "../../src/StoreError.ts"
import { hour } from "../checks.ts"
import { advance } from "../clock.ts"
import { foundation, key, providerNumber, templates, world } from "../world.ts"

const inspector = Layer.succeed(
  MediaInspector.MediaInspector,
  MediaInspector.MediaInspector.of({
    begin: () => ({ take: () => {}, digest: () => "0".repeat(64) }),
    typeOf: () => Effect.undefined
  })
)

/** A library whose store and provider fail as set. */
const setUp = () => {
  const state = { looksUp: true, answers: true, uploads: 0 }
  const store = Layer.effect(
    MediaStore,
    Effect.map(MediaStore, (real) =>
      MediaStore.of({
        ...real,
        find: (named) =>
          Effect.suspend(() =>
            state.looksUp ? real.find(named) : Effect.fail(new StoreError({ operation: "MediaStore.find" }))
          )
      }))
  )
  const provider = Layer.succeed(
    Provider,
    Provider.of({
      name: "stub",
      capabilities: Capabilities.all,
      send: () => Effect.die("no test sends"),
      firstNumber: Effect.succeed(providerNumber),
      templates: () => Effect.succeed(templates),
      uploadFile: () =>
        state.answers
          ? Effect.map(Clock.currentTimeMillis, (now) => ({
            providerMediaId: `provider-${state.uploads += 1}`,
            expiresAt: now + 24 * hour
          }))
          : Effect.never
    })
  )
  const layer = MediaLibrary.layerService.pipe(
    Layer.provide(Layer.mergeAll(store, provider, inspector)),
    Layer.provideMerge(foundation)
  )
  return { state, layer }
}

const stored = Effect.gen(function*() {
  const { number, workspace } = yield* world()
  const library = yield* MediaLibrary
  const { media } = yield* library.upload({
    workspaceId: workspace.id,
    key: key("a file"),
    filename: () => "a.txt",
    size: 5,
    bytes: Stream.succeed(new TextEncoder().encode("hello"))
  })
  return library.sendable.providerIdOf(number, media)
})

describe("the upload of a file to the provider", () => {
  it.effect("after a look-up that failed once, the next send of the file uploads it", () => {
    const { layer, state } = setUp()
    return Effect.gen(function*() {
      const providerId = yield* stored
      state.looksUp = false
      assert.isTrue(Exit.isFailure(yield* Effect.exit(providerId)))
      state.looksUp = true
      const again = yield* Effect.forkChild(providerId)
      yield* advance(Duration.toMillis(uploadPatience))
      assert.strictEqual(yield* Fiber.join(again), "provider-1")
      assert.strictEqual(yield* providerId, "provider-1")
      assert.strictEqual(state.uploads, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("an upload that the provider never answers ends, and the next send of the file begins another one", () => {
    const { layer, state } = setUp()
    return Effect.gen(function*() {
      const providerId = yield* stored
      state.answers = false
      const waiting = yield* Effect.forkChild(Effect.exit(providerId))
      yield* advance(Duration.toMillis(uploadPatience))
      assert.isTrue(Exit.isFailure(yield* Fiber.join(waiting)))
      state.answers = true
      yield* advance(Duration.toMillis(providerUploadTimeout))
      assert.strictEqual(yield* providerId, "provider-1")
    }).pipe(Effect.provide(layer))
  })
})
