/**
 * Reads the body of an upload as a stream (contract §10), which must arrive at a minimum rate and within a time limit.
 */
import { Elapsed, Errors, Media } from "@wac/core"
import { Clock, Duration, Effect, Stream } from "effect"
import type { HttpServerRequest } from "effect/http"

/** The period over which the rate is judged, in milliseconds. Only time in which we wait for the caller counts. */
const paceOver = Duration.toMillis(Duration.seconds(30))

/** How many bytes must arrive in that period: 64 KiB per second. */
const least = 30 * 64 * 1024

/** The error for a body that broke off. */
const incomplete = () =>
  new Errors.InvalidBody({ reason: "malformed_json", message: "the body did not arrive completely" })

const late = () =>
  new Errors.InvalidBody({
    reason: "malformed_json",
    message: "the body did not arrive in time: an upload needs at least 64 KiB per second"
  })

/** How long an upload may take, however fast it is. */
const longest = Media.uploadTimeout

const tooLong = () =>
  new Errors.InvalidBody({ reason: "malformed_json", message: "the body did not arrive within 30 minutes" })

/** Runs an effect that reads a body. Fails if it takes longer than an upload may. */
export const inTime = <A, E, R>(reading: Effect.Effect<A, E, R>): Effect.Effect<A, E | Errors.InvalidBody, R> =>
  Effect.timeoutOrElse(reading, { duration: longest, orElse: () => Effect.fail(tooLong()) })

/** The bytes of a request's body. Fails if they come too slowly; the time that the reader takes does not count. */
export const read = (
  request: HttpServerRequest.HttpServerRequest
): Stream.Stream<Uint8Array, Errors.InvalidBody> =>
  Stream.transformPull(Stream.mapError(request.stream, incomplete), (pull) =>
    Effect.sync(() => {
      let waited = 0
      let arrived = 0
      return Effect.gen(function*() {
        const clock = yield* Clock.Clock
        const begun = Elapsed.of(clock)
        const pieces = yield* Effect.timeoutOrElse(pull, {
          // a body that is already fast enough in this period may wait through the next one
          duration: (arrived < least ? paceOver : 2 * paceOver) - waited,
          orElse: () => Effect.fail(late())
        })
        waited += Elapsed.of(clock) - begun
        for (const piece of pieces) arrived += piece.length
        if (waited >= paceOver) {
          if (arrived < least) return yield* late()
          waited = 0
          arrived = 0
        }
        return pieces
      })
    }))
