/**
 * A DNS server on the loopback, and a client of it (RFC 1035 §4).
 */
import { Duration, Effect } from "effect"
import ipaddr from "ipaddr.js"
import { createSocket } from "node:dgram"
import { Resolver } from "node:dns/promises"
import { once } from "node:events"
import { isIPv4 } from "node:net"

export type Family = "A" | "AAAA"

/** How a question is answered: with addresses, with none, with the name's absence, or never. */
export type Reply = ReadonlyArray<string> | "NXDOMAIN" | "silence"

const families: { readonly [type: number]: Family } = { 1: "A", 28: "AAAA" }

const number16 = (...values: ReadonlyArray<number>): Buffer => {
  const bytes = Buffer.alloc(2 * values.length)
  values.forEach((value, i) => bytes.writeUInt16BE(value, 2 * i))
  return bytes
}

/** Longer than any test: a client that waits for silence fails by the test's own time limit. */
const patience = Duration.minutes(2)

/** Serves one question at a time; `reply` may take as long as it likes. */
export const serveNames = (reply: (family: Family) => Reply | Promise<Reply>) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = createSocket("udp4")
      let isOpen = true
      socket.on("message", async (query, client) => {
        // the name begins after the header, and ends with the root's empty label
        const end = query.indexOf(0, 12) + 1
        const family = families[query.readUInt16BE(end)]!
        const answer = await reply(family)
        if (answer === "silence" || !isOpen) return
        const addresses = answer === "NXDOMAIN" ? [] : answer
        const records = addresses.map((address) => {
          const data = Buffer.from(ipaddr.parse(address).toByteArray())
          // the name is a pointer to the question's; class IN, and a time to live of 0
          return Buffer.concat([number16(0xc00c, isIPv4(address) ? 1 : 28, 1, 0, 0, data.length), data])
        })
        const header = number16(
          query.readUInt16BE(0),
          answer === "NXDOMAIN" ? 0x8183 : 0x8180,
          1,
          records.length,
          0,
          0
        )
        socket.send(Buffer.concat([header, query.subarray(12, end + 4), ...records]), client.port, client.address)
      })
      socket.bind(0, "127.0.0.1")
      await once(socket, "listening")
      const resolver = new Resolver({ timeout: Duration.toMillis(patience), tries: 1 })
      resolver.setServers([`127.0.0.1:${socket.address().port}`])
      return {
        resolver,
        close: () => {
          isOpen = false
          resolver.cancel()
          socket.close()
        }
      }
    }),
    ({ close }) => Effect.sync(close)
  )
