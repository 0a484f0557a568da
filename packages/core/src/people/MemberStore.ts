/**
 * Port: people and their memberships in workspaces. `MemberStep` decides *assign* and *change*.
 */
import { Context, type Effect, type Option } from "effect"
import type { UserId, WorkspaceId } from "../Id.ts"
import type { StoreError } from "../StoreError.ts"
import type { Workspace } from "../workspaces/Workspace.ts"
import type { Member, Person, Role } from "./Member.ts"
import type { Assign, Change, Changed, Recognized } from "./MemberStep.ts"

/** A workspace that a person is a member of. */
export interface Membership {
  readonly role: Role
  readonly workspace: Workspace
}

/** A person and their memberships, in the order in which they joined. */
export interface Account {
  readonly person: Person
  readonly memberships: ReadonlyArray<Membership>
}

/** The conditions under which a password is changed. */
export interface PasswordConditions {
  /** The password hash that was verified. */
  readonly verified?: string | undefined
  /** The hash of the token of the session that changes the password, and stays. */
  readonly keep?: string | undefined
  /** The hash of the token that replaces the one of `keep`, so that a copy of it is worth nothing. */
  readonly next?: string | undefined
}

export class MemberStore extends Context.Service<MemberStore, {
  /** Finds a person by e-mail address, which must be normalized. */
  readonly findByEmail: (email: string) => Effect.Effect<Option.Option<Account>, StoreError>
  readonly findByUserId: (userId: UserId) => Effect.Effect<Option.Option<Account>, StoreError>
  /** Every member of every workspace, oldest first. */
  readonly list: Effect.Effect<ReadonlyArray<{ readonly member: Member; readonly workspace: Workspace }>, StoreError>
  /** The members of a workspace, oldest first. */
  readonly ofWorkspace: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<Member>, StoreError>
  /**
   * Changes a person's password, ends their sessions except `keep` and deletes their reset links, in one step, so that a
   * concurrent sign-in with the old password opens no session. With `verified`, that must still be the person's password
   * hash, and with `keep` the person must still have that session, so that a change already under way does not undo
   * another one. With `next`, the session that stays gets another token. Returns how many sessions ended, or `none` if there is no such person or a condition does not hold;
   * then nothing changes.
   */
  readonly setPassword: (
    userId: UserId,
    passwordHash: string,
    conditions?: PasswordConditions
  ) => Effect.Effect<Option.Option<number>, StoreError>
  /**
   * Recognizes a person at an issuer, makes them a member of exactly these workspaces with these roles, and ends their
   * sessions in other workspaces, in one step. Without roles, all of their sessions end, and the answer is a refusal. A
   * new person has no password.
   */
  readonly assign: (command: Assign) => Effect.Effect<Recognized, StoreError>
  /**
   * Deletes a person's identities at issuers and ends their sessions, in one step. The account then goes to the next
   * identity with the person's verified address. Returns how many identities were deleted.
   */
  readonly unlink: (userId: UserId) => Effect.Effect<number, StoreError>
  /**
   * Changes a member's role. Or removes a member, ends their sessions in the workspace and takes their address out of
   * its alert settings. All in one step. Invitations that the member made and may not make any more end too.
   */
  readonly change: (command: Change) => Effect.Effect<Changed, StoreError>
}>()("@wac/core/people/MemberStore") {}
