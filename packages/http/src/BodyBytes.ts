/**
 * The bytes of a request's body, straight from where they come from: to have `HttpServerRequest` gather them takes a
 * fiber and a dozen listeners, as long as much else of a send together.
 */
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Readable } from "node:stream"

/** Why there are none. */
export type Missing = "too large" | "not whole"

type Bytes = Effect.Effect<Uint8Array<ArrayBuffer>, Missing>

const joined = (pieces: ReadonlyArray<Uint8Array>, length: number): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

const ofReadable = (source: Readable, limit: number): Bytes =>
  Effect.callback((resume) => {
    if (source.destroyed) return resume(Effect.fail("not whole"))
    const pieces: Array<Uint8Array> = []
    let length = 0
    const leave = (bytes: Bytes) => {
      source.off("data", take).off("end", end).off("error", lose).off("close", lose)
      resume(bytes)
    }
    const take = (piece: Uint8Array) => {
      pieces.push(piece)
      length += piece.length
      // flows on, to nobody
      if (length > limit) leave(Effect.fail("too large"))
    }
    const end = () => leave(Effect.succeed(joined(pieces, length)))
    const lose = () => leave(Effect.fail("not whole"))
    source.on("data", take).on("end", end).on("error", lose).on("close", lose)
    return Effect.sync(lose)
  })

const ofStream = (source: ReadableStream<Uint8Array>, limit: number): Bytes =>
  Effect.callback((resume) => {
    const reader = source.getReader()
    const leave = () => void reader.cancel().catch(() => {})
    const read = async (): Promise<Bytes> => {
      const pieces: Array<Uint8Array> = []
      let length = 0
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        pieces.push(next.value)
        length += next.value.length
        if (length > limit) {
          leave()
          return Effect.fail("too large")
        }
      }
      return Effect.succeed(joined(pieces, length))
    }
    read().then(resume, () => resume(Effect.fail("not whole")))
    return Effect.sync(leave)
  })

/** Reads the body, which nobody has read before; no more than `limit` bytes of it are kept. */
export const read = ({ source }: HttpServerRequest.HttpServerRequest, limit: number): Bytes => {
  if (source instanceof Readable) return ofReadable(source, limit)
  const { body } = source as Partial<Request>
  return body ? ofStream(body, limit) : Effect.succeed(new Uint8Array())
}
