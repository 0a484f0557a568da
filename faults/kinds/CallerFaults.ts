/**
 * Callers who are too many, or who connect and do nothing.
 */
import { connect, type Socket } from "node:net"
import type { Fault } from "../Fault.ts"
import { pass, repeatedly } from "../Time.ts"

/** So many connections do nothing, and so many send a byte at a time. */
const idle = 1000
const slow = 1000

/** Sends a second of a flood. */
const flood = 400

const connections: Fault = {
  name: "idle-connections",
  about: `${idle} connections do nothing, and ${slow} send their request byte by byte`,
  begin: ({ processes }) => {
    const sockets: Array<Socket> = []
    for (let n = 0; n < idle + slow; n++) {
      const { port } = new URL(processes[n % processes.length]!.url)
      sockets.push(connect(Number(port), "127.0.0.1").on("error", () => {}))
    }
    const end = repeatedly(async () => {
      for (const socket of sockets.slice(idle)) {
        if (!socket.destroyed) socket.write(socket.bytesWritten === 0 ? "POST /v1/messages HTTP/1.1\r\nx: " : "x")
      }
      await pass(1000)
    })
    return Promise.resolve(async () => {
      await end()
      for (const socket of sockets) socket.destroy()
    })
  }
}

const tooMany: Fault = {
  name: "overload",
  about: `Callers begin ${flood} sends each second instead of a few`,
  begin: ({ load }) => {
    load.pace(flood)
    return Promise.resolve(() => load.pace(load.usual))
  }
}

/** The faults of callers. */
export const all: ReadonlyArray<Fault> = [connections, tooMany]
