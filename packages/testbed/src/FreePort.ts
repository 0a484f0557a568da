/**
 * Finds loopback ports for servers that must be given one, such as a server that restarts at the same address.
 */
import { createServer } from "node:net"

/**
 * Below the range of ephemeral ports: an outgoing connection could take such a port before the server starts or while
 * it is down.
 */
const first = 20_000
const beyond = 32_768

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false)).listen(port, "127.0.0.1", () => {
      server.close(() => resolve(true))
    })
  })

/** Finds a port at which nothing listens. */
export const find = async (): Promise<number> => {
  for (;;) {
    const port = first + Math.floor(Math.random() * (beyond - first))
    if (await isFree(port)) return port
  }
}
