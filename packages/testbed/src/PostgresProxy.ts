/**
 * A proxy in front of a PostgreSQL server. With it, a test disturbs the network or stops at a given statement.
 */
import { connect, createServer, type Socket } from "node:net"

/** How far a statement gets before its connection freezes. */
export type Point =
  /** The client has sent the statement, and the server has seen none of it. */
  | "sent"
  /** The server has executed the statement and responded, but has not been told to commit. */
  | "executed"
  /** The server has committed, but the client receives nothing. */
  | "committed"

export interface PostgresProxy {
  /** The server's URL through the proxy. */
  readonly url: string
  /** Delays all traffic from now on by so many milliseconds, in both directions; 0 ends the delay. */
  readonly slow: (millis: number) => void
  /** Drops all traffic silently until `thaw`. */
  readonly freeze: () => void
  /** Drops traffic of open connections silently; new connections work. */
  readonly strand: () => void
  /** Lets traffic pass again, except what `strand` and `stopAt` hold. */
  readonly thaw: () => void
  /** Breaks every open connection; new connections work. */
  readonly cut: () => void
  /** Breaks every open connection and each new one until `thaw`. Resolves when the first new one was refused. */
  readonly refuse: () => Promise<void>
  /**
   * Lets the next statement whose text contains these words get to this point and no further. Resolves when it is
   * there. Its connection then carries nothing until it ends.
   */
  readonly stopAt: (words: string, point: Point) => Promise<void>
  readonly close: () => void
}

interface Stop {
  readonly words: string
  readonly point: Point
  readonly reached: () => void
}

/** The message with which a client asks whether the server encrypts. */
const sslRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f])

/**
 * Splits a protocol stream into messages with the letter of their type. A client's first message has no type, and
 * neither has the question about encryption before it.
 */
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
      typed ||= !message.equals(sslRequest)
      take(type, message)
    }
  }
}

/** The first texts of a message, each terminated by a zero byte. */
const textsOf = (message: Buffer): ReadonlyArray<string> => message.subarray(5).toString("latin1").split("\0", 2)

/** Asks the server for the responses so far, like a client that does not end its batch yet. */
const flush = Buffer.from([0x48, 0, 0, 0, 4])

/** Returns a function that writes to a socket in the order of its calls, each delayed by `lateness()` milliseconds. */
const writer = (socket: Socket, lateness: () => number): (data: Buffer) => void => {
  let latest = 0
  let waiting = 0
  return (data) => {
    const now = performance.now()
    latest = Math.max(latest, now + lateness())
    if (waiting === 0 && latest <= now) return void socket.write(data)
    waiting++
    setTimeout(() => {
      waiting--
      if (!socket.destroyed) socket.write(data)
    }, latest - now)
  }
}

/** Starts a proxy in front of a URL's server, which must not require TLS. */
export const start = async (server: string): Promise<PostgresProxy> => {
  const { hostname, port } = new URL(server)
  const sockets = new Set<Socket>()
  const stranded = new WeakSet<Socket>()
  let frozen = false
  let lateness = 0
  let refused: (() => void) | undefined
  let stop: Stop | undefined

  const join = (client: Socket, server: Socket) => {
    const toClient = writer(client, () => lateness)
    const toServer = writer(server, () => lateness)
    /** Texts of prepared statements, by name. */
    const statements = new Map<string, string>()
    /** The messages of the current statement: until its end, it has no lasting effect. */
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
      // parse, bind, describe, execute, close: the statement's end is still to come
      if ("PBDEC".includes(type) && type !== "") return
      if (hit?.point === "sent") {
        standing = true
        return hit.reached()
      }
      if (hit?.point === "executed") {
        standing = true
        cycle.splice(-1, 1, flush)
      }
      toServer(Buffer.concat(cycle))
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
      if (hit === undefined) toClient(data)
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
    slow: (millis) => {
      lateness = millis
    },
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
