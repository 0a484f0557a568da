/**
 * Port: dashboard sessions. Only the hash of a session's token is kept.
 */
import { Context, type Effect, type Option } from "effect"
import type { SessionId, UserId, WorkspaceId } from "../Id.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"

/** A session as it is kept; live while `now` is before both ends. */
export interface StoredSession {
  readonly id: SessionId
  readonly tokenHash: string
  readonly userId: UserId
  /** The workspace that it is in. */
  readonly workspaceId: WorkspaceId
  /** Where it was opened, for the person to know it by. */
  readonly address: string | null
  /** What it was opened with (`User-Agent`). */
  readonly agent: string | null
  readonly createdAt: Instant
  /** Moves on with use. */
  readonly idleUntil: Instant
  /** Never moves. */
  readonly absoluteUntil: Instant
}

/** The same of a session that begins at the storage's time. Pure. */
export const createdAt = (session: StoredSession, now: Instant): StoredSession => ({
  ...session,
  createdAt: now,
  idleUntil: now + session.idleUntil - session.createdAt,
  absoluteUntil: now + session.absoluteUntil - session.createdAt
})

export class SessionStore extends Context.Service<SessionStore, {
  /**
   * Keeps a new session, and ends the one that it takes the place of, in one step. With `passwordHash` it is kept only
   * while that is the member's password; false, and nothing changes, once it is another.
   */
  readonly create: (
    session: StoredSession,
    instead?: { readonly of?: string | undefined; readonly passwordHash?: string | undefined }
  ) => Effect.Effect<boolean, StoreError>
  /** A live session, or none; its idle end moves to `idleUntil` (never back, never beyond the absolute end). */
  readonly use: (
    tokenHash: string,
    now: Instant,
    idleUntil: Instant
  ) => Effect.Effect<Option.Option<StoredSession>, StoreError>
  /** A person's live sessions, newest first. */
  readonly list: (userId: UserId, now: Instant) => Effect.Effect<ReadonlyArray<StoredSession>, StoreError>
  /** Ends a person's session; false for one that is not theirs, or not there. */
  readonly end: (userId: UserId, id: SessionId) => Effect.Effect<boolean, StoreError>
  /** Moves a person's session to another workspace. */
  readonly move: (tokenHash: string, workspaceId: WorkspaceId) => Effect.Effect<void, StoreError>
  /** Forgets sessions whose absolute end was before a time: a bounded number at once. Whether more may be left. */
  readonly forget: (before: Instant) => Effect.Effect<boolean, StoreError>
  /** Ends a session; one that is unknown is passed over. */
  readonly remove: (tokenHash: string) => Effect.Effect<void, StoreError>
}>()("@wac/core/people/SessionStore") {}
