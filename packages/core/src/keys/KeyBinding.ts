/**
 * The bindings of an API key: the phone numbers that it sends from, and the networks that it is used from
 * (contract §14). Pure.
 */
import { Result, Schema } from "effect"
import type { PhoneNumberId } from "../Id.ts"
import * as SourceAddress from "../SourceAddress.ts"

/** What a key is bound to. `null` means that it is not bound. */
export interface KeyBinding {
  /** The workspace's numbers that the key may send from, in the order of their ids. */
  readonly phoneNumberIds: ReadonlyArray<PhoneNumberId> | null
  /** The networks whose clients may use the key, as {@link networksOf} writes them. */
  readonly allowedCidrs: ReadonlyArray<string> | null
}

/** The bindings of a key that is bound to nothing. */
export const unbound: KeyBinding = { phoneNumberIds: null, allowedCidrs: null }

/** The maximum number of numbers, and of networks, that a key may be bound to. */
export const maxEntries = 100

/** An address as groups of 16 bits: two of IPv4, eight of IPv6. */
type Address = ReadonlyArray<number>

/** A network. The bits after its prefix are zero. */
interface Parsed {
  readonly address: Address
  readonly prefixLength: number
}

const ipv4 = /^(?:0|[1-9][0-9]{0,2})(?:\.(?:0|[1-9][0-9]{0,2})){3}$/

const addressOf = (text: string): Address | undefined => {
  if (!ipv4.test(text)) return SourceAddress.groupsOf(text)
  const [a, b, c, d] = text.split(".").map(Number) as [number, number, number, number]
  return Math.max(a, b, c, d) > 255 ? undefined : [a * 256 + b, c * 256 + d]
}

const masked = (address: Address, prefixLength: number): Address =>
  address.map((group, i) => {
    const kept = Math.min(16, Math.max(0, prefixLength - 16 * i))
    return group & (0xffff << (16 - kept)) & 0xffff
  })

const format = ({ address, prefixLength }: Parsed): string => {
  const text = address.length === 2
    ? SourceAddress.dotted(address)
    : new URL(`http://[${address.map((group) => group.toString(16)).join(":")}]/`).hostname.slice(1, -1)
  return `${text}/${prefixLength}`
}

const parsed = (text: string): Result.Result<Parsed, string> => {
  const [, before = "", length] = /^([0-9A-Fa-f:.]+)(?:\/(0|[1-9][0-9]{0,2}))?$/.exec(text) ?? []
  const address = addressOf(before)
  const bits = (address?.length ?? 0) * 16
  const prefixLength = length === undefined ? bits : Number(length)
  if (address === undefined || prefixLength > bits) {
    return Result.fail("must be a network like 203.0.113.0/24 or 2001:db8::/32, or a single address")
  }
  if (address.length === 8 && SourceAddress.isMapped(address)) {
    return Result.fail("must be written as an IPv4 network, since such clients are judged as IPv4")
  }
  const network = { address: masked(address, prefixLength), prefixLength }
  return network.address.join() === address.join()
    ? Result.succeed(network)
    : Result.fail(`must not have bits beyond its prefix: the network of ${text} is ${format(network)}`)
}

/** Why text is neither a network nor an address; `undefined` if it is. */
export const networkIssue = (text: string): string | undefined =>
  Result.match(parsed(text), { onFailure: (why) => why, onSuccess: () => undefined })

/** A network in CIDR notation, or a single address. */
export const Network = Schema.String.check(
  Schema.isMaxLength(64),
  Schema.makeFilter((text: string) => networkIssue(text) ?? true, {
    toJsonSchema: () => ({ pattern: "^[0-9A-Fa-f:.]+(?:/[0-9]{1,3})?$" })
  })
)

/** Formats valid networks canonically, each once, in a fixed order. */
export const networksOf = (texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(texts.map((text) => format(Result.getOrThrow(parsed(text)))))].sort()

/** The address by which a client is judged: an IPv4-mapped address becomes an IPv4 address. */
const judged = (text: string): Address | undefined => {
  const address = addressOf(text)
  return address?.length === 8 && SourceAddress.isMapped(address) ? address.slice(6) : address
}

const contains = ({ address: network, prefixLength }: Parsed, address: Address): boolean =>
  network.length === address.length && masked(address, prefixLength).join() === network.join()

/**
 * Whether a client with this address may use a key. If the address is unknown, only a key without networks may be used.
 */
export const isFrom = (networks: KeyBinding["allowedCidrs"], client: string | undefined): boolean => {
  if (networks === null) return true
  const address = client === undefined ? undefined : judged(client)
  return address !== undefined && networks.some((network) => contains(Result.getOrThrow(parsed(network)), address))
}

/** Whether a key may send from a number. A bound key may not send from a number that does not exist (`undefined`). */
export const maySend = (phoneNumberIds: KeyBinding["phoneNumberIds"], id: PhoneNumberId | undefined): boolean =>
  phoneNumberIds === null || (id !== undefined && phoneNumberIds.includes(id))

/** Whether a key is bound to anything. */
export const isBound = ({ allowedCidrs, phoneNumberIds }: KeyBinding): boolean =>
  allowedCidrs !== null || phoneNumberIds !== null
