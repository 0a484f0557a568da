/**
 * A change of the master key (contract §5): what is sealed under the previous one is sealed anew under the current
 * one, in the background, until the previous one is needed no longer.
 */
import { Duration, Effect, Layer } from "effect"
import { type Rewrapped, type SealedSecret, SealedSecretStore, type SecretRow } from "./SealedSecretStore.ts"
import { Vault } from "./Vault.ts"

/** Secrets in one step: a short statement, and little to do again after a crash. */
const pageSize = 100

/**
 * How long until the next look. One look is not enough: processes that still have the previous key as their current
 * one seal under it. Nor may there be many: while a change is rolled out, such processes do the same the other way.
 */
export const lookEvery = Duration.minutes(5)

/** What one look over the storage has done, and what it could not do. */
interface Pass {
  readonly found: number
  readonly rewrapped: number
}

/**
 * Runs as long as its scope; does nothing without a previous master key. Any number of processes may run it, and it
 * may be broken off anywhere. It never undoes a rotation or a removal that happens meanwhile.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function*() {
    const store = yield* SealedSecretStore
    const { keyIds, rewrap } = yield* Vault
    const { current, previous } = keyIds
    if (previous === undefined || previous === current) return

    /** A secret that does not open stays as it is, for the key that opens it; the vault has said so. */
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
      // a second one sees what came meanwhile, or was another process's
      const { found } = first.found > 0 ? yield* pass : first
      if (found === 0 && !saidDone) {
        yield* Effect.logInfo(
          `no secret is under master key ${previous} any more: when every process has ${current} as its ` +
            "WAC_MASTER_KEY, WAC_MASTER_KEY_PREVIOUS can be taken away"
        )
      }
      saidDone = found === 0
    })

    yield* look.pipe(
      Effect.catchCause((cause) => Effect.logWarning("rewrapping secrets failed; it is tried again", cause)),
      Effect.andThen(Effect.sleep(lookEvery)),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
