/**
 * Port: verifies a browser's responses for passkeys (WebAuthn): the registration of one, and an assertion by one.
 */
import { Context, type Effect, Schema } from "effect"
import type { Assertion, Passkey, Registration, RelyingParty } from "./Passkey.ts"

/** What a response must be for: this relying party and this challenge. */
export interface Expected {
  readonly party: RelyingParty
  /** The challenge, in base64url. */
  readonly challenge: string
}

/** The response is not valid. The error has no reason, because a reason could contain the challenge. */
export class NotVerified extends Schema.TaggedError<NotVerified>()("NotVerified", {}) {}

export class PasskeyVerifier extends Context.Service<PasskeyVerifier, {
  /** Verifies the registration of a new credential. Returns the data to store. */
  readonly register: (
    registration: Registration,
    expected: Expected
  ) => Effect.Effect<Pick<Passkey, "credentialId" | "publicKey" | "counter">, NotVerified>
  /**
   * Verifies an assertion by a passkey. If the authenticator counts its signatures, the counter must be above the stored
   * one. Returns the new counter.
   */
  readonly assert: (
    assertion: Assertion,
    passkey: Pick<Passkey, "credentialId" | "publicKey" | "counter">,
    expected: Expected
  ) => Effect.Effect<number, NotVerified>
}>()("@wac/core/people/PasskeyVerifier") {}
