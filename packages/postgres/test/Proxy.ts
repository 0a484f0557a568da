import { connect, createServer, type Socket } from "node:net"

/** A stretch of network before a server, which a test can make bad. */
export interface Proxy {
  /** The server's URL, by way of the proxy. */
  readonly url: string
  /** Nothing passes any more, and nobody is told. */
  readonly freeze: () => void
  /** What was held back passes. */
  readonly thaw: () => void
  /** Every open connection breaks; new ones are made. */
  readonly cut: () => void
  /** Every open connection breaks, and so do new ones, until `thaw`; resolves when the first new one was refused. */
  readonly refuse: () => Promise<void>
  readonly close: () => void
}

/** Puts a proxy before the server of a URL. */
export const startProxy = async (server: string): Promise<Proxy> => {
  const { hostname, port } = new URL(server)
  const sockets = new Set<Socket>()
  let frozen = false
  let refused: (() => void) | undefined
  const add = (socket: Socket, other: Socket) => {
    sockets.add(socket)
    if (frozen) socket.pause()
    socket.on("data", (data) => other.write(data))
    socket.on("error", () => other.destroy())
    socket.on("close", () => {
      sockets.delete(socket)
      other.destroy()
    })
  }
  const proxy = createServer((socket) => {
    if (refused !== undefined) {
      socket.destroy()
      return refused()
    }
    const other = connect(Number(port), hostname)
    add(socket, other)
    add(other, socket)
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
    thaw: () => {
      frozen = false
      refused = undefined
      for (const socket of sockets) socket.resume()
    },
    cut,
    refuse: () =>
      new Promise((resolve) => {
        refused = resolve
        cut()
      }),
    close: () => {
      cut()
      proxy.close()
    }
  }
}
