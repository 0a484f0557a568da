/**
 * A cache of recently decrypted secrets, in memory. Keys include the ciphertext, so a secret that is sealed again gets
 * a new entry, and rotation needs no invalidation.
 */
import { Duration, Effect, type Scope } from "effect"
import type { Sealed } from "./Sealed.ts"

// one character per byte: quicker to build than hexadecimal, and compared as a whole
const text = (bytes: Uint8Array): string => Reflect.apply(String.fromCharCode, undefined, bytes)

const keyOf = ({ ciphertext, keyId, nonce }: Sealed, row: string): string =>
  `${row}\n${keyId}\n${nonce.length}\n${text(nonce)}${text(ciphertext)}`

/** The cache. `row` is the row for which the secret is sealed. */
export interface OpenedSecrets {
  /** The cached plaintext of this sealed secret and row. */
  readonly find: (sealed: Sealed, row: string) => string | undefined
  readonly keep: (sealed: Sealed, row: string, secret: string) => Effect.Effect<void>
}

/** Creates a cache of at most `maxCount` secrets, none older than `maxAge`. It is emptied when its scope closes. */
export const make = (options: {
  readonly maxCount: number
  readonly maxAge: Duration.Duration
}): Effect.Effect<OpenedSecrets, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    // two generations: once the young one is full or old enough, it becomes the old one, and the old one is dropped
    let young = new Map<string, string>()
    let old = young
    const age = () => {
      old = young
      young = new Map()
    }
    // the cache ages only while it holds something
    let isAging = false
    const aging: Effect.Effect<void> = Effect.suspend(() => {
      age()
      isAging = old.size > 0
      return isAging ? later : Effect.void
    })
    const later = Effect.delay(aging, Duration.divideUnsafe(options.maxAge, 2))
    return {
      find: (sealed, row) => {
        const key = keyOf(sealed, row)
        return young.get(key) ?? old.get(key)
      },
      keep: (sealed, row, secret) =>
        Effect.suspend(() => {
          if (young.size >= options.maxCount / 2) age()
          young.set(keyOf(sealed, row), secret)
          if (isAging) return Effect.void
          isAging = true
          return Effect.asVoid(Effect.forkIn(later, scope))
        })
    }
  })
