/**
 * Ports of loopback for servers that have to be told theirs, such as one that comes back to where it was.
 */
import { createServer } from "node:net"

/**
 * Below what any system gives to outgoing connections: one of these could take the port before the server does, or while
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

/** A port that nobody listens at. */
export const find = async (): Promise<number> => {
  for (;;) {
    const port = first + Math.floor(Math.random() * (beyond - first))
    if (await isFree(port)) return port
  }
}
