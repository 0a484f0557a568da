/**
 * Connects to receivers, only to addresses that were judged and allowed (contract §6 *Receiver addresses*).
 */
import { Data, Duration } from "effect"
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net"
import { connect as connectTls, TLSSocket } from "node:tls"
import { describe } from "./PeerCertificate.ts"
import { judgeAll, judgeHost, literal } from "./ReceiverAddress.ts"
import type { ReceiverExchange } from "./ReceiverExchange.ts"
import type { ReceiverRules } from "./ReceiverGuardDns.ts"
import { type Found, type Lookup, lookup } from "./ReceiverLookup.ts"

/** How long each address of a name is tried before the next; Node's default is too short for another continent. */
const addressTimeout = Duration.seconds(1)

/** Silence after which TCP asks whether the other side is still there. */
const probeAfter = Duration.minutes(1)

/** No connection was tried: the message describes why. */
export class NotConnected extends Data.TaggedError("NotConnected")<{
  readonly outcome: "dns" | "blocked_address"
  readonly message: string
}> {}

const blocked = (why: string) =>
  new NotConnected({ outcome: "blocked_address", message: `${why}; only public addresses are allowed` })

const unknown = (why: string) => new NotConnected({ outcome: "dns", message: `has a host name that ${why}` })

const withoutAddress = "leads to no address"

const lookupFailures: { readonly [code: string]: string } = {
  ENOTFOUND: "does not exist",
  ENODATA: withoutAddress,
  ETIMEOUT: "could not be looked up: its name servers did not answer"
}

const afterLookup = (error: unknown): NotConnected => {
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : ""
  return unknown(lookupFailures[code] ?? "could not be looked up")
}

/** A connection that is being made. */
export interface Connecting {
  /** Gives up connecting, or closes the connection. */
  readonly destroy: () => void
}

/**
 * Begins a connection to the host of a URL, and records its phases in `exchange`. The caller destroys the result if it
 * needs it no more.
 */
export type Connector = (
  to: { readonly hostname: string; readonly port: string; readonly protocol: string },
  callback: (...ended: [error: Error, socket: null] | [error: null, socket: Socket]) => void,
  exchange: ReceiverExchange
) => Connecting | undefined

/**
 * Judges the host of every new connection. Names are looked up here and their addresses handed on, so that what was
 * judged is what is connected to; an address in the URL is never looked up, hence the first check. An address whose
 * DNS answer is late is judged when it comes, and tried only if no earlier address can be connected to
 * (docs/decisions/0037-slow-dns-answers.md).
 */
export const make = (rules: ReceiverRules): Connector => {
  const find = lookup(rules)

  const guardedLookup =
    (exchange: ReceiverExchange, finding: Lookup): LookupFunction => (hostname, _options, callback) => {
      finding(hostname).then((addresses) => {
        const verdict = judgeAll(addresses, rules.allowedCidrs)
        if (!verdict.allowed) return callback(blocked(`has a host that leads to ${verdict.reason}`), [])
        if (addresses.length === 0) return callback(unknown(withoutAddress), [])
        if (exchange.phase !== "connect") exchange.enter("connect")
        callback(null, addresses.map((address) => ({ address, family: isIP(address) })))
      }, (error) => callback(afterLookup(error), []))
    }

  return ({ hostname, port, protocol }, callback, exchange) => {
    const verdict = judgeHost(hostname, rules.allowedCidrs)
    if (!verdict.allowed) {
      callback(blocked(`has a host that is ${verdict.reason}`), null)
      return undefined
    }
    const address = literal(hostname)
    if (address !== undefined) exchange.enter("connect")
    const isSecure = protocol === "https:"

    const open = (lookup: LookupFunction, failed: (error: Error) => void): Socket => {
      const options = {
        host: address ?? hostname,
        port: Number(port) || (isSecure ? 443 : 80),
        lookup,
        // makes node:net ask for all addresses, the only form of question that guardedLookup supports
        autoSelectFamily: true,
        autoSelectFamilyAttemptTimeout: Duration.toMillis(addressTimeout)
      }
      const socket = isSecure
        ? connectTls({ ...options, servername: address === undefined ? hostname : "", ALPNProtocols: ["http/1.1"] })
        : connectTcp(options)
      socket.setKeepAlive(true, Duration.toMillis(probeAfter)).setNoDelay(true)
      socket.on("connectionAttempt", (address) => {
        exchange.address = address
      })
      socket.once("connect", () => {
        exchange.address = socket.remoteAddress ?? exchange.address
        if (isSecure) exchange.enter("tls")
      })
      // runs before Node's own check, after which a refused certificate can no longer be read
      if (socket instanceof TLSSocket) {
        socket.prependOnceListener("secure", () => {
          exchange.certificate = describe(socket.getPeerCertificate())
        })
      }
      let isOver = false
      socket.once(isSecure ? "secureConnect" : "connect", () => {
        isOver = true
        callback(null, socket)
      })
      socket.on("error", (error) => {
        if (isOver) return
        isOver = true
        // a server that breaks off in the middle of the handshake may have sent its certificate already
        if (socket instanceof TLSSocket) exchange.certificate ??= describe(socket.getPeerCertificate())
        failed(error)
      })
      return socket
    }

    const fail = (error: Error) => callback(error, null)

    let late: Found["late"] = null
    let isGivenUp = false
    const first: Lookup = async (name) => {
      exchange.enter("lookup")
      const found = await find(name)
      late = found.late
      return found.addresses
    }
    let socket = open(guardedLookup(exchange, first), (error) => {
      if (late === null || exchange.phase !== "connect") return fail(error)
      late.then((more) => {
        if (isGivenUp) return
        if (more.length === 0) return fail(error)
        socket = open(guardedLookup(exchange, async () => more), fail)
      })
    })
    return {
      destroy: () => {
        isGivenUp = true
        socket.destroy()
      }
    }
  }
}
