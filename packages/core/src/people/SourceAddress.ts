/**
 * The source of a request for counting failures. It groups IPv6 addresses by network, because one customer has 2^64
 * of them. Pure.
 */

/** The eight groups of an IPv6 address; undefined if the text is not one. */
const groupsOf = (address: string): ReadonlyArray<number> | undefined => {
  // drop the zone, which names an interface
  const url = `http://[${address.split("%", 1)[0]}]/`
  if (!address.includes(":") || !URL.canParse(url)) return undefined
  const [head = "", tail] = new URL(url).hostname.slice(1, -1).split("::")
  const numbers = (part: string) => part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16))
  const [first, last] = [numbers(head), numbers(tail ?? "")]
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last]
}

/**
 * Returns the key of an address: an IPv4 address itself, also when it is written as IPv6; the /64 network of an IPv6
 * address, which belongs to one customer; any other text unchanged. Pure.
 */
export const networkOf = (address: string): string => {
  const groups = groupsOf(address)
  if (groups === undefined) return address
  const [high, low] = groups.slice(6) as [number, number]
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    return [high >> 8, high & 255, low >> 8, low & 255].join(".")
  }
  return `${groups.slice(0, 4).map((group) => group.toString(16)).join(":")}::/64`
}
