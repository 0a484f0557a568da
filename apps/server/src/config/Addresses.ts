/**
 * Where the service listens, the address that people use, and the networks that it trusts or posts to.
 */
import { PlainText } from "@wac/core"
import { ReceiverAddress } from "@wac/receivers"
import { Effect, Result, Schema } from "effect"
import { IpNetwork } from "effect/net"
import type * as Variable from "../Variable.ts"
import { BadVariable } from "../VariableText.ts"
import { flag, optional, read, WebAddress } from "./Reading.ts"

/** A host as part of a URL: IPv6 addresses are in brackets. */
export const authorityOf = (host: string): string => host.includes(":") ? `[${host}]` : host

const HostName = PlainText.between(1, 253).check(
  Schema.makeFilter((host: string) =>
    (/^[^\s/?#@\\]+$/.test(host) && URL.canParse(`http://${authorityOf(host)}`)) || "must be a host name or an address"
  )
)

const PortNumber = Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 0, maximum: 65535 }))

const PublicAddress = WebAddress.check(
  Schema.makeFilter(({ hash, password, search, username }: URL) =>
    username + password + search + hash === "" || "must be a URL without user, password, query or fragment"
  )
)

/** Where the server listens. */
export const listening = Effect.gen(function*() {
  const host = yield* read("HOST", HostName, "a host name or an address", "127.0.0.1")
  const port = yield* read("PORT", PortNumber, "a port number, 0 to 65535", 8080)
  return { host, port }
})

/** The address that people use, if it is configured. */
export const publicAddress = optional("PUBLIC_URL", PublicAddress, "an http or https URL, without a user or a query")

/** The address of a server that listens on all addresses, as people on its machine reach it. */
export const ofThisMachine = (listening: URL): URL => {
  const url = new URL(listening)
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "localhost"
  return url
}

/** The address that people use; otherwise a guess from where the server listens. */
export const addressFor = (publicUrl: URL | undefined, host: string, port: number): URL =>
  publicUrl ?? ofThisMachine(new URL(`http://${authorityOf(host)}:${port}`))

/** Whether only this machine reaches an address. */
export const isLocal = ({ hostname }: URL): boolean => ["localhost", "127.0.0.1", "[::1]"].includes(hostname)

/**
 * Why nobody can sign in to the dashboard at an address, if so: browsers keep the session's cookie (contract §5) only
 * over https, and on the machine itself.
 */
export const noSignIn = (publicUrl: URL): string | undefined =>
  publicUrl.protocol === "https:" || isLocal(publicUrl)
    ? undefined
    : `nobody can sign in at ${publicUrl.href}: browsers keep a session only over https`

const networksExpected = "CIDRs separated by commas, such as 10.0.0.0/8,::1"

const notNetworks = (variable: Variable.Name) => () => new BadVariable({ variable, expected: networksExpected })

/** Networks and single addresses, separated by commas. */
const networks = Effect.fnUntraced(function*(variable: Variable.Name) {
  const text = yield* read(variable, Schema.String, networksExpected, "")
  return yield* Effect.mapError(Effect.fromResult(ReceiverAddress.parseCidrs(text)), notNetworks(variable))
})

/** The networks of proxies whose `X-Forwarded-For` counts. */
export const trustedProxies = Effect.gen(function*() {
  const variable = "TRUST_PROXY"
  const cidrs = yield* networks(variable)
  const made = Result.all(cidrs.map(({ network, prefixLength }) => IpNetwork.fromString(`${network}/${prefixLength}`)))
  return yield* Effect.mapError(Effect.fromResult(made), notNetworks(variable))
})

/** The permitted receivers (contract §8). */
export const receiverRules = Effect.gen(function*() {
  return {
    allowInsecure: yield* flag("WEBHOOK_ALLOW_INSECURE"),
    allowedCidrs: yield* networks("WEBHOOK_ALLOW_CIDRS")
  }
})
