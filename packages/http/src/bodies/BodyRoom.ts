/**
 * The memory for request bodies that are read before their sender is known. The number of bytes that are held at once
 * is limited, and so is the time in which a body must arrive.
 */
import { type Errors, Timeouts } from "@wac/core"
import { ByteSize, Context, Duration, Effect, type Scope } from "effect"
import type { HttpServerRequest } from "effect/http"
import * as BodyBytes from "./BodyBytes.ts"
import * as RequestBody from "./RequestBody.ts"

/**
 * The maximum number of bytes of such bodies that one process holds at once. A provider post has some kilobytes, so
 * bursts fit in.
 */
export const Capacity = Context.Reference<ByteSize.ByteSize>("@wac/http/BodyRoom/Capacity", {
  defaultValue: () => ByteSize.mebibytes(64)
})

/** The provider sends a post within a second; a body that takes longer than this occupies memory that others need. */
const arrivalTimeout = Duration.seconds(20)

/** The memory that is left for request bodies. */
export interface BodyRoom {
  /**
   * Reads a body and runs `use` with its bytes, which count until `use` ends. The body is refused as soon as it exceeds
   * `limit`, or the memory that is left.
   */
  readonly hold: <A, E, R>(
    request: HttpServerRequest.HttpServerRequest,
    limit: ByteSize.ByteSize,
    use: (body: Uint8Array) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | Errors.InvalidBody | Errors.ServerError, R>
}

/** A room with {@link Capacity}. */
export const make: Effect.Effect<BodyRoom, never, Scope.Scope> = Effect.gen(function*() {
  const capacity = ByteSize.toNumberUnsafe(yield* Capacity)
  const timeouts = yield* Timeouts.make
  let held = 0

  const hold: BodyRoom["hold"] = (request, limit, use) =>
    Effect.suspend(() => {
      let own = 0
      const room = (bytes: number): boolean => {
        if (held + bytes > capacity) return false
        held += bytes
        own += bytes
        return true
      }
      const deadline: BodyBytes.Deadline = (miss) => timeouts.set(arrivalTimeout, miss)
      return BodyBytes.read(request, { limit: ByteSize.toNumberUnsafe(limit), deadline, room }).pipe(
        Effect.mapError((missing) => RequestBody.refusal(missing, limit, arrivalTimeout)),
        Effect.flatMap(use),
        Effect.ensuring(Effect.sync(() => {
          held -= own
        }))
      )
    })

  return { hold }
})
