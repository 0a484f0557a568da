/**
 * Port: dashboard sessions. Only the hash of a session's token is stored.
 */
import { Context, type Effect, type Option } from "effect"
import type { SessionId, UserId, WorkspaceId } from "../Id.ts"
import type { Forgotten } from "../Retention.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Ends, Roles } from "./Session.ts"

/** A stored session. */
export interface StoredSession extends Ends {
  readonly id: SessionId
  readonly tokenHash: string
  readonly userId: UserId
  /** The session's current workspace. */
  readonly workspaceId: WorkspaceId
  /** The roles that the sign-in brought; `null` if the session follows the person's memberships. */
  readonly roles: Roles | null
  /** The client's address at sign-in, so that the person can recognize the session. */
  readonly address: string | null
  /** The `User-Agent` at sign-in. */
  readonly agent: string | null
  readonly createdAt: Instant
}

export class SessionStore extends Context.Service<SessionStore, {
  /**
   * Stores a new session and ends the session `of` that it replaces, in one step. With `passwordHash`, the session is
   * stored only if that is still the person's password hash; if not, returns false and changes nothing. With
   * `provenAt`, the person proved their presence at that time; by default, when the session is created. With
   * `isContinuing`, the session `of` is the only proof of the person: if it is not theirs or has ended, returns false
   * and changes nothing; if not, the new session is as fresh as `of` and ends when `of` would have ended.
   */
  readonly create: (
    session: StoredSession,
    instead?: {
      readonly of?: string | undefined
      readonly passwordHash?: string | undefined
      readonly provenAt?: Instant | undefined
      readonly isContinuing?: boolean | undefined
    }
  ) => Effect.Effect<boolean, StoreError>
  /** Finds a live session, and moves `idleUntil` forward as `Session.used` says. */
  readonly use: (
    tokenHash: string,
    now: Instant,
    idleUntil: Instant
  ) => Effect.Effect<Option.Option<StoredSession>, StoreError>
  /** Whether a session is fresh, as `Session.isFresh` says. False for an unknown session. */
  readonly isFresh: (tokenHash: string, now: Instant) => Effect.Effect<boolean, StoreError>
  /**
   * Records that a session's person proved their presence at `now`, and replaces the hash of its token by `next`, so
   * that a copy of the old token is worth nothing. False if the session is unknown; then nothing changes.
   */
  readonly prove: (tokenHash: string, now: Instant, next: string) => Effect.Effect<boolean, StoreError>
  /** A person's live sessions, newest first. */
  readonly list: (userId: UserId, now: Instant) => Effect.Effect<ReadonlyArray<StoredSession>, StoreError>
  /** Ends a person's session. False if it does not exist or belongs to someone else. */
  readonly end: (userId: UserId, id: SessionId) => Effect.Effect<boolean, StoreError>
  /** Ends all of a person's sessions, except the one whose token has the hash `keep`. Returns how many ended. */
  readonly endAll: (userId: UserId, keep?: string | undefined) => Effect.Effect<number, StoreError>
  /** Moves a session to another workspace. */
  readonly move: (tokenHash: string, workspaceId: WorkspaceId) => Effect.Effect<void, StoreError>
  /** Deletes a bounded number of sessions whose `absoluteUntil` was before a time. */
  readonly forget: (before: Instant) => Effect.Effect<Forgotten, StoreError>
  /** Ends a session. An unknown one is ignored. */
  readonly remove: (tokenHash: string) => Effect.Effect<void, StoreError>
}>()("@wac/core/people/SessionStore") {}
