/**
 * The service's own sessions, each with a token in a cookie (contract §5): of the built-in accounts, and of people who
 * signed in at an issuer.
 */
import { Clock, Duration, Effect, Option, type Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Id from "../Id.ts"
import * as PlainText from "../PlainText.ts"
import { Vault } from "../secrets/Vault.ts"
import type { Opening } from "./Authenticator.ts"
import * as DeviceCookie from "./DeviceCookie.ts"
import { CurrentIssuer } from "./Issuer.ts"
import type { Person } from "./Member.ts"
import { type Account, type Membership, MemberStore } from "./MemberStore.ts"
import * as SecretToken from "./SecretToken.ts"
import * as Session from "./Session.ts"
import { SessionStore, type StoredSession } from "./SessionStore.ts"

/** How much of `User-Agent` is stored, so that people can recognize their sessions. */
const maxAgentLength = 256

const sessionOf = (
  { id, roles }: Pick<StoredSession, "id" | "roles">,
  { email, userId }: Person,
  { role, workspace }: Membership
): Session.Session => ({
  id,
  userId,
  email,
  role,
  workspaceId: workspace.id,
  workspaceName: workspace.name,
  roles
})

const idleUntil = (now: number) => now + Duration.toMillis(Session.idleTimeout)

/** Makes the functions that open, find and end sessions. */
export const make = Effect.gen(function*() {
  const sessions = yield* SessionStore
  const members = yield* MemberStore
  const vault = yield* Vault
  const random = yield* SecureRandom.SecureRandom
  const tokens = yield* SecretToken.make
  const issuer = yield* CurrentIssuer

  /**
   * Opens a session in a workspace of the person, by default the one that they joined first. Returns `undefined` if
   * their password has changed or the session to continue has ended meanwhile, or if they are not a member of any
   * workspace. Where people sign in at an issuer, every session has its own roles.
   */
  const open = Effect.fnUntraced(function*(
    { memberships, person }: Account,
    { address, agent, current, device: deviceCookie, isContinuing, provenAt, roles: issuerRoles, workspaceId }: Opening
  ) {
    const roles = issuer === undefined
      ? null
      : issuerRoles ?? new Map(memberships.map(({ role, workspace }) => [workspace.id, role]))
    const membership = Session.membershipsOf({ roles }, memberships).find(({ workspace }) =>
      workspaceId === undefined || workspace.id === workspaceId
    )
    if (membership === undefined) return undefined
    const now = yield* Clock.currentTimeMillis
    const token = yield* tokens.next
    const id = yield* Id.generate(random, "ses")
    const isOpened = yield* sessions.create({
      id,
      tokenHash: yield* tokens.hashOf(token),
      userId: person.userId,
      workspaceId: membership.workspace.id,
      roles,
      address: address ?? null,
      agent: agent === undefined ? null : PlainText.cleaned(agent).slice(0, maxAgentLength),
      createdAt: now,
      idleUntil: idleUntil(now),
      absoluteUntil: now + Duration.toMillis(Session.absoluteTimeout)
    }, {
      of: current === undefined ? undefined : yield* tokens.hashOf(current),
      passwordHash: person.passwordHash ?? undefined,
      provenAt,
      isContinuing
    })
    if (!isOpened) return undefined
    const isNewDevice = (yield* DeviceCookie.nonceOf(vault, person, deviceCookie)) === undefined
    const device = yield* DeviceCookie.make(vault, random, person, deviceCookie)
    return { token, device, isNewDevice, session: sessionOf({ id, roles }, person, membership) }
  })

  /** Finds the live session of a token, and prolongs it. */
  const use = Effect.fnUntraced(function*(token: Redacted.Redacted) {
    const now = yield* Clock.currentTimeMillis
    const stored = yield* sessions.use(yield* tokens.hashOf(token), now, idleUntil(now))
    if (Option.isNone(stored)) return Option.none()
    const { roles, userId, workspaceId } = stored.value
    // an earlier version opened the session, or people had passwords here then, so no issuer has confirmed its roles
    if (issuer !== undefined && roles === null) return Option.none()
    // the role is looked up at every use, so that lowering it needs no new sign-in
    return Option.flatMap(yield* members.findByUserId(userId), ({ memberships, person }) => {
      const membership = Session.membershipsOf(stored.value, memberships).find(({ workspace }) =>
        workspace.id === workspaceId
      )
      return Option.map(
        Option.fromUndefinedOr(membership),
        (membership) => sessionOf(stored.value, person, membership)
      )
    })
  })

  return {
    open,
    use,
    /** Whether the person proved their presence a short time ago. */
    isFresh: Effect.fnUntraced(function*(token: Redacted.Redacted) {
      return yield* sessions.isFresh(yield* tokens.hashOf(token), yield* Clock.currentTimeMillis)
    }),
    end: (token: Redacted.Redacted) => Effect.flatMap(tokens.hashOf(token), sessions.remove)
  }
})
