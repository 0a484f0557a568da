/**
 * Port: second factors of people, their recovery codes, and the challenges of sign-ins that wait for one (contract
 * §17). Each method is one step: of concurrent uses of a code, a recovery code or a challenge, one succeeds.
 */
import { Context, type Effect, type Option } from "effect"
import type { UserId } from "../Id.ts"
import type { Forgotten } from "../Retention.ts"
import type { Sealed } from "../secrets/Sealed.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"

/** A person's second factor: an authenticator app, passkeys (`PasskeyStore`), or both. */
export interface Factor {
  readonly userId: UserId
  readonly createdAt: Instant
  /** When a first right code or a first passkey switched it on; `null` before. */
  readonly confirmedAt: Instant | null
  /** The authenticator app; `null` if there is none. */
  readonly app: {
    /** The shared secret, sealed for the person's id. */
    readonly secret: Sealed
    /** Whether a first right code has switched it on. */
    readonly isOn: boolean
  } | null
}

/** A sign-in whose password was right, and which waits for the second factor. */
export interface Challenge {
  readonly tokenHash: string
  readonly userId: UserId
  /** The password hash that the sign-in verified. */
  readonly passwordHash: string
  /** How many codes may still be tried. */
  readonly triesLeft: number
  readonly createdAt: Instant
  readonly expiresAt: Instant
}

export class FactorStore extends Context.Service<FactorStore, {
  /** A person's second factor, on or not, and how many recovery codes are unused. */
  readonly find: (
    userId: UserId
  ) => Effect.Effect<Option.Option<Factor & { readonly recoveryCodesLeft: number }>, StoreError>
  /** Stores an app that is not on yet. It replaces an earlier app that is not on. False if the person's app is on. */
  readonly start: (
    app: Pick<Factor, "userId" | "createdAt"> & { readonly secret: Sealed }
  ) => Effect.Effect<boolean, StoreError>
  /**
   * Switches an app on, and uses the time step of its first code (`Totp.stepOf`). If the app is the first part of the
   * person's second factor, the second factor is switched on with the fingerprints of its recovery codes, and `isFirst`
   * is true. Returns `none` if the app is on already, or if the secret is not the stored one any more.
   */
  readonly confirm: (
    confirmed: {
      readonly userId: UserId
      readonly secret: Sealed
      readonly step: number
      readonly recoveryCodes: ReadonlyArray<string>
      readonly now: Instant
    }
  ) => Effect.Effect<Option.Option<{ readonly isFirst: boolean }>, StoreError>
  /** Uses a time step of an app that is on. False if this time step or a later one was used. */
  readonly useStep: (userId: UserId, step: number) => Effect.Effect<boolean, StoreError>
  /** Uses a recovery code, by its fingerprint. False if there is no such code (any more). */
  readonly useRecoveryCode: (userId: UserId, fingerprint: string) => Effect.Effect<boolean, StoreError>
  /** Replaces all recovery codes of a factor that is on by new ones, given as fingerprints. False if it is not on. */
  readonly replaceRecoveryCodes: (
    userId: UserId,
    fingerprints: ReadonlyArray<string>
  ) => Effect.Effect<boolean, StoreError>
  /** Removes a person's factor with its passkeys, recovery codes and challenges. False if it was not on. */
  readonly remove: (userId: UserId) => Effect.Effect<boolean, StoreError>
  /** Stores a challenge, at the storage's time. False, and nothing is stored, if the person has no factor that is on. */
  readonly challenge: (challenge: Challenge) => Effect.Effect<boolean, StoreError>
  /** A challenge that has not expired, whether or not codes may still be tried. */
  readonly findChallenge: (tokenHash: string, now: Instant) => Effect.Effect<Option.Option<Challenge>, StoreError>
  /**
   * Uses one try of a challenge. Returns the challenge with its remaining tries; `none` if it expired or has none left.
   */
  readonly attempt: (tokenHash: string, now: Instant) => Effect.Effect<Option.Option<Challenge>, StoreError>
  /** Ends a challenge. False if it has ended. */
  readonly redeem: (tokenHash: string) => Effect.Effect<boolean, StoreError>
  /** Deletes a bounded number of challenges that expired before a time. */
  readonly forget: (before: Instant) => Effect.Effect<Forgotten, StoreError>
}>()("@wac/core/people/FactorStore") {}
