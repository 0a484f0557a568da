/**
 * What a request's `Host` names: a page of a stranger can have its own name resolve to this machine's address (DNS
 * rebinding), but it cannot have an address, or `localhost`, for its name.
 */
import ipaddr from "ipaddr.js"

/** A host as `Host` has it, with or without a port: a name, an IPv4 address, or an IPv6 address in brackets. */
const form = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/

/** The name or address in a `Host` header, without brackets and port, in lower case; nothing if it is not valid. */
export const of = (host: string | undefined): string | undefined => {
  const match = form.exec(host ?? "")
  if (match === null || Number(match[2] ?? 0) > 65_535) return undefined
  const name = match[1]!.toLowerCase()
  if (!name.startsWith("[")) return name
  const address = name.slice(1, -1)
  return ipaddr.IPv6.isValid(address) ? address : undefined
}

/** Names that mean this machine wherever they are resolved. */
const isLocalName = (name: string): boolean => name === "localhost" || name.endsWith(".localhost")

/** Whether a name or address is this machine's loopback. */
export const isLoopback = (name: string): boolean =>
  isLocalName(name) || (ipaddr.isValid(name) && ipaddr.process(name).range() === "loopback")

/** Whether no stranger's page can have it for its own name. */
export const isUnclaimable = (name: string): boolean => isLocalName(name) || ipaddr.isValid(name)
