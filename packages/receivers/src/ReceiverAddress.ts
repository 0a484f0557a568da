/**
 * Decides which hosts and addresses a receiver may have (contract §6 *Receiver addresses*). Pure: names are looked up
 * elsewhere, and their addresses are judged here.
 */
import { Result, Schema } from "effect"
import ipaddr from "ipaddr.js"
import { isIP } from "node:net"

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** A range of addresses, as `WEBHOOK_ALLOW_CIDRS` lists them (contract §8). */
export interface Cidr {
  readonly network: Address
  readonly prefixLength: number
}

/** Whether connections to a host are allowed; if not, what the host is: "a loopback address". */
export type Verdict =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly reason: string }

/** An entry of `WEBHOOK_ALLOW_CIDRS` that is not a range. */
export class InvalidCidr extends Schema.TaggedError<InvalidCidr>()("InvalidCidr", {
  entry: Schema.String,
  message: Schema.String
}) {}

const parseCidr = (entry: string): Cidr | undefined => {
  const [address = "", length, ...rest] = entry.split("/")
  if (rest.length > 0 || isIP(address) === 0 || !ipaddr.isValid(address) || address.includes("%")) return undefined
  if (length !== undefined && !/^\d{1,3}$/.test(length)) return undefined
  const network = ipaddr.parse(address)
  // IPv4-mapped addresses are judged as IPv4, so this range would never match
  if (network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress()) return undefined
  const bits = network.kind() === "ipv4" ? 32 : 128
  const prefixLength = length === undefined ? bits : Number(length)
  return prefixLength <= bits ? { network, prefixLength } : undefined
}

/** Reads a comma-separated list of CIDR ranges and single addresses; empty text is the empty list (contract §8). */
export const parseCidrs = (text: string): Result.Result<ReadonlyArray<Cidr>, InvalidCidr> => {
  const cidrs: Array<Cidr> = []
  for (const entry of text.split(",").map((part) => part.trim()).filter((part) => part !== "")) {
    const cidr = parseCidr(entry)
    if (cidr === undefined) {
      const message = `expected CIDR ranges like 10.0.0.0/8 or fd12::/16, separated by commas, but got ${entry}`
      return Result.fail(new InvalidCidr({ entry, message }))
    }
    cidrs.push(cidr)
  }
  return Result.succeed(cidrs)
}

const cidr = (text: string): Cidr => {
  const [network, prefixLength] = ipaddr.parseCIDR(text)
  return { network, prefixLength }
}

const within = (address: Address, cidrs: ReadonlyArray<Cidr>): boolean =>
  cidrs.some(({ network, prefixLength }) => network.kind() === address.kind() && address.match(network, prefixLength))

/** The addresses at which clouds give a machine its credentials. Link-local addresses are all refused. */
const metadata: ReadonlyArray<Cidr> = [
  cidr("169.254.0.0/16"),
  cidr("fe80::/10"),
  cidr("168.63.129.16/32"), // Azure, in public space
  cidr("100.100.100.200/32"), // Alibaba
  cidr("192.0.0.192/32"), // Oracle, classic
  cidr("fd00:ec2::/32"), // AWS
  cidr("fd20:ce::/64"), // Google
  cidr("fd00:42::/64"), // Scaleway
  cidr("fd00:a9fe:a9fe::/48") // Linode
]

/** The IPv6 range that is assigned as global unicast; `range()` also calls the rest unicast if no RFC names it. */
const globalUnicast6 = [cidr("2000::/3")]

/** `::a.b.c.d`, deprecated; the URL parser accepts `[::127.0.0.1]` as such an address. */
const ipv4Compatible = [cidr("::/96")]

const isPublic = (address: Address): boolean =>
  address.range() === "unicast" && (address.kind() === "ipv4" || within(address, globalUnicast6))

/** NAT64 within one network (RFC 8215): each network chooses the length of the prefix. */
const localNat64 = [cidr("64:ff9b:1::/48")]

/** The bytes that hold the IPv4 address, for each length of a translator's prefix, 96 bits first (RFC 6052 §2.2). */
const embeddings: ReadonlyArray<ReadonlyArray<number>> = [
  [12, 13, 14, 15],
  [6, 7, 9, 10],
  [7, 9, 10, 11],
  [9, 10, 11, 12]
]

