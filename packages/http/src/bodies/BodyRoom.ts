/**
 * Room in memory for bodies that anybody can send: they are held before it is known who did, so there is a bound to how
 * many bytes of them are held at once, and to how long one may take to come.
 */
import { Deadlines, type Errors } from "@wac/core"
import { ByteSize, Context, Duration, Effect, type Scope } from "effect"
import type { HttpServerRequest } from "effect/http"
import * as BodyBytes from "./BodyBytes.ts"
import * as RequestBody from "./RequestBody.ts"

/**
 * Bytes in one process, at most. A burst of posts of upstream's, which are some kilobytes each, has place in it many
 * times over.
 */
export const Capacity = Context.Reference<ByteSize.ByteSize>("@wac/http/BodyRoom/Capacity", {
  defaultValue: () => ByteSize.mebibytes(64)
})

/** Upstream sends a post within a second; who takes longer than this holds place that others need. */
const timeout = Duration.seconds(20)

export interface BodyRoom {
  /**
   * Has `use` run with the bytes of a body, as they came, which are counted until it ends. Refused as soon as it shows
   * that there are more than `limit`, or than there is room for.
   */
  readonly hold: <A, E, R>(
    request: HttpServerRequest.HttpServerRequest,
    limit: ByteSize.ByteSize,
    use: (body: Uint8Array) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | Errors.InvalidBody | Errors.ServerError, R>
}

/** A room of {@link Capacity}. */
export const make: Effect.Effect<BodyRoom, never, Scope.Scope> = Effect.gen(function*() {
  const capacity = ByteSize.toNumberUnsafe(yield* Capacity)
  const deadlines = yield* Deadlines.make
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
      const deadline: BodyBytes.Deadline = (miss) => deadlines.set(timeout, miss)
      return BodyBytes.read(request, { limit: ByteSize.toNumberUnsafe(limit), deadline, room }).pipe(
        Effect.mapError((missing) => RequestBody.refusal(missing, limit, timeout)),
        Effect.flatMap(use),
        Effect.ensuring(Effect.sync(() => {
          held -= own
        }))
      )
    })

  return { hold }
})
