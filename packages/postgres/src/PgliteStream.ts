/**
 * A connection to PGlite as a stream: PostgreSQL's wire protocol in, its responses out.
 */
import type { PGlite } from "@electric-sql/pglite"
import { Buffer } from "node:buffer"
import { Duplex } from "node:stream"

const notification = 0x41 // "A"
const ready = 0x5a // "Z"
const idle = 0x49 // "I"
const parse = 0x50 // "P"
const close = 0x43 // "C"
const terminate = 0x58 // "X"
const cancelRequest = 80877102

/** The bytes of a simple query. */
const simpleQuery = (text: string): Uint8Array => {
  const body = Buffer.from(`${text}\0`)
  const head = Buffer.alloc(5)
  head.write("Q")
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

/** Reads the channel and payload of a notification message: length, process, two strings. */
const readNotification = (message: Buffer): readonly [channel: string, payload: string] => {
  const end = message.indexOf(0, 9)
  return [message.toString("utf8", 9, end), message.toString("utf8", end + 1, message.length - 1)]
}

/**
 * The readers of notifications. They get notifications directly, not through a connection, since a connection that
 * listens would keep PGlite's one session from all others.
 */
export interface Readers {
  readonly channels: () => ReadonlyArray<string>
  readonly tell: (channel: string, payload: string) => void
}

/** The bytes that close a prepared statement. */
const closing = (name: string): Uint8Array => {
  const body = Buffer.from(`S${name}\0`)
  const head = Buffer.alloc(5)
  head.writeUInt8(close)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

const sync = Uint8Array.of(0x53, 0, 0, 0, 4)

/**
 * Creates connections to one PGlite. It has one session: while one connection is in a transaction or a statement,
 * messages of the others wait.
 */
export const make = (db: PGlite, readers: Readers): () => Duplex => {
  /** Connections that wait for the session to be free. */
  const waiting: Array<() => void> = []
  let owner: Duplex | undefined

  const taken = async (stream: Duplex): Promise<void> => {
    if (owner === undefined || owner === stream) owner = stream
    else await new Promise<void>((resolve) => waiting.push(resolve))
    if (owner !== stream) return taken(stream)
  }

  const released = (): void => {
    owner = undefined
    for (const resume of waiting.splice(0)) resume()
  }

  const execute = async (message: Uint8Array): Promise<Buffer> => {
    const chunks: Array<Buffer> = []
    // not execProtocolRaw, which keeps every response in memory for readers that never come
    await db.execProtocolRawStream(message, {
      // copied, because the bytes are in PGlite's memory, which the next call overwrites
      onRawData: (bytes) => {
        chunks.push(Buffer.from(bytes))
      }
    })
    return Buffer.concat(chunks)
  }

  /** Passes notifications to readers. Returns the rest of the response, and whether the connection's turn is over. */
  const withoutNotifications = (answer: Buffer): { readonly answer: Buffer; readonly isOver: boolean } => {
    const kept: Array<Buffer> = []
    let from = 0
    let isOver = false
    for (let at = 0; at + 5 <= answer.length;) {
      const next = at + 1 + answer.readInt32BE(at + 1)
      if (answer[at] === notification) {
        kept.push(answer.subarray(from, at))
        readers.tell(...readNotification(answer.subarray(at, next)))
        from = next
      }
      isOver = answer[at] === ready && answer[at + 5] === idle
      at = next
    }
    return { answer: from === 0 ? answer : Buffer.concat([...kept, answer.subarray(from)]), isOver }
  }

  return () => {
    let started = false
    let unread = Buffer.alloc(0)
    /** The names of statements that this connection has prepared. */
    const names = new Set<string>()

    const carryOut = async (stream: Duplex, messages: Uint8Array): Promise<void> => {
      await taken(stream)
      if (stream.destroyed) return released()
      const { answer, isOver } = withoutNotifications(await execute(messages))
      if (isOver) released()
      stream.push(answer)
    }

    const start = async (stream: Duplex): Promise<void> => {
      const length = unread.length < 8 ? Infinity : unread.readInt32BE(0)
      if (unread.length < length) return
      const message = unread.subarray(0, length)
      unread = unread.subarray(length)
      if (message.readInt32BE(4) === cancelRequest) {
        // PGlite finishes a statement before it reads the next message
        stream.push(null)
        return
      }
      started = true
      await carryOut(stream, message)
    }

    /** Processes every message that has arrived completely. PGlite answers several at once. */
    const continued = async (stream: Duplex): Promise<void> => {
      let end = 0
      while (unread.length - end >= 5 && unread[end] !== terminate) {
        const next = end + 1 + unread.readInt32BE(end + 1)
        if (next > unread.length) break
        if (unread[end] === parse) names.add(unread.toString("latin1", end + 5, unread.indexOf(0, end + 5)))
        end = next
      }
      if (end > 0) {
        const messages = unread.subarray(0, end)
        unread = unread.subarray(end)
        await carryOut(stream, messages)
      }
      if (unread[0] === terminate) stream.push(null)
    }

    /** Cleans up what the connection leaves in the shared session. */
    const end = async (stream: Duplex): Promise<void> => {
      if (!started || db.closed) return
      await taken(stream)
      await execute(simpleQuery("rollback"))
      await execute(Buffer.concat([...[...names].map(closing), sync]))
      released()
    }

    return new Duplex({
      read() {},
      write(chunk: Buffer, _encoding, done) {
        unread = Buffer.concat([unread, chunk])
        const carried = started ? continued(this) : start(this).then(() => started ? continued(this) : undefined)
        carried.then(() => done(), done)
      },
      destroy(error, done) {
        end(this).then(() => done(error), done)
      }
    })
  }
}
