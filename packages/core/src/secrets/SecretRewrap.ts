/**
 * The background task that changes the master key (contract §5): it re-encrypts every secret from the previous master
 * key to the current one, until the previous key is no longer needed.
 */
import { Duration, Effect, Layer } from "effect"
import * as BackgroundLoop from "../BackgroundLoop.ts"
import { type Rewrapped, type SealedSecret, SealedSecretStore, type SecretRow } from "./SealedSecretStore.ts"
import { Vault } from "./Vault.ts"

/** Secrets in one step, few enough for a short statement and little repetition after a crash. */
const pageSize = 100

/**
 * The interval between passes. One pass is not enough: processes that still use the previous key as their current one
 * keep sealing under it. Frequent passes would not help: during a rollout such processes rewrap in the other direction.
 */
export const lookEvery = Duration.minutes(5)

/** The number of secrets that a pass found and replaced. */
interface Pass {
  readonly found: number
  readonly rewrapped: number
}

/**
 * Runs as long as its scope. Does nothing without a previous master key. Any number of processes may run it, and it may
 * stop at any point. It never undoes a concurrent rotation or removal.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const store = yield* SealedSecretStore
    const { keyIds, rewrap } = yield* Vault
    const { current, previous } = keyIds
    if (previous === undefined || previous === current) return

    /**
     * Seals a secret again. A secret that cannot be opened stays as it is, for the key that opens it; the vault has
     * logged it.
     */
    const seal = ({ row, sealed }: SealedSecret): Effect.Effect<ReadonlyArray<Rewrapped>> =>
      rewrap(sealed, row).pipe(
        Effect.map((after) => [{ row, before: sealed, after }]),
        Effect.catchTag("UnreadableSecret", () => Effect.succeed([]))
      )

    const pass = Effect.gen(function*() {
      let [found, rewrapped] = [0, 0]
      let after: SecretRow | null = null
      while (true) {
        const page: ReadonlyArray<SealedSecret> = yield* store.under(previous, { after, limit: pageSize })
        const last = page.at(-1)
        if (last === undefined) return { found, rewrapped } satisfies Pass
        after = last.row
        rewrapped += yield* store.rewrap((yield* Effect.forEach(page, seal)).flat())
        found += page.length
        yield* Effect.logDebug(`${rewrapped} secrets are rewrapped so far`)
      }
    })

    let saidDone = false
    const look = Effect.gen(function*() {
      const first: Pass = yield* pass
      if (first.rewrapped > 0) {
        yield* Effect.logInfo(`rewrapped ${first.rewrapped} secrets from master key ${previous} to ${current}`)
      }
      // a second pass finds secrets that appeared meanwhile or that another process rewrapped
      const { found } = first.found > 0 ? yield* pass : first
      if (found === 0 && !saidDone) {
        yield* Effect.logInfo(
          `no secret is encrypted with master key ${previous} any more: once every process has ${current} as its ` +
            "WAC_MASTER_KEY, WAC_MASTER_KEY_PREVIOUS can be removed"
        )
      }
      saidDone = found === 0
    })

    yield* Effect.forkScoped(BackgroundLoop.make("rewrapping secrets", look, Effect.sleep(lookEvery)))
  })
)
