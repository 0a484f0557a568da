/**
 * Finds the addresses of a receiver's name (docs/decisions/0037-slow-dns-answers.md). None of them is judged here.
 */
import { Duration } from "effect"
import { lookup as systemLookup, Resolver } from "node:dns/promises"
import { setTimeout } from "node:timers/promises"
import { type Cidr, ownAddresses } from "./ReceiverAddress.ts"

/** Finds all addresses of a name, or rejects. */
export type Lookup = (hostname: string) => Promise<ReadonlyArray<string>>

/** How names are looked up. */
export interface LookupRules {
  /** Ranges that are allowed though they are not public. */
  readonly allowedCidrs: ReadonlyArray<Cidr>
  /** How names are looked up; by DNS if omitted. */
  readonly lookup?: Lookup
  /** The DNS client; if omitted, one with the system's name servers and a short time limit. */
  readonly resolver?: Resolver
}

/** The addresses of a name: the first to arrive, and those that are late. */
export interface Found {
  readonly addresses: ReadonlyArray<string>
  /** Resolves to the late addresses of the other family, none if they never come; `null` if nothing is late. */
  readonly late: Promise<ReadonlyArray<string>> | null
}

/** The result for a name without addresses. */
export const nothing: Found = { addresses: [], late: null }

/** The timeout of one of two DNS requests: a lookup with silent servers ends before the attempt's deadline. */
const dnsTimeout = Duration.millis(1500)

/** How long a lookup waits for the other family's addresses once it has one family's (RFC 8305 §3 and §8). */
const resolutionDelay = Duration.millis(50)

const codeOf = (error: unknown): unknown => error instanceof Error && "code" in error ? error.code : undefined

const isTimeout = (error: unknown): boolean => codeOf(error) === "ETIMEOUT"

const fulfilled = (answers: ReadonlyArray<PromiseSettledResult<ReadonlyArray<string>>>): ReadonlyArray<string> =>
  answers.flatMap((answer) => answer.status === "fulfilled" ? answer.value : [])

const fromDns = (resolver: Resolver) => async (hostname: string): Promise<Found> => {
  const families = [resolver.resolve4(hostname), resolver.resolve6(hostname)]
  const both = Promise.allSettled(families)
  // a family without addresses is a rejection, so this ends with the first addresses or the last failure
  const first = await Promise.any(families).catch(() => undefined)
  const answers = first === undefined
    ? await both
    : await Promise.race([both, setTimeout(Duration.toMillis(resolutionDelay), undefined)])
  if (first !== undefined && answers === undefined) {
    return { addresses: first, late: both.then((all) => fulfilled(all).filter((address) => !first.includes(address))) }
  }
  const addresses = fulfilled(answers ?? [])
  const [four, six] = answers ?? []
  if (addresses.length === 0 && four?.status === "rejected" && six?.status === "rejected") {
    // if there are certainly no IPv4 addresses, the timeout for IPv6 is the cause of the failure
    throw codeOf(four.reason) === "ENODATA" && isTimeout(six.reason) ? six.reason : four.reason
  }
  return { addresses, late: null }
}

const fromSystem: Lookup = async (hostname) =>
  (await systemLookup(hostname, { all: true })).map(({ address }) => address)

const whole = (find: Lookup) => async (hostname: string): Promise<Found> => ({
  addresses: await find(hostname),
  late: null
})

/**
 * Looks names up by DNS. The system's own lookup (hosts file, search domains) blocks one of the process's few threads:
 * two names with silent servers would stop the deliveries to all other receivers for many seconds. It adds only names
 * of private addresses, so it is used only if such addresses are allowed, and never after a silent server.
 */
const namesUnder = ({ allowedCidrs, resolver }: LookupRules): (hostname: string) => Promise<Found> => {
  const find = fromDns(resolver ?? new Resolver({ timeout: Duration.toMillis(dnsTimeout), tries: 2 }))
  const system = whole(fromSystem)
  return allowedCidrs.length === 0
    ? find
    : (hostname) => find(hostname).catch((error) => isTimeout(error) ? Promise.reject(error) : system(hostname))
}

/** Finds the addresses of a host name under these rules. The caller must still judge them. */
export const lookup = (rules: LookupRules): (hostname: string) => Promise<Found> => {
  const find = rules.lookup === undefined ? namesUnder(rules) : whole(rules.lookup)
  return async (hostname) => {
    const own = ownAddresses(hostname, rules.allowedCidrs)
    return own === undefined ? find(hostname) : { addresses: own, late: null }
  }
}
