import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Ref } from "effect"
import * as Id from "../../src/Id.ts"
import { MediaBytes } from "../../src/media/MediaBytes.ts"
import * as MediaHold from "../../src/media/MediaHold.ts"
import { IsRestored } from "../../src/queue/Heartbeats.ts"
import { QueueStore } from "../../src/queue/QueueStore.ts"

const [held, other] = ["ws_held", "ws_other"] as [Id.WorkspaceId, Id.WorkspaceId]

const heldSince = 1_000_000

const created = (at: number): Id.MediaId => Id.lowestAt("med", at) as Id.MediaId

/** Removes a file by the hold; returns whether its bytes were deleted. */
const removal = Effect.fnUntraced(function*(options: { readonly isRestored: boolean; readonly isHeld: boolean }) {
  const isRestored = yield* Ref.make(options.isRestored)
  const bytes = Layer.mock(MediaBytes, {
    read: () => {
      throw new Error("nothing is read")
    },
    write: () => Effect.void,
    remove: () => Effect.succeed(false)
  })
  const queue = Layer.mock(QueueStore, {
    heldSince: (workspaceId) => Effect.succeed(options.isHeld && workspaceId === held ? heldSince : null)
  })
  const context = yield* Layer.build(MediaHold.layer.pipe(
    Layer.provide([bytes, queue, Layer.succeed(IsRestored, isRestored)])
  ))
  const { remove } = Context.get(context, MediaBytes)
  return {
    isRestored,
    removes: (workspaceId: Id.WorkspaceId, at: number) =>
      Effect.match(remove({ workspaceId, id: created(at) }), {
        onFailure: ({ isHeld }) => {
          assert.isTrue(isHeld)
          return false
        },
        onSuccess: () => true
      })
  }
})

it.effect("of a held workspace, only the bytes of files that came after the hold are deleted", () =>
  Effect.gen(function*() {
    const { removes } = yield* removal({ isRestored: false, isHeld: true })
    assert.isFalse(yield* removes(held, heldSince - 1))
    assert.isFalse(yield* removes(held, heldSince))
    assert.isTrue(yield* removes(held, heldSince + 1))
    assert.isTrue(yield* removes(other, heldSince - 1))
  }))

it.effect("in a database that the operator declares restored, no bytes are deleted before the first heartbeat", () =>
  Effect.gen(function*() {
    const { isRestored, removes } = yield* removal({ isRestored: true, isHeld: false })
    assert.isFalse(yield* removes(other, heldSince - 1))
    yield* Ref.set(isRestored, false)
    assert.isTrue(yield* removes(other, heldSince - 1))
  }))
