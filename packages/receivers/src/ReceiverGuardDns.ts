/**
 * `ReceiverGuard` by address and name look-up (contract §6 *Receiver addresses*). The same rules hold again at every
 * connection, in `ReceiverConnector.ts`.
 */
import { Errors, ReceiverGuard } from "@wac/core"
import { Duration, Effect, Layer } from "effect"
import { lookup as systemLookup, Resolver } from "node:dns/promises"
import { type Cidr, judgeAll, judgeHost, literal, ownAddresses } from "./ReceiverAddress.ts"

/** Finds all addresses of a name, or rejects. */
export type Lookup = (hostname: string) => Promise<ReadonlyArray<string>>

/** What the operator allows receivers (contract §8 `WEBHOOK_ALLOW_INSECURE`, `WEBHOOK_ALLOW_CIDRS`). */
export interface ReceiverRules {
  /** Allows the scheme `http`, and no address. */
  readonly allowInsecure: boolean
  /** Ranges that are allowed though they are not public. */
  readonly allowedCidrs: ReadonlyArray<Cidr>
  /** How names are looked up; by DNS if left out. */
  readonly lookup?: Lookup
}

/** A name whose servers are silent is given up after two of these, before the attempt's deadline. */
const dnsTimeout = Duration.millis(1500)

const fromDns = (resolver: Resolver): Lookup => async (hostname) => {
  const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  const addresses = [four, six].flatMap((answer) => answer.status === "fulfilled" ? answer.value : [])
  if (addresses.length === 0 && four.status === "rejected") throw four.reason
  return addresses
}

const fromSystem: Lookup = async (hostname) =>
  (await systemLookup(hostname, { all: true })).map(({ address }) => address)

const isTimeout = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ETIMEOUT"

/**
 * Looks names up by DNS. The system's own look-up (hosts file, search domains) blocks one of the few threads that
 * the process has for it: two names with silent servers would stop every other receiver for many seconds. What it
 * adds are names of private addresses, so it is asked only where such are allowed, and never after a silent server.
 */
const namesUnder = ({ allowedCidrs }: ReceiverRules): Lookup => {
  const find = fromDns(new Resolver({ timeout: Duration.toMillis(dnsTimeout), tries: 2 }))
  return allowedCidrs.length === 0
    ? find
    : (hostname) => find(hostname).catch((error) => isTimeout(error) ? Promise.reject(error) : fromSystem(hostname))
}

/** Finds the addresses of a host name under these rules; they are still to be judged. */
export const lookup = (rules: ReceiverRules): Lookup => {
  const find = rules.lookup ?? namesUnder(rules)
  return async (hostname) => ownAddresses(hostname, rules.allowedCidrs) ?? find(hostname)
}

/** Saving a webhook waits this long for the look-up; the name then counts as one that does not resolve yet. */
const checkTimeout = Duration.seconds(2)

const refusedUrl = (why: string) =>
  new Errors.InvalidBody({
    reason: "invalid_field",
    param: "url",
    message: `url must lead to a public address, but its host ${why}`
  })

/** The guard under these rules. */
export const layer = (rules: ReceiverRules): Layer.Layer<ReceiverGuard.ReceiverGuard> => {
  const find = lookup(rules)
  return Layer.succeed(
    ReceiverGuard.ReceiverGuard,
    ReceiverGuard.ReceiverGuard.of({
      allowInsecure: rules.allowInsecure,
      check: Effect.fn("ReceiverGuard.check")(function*(url) {
        const host = judgeHost(url.hostname, rules.allowedCidrs)
        if (!host.allowed) return yield* refusedUrl(`is ${host.reason}`)
        if (literal(url.hostname) !== undefined) return
        const addresses = yield* Effect.tryPromise(() => find(url.hostname)).pipe(
          Effect.timeout(checkTimeout),
          Effect.orElseSucceed((): ReadonlyArray<string> => [])
        )
        const verdict = judgeAll(addresses, rules.allowedCidrs)
        if (!verdict.allowed) return yield* refusedUrl(`leads to ${verdict.reason}`)
      })
    })
  )
}
