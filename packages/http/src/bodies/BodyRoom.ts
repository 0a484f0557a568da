/**
 * The memory for request bodies that are read before their sender is known. The number of bytes that are held at once
 * is limited, and so is the time in which a body must arrive. A body that is slow gives its memory to others that need it.
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

/** The time limit for a body, even if nobody else needs its memory. */
const arrivalTimeout = Duration.seconds(20)

/**
 * The provider sends a post within a second. A body that takes longer than this makes room for others, so that a few
 * connections that stop halfway cannot keep the provider's posts out.
 */
const undisturbed = Duration.seconds(2)

/** The memory that is left for request bodies. */
export interface BodyRoom {
  /**
   * Reads a body and runs `use` with its bytes, which count until `use` ends. The body is refused as soon as it exceeds
   * `limit`, or the memory that is left. If it still arrives after 2 s, it is also refused as soon as others need its
   * memory: the one that has been arriving longest first.
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
  /** The ends of the bodies that still arrive after {@link undisturbed}, the oldest first. */
  const slow = new Set<() => void>()

  /** Ends slow bodies until there is room for so many bytes. Returns whether there is. */
  const makeRoom = (bytes: number): boolean => {
    for (const end of slow) {
      if (held + bytes <= capacity) break
      end()
    }
    return held + bytes <= capacity
  }

  const hold: BodyRoom["hold"] = (request, limit, use) =>
    Effect.suspend(() => {
      let own = 0
      let isEnded = false
      let end = () => {}
      const release = () => {
        held -= own
        own = 0
      }
      const room = (bytes: number): boolean => {
        if (isEnded || (held + bytes > capacity && (slow.has(end) || !makeRoom(bytes)))) return false
        held += bytes
        own += bytes
        return true
      }
      const deadline: BodyBytes.Deadline = (miss) => {
        const leave = () => void slow.delete(end)
        end = () => {
          isEnded = true
          leave()
          release()
          miss()
        }
        const stops = [
          timeouts.set(undisturbed, () => void slow.add(end)),
          timeouts.set(arrivalTimeout, () => {
            leave()
            miss()
          }),
          leave
        ]
        return () => stops.forEach((stop) => stop())
      }
      return BodyBytes.read(request, { limit: ByteSize.toNumberUnsafe(limit), deadline, room }).pipe(
        Effect.mapError((missing) => RequestBody.refusal(isEnded ? "no room" : missing, limit, arrivalTimeout)),
        Effect.flatMap(use),
        Effect.ensuring(Effect.sync(release))
      )
    })

  return { hold }
})
