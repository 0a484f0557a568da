/**
 * Implements `ReceiverGuard`, which checks the URL of a webhook when it is saved, by its address or a DNS lookup
 * (contract §6 *Receiver addresses*). `ReceiverConnector.ts` applies the same rules again at every connection.
 */
import { Errors, ReceiverGuard } from "@wac/core"
import { Duration, Effect, Layer } from "effect"
import { judgeAll, judgeHost, literal } from "./ReceiverAddress.ts"
import { lookup, type LookupRules, nothing } from "./ReceiverLookup.ts"

/** The receivers that the operator allows (contract §8 `WEBHOOK_ALLOW_INSECURE`, `WEBHOOK_ALLOW_CIDRS`). */
export interface ReceiverRules extends LookupRules {
  /** Allows the scheme `http`, and no address. */
  readonly allowInsecure: boolean
}

/** Saving a webhook waits this long for the lookup; a later answer counts as a name that does not resolve yet. */
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
        const { addresses } = yield* Effect.tryPromise(() => find(url.hostname)).pipe(
          Effect.timeout(checkTimeout),
          Effect.orElseSucceed(() => nothing)
        )
        const verdict = judgeAll(addresses, rules.allowedCidrs)
        if (!verdict.allowed) return yield* refusedUrl(`leads to ${verdict.reason}`)
      })
    })
  )
}