/** The IPv4 addresses to which a translator or a tunnel may forward an IPv6 address, the likeliest first. */
const translated = (address: Address): ReadonlyArray<ipaddr.IPv4> => {
  if (address instanceof ipaddr.IPv4) return []
  const range = address.range()
  const bytes = address.toByteArray()
  const last = bytes.slice(12)
  if (range === "6to4") return [new ipaddr.IPv4(bytes.slice(2, 6))]
  // the client, whose bits are inverted, and the server (RFC 4380 §4)
  if (range === "teredo") {
    return [last.map((byte) => byte ^ 0xff), bytes.slice(4, 8)].map((four) => new ipaddr.IPv4(four))
  }
  if (within(address, localNat64)) {
    return embeddings.map((places) => new ipaddr.IPv4(places.map((place) => bytes[place]!)))
  }
  const isLast = range === "rfc6052" || range === "rfc6145" || range === "unicast" && within(address, ipv4Compatible)
  return isLast ? [new ipaddr.IPv4(last)] : []
}

const kinds: { readonly [range: string]: string } = {
  unspecified: "the unspecified address",
  loopback: "a loopback address",
  private: "a private address",
  uniqueLocal: "a private address",
  carrierGradeNat: "an address of a carrier's network",
  multicast: "a multicast address",
  broadcast: "the broadcast address"
}

const allowedVerdict: Verdict = { allowed: true }

const refused = (reason: string): Verdict => ({ allowed: false, reason })

const judgeAddress = (address: Address, allowed: ReadonlyArray<Cidr>): Verdict => {
  const targets = translated(address)
  if ([address, ...targets].some((each) => within(each, metadata))) return refused("a link-local or metadata address")
  if (isPublic(address)) return allowedVerdict
  if (!within(address, allowed)) return refused(kinds[address.range()] ?? "an address that is not public")
  // allowing a translator's prefix does not allow every address behind it: the likeliest target is judged too
  const [target] = targets
  return target === undefined ? allowedVerdict : judgeAddress(target, allowed)
}

/**
 * Judges an IP address: public unicast ones are allowed, others only within `allowed`, metadata addresses never.
 * IPv4-mapped IPv6 is judged as IPv4 (contract §6).
 */
export const judge = (address: string, allowed: ReadonlyArray<Cidr>): Verdict =>
  isIP(address) === 0 || !ipaddr.isValid(address)
    ? refused("not an IP address")
    : judgeAddress(ipaddr.process(address), allowed)

/** The verdict on all addresses of a name: if one is refused, the name is refused, because any may be connected to. */
export const judgeAll = (addresses: ReadonlyArray<string>, allowed: ReadonlyArray<Cidr>): Verdict =>
  addresses.map((address) => judge(address, allowed)).find((verdict) => !verdict.allowed) ?? allowedVerdict

/** The address in a URL's `hostname`, without brackets; `undefined` if it is a name. */
export const literal = (hostname: string): string | undefined => {
  const address = hostname.startsWith("[") && hostname.endsWith("]") ? hostname.slice(1, -1) : hostname
  return isIP(address) === 0 ? undefined : address
}

const metadataNames: ReadonlySet<string> = new Set([
  "metadata",
  "metadata.goog",
  "metadata.google.internal",
  "instance-data",
  "instance-data.ec2.internal"
])

const isUnder = (name: string, suffix: string): boolean => name === suffix || name.endsWith(`.${suffix}`)

const nameOf = (hostname: string): string => hostname.toLowerCase().replace(/(?<!\.)\.+$/, "")

/**
 * The addresses of a name of the server itself (`localhost`, `*.localhost`): the loopback addresses that are allowed.
 * Such names are never looked up (RFC 6761 §6.3). `undefined` for any other name.
 */
export const ownAddresses = (
  hostname: string,
  allowed: ReadonlyArray<Cidr>
): ReadonlyArray<string> | undefined =>
  isUnder(nameOf(hostname), "localhost")
    ? ["127.0.0.1", "::1"].filter((address) => judge(address, allowed).allowed)
    : undefined

/**
 * Judges a URL's `hostname`: an address as {@link judge} does, a name only if it reveals its target. The addresses of
 * an allowed name must still be looked up and judged. Names of the server itself need an allowed loopback range, and
 * names of private networks any allowed range (contract §6).
 */
export const judgeHost = (hostname: string, allowed: ReadonlyArray<Cidr>): Verdict => {
  const address = literal(hostname)
  if (address !== undefined) return judge(address, allowed)
  const name = nameOf(hostname)
  if (metadataNames.has(name)) return refused("the name of a metadata service")
  if (ownAddresses(name, allowed)?.length === 0) return refused("a name of the server itself")
  const isPrivate = ["local", "internal", "localdomain", "home.arpa"].some((suffix) => isUnder(name, suffix))
  return isPrivate && allowed.length === 0 ? refused("a name of a private network") : allowedVerdict
}
