/**
 * The source of a request, by which failures are counted and limited. IPv6 addresses are grouped by network, because
 * one customer has 2^64 of them. Pure.
 */

/** The eight groups of 16 bits of an IPv6 address, without its zone; undefined if the text is not one. */
export const groupsOf = (address: string): ReadonlyArray<number> | undefined => {
  // drop the zone, which names an interface
  const url = `http://[${address.split("%", 1)[0]}]/`
  if (!address.includes(":") || !URL.canParse(url)) return undefined
  const [head = "", tail] = new URL(url).hostname.slice(1, -1).split("::")
  const numbers = (part: string) => part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16))
  const [first, last] = [numbers(head), numbers(tail ?? "")]
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last]
}

/** Whether an IPv6 address, given by its groups, is an IPv4-mapped one: its last two groups are an IPv4 address. */
export const isMapped = (groups: ReadonlyArray<number>): boolean =>
  groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff

/** Writes the two groups of 16 bits of an IPv4 address in dotted form: `192.0.2.1`. */
export const dotted = (groups: ReadonlyArray<number>): string =>
  groups.flatMap((group) => [group >> 8, group & 255]).join(".")

/**
 * Returns the key of an address: an IPv4 address itself, even if it is written as IPv6; the /64 network of an IPv6
 * address, which belongs to one customer; any other text unchanged. Pure.
 */
export const networkOf = (address: string): string => {
  const groups = groupsOf(address)
  if (groups === undefined) return address
  if (isMapped(groups)) return dotted(groups.slice(6))
  return `${groups.slice(0, 4).map((group) => group.toString(16)).join(":")}::/64`
}
