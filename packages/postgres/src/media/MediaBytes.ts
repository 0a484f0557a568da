/**
 * `MediaBytes` in PostgreSQL: rows of bounded size, so that neither a process nor a statement holds a whole file.
 */
import { MediaBytes, StoreError } from "@wac/core"
import { Effect, Layer, Option, Stream } from "effect"
import { plain } from "../Column.ts"
import { Database } from "../Database.ts"

/** The bytes of a row. Every row of a file is full, except the last. */
const chunkSize = 256 * 1024

/** The rows deleted in one statement: 8 MiB. */
const goneAtOnce = 32

const insertText = "insert into media_chunks (media_id, n, bytes) values ($1, $2, $3)"

const readText = `select substring(c.bytes from $3::integer + 1 for $4::integer) as bytes
  from media_chunks c where c.media_id = $1 and c.n = $2`

const removeText = `with gone as (
    delete from media_chunks c where c.media_id = $1 and c.n = any (array(
      select o.n from media_chunks o where o.media_id = $1 order by o.n limit $2
    ))
    returning c.n
  )
  select count(*) = $2 as is_more from gone`

/** Collects pieces of any size into full rows. */
class Rows {
  #row = new Uint8Array(chunkSize)
  #length = 0

  /** Takes a piece. Returns the rows that are full now. */
  take(piece: Uint8Array): ReadonlyArray<Uint8Array> {
    const full: Array<Uint8Array> = []
    for (let at = 0; at < piece.length;) {
      const part = piece.subarray(at, at + chunkSize - this.#length)
      this.#row.set(part, this.#length)
      this.#length += part.length
      at += part.length
      if (this.#length < chunkSize) break
      full.push(this.#row)
      this.#row = new Uint8Array(chunkSize)
      this.#length = 0
    }
    return full
  }

  /** The last row, which need not be full. */
  rest(): ReadonlyArray<Uint8Array> {
    return this.#length === 0 ? [] : [this.#row.subarray(0, this.#length)]
  }
}

export const layer = Layer.effect(
  MediaBytes.MediaBytes,
  Effect.map(Database, ({ query }) =>
    MediaBytes.MediaBytes.of({
      write: ({ id }, bytes) =>
        Effect.suspend(() => {
          const rows = new Rows()
          let n = 0
          const insert = (row: Uint8Array) => query("MediaBytes.write", insertText, [id, n++, row])
          return bytes.pipe(
            Stream.runForEach((piece) => Effect.forEach(rows.take(piece), insert, { discard: true })),
            Effect.andThen(Effect.suspend(() => Effect.forEach(rows.rest(), insert, { discard: true })))
          )
        }),
      read: ({ id }, { end, start }) =>
        Stream.paginate(start, (at) =>
          Effect.gen(function*() {
            if (at >= end) return [[], Option.none<number>()] as const
            const offset = at % chunkSize
            const wanted = Math.min(end - at, chunkSize - offset)
            const [row] = yield* query("MediaBytes.read", readText, [id, (at - offset) / chunkSize, offset, wanted])
            const bytes = row === undefined ? undefined : plain<Uint8Array>(row, "bytes")
            if (bytes?.length !== wanted) return yield* new StoreError.StoreError({ operation: "MediaBytes.read" })
            const next = at + wanted
            return [[bytes], next < end ? Option.some(next) : Option.none<number>()] as const
          })),
      remove: ({ id }) =>
        Effect.map(
          query("MediaBytes.remove", removeText, [id, goneAtOnce]),
          ([row]) => plain<boolean>(row!, "is_more")
        )
    }))
)
