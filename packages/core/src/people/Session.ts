/**
 * The model of dashboard sessions (specification §5, contract §5): who acts, in which workspace, with which role.
 */
import { Duration } from "effect"
import type { SessionId, UserId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"
import { lower, type Role } from "./Member.ts"
import type { Membership } from "./MemberStore.ts"

/** The roles that an issuer assigned at a sign-in, by workspace. */
export type Roles = ReadonlyMap<WorkspaceId, Role>

/** The session of a request: the acting person, their current workspace, and their role in it. */
export interface Session {
  /** `null` if the host keeps the session, or for a visitor of the portal: such a person has no account here. */
  readonly id: SessionId | null
  readonly userId: UserId
  readonly email: string
  readonly role: Role
  readonly workspaceId: WorkspaceId
  readonly workspaceName: string
  /** The roles that the session's own sign-in brought; `null` if the session follows the person's memberships. */
  readonly roles: Roles | null
}

/**
 * The memberships that a session may use. If the sign-in brought its own roles, these are the memberships among them,
 * each with the lower of the two roles. So a later sign-in can lower the roles of earlier sessions, but never raise
 * them. Pure.
 */
export const membershipsOf = (
  { roles }: Pick<Session, "roles">,
  memberships: ReadonlyArray<Membership>
): ReadonlyArray<Membership> =>
  roles === null ? memberships : memberships.flatMap(({ role, workspace }) => {
    const own = roles.get(workspace.id)
    return own === undefined ? [] : [{ workspace, role: lower(own, role) }]
  })

/** A session ends after this long without use. */
export const idleTimeout = Duration.hours(12)

/**
 * How far a use must move the idle end before it is stored: a page calls many times a minute, and each write would wait
 * for the disk. So a session may end up to this much before {@link idleTimeout} has passed.
 */
export const idleStep = Duration.minutes(1)

/** A session ends at this age in any case. */
export const absoluteTimeout = Duration.days(7)

/** How long after a proof of its person's presence (a sign-in, a confirmed password) a session is fresh. */
export const freshFor = Duration.minutes(10)

/** Whether a session whose person last proved their presence at `provenAt` is fresh. Pure. */
export const isFresh = (provenAt: Instant, now: Instant): boolean => now < provenAt + Duration.toMillis(freshFor)

/** When a session ends: at the earlier of the two times. */
export interface Ends {
  /** Moves on with use. */
  readonly idleUntil: Instant
  /** Never moves. */
  readonly absoluteUntil: Instant
}

/** Whether a session is live: `now` is before both of its ends. Pure. */
export const isLive = ({ absoluteUntil, idleUntil }: Ends, now: Instant): boolean =>
  now < idleUntil && now < absoluteUntil

/**
 * The session after a use at `now`; `undefined` if it is not live. The use moves the idle end forward to `idleUntil`,
 * never back, and never beyond the absolute end; by less than {@link idleStep} only to the absolute end. Pure.
 */
export const used = <Live extends Ends>(session: Live, now: Instant, idleUntil: Instant): Live | undefined => {
  if (!isLive(session, now)) return undefined
  const moved = Math.min(idleUntil, session.absoluteUntil)
  const by = moved - session.idleUntil
  const isMoved = by >= Duration.toMillis(idleStep) || (by > 0 && moved === session.absoluteUntil)
  return isMoved ? { ...session, idleUntil: moved } : session
}
