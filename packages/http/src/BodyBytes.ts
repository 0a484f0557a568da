/**
 * The bytes of a request's body, straight from where they come from: to have `HttpServerRequest` gather them takes a
 * fiber and a dozen listeners, as long as much else of a send together.
 */
import { Effect, Stream } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Readable } from "node:stream"
import { GatheredBytes } from "./GatheredBytes.ts"

/** Why there are none. */
type Missing = "too large" | "not whole"

type Bytes = Effect.Effect<Uint8Array<ArrayBuffer>, Missing>

const ofReadable = (source: Readable, limit: number): Bytes =>
  Effect.callback((resume) => {
    if (source.destroyed) return resume(Effect.fail("not whole"))
    const gathered = new GatheredBytes()
    const leave = (bytes: Bytes) => {
      source.off("data", take).off("end", end).off("error", lose).off("close", lose)
      resume(bytes)
    }
    const take = (piece: Uint8Array) => {
      // flows on, to nobody
      if (!gathered.take(piece, limit)) leave(Effect.fail("too large"))
    }
    const end = () => leave(Effect.succeed(gathered.all()))
    const lose = () => leave(Effect.fail("not whole"))
    source.on("data", take).on("end", end).on("error", lose).on("close", lose)
    return Effect.sync(lose)
  })

const ofStream = (source: ReadableStream<Uint8Array>, limit: number): Bytes =>
  Effect.callback((resume) => {
    const reader = source.getReader()
    const leave = () => void reader.cancel().catch(() => {})
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
    read().then(resume, () => resume(Effect.fail("not whole")))
    return Effect.sync(leave)
  })

/** Of a request whose caller waits to be told to go on: the request does that once its own stream is asked for. */
const onceTold = (stream: HttpServerRequest.HttpServerRequest["stream"], limit: number): Bytes =>
  Effect.suspend(() => {
    const gathered = new GatheredBytes()
    const take = (piece: Uint8Array): Effect.Effect<void, Missing> =>
      gathered.take(piece, limit) ? Effect.void : Effect.fail("too large")
    return Stream.runForEach(stream, take).pipe(
      Effect.catchTag("HttpServerError", (): Effect.Effect<void, Missing> => Effect.fail("not whole")),
      Effect.map(() => gathered.all())
    )
  })

/** Reads the body, which nobody has read before; no more than `limit` bytes of it are kept. */
export const read = (request: HttpServerRequest.HttpServerRequest, limit: number): Bytes => {
  const { source } = request
  if (source instanceof Readable) {
    return request.headers["expect"] === undefined ? ofReadable(source, limit) : onceTold(request.stream, limit)
  }
  const { body } = source as Partial<Request>
  return body ? ofStream(body, limit) : Effect.succeed(new Uint8Array())
}
