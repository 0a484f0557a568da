/**
 * The bytes of a request's body, straight from where they come from: to have `HttpServerRequest` gather them takes a
 * fiber and a dozen listeners, as long as much else of a send together.
 */
import { GatheredBytes } from "@wac/verifier/GatheredBytes"
import { Effect, Stream } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Readable } from "node:stream"

/** Why there are none. */
type Missing = "too large" | "not whole" | "late"

/** Has a function called when the time is over, unless what it answers was called until then. */
export type Deadline = (miss: () => void) => () => void

const endless: Deadline = () => () => {}

type Bytes = Effect.Effect<Uint8Array<ArrayBuffer>, Missing>

const ofReadable = (source: Readable, limit: number, deadline: Deadline): Bytes =>
  Effect.callback((resume) => {
    if (source.destroyed) return resume(Effect.fail("not whole"))
    const gathered = new GatheredBytes()
    const leave = (bytes: Bytes) => {
      meet()
      source.off("data", take).off("end", end).off("error", lose).off("close", lose)
      resume(bytes)
    }
    const take = (piece: Uint8Array) => {
      // flows on, to nobody
      if (!gathered.take(piece, limit)) leave(Effect.fail("too large"))
    }
    const end = () => leave(Effect.succeed(gathered.all()))
    const lose = () => leave(Effect.fail("not whole"))
    const meet = deadline(() => leave(Effect.fail("late")))
    source.on("data", take).on("end", end).on("error", lose).on("close", lose)
    return Effect.sync(lose)
  })

const ofStream = (source: ReadableStream<Uint8Array>, limit: number, deadline: Deadline): Bytes =>
  Effect.callback((resume) => {
    const reader = source.getReader()
    const leave = () => void reader.cancel().catch(() => {})
    const meet = deadline(() => {
      resume(Effect.fail("late"))
      leave()
    })
    const read = async (): Promise<Bytes> => {
      const gathered = new GatheredBytes()
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        if (!gathered.take(next.value, limit)) {
          leave()
          return Effect.fail("too large")
        }
      }
      return Effect.succeed(gathered.all())
    }
    read().then(resume, () => resume(Effect.fail("not whole"))).finally(meet)
    return Effect.sync(leave)
  })

/** Of a request whose caller waits to be told to go on: the request does that once its own stream is asked for. */
const onceTold = (
  stream: HttpServerRequest.HttpServerRequest["stream"],
  limit: number,
  deadline: Deadline
): Bytes =>
  Effect.suspend(() => {
    const gathered = new GatheredBytes()
    const take = (piece: Uint8Array): Effect.Effect<void, Missing> =>
      gathered.take(piece, limit) ? Effect.void : Effect.fail("too large")
    return Stream.runForEach(stream, take).pipe(
      Effect.catchTag("HttpServerError", (): Effect.Effect<void, Missing> => Effect.fail("not whole")),
      Effect.map(() => gathered.all()),
      Effect.raceFirst(
        Effect.callback<never, Missing>((resume) => Effect.sync(deadline(() => resume(Effect.fail("late")))))
      )
    )
  })

/** Reads the body, which nobody has read before; no more than `limit` bytes of it are kept, and none after the deadline. */
export const read = (
  request: HttpServerRequest.HttpServerRequest,
  limit: number,
  deadline: Deadline = endless
): Bytes => {
  const { source } = request
  if (source instanceof Readable) {
    return request.headers["expect"] === undefined
      ? ofReadable(source, limit, deadline)
      : onceTold(request.stream, limit, deadline)
  }
  const { body } = source as Partial<Request>
  return body ? ofStream(body, limit, deadline) : Effect.succeed(new Uint8Array())
}
