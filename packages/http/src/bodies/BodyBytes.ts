/**
 * The only reader of request bodies: reads their bytes directly from the source, within limits. When
 * `HttpServerRequest` gathers them, that takes a fiber and a dozen listeners, as long as many other parts of a send
 * together.
 */
import { GatheredBytes } from "@wac/verifier/GatheredBytes"
import { Effect, Stream } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Readable } from "node:stream"

/** Why a body could not be read. */
export type Missing = "too large" | "not whole" | "late" | "no room"

/** Starts a timer that calls `miss` at its end; the returned function stops the timer. */
export type Deadline = (miss: () => void) => () => void

/** The limits of a body. */
export interface Bounds {
  /** The maximum size in bytes. */
  readonly limit: number
  /** The time within which the body must arrive; unlimited by default. */
  readonly deadline?: Deadline
  /** Whether the body may use this many more bytes of memory; always by default. */
  readonly room?: (bytes: number) => boolean
}

type Bytes = Effect.Effect<Uint8Array<ArrayBuffer>, Missing>

const endless: Deadline = () => () => {}

/** Gathers the pieces of a body; `take` returns the reason if a piece exceeds a limit. */
const gathering = ({ limit, room = () => true }: Bounds) => {
  const gathered = new GatheredBytes()
  return {
    take: (piece: Uint8Array): Missing | undefined => {
      const before = gathered.capacity
      if (!gathered.take(piece, limit)) return "too large"
      return room(gathered.capacity - before) ? undefined : "no room"
    },
    all: () => gathered.all()
  }
}

const ofReadable = (source: Readable, bounds: Bounds): Bytes =>
  Effect.callback((resume) => {
    if (source.destroyed) return resume(Effect.fail("not whole"))
    const gathered = gathering(bounds)
    const leave = (bytes: Bytes) => {
      meet()
      source.off("data", take).off("end", end).off("error", lose).off("close", lose)
      resume(bytes)
    }
    const take = (piece: Uint8Array) => {
      const missing = gathered.take(piece)
      // the rest is read and ignored
      if (missing !== undefined) leave(Effect.fail(missing))
    }
    const end = () => leave(Effect.succeed(gathered.all()))
    const lose = () => leave(Effect.fail("not whole"))
    const meet = (bounds.deadline ?? endless)(() => leave(Effect.fail("late")))
    source.on("data", take).on("end", end).on("error", lose).on("close", lose)
    return Effect.sync(lose)
  })

const ofStream = (source: ReadableStream<Uint8Array>, bounds: Bounds): Bytes =>
  Effect.callback((resume) => {
    const reader = source.getReader()
    const leave = () => void reader.cancel().catch(() => {})
    const meet = (bounds.deadline ?? endless)(() => {
      resume(Effect.fail("late"))
      leave()
    })
    const read = async (): Promise<Bytes> => {
      const gathered = gathering(bounds)
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        const missing = gathered.take(next.value)
        if (missing !== undefined) {
          leave()
          return Effect.fail(missing)
        }
      }
      return Effect.succeed(gathered.all())
    }
    read().then(resume, () => resume(Effect.fail("not whole"))).finally(meet)
    return Effect.sync(leave)
  })

/** Reads the body of a request with `Expect: 100-continue` by its own stream: reading that makes Node send 100. */
const onceTold = (stream: HttpServerRequest.HttpServerRequest["stream"], bounds: Bounds): Bytes =>
  Effect.suspend(() => {
    const gathered = gathering(bounds)
    const take = (piece: Uint8Array): Effect.Effect<void, Missing> => {
      const missing = gathered.take(piece)
      return missing === undefined ? Effect.void : Effect.fail(missing)
    }
    return Stream.runForEach(stream, take).pipe(
      Effect.catchTag("HttpServerError", (): Effect.Effect<void, Missing> => Effect.fail("not whole")),
      Effect.map(() => gathered.all()),
      Effect.raceFirst(
        Effect.callback<never, Missing>((resume) =>
          Effect.sync((bounds.deadline ?? endless)(() => resume(Effect.fail("late"))))
        )
      )
    )
  })

/** Whether a request has a body. Headers declare it only on a connection: a `Request` of a host may lack them. */
export const isSent = ({ headers, source }: HttpServerRequest.HttpServerRequest): boolean =>
  source instanceof Readable
    ? headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0
    : Boolean((source as Partial<Request>).body)

/** Reads a body that was not read before. Reads nothing if its declared length is too large. */
export const read = (request: HttpServerRequest.HttpServerRequest, bounds: Bounds): Bytes => {
  const { headers, source } = request
  if (Number(headers["content-length"] ?? 0) > bounds.limit) return Effect.fail("too large")
  if (source instanceof Readable) {
    return headers["expect"] === undefined ? ofReadable(source, bounds) : onceTold(request.stream, bounds)
  }
  const { body } = source as Partial<Request>
  return body ? ofStream(body, bounds) : Effect.succeed(new Uint8Array())
}
