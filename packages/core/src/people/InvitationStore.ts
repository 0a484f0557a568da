/**
 * Port: invitations to workspaces, and password reset links. `InvitationStep` decides *create*, *withdraw*, *accept*
 * and *redeemReset*.
 */
import { Context, type Effect, type Option } from "effect"
import type { UserId, WorkspaceId } from "../Id.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Invitation, Maker, PasswordReset } from "./Invitation.ts"
import type { Accept, Accepted, Created, Withdraw, Withdrawn } from "./InvitationStep.ts"

export class InvitationStore extends Context.Service<InvitationStore, {
  /**
   * Stores an invitation, replaces any other of the workspace for the same address, and deletes some expired ones.
   * Refused if its maker may not give its role, or may not replace the other one; then nothing changes.
   */
  readonly create: (
    invitation: Invitation & { readonly by: Maker }
  ) => Effect.Effect<Created, StoreError>
  /** The workspace's unexpired invitations, newest first. */
  readonly list: (workspaceId: WorkspaceId, now: Instant) => Effect.Effect<ReadonlyArray<Invitation>, StoreError>
  /** Finds an invitation by its token's hash, expired or not. */
  readonly find: (tokenHash: string) => Effect.Effect<Option.Option<Invitation>, StoreError>
  /** Withdraws an invitation. */
  readonly withdraw: (command: Withdraw) => Effect.Effect<Withdrawn, StoreError>
  /**
   * Accepts an invitation, if its maker may still give its role, even if the maker's role changes concurrently. If
   * requests race, exactly one succeeds. If requests with different invitations race to create the account of one
   * address, the first creates it, and the others change nothing, because nobody has proven the account to be theirs.
   */
  readonly accept: (command: Accept) => Effect.Effect<Accepted, StoreError>
  /** Stores a password reset link, and deletes some expired ones. Returns it with the storage's times. */
  readonly createReset: (reset: PasswordReset) => Effect.Effect<PasswordReset, StoreError>
  /** The person of the unexpired password reset link with this hash. */
  readonly findReset: (tokenHash: string, now: Instant) => Effect.Effect<Option.Option<UserId>, StoreError>
  /**
   * Sets the password of an unexpired link's person, ends all of their sessions and deletes all of their links, in one
   * step. Returns the person, or `none` if the link is unknown or expired.
   */
  readonly redeemReset: (
    tokenHash: string,
    passwordHash: string,
    now: Instant
  ) => Effect.Effect<Option.Option<UserId>, StoreError>
}>()("@wac/core/people/InvitationStore") {}
