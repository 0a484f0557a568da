/**
 * Port: checks what a browser reports of a passkey (WebAuthn), with its signatures and their formats.
 */
import { Context, type Effect, Schema } from "effect"
import type { Assertion, Passkey, Registration, RelyingParty } from "./Passkey.ts"

/** What a report must be about. */
export interface Expected {
  readonly party: RelyingParty
  /** The challenge, in base64url. */
  readonly challenge: string
}

/** The report is not right. It does not say why: that could name a challenge. */
export class NotVerified extends Schema.TaggedError<NotVerified>()("NotVerified", {}) {}

export class PasskeyVerifier extends Context.Service<PasskeyVerifier, {
  /** Checks a new credential. */
  readonly register: (
    registration: Registration,
    expected: Expected
  ) => Effect.Effect<Pick<Passkey, "credentialId" | "publicKey" | "counter">, NotVerified>
  /** Checks a use of a credential, also that its counter has risen if it counts. Returns the counter. */
  readonly assert: (
    assertion: Assertion,
    passkey: Pick<Passkey, "credentialId" | "publicKey" | "counter">,
    expected: Expected
  ) => Effect.Effect<number, NotVerified>
}>()("@wac/core/people/PasskeyVerifier") {}
