/**
 * The address that a request comes from, as failures are counted by it: whoever has an address of IPv6 has 2^64 of them.
 */

/** The eight groups of an address of IPv6; nothing for what is none. */
const groupsOf = (address: string): ReadonlyArray<number> | undefined => {
  // without its zone, which names an interface
  const url = `http://[${address.split("%", 1)[0]}]/`
  if (!address.includes(":") || !URL.canParse(url)) return undefined
  const [head = "", tail] = new URL(url).hostname.slice(1, -1).split("::")
  const numbers = (part: string) => part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16))
  const [first, last] = [numbers(head), numbers(tail ?? "")]
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last]
}

/**
 * What an address counts as: one of IPv4 itself, also if it is written as IPv6; of IPv6 the network of 64 bits, which one
 * customer has; of what is no address the text. Pure.
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
