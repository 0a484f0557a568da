/**
 * Port: members.
 */
import { Context, type Effect, type Option } from "effect"
import type { UserId } from "../Id.ts"
import type { StoreError } from "../StoreError.ts"
import type { Workspace } from "../workspaces/Workspace.ts"
import type { Member } from "./Member.ts"

/** A member and the workspace that they belong to. */
export interface Membership {
  readonly member: Member
  readonly workspace: Workspace
}

export class MemberStore extends Context.Service<MemberStore, {
  /** Finds a member by e-mail address, in lower case. */
  readonly findByEmail: (email: string) => Effect.Effect<Option.Option<Membership>, StoreError>
  /** Every member of every workspace, oldest first. */
  readonly list: Effect.Effect<ReadonlyArray<Membership>, StoreError>
  /**
   * Gives a member another password and ends all of their sessions, in one step: a sign-in under way with the old one
   * opens no session afterwards. How many ended; nothing for a member that there is not.
   */
  readonly setPassword: (
    userId: UserId,
    passwordHash: string
  ) => Effect.Effect<Option.Option<number>, StoreError>
  readonly findByUserId: (userId: UserId) => Effect.Effect<Option.Option<Membership>, StoreError>
}>()("@wac/core/people/MemberStore") {}
