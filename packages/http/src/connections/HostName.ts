/**
 * The name in a request's `Host`. A stranger's page can make its own name resolve to this machine's address (DNS
 * rebinding), but its name cannot be an address or `localhost`.
 */
import ipaddr from "ipaddr.js"

/** The form of `Host`, with or without a port: a name, an IPv4 address, or an IPv6 address in brackets. */
const form = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/

/** The name or address in a `Host` header, without brackets and port, in lower case; `undefined` if it is invalid. */
export const of = (host: string | undefined): string | undefined => {
  const match = form.exec(host ?? "")
  if (match === null || Number(match[2] ?? 0) > 65_535) return undefined
  const name = match[1]!.toLowerCase()
  if (!name.startsWith("[")) return name
  const address = name.slice(1, -1)
  return ipaddr.IPv6.isValid(address) ? address : undefined
}

/** Names that always resolve to the local machine. */
const isLocalName = (name: string): boolean => name === "localhost" || name.endsWith(".localhost")

/** Whether a name or address is the local machine's loopback. */
export const isLoopback = (name: string): boolean =>
  isLocalName(name) || (ipaddr.isValid(name) && ipaddr.process(name).range() === "loopback")

/** Whether a stranger's page cannot have this host as its own name. */
export const isUnclaimable = (name: string): boolean => isLocalName(name) || ipaddr.isValid(name)
