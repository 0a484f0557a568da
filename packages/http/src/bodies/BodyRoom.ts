/**
 * Room in memory for bodies that anybody can send: they are held before it is known who did, so there is a bound to how
 * many bytes of them are held at once, and to how long one may take to come.
 */
import { Errors } from "@wac/core"
import { ByteSize, Context, Duration, Effect, Predicate, Stream } from "effect"
import type { HttpServerRequest } from "effect/http"
import * as RequestBody from "./RequestBody.ts"

/**
 * Bytes in one process, at most. A burst of posts of upstream's, which are some kilobytes each, has place in it many
 * times over.
 */
export const Capacity = Context.Reference<ByteSize.ByteSize>("@wac/http/BodyRoom/Capacity", {
  defaultValue: () => ByteSize.mebibytes(64)
})

/** Upstream sends a post within a second; who takes longer than this holds place that others need. */
const deadline = Duration.seconds(20)

/** What the first bytes of a body get; it then grows by doubling, so that many small pieces cost no more than their bytes. */
const smallest = 16 * 1024

const full = () =>
  new Errors.ServerError({
    reason: "overloaded",
    message: "too much is being sent to this address at the moment; send it again",
    retryAfter: Duration.seconds(1)
  })

const late = () =>
  new Errors.InvalidBody({ reason: "malformed_json", message: "the body did not arrive whole in time" })

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

/** Requests of the web's kind have no stream when they have no body. */
const isEmpty = ({ source }: HttpServerRequest.HttpServerRequest): boolean =>
  Predicate.hasProperty(source, "body") && source.body === null

/** A room of {@link Capacity}. */
export const make: Effect.Effect<BodyRoom> = Effect.gen(function*() {
  const capacity = ByteSize.toNumberUnsafe(yield* Capacity)
  let held = 0

  const hold: BodyRoom["hold"] = (request, limit, use) =>
    Effect.suspend(() => {
      const most = ByteSize.toNumberUnsafe(limit)
      if (Number(request.headers["content-length"] ?? 0) > most) return Effect.fail(RequestBody.tooLarge(limit))
      let buffer = new Uint8Array()
      let length = 0

      const take = (chunk: Uint8Array): Effect.Effect<void, Errors.InvalidBody | Errors.ServerError> => {
        const needed = length + chunk.length
        if (needed > most) return Effect.fail(RequestBody.tooLarge(limit))
        if (needed > buffer.length) {
          const size = Math.min(most, Math.max(smallest, 2 * buffer.length, needed))
          if (held + size - buffer.length > capacity) return Effect.fail(full())
          held += size - buffer.length
          const larger = new Uint8Array(size)
          larger.set(buffer.subarray(0, length))
          buffer = larger
        }
        buffer.set(chunk, length)
        length = needed
        return Effect.void
      }

      // what nobody takes off the connection would keep it from its next request
      const drop = Effect.forkDetach(Effect.ignore(Effect.timeout(Stream.runDrain(request.stream), deadline)))

      const read = isEmpty(request) ? Effect.void : Stream.runForEach(request.stream, take).pipe(
        Effect.catchTag("HttpServerError", () => Effect.fail(RequestBody.malformed("the body did not arrive whole"))),
        Effect.timeoutOrElse({ duration: deadline, orElse: () => Effect.fail(late()) }),
        Effect.tapError(() => drop)
      )
      return read.pipe(
        Effect.andThen(() => use(buffer.subarray(0, length))),
        Effect.ensuring(Effect.sync(() => {
          held -= buffer.length
        }))
      )
    })

  return { hold }
})
