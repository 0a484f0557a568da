/**
 * PGlite as a connection: PostgreSQL's wire protocol in, its answers out.
 */
import type { PGlite } from "@electric-sql/pglite"
import { Buffer } from "node:buffer"
import { Duplex } from "node:stream"

const notification = 0x41 // "A"
const terminate = 0x58 // "X"
const cancelRequest = 80877102

/** The simple query of some statements, as bytes. */
const simpleQuery = (text: string): Uint8Array => {
  const body = Buffer.from(`${text}\0`)
  const head = Buffer.alloc(5)
  head.write("Q")
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

/** Reads a notification's channel and payload out of its message: length, process, two strings. */
const readNotification = (message: Buffer): readonly [channel: string, payload: string] => {
  const end = message.indexOf(0, 9)
  return [message.toString("utf8", 9, end), message.toString("utf8", end + 1, message.length - 1)]
}

/** Who reads notifications: they do not go to the connection, which a listener would keep from everybody else. */
export interface Readers {
  readonly channels: () => ReadonlyArray<string>
  readonly tell: (channel: string, payload: string) => void
}

/** Makes connections to one PGlite, of which one may be open at a time. */
export const make = (db: PGlite, readers: Readers): () => Duplex => {
  let opened = 0

  const execute = async (message: Uint8Array): Promise<Buffer> => {
    const chunks: Array<Buffer> = []
    // not execProtocolRaw, which keeps every answer in memory for a caller who never asks
    await db.execProtocolRawStream(message, {
      // the bytes are PGlite's memory, which the next call changes
      onRawData: (bytes) => {
        chunks.push(Buffer.from(bytes))
      }
    })
    return withoutNotifications(Buffer.concat(chunks))
  }

  /** Cleans what a connection before left behind: PGlite has one session, whoever speaks to it. */
  const reset = async (): Promise<void> => {
    await execute(simpleQuery("rollback"))
    await execute(simpleQuery("discard all"))
    for (const channel of readers.channels()) {
      await execute(simpleQuery(`listen "${channel.replaceAll("\"", "\"\"")}"`))
      readers.tell(channel, "")
    }
  }

  const withoutNotifications = (answer: Buffer): Buffer => {
    const kept: Array<Buffer> = []
    let from = 0
    for (let at = 0; at + 5 <= answer.length;) {
      const next = at + 1 + answer.readInt32BE(at + 1)
      if (answer[at] === notification) {
        kept.push(answer.subarray(from, at))
        readers.tell(...readNotification(answer.subarray(at, next)))
        from = next
      }
      at = next
    }
    return from === 0 ? answer : Buffer.concat([...kept, answer.subarray(from)])
  }

  return () => {
    let started = false
    let unread = Buffer.alloc(0)

    const start = async (stream: Duplex): Promise<void> => {
      const length = unread.length < 8 ? Infinity : unread.readInt32BE(0)
      if (unread.length < length) return
      const message = unread.subarray(0, length)
      unread = unread.subarray(length)
      if (message.readInt32BE(4) === cancelRequest) {
        // a statement of PGlite ends before anything else is heard
        stream.push(null)
        return
      }
      started = true
      if (opened++ > 0) await reset()
      stream.push(await execute(message))
    }

    /** Everything that has wholly arrived: PGlite answers several messages in one go. */
    const continued = async (stream: Duplex): Promise<void> => {
      let end = 0
      while (unread.length - end >= 5 && unread[end] !== terminate) {
        const next = end + 1 + unread.readInt32BE(end + 1)
        if (next > unread.length) break
        end = next
      }
      if (end > 0) {
        const messages = unread.subarray(0, end)
        unread = unread.subarray(end)
        stream.push(await execute(messages))
      }
      if (unread[0] === terminate) stream.push(null)
    }

    return new Duplex({
      read() {},
      write(chunk: Buffer, _encoding, done) {
        unread = Buffer.concat([unread, chunk])
        const heard = started ? continued(this) : start(this).then(() => started ? continued(this) : undefined)
        heard.then(() => done(), done)
      }
    })
  }
}
