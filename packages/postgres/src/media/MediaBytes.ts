/**
 * `MediaBytes` in PostgreSQL: rows of bounded size, so that neither a process nor a statement holds a whole file.
 */
import { type Id, MediaBytes, MediaPieces, StoreError } from "@wac/core"
import { Effect, Layer, Stream } from "effect"
import { boolean, bytes, columns, integer, row, text } from "../Columns.ts"
import { Database } from "../Database.ts"
import { statement, value } from "../Statement.ts"
import { insertOne } from "../TableStatements.ts"

/** The size of a row in bytes. Every row of a file is full, except the last. */
const chunkSize = 256 * 1024

/** The maximum number of rows deleted in one statement: 8 MiB. */
const goneAtOnce = 32

const chunk = row({ mediaId: text<Id.MediaId>(), n: integer(), bytes: bytes() })

const write = insertOne(chunk, "wac.media_chunks")

const read = statement(
  { of: chunk.pick("mediaId", "n").one, range: columns<MediaBytes.Range>({ start: "integer", end: "integer" }).one },
  ({ of, range: { end, start } }) =>
    `select substring(c.bytes from ${start} + 1 for ${end} - ${start}) as bytes
  from wac.media_chunks c where c.media_id = ${of.mediaId} and c.n = ${of.n}`
)

const remove = statement({ mediaId: value<Id.MediaId>() }, ({ mediaId }) =>
  `with gone as (
    delete from wac.media_chunks c where c.media_id = ${mediaId} and c.n = any (array(
      select o.n from wac.media_chunks o where o.media_id = ${mediaId} order by o.n limit ${goneAtOnce}
    ))
    returning c.n
  )
  select count(*) = ${goneAtOnce} as is_more from gone`)

const gone = row({ isMore: boolean() })

const stored = chunk.pick("bytes")

export const layer = Layer.effect(
  MediaBytes.MediaBytes,
  Effect.map(Database, ({ query }) => {
    const part = Effect.fnUntraced(function*(mediaId: Id.MediaId, n: number, range: MediaBytes.Range) {
      const [row] = yield* query("MediaBytes.read", read({ of: { mediaId, n }, range }))
      const bytes = row === undefined ? undefined : stored.read(row).bytes
      if (bytes?.length !== range.end - range.start) {
        return yield* new StoreError.StoreError({ operation: "MediaBytes.read" })
      }
      return bytes
    })
    return MediaBytes.MediaBytes.of({
      write: ({ id }, bytes) =>
        MediaPieces.write(bytes, chunkSize, (bytes, n) => query("MediaBytes.write", write({ mediaId: id, n, bytes }))),
      read: ({ id }, range) =>
        MediaPieces.read(range, chunkSize, (n, within) => Stream.fromEffect(part(id, n, within))),
      remove: ({ id }) =>
        Effect.map(query("MediaBytes.remove", remove({ mediaId: id })), ([row]) => gone.read(row!).isMore)
    })
  })
)
