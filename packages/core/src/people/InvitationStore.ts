/**
 * Port: invitations to workspaces, and links that reset passwords. `InvitationStep` says what accepting decides.
 */
import { Context, type Effect, type Option } from "effect"
import type { InvitationId, UserId, WorkspaceId } from "../Id.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Invitation, PasswordReset } from "./Invitation.ts"
import type { Accept, Accepted } from "./InvitationStep.ts"

export class InvitationStore extends Context.Service<InvitationStore, {
  /** Keeps an invitation, in place of any other of the workspace to the same address, and forgets some that have ended. */
  readonly create: (invitation: Invitation) => Effect.Effect<void, StoreError>
  /** The workspace's invitations that have not ended, newest first. */
  readonly list: (workspaceId: WorkspaceId, now: Instant) => Effect.Effect<ReadonlyArray<Invitation>, StoreError>
  /** An invitation by its token's hash, ended or not. */
  readonly find: (tokenHash: string) => Effect.Effect<Option.Option<Invitation>, StoreError>
  /** Withdraws an invitation; nothing for one that the workspace has not. */
  readonly remove: (
    workspaceId: WorkspaceId,
    id: InvitationId
  ) => Effect.Effect<Option.Option<Invitation>, StoreError>
  /** Accepts an invitation, once: of racers exactly one. */
  readonly accept: (command: Accept) => Effect.Effect<Accepted, StoreError>
  /** Keeps a link that resets a password, and forgets some that have ended. */
  readonly createReset: (reset: PasswordReset) => Effect.Effect<void, StoreError>
  /**
   * Gives the person of a link that has not ended the password, ends all of their sessions and forgets all of their links,
   * in one step. Who it was; nothing for a link that is not there or has ended.
   */
  readonly redeemReset: (
    tokenHash: string,
    passwordHash: string,
    now: Instant
  ) => Effect.Effect<Option.Option<UserId>, StoreError>
}>()("@wac/core/people/InvitationStore") {}
