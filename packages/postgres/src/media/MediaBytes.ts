/**
 * `MediaBytes` in PostgreSQL: rows of bounded size, so that neither a process nor a statement holds a whole file.
 */
import { MediaBytes, MediaPieces, StoreError } from "@wac/core"
import { Effect, Layer, Stream } from "effect"
import { boolean, columns, row } from "../Columns.ts"
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

const gone = row({ isMore: boolean() })

const stored = columns<{ readonly bytes: Uint8Array }>({ bytes: "bytea" })

export const layer = Layer.effect(
  MediaBytes.MediaBytes,
  Effect.map(Database, ({ query }) => {
    const part = Effect.fnUntraced(function*(id: string, n: number, { end, start }: MediaBytes.Range) {
      const [row] = yield* query("MediaBytes.read", { text: readText, params: [id, n, start, end - start] })
      const bytes = row === undefined ? undefined : stored.read(row).bytes
      if (bytes?.length !== end - start) return yield* new StoreError.StoreError({ operation: "MediaBytes.read" })
      return bytes
    })
    return MediaBytes.MediaBytes.of({
      write: ({ id }, bytes) =>
        MediaPieces.write(
          bytes,
          chunkSize,
          (row, n) => query("MediaBytes.write", { text: insertText, params: [id, n, row] })
        ),
      read: ({ id }, range) =>
        MediaPieces.read(range, chunkSize, (n, within) => Stream.fromEffect(part(id, n, within))),
      remove: ({ id }) =>
        Effect.map(
          query("MediaBytes.remove", { text: removeText, params: [id, goneAtOnce] }),
          ([row]) => gone.read(row!).isMore
        )
    })
  })
)
