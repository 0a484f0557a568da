/**
 * A load balancer: a connection goes to the next process that accepts it.
 */
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

/** Starts one before processes at these ports of 127.0.0.1. */
export const start = async (ports: ReadonlyArray<number>) => {
  const open = new Set<Socket>()
  let turn = 0
  const server = createServer((outside) => {
    open.add(outside)
    outside.on("close", () => open.delete(outside)).on("error", () => outside.destroy())
    const lead = (left: number): void => {
      if (left === 0) return void outside.destroy()
      const inside = connect(ports[turn++ % ports.length]!, "127.0.0.1")
      const next = () => lead(left - 1)
      inside.once("error", next).once("connect", () => {
        inside.off("error", next).on("error", () => outside.destroy()).on("close", () => outside.destroy())
        outside.on("close", () => inside.destroy())
        outside.pipe(inside).pipe(outside)
      })
    }
    lead(ports.length)
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      for (const socket of open) socket.destroy()
      server.close()
    }
  }
}
