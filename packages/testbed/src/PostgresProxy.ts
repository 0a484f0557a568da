/**
 * A stretch of network before a PostgreSQL server, which a test can make bad; or stop at one named statement.
 */
import { connect, createServer, type Socket } from "node:net"

/** How far a statement gets before everything stands still on its connection. */
export type Point =
  /** The client has sent it; the server has seen nothing of it. */
  | "sent"
  /** The server has carried it out and answered, and was not told to commit. */
  | "executed"
  /** The server has committed; the client hears nothing of it. */
  | "committed"

export interface PostgresProxy {
  /** The server's URL, by way of the proxy. */
  readonly url: string
  /** Nothing passes any more, and nobody is told. */
  readonly freeze: () => void
  /** Nothing passes any more on the connections that are open, and nobody is told; new ones are made. */
  readonly strand: () => void
  /** What was held back passes, but for what `strand` and `stopAt` hold. */
  readonly thaw: () => void
  /** Every open connection breaks; new ones are made. */
  readonly cut: () => void
  /** Every open connection breaks, and so do new ones, until `thaw`; resolves when the first new one was refused. */
  readonly refuse: () => Promise<void>
  /**
   * Lets the next statement whose text has these words in it get to this point and no further; resolves when it is
   * there. Its connection then carries nothing, until it ends.
   */
  readonly stopAt: (words: string, point: Point) => Promise<void>
  readonly close: () => void
}

interface Stop {
  readonly words: string
  readonly point: Point
  readonly reached: () => void
}

/** Divides a stream of the protocol into messages, with the letter of their type; a client's first one has none. */
const divided = (typed: boolean, take: (type: string, message: Buffer) => void): (data: Buffer) => void => {
  let rest: Buffer = Buffer.alloc(0)
  return (data) => {
    rest = Buffer.concat([rest, data])
    while (true) {
      const start = typed ? 1 : 0
      if (rest.length < start + 4) return
      const size = start + rest.readInt32BE(start)
      if (rest.length < size) return
      const message = rest.subarray(0, size)
      rest = rest.subarray(size)
      const type = typed ? String.fromCharCode(message[0]!) : ""
      typed = true
      take(type, message)
    }
  }
}

/** The first texts of a message, each ended by a zero byte. */
const textsOf = (message: Buffer): ReadonlyArray<string> => message.subarray(5).toString("latin1").split("\0", 2)

/** Asks the server for the answers that it has so far: what a client sends where it does not want the end yet. */
const flush = Buffer.from([0x48, 0, 0, 0, 4])

/** Puts a proxy before the server of a URL, which must not ask for TLS. */
export const start = async (server: string): Promise<PostgresProxy> => {
  const { hostname, port } = new URL(server)
  const sockets = new Set<Socket>()
  const stranded = new WeakSet<Socket>()
  let frozen = false
  let refused: (() => void) | undefined
  let stop: Stop | undefined

  const join = (client: Socket, server: Socket) => {
    /** Texts of prepared statements by name. */
    const statements = new Map<string, string>()
    /** What makes up the statement that is being sent: up to its end, it has no effect that lasts. */
    let cycle: Array<Buffer> = []
    let hit: Stop | undefined
    let standing = false

    const fromClient = divided(false, (type, message) => {
      if (standing) return
      cycle.push(message)
      const [first = "", second = ""] = textsOf(message)
      if (type === "P") statements.set(first, second)
      const text = type === "P" ? second : type === "B" ? statements.get(second) : type === "Q" ? first : undefined
      if (stop !== undefined && hit === undefined && text?.includes(stop.words) === true) {
        hit = stop
        stop = undefined
      }
      // parse, bind, describe, execute, close: their end is still to come
      if ("PBDEC".includes(type) && type !== "") return
      if (hit?.point === "sent") {
        standing = true
        return hit.reached()
      }
      if (hit?.point === "executed") {
        standing = true
        cycle.splice(-1, 1, flush)
      }
      server.write(Buffer.concat(cycle))
      cycle = []
    })
    const heard = divided(true, (type, message) => {
      // ready for the next statement, outside of any transaction
      const isCommitted = type === "Z" && message[5] === 0x49
      if (hit?.point === "executed" ? type === "C" : isCommitted) {
        standing = true
        hit?.reached()
      }
    })
    const fromServer = (data: Buffer) => {
      if (hit === undefined) client.write(data)
      else heard(data)
    }

    const follow = (socket: Socket, other: Socket, take: (data: Buffer) => void) => {
      sockets.add(socket)
      if (frozen) socket.pause()
      socket.on("data", take)
      socket.on("error", () => other.destroy())
      socket.on("close", () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    follow(client, server, fromClient)
    follow(server, client, fromServer)
  }

  const proxy = createServer((client) => {
    if (refused !== undefined) {
      client.destroy()
      return refused()
    }
    join(client, connect(Number(port), hostname))
  })
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve))
  const address = proxy.address()
  const url = new URL(server)
  url.port = String(typeof address === "object" ? address?.port : "")
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.href,
    freeze: () => {
      frozen = true
      for (const socket of sockets) socket.pause()
    },
    strand: () => {
      for (const socket of sockets) {
        socket.pause()
        stranded.add(socket)
      }
    },
    thaw: () => {
      frozen = false
      refused = undefined
      for (const socket of sockets) {
        if (!stranded.has(socket)) socket.resume()
      }
    },
    cut,
    refuse: () =>
      new Promise((resolve) => {
        refused = resolve
        cut()
      }),
    stopAt: (words, point) =>
      new Promise((resolve) => {
        stop = { words, point, reached: resolve }
      }),
    close: () => {
      cut()
      proxy.close()
    }
  }
}
