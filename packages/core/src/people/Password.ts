/**
 * Password hashing with argon2id. Hashes are PHC strings with their parameters, so that stronger ones can come later.
 */
import { Context, Effect, Layer, Redacted, Schema, Semaphore } from "effect"
import { Kdf, Mac, SecureRandom } from "effect/crypto"
import { Base64 } from "effect/encoding"
import * as PlainText from "../PlainText.ts"

/** Length makes a password strong. The upper bound only limits the size of bodies. */
export const Password = Schema.RedactedFromValue(PlainText.between(8, 256))

/** The cost of one hash: the first recommendation of OWASP's password storage cheat sheet, about 30 ms. */
export const Cost = Context.Reference<
  { readonly memory: number; readonly passes: number; readonly parallelism: number }
>(
  "@wac/core/Password/Cost",
  { defaultValue: () => ({ memory: 19_456, passes: 2, parallelism: 1 }) }
)

/** Concurrent hashes. Each takes 19 MiB and a core. */
const concurrency = 2

const saltLength = 16
const hashLength = 32

const unpadded = (bytes: Uint8Array) => Base64.encode(bytes).replace(/={1,2}$/, "")

/** Hashes and verifies passwords, a few at a time. */
export class Passwords extends Context.Service<Passwords, {
  readonly hash: (password: Redacted.Redacted) => Effect.Effect<string>
  /** Whether the password matches the hash, in constant time. Without a hash the result is false and takes as long. */
  readonly verify: (password: Redacted.Redacted, hash: string | undefined) => Effect.Effect<boolean>
}>()("@wac/core/people/Password/Passwords") {
  static readonly layer = Layer.effect(
    Passwords,
    Effect.gen(function*() {
      const kdf = yield* Kdf.Kdf
      const random = yield* SecureRandom.SecureRandom
      const cost = yield* Cost
      const gate = yield* Semaphore.make(concurrency)

      const derive = (password: Redacted.Redacted, salt: Uint8Array, own: typeof cost) =>
        kdf.derive(Kdf.argon2id(own), new TextEncoder().encode(Redacted.value(password)), { salt, length: hashLength })
          .pipe(Effect.orDie, gate.withPermit)

      const hash = Effect.fnUntraced(function*(password: Redacted.Redacted) {
        const salt = yield* random.randomBytes(saltLength)
        const derived = yield* derive(password, salt, cost)
        const { memory, parallelism, passes } = cost
        return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(derived)}`
      })

      const verify = Effect.fnUntraced(function*(password: Redacted.Redacted, stored: string | undefined) {
        const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(stored ?? "")
        if (match === null) {
          yield* derive(password, yield* random.randomBytes(saltLength), cost)
          return false
        }
        const [, memory, passes, parallelism, salt, expected] = match
        const own = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
        const [saltBytes, expectedBytes] = yield* Effect.orDie(
          Effect.all([
            Effect.fromResult(Base64.decode(padded(salt!))),
            Effect.fromResult(Base64.decode(padded(expected!)))
          ])
        )
        return Mac.timingSafeEqual(yield* derive(password, saltBytes, own), expectedBytes)
      })

      return Passwords.of({ hash, verify })
    })
  )
}

const padded = (text: string) => text.padEnd(Math.ceil(text.length / 4) * 4, "=")
