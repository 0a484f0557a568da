/**
 * Secrets that were opened lately, so that whoever needs them again and again does not decrypt them each time. What is
 * sealed anew is another secret here: nothing has to be forgotten when one is rotated or rewrapped.
 */
import { Duration, Effect, type Scope } from "effect"
import type { Sealed } from "./Sealed.ts"

// a byte is a character: quicker to make than hexadecimal, and compared as a whole
const text = (bytes: Uint8Array): string => Reflect.apply(String.fromCharCode, undefined, bytes)

const keyOf = ({ ciphertext, keyId, nonce }: Sealed, row: string): string =>
  `${row}\n${keyId}\n${nonce.length}\n${text(nonce)}${text(ciphertext)}`

export interface OpenedSecrets {
  /** The secret that was opened as this one, of this row. */
  readonly find: (sealed: Sealed, row: string) => string | undefined
  readonly keep: (sealed: Sealed, row: string, secret: string) => Effect.Effect<void>
}

/** Keeps at most `maxCount`, none of them longer than `maxAge`, and none beyond the scope. */
export const make = (options: {
  readonly maxCount: number
  readonly maxAge: Duration.Duration
}): Effect.Effect<OpenedSecrets, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    // two generations: when one is full or old enough, the one before is dropped
    let young = new Map<string, string>()
    let old = young
    const age = () => {
      old = young
      young = new Map()
    }
    // only while there is something to forget
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
