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
  readonly keep: (sealed: Sealed, row: string, secret: string) => void
}

/** Keeps at most `maxCount`, none of them longer than `maxAge`, and none beyond the scope. */
export const make = (options: {
  readonly maxCount: number
  readonly maxAge: Duration.Duration
}): Effect.Effect<OpenedSecrets, never, Scope.Scope> =>
  Effect.gen(function*() {
    // two generations: when one is full or old enough, the one before is dropped
    let young = new Map<string, string>()
    let old = young
    const age = () => {
      old = young
      young = new Map()
    }
    yield* Effect.sleep(Duration.divideUnsafe(options.maxAge, 2)).pipe(
      Effect.andThen(Effect.sync(age)),
      Effect.forever,
      Effect.forkScoped
    )
    return {
      find: (sealed, row) => {
        const key = keyOf(sealed, row)
        return young.get(key) ?? old.get(key)
      },
      keep: (sealed, row, secret) => {
        if (young.size >= options.maxCount / 2) age()
        young.set(keyOf(sealed, row), secret)
      }
    }
  })
