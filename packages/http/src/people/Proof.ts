/**
 * Reads the proof in a person's request, which must have exactly one: a password, a code or a passkey.
 */
import { type Accounts, type Authenticator, Errors, type Passkey } from "@wac/core"
import { Effect, type Redacted } from "effect"

interface GivenFactor {
  readonly code?: Redacted.Redacted
  readonly credential?: Passkey.Assertion
}

interface Given extends GivenFactor {
  readonly password?: Redacted.Redacted
}

/** The fields that hold proofs, in the order in which errors name them. */
const fields = ["password", "code", "credential"] as const

/** The error unless exactly one proof is given; `accepted` are the fields that the request may have. */
const refusal = (given: Given, accepted: ReadonlyArray<keyof Given>): Errors.InvalidBody | undefined => {
  const [first, second] = fields.filter((field) => given[field] !== undefined)
  if (first === undefined) {
    return new Errors.InvalidBody({
      reason: "missing_field",
      param: accepted[0]!,
      message: `one of ${accepted.join(", ")} is required`
    })
  }
  return second === undefined ? undefined : new Errors.InvalidBody({
    reason: "invalid_field",
    param: second,
    message: `${second} must not be given together with ${first}`
  })
}

/** Reads the proof of the second factor. `party` finds the relying party of a passkey. */
export const ofFactor = Effect.fnUntraced(function*<E, R>(
  given: GivenFactor,
  party: Effect.Effect<Passkey.RelyingParty, E, R>
): Effect.fn.Return<Authenticator.FactorProof, Errors.InvalidBody | E, R> {
  const { code, credential } = given
  const refused = refusal(given, ["code", "credential"])
  if (refused !== undefined) return yield* refused
  return credential === undefined ? { code: code! } : { credential, party: yield* party }
})

/** Reads the proof of presence. `party` finds the relying party of a passkey. */
export const ofPresence = Effect.fnUntraced(function*<E, R>(
  given: Given,
  party: Effect.Effect<Passkey.RelyingParty, E, R>
): Effect.fn.Return<Accounts.Proof, Errors.InvalidBody | E, R> {
  const refused = refusal(given, fields)
  if (refused !== undefined) return yield* refused
  return given.password === undefined ? yield* ofFactor(given, party) : { password: given.password }
})
