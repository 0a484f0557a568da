/**
 * Port: people and the workspaces that they are members of. `MemberStep` says what its transitions decide.
 */
import { Context, type Effect, type Option } from "effect"
import type { UserId, WorkspaceId } from "../Id.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Workspace } from "../workspaces/Workspace.ts"
import type { Member, Person, Role } from "./Member.ts"
import type { Change, Changed } from "./MemberStep.ts"

/** A workspace that a person is a member of. */
export interface Membership {
  readonly role: Role
  readonly workspace: Workspace
}

/** A person, and the workspaces that they are a member of, the one that they joined first at the beginning. */
export interface Account {
  readonly person: Person
  readonly memberships: ReadonlyArray<Membership>
}

/** Makes a person exactly what an issuer says of them. */
export interface Assign {
  /** Their id, if there is nobody of the address yet. */
  readonly userId: UserId
  /** In lower case. */
  readonly email: string
  readonly now: Instant
  /** Each workspace at most once. */
  readonly roles: ReadonlyArray<{ readonly workspaceId: WorkspaceId; readonly role: Role }>
}

export class MemberStore extends Context.Service<MemberStore, {
  /** Finds a person by e-mail address, in lower case. */
  readonly findByEmail: (email: string) => Effect.Effect<Option.Option<Account>, StoreError>
  readonly findByUserId: (userId: UserId) => Effect.Effect<Option.Option<Account>, StoreError>
  /** Every member of every workspace, oldest first. */
  readonly list: Effect.Effect<ReadonlyArray<{ readonly member: Member; readonly workspace: Workspace }>, StoreError>
  /** The members of a workspace, oldest first. */
  readonly ofWorkspace: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<Member>, StoreError>
  /**
   * Gives a person another password and ends their sessions but `keep`, in one step: a sign-in under way with the old one
   * opens no session afterwards. How many ended; nothing for a person that there is not.
   */
  readonly setPassword: (
    userId: UserId,
    passwordHash: string,
    keep?: string
  ) => Effect.Effect<Option.Option<number>, StoreError>
  /**
   * Makes the person of an address, who is new without a password, a member of just these workspaces with these roles, in
   * one step. Who it is.
   */
  readonly assign: (command: Assign) => Effect.Effect<UserId, StoreError>
  /** Gives a member another role, or removes them and ends their sessions in the workspace, in one step. */
  readonly change: (command: Change) => Effect.Effect<Changed, StoreError>
}>()("@wac/core/people/MemberStore") {}
