/**
 * Port: passkeys of people, and the challenges that a browser has to sign for them (contract §17). A passkey is a part of
 * its person's second factor, which `FactorStore` removes as a whole. Each method is one step: of concurrent uses of a
 * challenge, one succeeds.
 */
import { Context, type Effect, type Option } from "effect"
import type { PasskeyId, UserId } from "../Id.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Passkey } from "./Passkey.ts"

/** The purpose of a challenge. (A sign-in has a challenge of `FactorStore` instead.) */
export type Purpose = "add" | "confirm"

/** A challenge of a person who is signed in. */
export interface PasskeyChallenge {
  readonly userId: UserId
  readonly purpose: Purpose
  readonly tokenHash: string
  readonly createdAt: Instant
  readonly expiresAt: Instant
}

export class PasskeyStore extends Context.Service<PasskeyStore, {
  /** A person's passkeys, the oldest first. */
  readonly list: (userId: UserId) => Effect.Effect<ReadonlyArray<Passkey>, StoreError>
  /**
   * Adds a passkey. If it is the first part of the person's second factor, it switches the second factor on, with the
   * fingerprints of its recovery codes, and `isFirst` is true. Returns `none`, and stores nothing, if a person already
   * has the credential, or if this person has `most` passkeys.
   */
  readonly add: (
    added: {
      readonly passkey: Omit<Passkey, "lastUsedAt">
      readonly recoveryCodes: ReadonlyArray<string>
      readonly most: number
    }
  ) => Effect.Effect<Option.Option<{ readonly isFirst: boolean }>, StoreError>
  /**
   * Stores a use of a passkey. False if the person no longer has it, or if the authenticator counts its signatures and
   * the counter is not above the stored one, so that somebody may have copied the passkey.
   */
  readonly use: (
    used: {
      readonly userId: UserId
      readonly id: PasskeyId
      readonly counter: number
      readonly now: Instant
    }
  ) => Effect.Effect<boolean, StoreError>
  /**
   * Removes a passkey. If it was the last part of the person's second factor, the second factor is off: its recovery
   * codes and challenges are deleted too.
   */
  readonly remove: (
    userId: UserId,
    id: PasskeyId
  ) => Effect.Effect<Option.Option<{ readonly name: string; readonly isLast: boolean }>, StoreError>
  /** Stores a challenge, at the storage's time, in place of another of the same person and purpose. */
  readonly challenge: (challenge: PasskeyChallenge) => Effect.Effect<void, StoreError>
  /** Ends a challenge. False if it has expired, or if it is not (or no longer) the person's for this purpose. */
  readonly redeem: (
    challenge: Pick<PasskeyChallenge, "userId" | "purpose" | "tokenHash"> & { readonly now: Instant }
  ) => Effect.Effect<boolean, StoreError>
}>()("@wac/core/people/PasskeyStore") {}
