/**
 * The rules for passwords that people choose, and password hashing with argon2id. Hashes are PHC strings, which include
 * their parameters, so that stronger parameters can come later.
 */
import { Context, Duration, Effect, Layer, Redacted, Schema, Semaphore } from "effect"
import { Kdf, Mac, SecureRandom } from "effect/crypto"
import { Base64 } from "effect/encoding"
import { InvalidBody, ServerError } from "../Errors.ts"
import * as PlainText from "../PlainText.ts"
import { commonPasswords } from "./CommonPasswords.ts"
import * as EmailAddress from "./EmailAddress.ts"

const minLength = 8

/**
 * Length makes a password strong. The upper bound only limits the size of bodies. What else is refused depends on the
 * person: {@link refusal}.
 */
export const Password = Schema.RedactedFromValue(PlainText.between(minLength, 256))

/** The person whose password is chosen, and the field of the request that holds it. */
export interface Choice {
  /** The person's address, normalized. */
  readonly email: string
  /** The field that the error names. */
  readonly param: string
}

/** The form in which passwords are compared, so that one password has one form whatever keyboard typed it. */
const normalize = (password: Redacted.Redacted): string => Redacted.value(password).normalize("NFC")

/**
 * The error for a password that may not be chosen: too short in composed characters, one of the most common ones, or
 * the person's own address; `undefined` if it may. Common passwords are compared by their exact text in NFC, and
 * addresses as addresses. Passwords that are only verified need no rule. Pure.
 */
export const refusal = (password: Redacted.Redacted, { email, param }: Choice): InvalidBody | undefined => {
  const text = normalize(password)
  const message = [...text].length < minLength
    ? `must have at least ${minLength} characters`
    : commonPasswords.has(text)
    ? "must not be one of the most common passwords"
    : EmailAddress.normalize(text) === email
    ? "must not be the person's own e-mail address"
    : undefined
  return message === undefined ? undefined : new InvalidBody({ reason: "invalid_field", param, message })
}

/** The cost of one hash: the first recommendation of OWASP's password storage cheat sheet, about 30 ms. */
export const Cost = Context.Reference<
  { readonly memory: number; readonly passes: number; readonly parallelism: number }
>(
  "@wac/core/Password/Cost",
  { defaultValue: () => ({ memory: 19_456, passes: 2, parallelism: 1 }) }
)

/** Concurrent hashes. Each takes 19 MiB and a core. */
const concurrency = 2

/** How many of them may be strangers'. The rest is for people who have proven something, whom strangers must not delay. */
const ofStrangers = 1

/** How many strangers may wait: about three seconds of hashes. */
const maxWaiting = 100

const overloaded = () =>
  new ServerError({
    reason: "overloaded",
    message: "too many sign-ins wait for their password to be checked",
    retryAfter: Duration.seconds(5)
  })

const saltLength = 16
const hashLength = 32

const unpadded = (bytes: Uint8Array) => Base64.encode(bytes).replace(/={1,2}$/, "")

/** Hashes and verifies passwords, a few at a time. */
export class Passwords extends Context.Service<Passwords, {
  /** Hashes a new password. Fails with the {@link refusal} if it may not be chosen. */
  readonly choose: (password: Redacted.Redacted, choice: Choice) => Effect.Effect<string, InvalidBody>
  /**
   * Whether the password matches the hash, in constant time. Without a hash the result is false and takes as long. Text
   * that is not in NFC also matches a hash that was made of exactly this text.
   */
  readonly verify: (password: Redacted.Redacted, hash: string | undefined) => Effect.Effect<boolean>
  /**
   * Like `verify`, for somebody who has proven nothing yet, by a session, a link or a device. Such people wait for each
   * other. If too many wait already, fails with `overloaded` and checks nothing.
   */
  readonly verifyStranger: (
    password: Redacted.Redacted,
    hash: string | undefined
  ) => Effect.Effect<boolean, ServerError>
}>()("@wac/core/people/Password/Passwords") {
  static readonly layer = Layer.effect(
    Passwords,
    Effect.gen(function*() {
      const kdf = yield* Kdf.Kdf
      const random = yield* SecureRandom.SecureRandom
      const cost = yield* Cost
      const gate = yield* Semaphore.make(concurrency)
      const strangersGate = yield* Semaphore.make(ofStrangers)
      let strangers = 0

      const derive = (password: string, salt: Uint8Array, own: typeof cost) =>
        kdf.derive(Kdf.argon2id(own), new TextEncoder().encode(password), { salt, length: hashLength })
          .pipe(Effect.orDie, gate.withPermit)

      const choose = Effect.fnUntraced(function*(password: Redacted.Redacted, choice: Choice) {
        const refused = refusal(password, choice)
        if (refused !== undefined) return yield* refused
        const salt = yield* random.randomBytes(saltLength)
        const derived = yield* derive(normalize(password), salt, cost)
        const { memory, parallelism, passes } = cost
        return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(derived)}`
      })

      const verifyText = Effect.fnUntraced(function*(password: string, stored: string | undefined) {
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

      const verify = Effect.fnUntraced(function*(password: Redacted.Redacted, stored: string | undefined) {
        const [text, composed] = [Redacted.value(password), normalize(password)]
        return (yield* verifyText(composed, stored)) || (text !== composed && (yield* verifyText(text, stored)))
      })

      const verifyStranger = (password: Redacted.Redacted, stored: string | undefined) =>
        Effect.acquireUseRelease(
          Effect.suspend(() => {
            if (strangers >= ofStrangers + maxWaiting) return Effect.fail(overloaded())
            strangers++
            return Effect.void
          }),
          () => strangersGate.withPermit(verify(password, stored)),
          () => Effect.sync(() => void strangers--)
        )

      return Passwords.of({ choose, verify, verifyStranger })
    })
  )
}

const padded = (text: string) => text.padEnd(Math.ceil(text.length / 4) * 4, "=")
