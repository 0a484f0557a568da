/**
 * Port: dashboard sessions. Only the hash of a session's token is kept.
 */
import { Context, type Effect, type Option } from "effect"
import type { UserId } from "../Id.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"

/** A session as it is kept; live while `now` is before both ends. */
export interface StoredSession {
  readonly tokenHash: string
  readonly userId: UserId
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
  /** Ends a session; one that is unknown is passed over. */
  readonly remove: (tokenHash: string) => Effect.Effect<void, StoreError>
}>()("@wac/core/people/SessionStore") {}
