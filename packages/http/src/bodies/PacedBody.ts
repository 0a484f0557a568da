/**
 * A body that is streamed and may take long, but not forever (contract §10): it must keep a pace.
 */
import { Elapsed, Errors, Media } from "@wac/core"
import { Clock, Duration, Effect, Stream } from "effect"
import type { HttpServerRequest } from "effect/http"

/** The time over which the pace is judged, counted while we wait for the caller. */
const paceOver = Duration.toMillis(Duration.seconds(30))

/** The bytes that must arrive within it: 64 KiB per second. */
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

/** Carries out what reads the body, in the time that an upload has. */
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
          // a body that was fast enough has another period
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
