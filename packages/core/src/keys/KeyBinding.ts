/**
 * What an API key may be bound to: the phone numbers that it sends from, and the networks that it is used from
 * (contract §14). Pure.
 */
import { Result, Schema } from "effect"
import { IpInterface, IpNetwork, NetAddress } from "effect/net"
import type { PhoneNumberId } from "../Id.ts"

/** The bindings of a key. `null`: not bound. */
export interface KeyBinding {
  /** The workspace's numbers that the key may send from, in the order of their ids. */
  readonly phoneNumberIds: ReadonlyArray<PhoneNumberId> | null
  /** The networks whose clients may use the key, as {@link networksOf} writes them. */
  readonly allowedCidrs: ReadonlyArray<string> | null
}

/** The binding of a key that was created without one. */
export const unbound: KeyBinding = { phoneNumberIds: null, allowedCidrs: null }

/** How many numbers or networks a key may be bound to. */
export const maxEntries = 100

const parsed = (text: string): Result.Result<IpNetwork.IpNetwork, string> => {
  const given = IpInterface.fromString(text, { prefix: "optional" })
  if (Result.isFailure(given)) {
    return Result.fail("must be a network like 203.0.113.0/24 or 2001:db8::/32, or a single address")
  }
  const { address, prefixLength } = given.success
  if (NetAddress.isIpv6Address(address) && NetAddress.isIpv4Mapped(address)) {
    return Result.fail("must be written as an IPv4 network, since such clients are judged as IPv4")
  }
  return Result.mapError(
    IpNetwork.make(address, prefixLength),
    () =>
      `must not have bits beyond its prefix: the network of ${text} is ${
        IpNetwork.format(IpNetwork.fromAddressUnsafe(address, prefixLength))
      }`
  )
}

/** Why text is neither a network nor an address; `undefined` if it is. */
export const networkIssue = (text: string): string | undefined =>
  Result.match(parsed(text), { onFailure: (why) => why, onSuccess: () => undefined })

/** A network in CIDR notation, or a single address. */
export const Network = Schema.String.check(
  Schema.isMaxLength(64),
  Schema.makeFilter((text: string) => networkIssue(text) ?? true)
)

/** Valid networks, each once, in their canonical form and a fixed order. */
export const networksOf = (texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(texts.map((text) => IpNetwork.format(Result.getOrThrow(parsed(text)))))].sort()

/** An address as it is judged: an IPv4-mapped one is an IPv4 address. */
const canonical = (text: string): NetAddress.IpAddress | undefined => {
  const address = Result.getOrUndefined(NetAddress.ipFromString(text))
  return address && NetAddress.toCanonical(address)
}

/** Whether a client with this address may use a key. One whose address is not known may use only a key without networks. */
export const isFrom = (networks: KeyBinding["allowedCidrs"], client: string | undefined): boolean => {
  if (networks === null) return true
  const address = client === undefined ? undefined : canonical(client)
  return address !== undefined &&
    networks.some((network) => IpNetwork.contains(IpNetwork.fromStringUnsafe(network), address))
}

/** Whether a key may send from a number. */
export const maySend = (phoneNumberIds: KeyBinding["phoneNumberIds"], id: PhoneNumberId): boolean =>
  phoneNumberIds === null || phoneNumberIds.includes(id)

/** Whether a key is bound to anything. */
export const isBound = ({ allowedCidrs, phoneNumberIds }: KeyBinding): boolean =>
  allowedCidrs !== null || phoneNumberIds !== null
