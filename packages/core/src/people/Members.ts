/**
 * The service for the members of a workspace and its invitations (contract §12 *Members*): lists and changes members,
 * and makes, mails, shows and accepts invitations.
 */
import { Clock, Context, Duration, Effect, FiberSet, Layer, Option, type Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { type Forbidden, InvalidBody, NotFound, type RateLimited, type ServerError, Unauthorized } from "../Errors.ts"
import * as Id from "../Id.ts"
import { RateLimitStore } from "../limits/RateLimitStore.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import { WorkspaceStore } from "../workspaces/WorkspaceStore.ts"
import * as EmailAddress from "./EmailAddress.ts"
import * as FactorChallenge from "./FactorChallenge.ts"
import * as Invitation from "./Invitation.ts"
import { InvitationStore } from "./InvitationStore.ts"
import { CurrentIssuer } from "./Issuer.ts"
import * as LoginLimits from "./LoginLimits.ts"
import * as Mailer from "./Mailer.ts"
import * as MailTexts from "./MailTexts.ts"
import * as Member from "./Member.ts"
import { MemberStore } from "./MemberStore.ts"
import { Passwords } from "./Password.ts"
import * as SecretToken from "./SecretToken.ts"
import type { Session } from "./Session.ts"
import { SessionStore } from "./SessionStore.ts"

/** A new invitation. */
export interface Invited {
  readonly invitation: Invitation.Invitation
  /** Part of the link. It is shown only once. */
  readonly token: Redacted.Redacted
}

/** The inviter and the workspace: a session, or the operator by a command. */
export type Inviting =
  | Session
  | (Pick<Session, "workspaceId" | "workspaceName"> & { readonly operator: true })

/** Who made an invitation. A person with a session is a member, or was removed since the request began. */
const makerOf = (by: Inviting): Invitation.Maker =>
  "operator" in by ? { person: null, role: "owner" } : {
    person: { userId: by.userId, email: by.email },
    role: by.id === null ? by.role : null
  }

/** The request to accept an invitation. */
export interface Acceptance {
  readonly token: Redacted.Redacted
  /** The password of the new or existing account. Not needed if the session is the invited person's. */
  readonly password: Redacted.Redacted | undefined
  /**
   * Checks the given proof of the second factor of a person whose password is right (`Factors.prove`); `undefined` if
   * none was given.
   */
  readonly factor:
    | ((
      person: Pick<Member.Person, "userId" | "passwordHash">
    ) => Effect.Effect<void, Unauthorized | RateLimited | ServerError | StoreError>)
    | undefined
  /** The current session, if any. */
  readonly session: Session | undefined
  /** The client's address, by which failures are limited. */
  readonly address: string
}

/**
 * How a person proved that an invitation is theirs. For a new person, the invitation is enough. `passwordHash` was
 * verified, or is the new person's.
 */
type ProvenBy =
  | { readonly _tag: "Session" }
  | { readonly _tag: "Password"; readonly passwordHash: string }
  | { readonly _tag: "Invitation"; readonly passwordHash: string }

/** A person who became a member by their invitation. */
export interface Joined {
  readonly userId: Id.UserId
  readonly workspaceId: Id.WorkspaceId
  readonly email: string
  /** A person who was a member already keeps their role. */
  readonly role: Member.Role
  readonly provenBy: ProvenBy
}

/** The role of each of these members. */
const roleAmong = (members: ReadonlyArray<Member.Member>): Invitation.RoleOf => {
  const roles = new Map(members.map(({ role, userId }) => [userId, role]))
  return (userId) => roles.get(userId)
}

/** An invitation, as its link shows it. */
export interface ShownInvitation {
  readonly workspaceName: string
  readonly email: string
  readonly role: Member.Role
  /** The e-mail of the person who made it; `null` for the operator. */
  readonly invitedBy: string | null
  readonly expiresAt: Instant
}

const gone = () =>
  new Unauthorized({
    reason: "invalid_credentials",
    param: "token",
    message: "the invitation is no longer valid: ask for another"
  })

const passwordNeeded = () =>
  new InvalidBody({
    reason: "missing_field",
    param: "password",
    message: "password is required: choose one or, if this address has an account, give the account's password"
  })

const atIssuer = () =>
  new NotFound({ message: "people sign in at the issuer, which assigns their roles: this service has no invitations" })

const unknown = () => new NotFound({ message: "the workspace has no such member" })

export class Members extends Context.Service<Members, {
  /** Members, oldest first, and pending invitations whose makers may still give their roles. */
  readonly list: (workspaceId: Id.WorkspaceId) => Effect.Effect<{
    readonly members: ReadonlyArray<Member.Member>
    readonly invitations: ReadonlyArray<Invitation.Invitation>
  }, StoreError>
  /** Invites somebody, replaces an earlier invitation, and mails the link if mail is configured. */
  readonly invite: (
    by: Inviting,
    invited: { readonly email: string; readonly role: Member.Role },
    linkOf: (token: Redacted.Redacted) => string
  ) => Effect.Effect<Invited, Forbidden | InvalidBody | NotFound | StoreError>
  /** Changes a member's role. */
  readonly setRole: (
    by: Session,
    id: string,
    role: Member.Role
  ) => Effect.Effect<Member.Member, Forbidden | NotFound | StoreError>
  /** Removes a member, or withdraws an invitation. */
  readonly remove: (by: Session, id: string) => Effect.Effect<void, Forbidden | NotFound | StoreError>
  /**
   * Ends all sessions of a member, those in other workspaces included, because a session can move to this one. Only
   * owners end owners' sessions. The token's own session stays.
   */
  readonly endSessions: (
    by: Session,
    token: Redacted.Redacted | undefined,
    id: string
  ) => Effect.Effect<void, Forbidden | NotFound | StoreError>
  /** The invitation of a token. Tokens that are not valid are limited per address. */
  readonly show: (
    asking: Pick<Acceptance, "address" | "token">
  ) => Effect.Effect<ShownInvitation, Unauthorized | RateLimited | NotFound | StoreError>
  /** The address that a token's invitation is for, valid or not. Spends no limit. */
  readonly invitedEmail: (token: Redacted.Redacted) => Effect.Effect<Option.Option<string>, StoreError>
  /**
   * Makes a person a member by their invitation. Tokens that are not valid are limited per address, and passwords with
   * a valid token per invited address. For an account with a second factor, a right password without its proof fails
   * with a challenge, which a passkey can sign. Without a password,
   * the result does not reveal whether the address has an account.
   */
  readonly accept: (
    acceptance: Acceptance
  ) => Effect.Effect<Joined, Unauthorized | RateLimited | InvalidBody | NotFound | ServerError | StoreError>
}>()("@wac/core/people/Members") {
  static readonly layer = Layer.effect(
    Members,
    Effect.gen(function*() {
      const members = yield* MemberStore
      const invitations = yield* InvitationStore
      const sessions = yield* SessionStore
      const workspaces = yield* WorkspaceStore
      const passwords = yield* Passwords
      const limits = yield* RateLimitStore
      const random = yield* SecureRandom.SecureRandom
      const tokens = yield* SecretToken.make
      const issuer = yield* CurrentIssuer
      const send = yield* Mailer.ofWorkspace
      const demandFactor = yield* FactorChallenge.demander
      const mailing = yield* FiberSet.make()

      /** Runs in the background: neither the response's time nor its content reveals whether the address exists. */
      const mail = (workspaceId: Id.WorkspaceId, mail: Mailer.Mail) =>
        FiberSet.run(
          mailing,
          Effect.catch(send(workspaceId, mail), ({ message }) =>
            Effect.logWarning(`a mail could not be sent: ${message}`))
        )

      const change = Effect.fnUntraced(function*(by: Session, userId: Id.UserId, role: Member.Role | null) {
        const changed = yield* members.change({
          workspaceId: by.workspaceId,
          userId,
          role,
          // a person with a session is a member, or was removed since the request began
          by: {
            userId: by.userId,
            role: by.id === null ? by.role : null,
            limit: by.roles === null ? undefined : by.role
          }
        })
        switch (changed._tag) {
          case "Unknown":
            return yield* unknown()
          case "Refused":
            return yield* changed.error
          case "Changed":
            return changed.member
        }
      })

      const remove = Effect.fnUntraced(function*(by: Session, id: string) {
        const invitation = Option.getOrUndefined(Id.parse(Id.InvitationId, id))
        if (invitation !== undefined) {
          const { workspaceId } = by
          const withdrawn = yield* invitations.withdraw({ workspaceId, id: invitation, by: makerOf(by) })
          if (withdrawn._tag === "Refused") return yield* withdrawn.error
          return withdrawn._tag === "Unknown" ? yield* unknown() : undefined
        }
        const userId = Option.getOrUndefined(Id.parse(Id.UserId, id))
        if (userId === undefined) return yield* unknown()
        yield* change(by, userId, null)
      })

      const named = Effect.fnUntraced(
        function*({ address, token }: Pick<Acceptance, "address" | "token">, now: Instant) {
          if (issuer !== undefined) return yield* atIssuer()
          const invitation = Option.getOrUndefined(yield* invitations.find(yield* tokens.hashOf(token)))
          if (invitation !== undefined) return invitation
          yield* LoginLimits.spend(limits, [LoginLimits.ofAddress(address)], now)
          return yield* gone()
        }
      )

      const isValid = (invitation: Invitation.Invitation, now: Instant) =>
        Effect.map(
          members.ofWorkspace(invitation.workspaceId),
          (present) => Invitation.isValid(invitation, roleAmong(present), now)
        )

      const show = Effect.fn("Members.show")(function*(asking: Pick<Acceptance, "address" | "token">) {
        const now = yield* Clock.currentTimeMillis
        const invitation = yield* named(asking, now)
        const { by, email, expiresAt, role, workspaceId } = invitation
        const workspace = Option.getOrUndefined(yield* workspaces.get(workspaceId))
        if (workspace === undefined || !(yield* isValid(invitation, now))) return yield* gone()
        return { workspaceName: workspace.name, email, role, invitedBy: by?.person?.email ?? null, expiresAt }
      })

      /** Checks the second factor of a person whose password is right, and uses the proof up. */
      const proveByFactor = Effect.fnUntraced(function*(
        person: Pick<Member.Person, "userId" | "passwordHash">,
        factor: Acceptance["factor"],
        invitation: Invitation.Invitation,
        now: Instant
      ) {
        if (factor === undefined) return yield* demandFactor(person, FactorChallenge.toInvitation)
        // before the proof, of which a recovery code would be used up
        if (!(yield* isValid(invitation, now))) return yield* gone()
        yield* factor(person)
      })

      /** Verifies the password of the account, or hashes the one that a new person has chosen. */
      const proveByPassword = Effect.fnUntraced(function*(
        known: Member.Person | undefined,
        password: Redacted.Redacted,
        email: string
      ) {
        if (known === undefined) {
          const passwordHash = yield* passwords.choose(password, { email, param: "password" })
          return { _tag: "Invitation", passwordHash } as const
        }
        const { passwordHash } = known
        if (!(yield* passwords.verify(password, passwordHash ?? undefined)) || passwordHash === null) {
          return yield* new Unauthorized({
            reason: "invalid_credentials",
            param: "password",
            message: "this address has an account: give its password, or sign in first"
          })
        }
        return { _tag: "Password", passwordHash } as const
      })

      /** Accepts an invitation; `undefined` if its address has got an account meanwhile, which must be proven first. */
      const attempt = Effect.fnUntraced(function*({ factor, password, session, ...asking }: Acceptance) {
        const now = yield* Clock.currentTimeMillis
        const invitation = yield* named(asking, now)
        const { email, tokenHash } = invitation
        const account = Option.getOrUndefined(yield* members.findByEmail(email))
        const known = account?.person
        const isOwn = known !== undefined && known.userId === session?.userId
        if (password === undefined && !isOwn) return yield* passwordNeeded()
        // a session of the invited person is proof, and needs no password
        const buckets = [LoginLimits.ofInvited(email)]
        const giveBack = isOwn ? Effect.void : limits.giveBack(buckets, now)
        if (!isOwn) yield* LoginLimits.spend(limits, buckets, now)
        const provenBy: ProvenBy = isOwn || password === undefined
          ? { _tag: "Session" }
          : yield* proveByPassword(known, password, email)
        if (known !== undefined && provenBy._tag === "Password") {
          const { passwordHash } = provenBy
          yield* proveByFactor({ ...known, passwordHash }, factor, invitation, now).pipe(
            // the password was right
            Effect.tapError(() => giveBack)
          )
        }
        const accepted = yield* invitations.accept({
          now,
          tokenHash,
          userId: yield* Id.generate(random, "usr"),
          provenId: known?.userId ?? null,
          passwordHash: provenBy._tag === "Invitation" ? provenBy.passwordHash : null
        })
        if (accepted._tag === "Gone") return yield* gone()
        yield* giveBack
        switch (accepted._tag) {
          case "PasswordNeeded":
            return yield* passwordNeeded()
          case "Unproven":
            return undefined
          case "Accepted": {
            const { userId, workspaceId } = accepted
            const present = account?.memberships.find(({ workspace }) => workspace.id === workspaceId)
            return { userId, workspaceId, email, role: present?.role ?? invitation.role, provenBy }
          }
        }
      })

      const accept = Effect.fn("Members.accept")(function*(acceptance: Acceptance) {
        let joined: Joined | undefined
        while (joined === undefined) joined = yield* attempt(acceptance)
        return joined
      })

      return Members.of({
        list: Effect.fnUntraced(function*(workspaceId) {
          const now = yield* Clock.currentTimeMillis
          const all = yield* Effect.all({
            members: members.ofWorkspace(workspaceId),
            invitations: invitations.list(workspaceId, now)
          }, { concurrency: "unbounded" })
          const roleOf = roleAmong(all.members)
          const valid = all.invitations.filter((one) => Invitation.stands(one, roleOf))
          return { members: all.members, invitations: valid }
        }),
        invite: Effect.fn("Members.invite")(function*(by, { role, ...given }, linkOf) {
          if (issuer !== undefined) return yield* atIssuer()
          const email = EmailAddress.normalize(given.email)
          const present = yield* members.ofWorkspace(by.workspaceId)
          if (present.some((member) => member.email === email)) {
            return yield* new InvalidBody({
              reason: "invalid_field",
              param: "email",
              message: "this person is already a member of the workspace"
            })
          }
          const now = yield* Clock.currentTimeMillis
          const token = yield* tokens.nextForLink
          const created = yield* invitations.create({
            id: yield* Id.generate(random, "inv"),
            workspaceId: by.workspaceId,
            email,
            role,
            by: makerOf(by),
            tokenHash: yield* tokens.hashOf(token),
            createdAt: now,
            expiresAt: now + Duration.toMillis(Invitation.lifetime)
          })
          if (created._tag === "Refused") return yield* created.error
          const { invitation } = created
          yield* mail(
            by.workspaceId,
            MailTexts.invitation({
              to: email,
              by: "operator" in by ? "the operator" : by.email,
              role,
              workspaceName: by.workspaceName,
              link: linkOf(token),
              expiresAt: invitation.expiresAt
            })
          )
          return { invitation, token }
        }),
        setRole: Effect.fn("Members.setRole")(function*(by, id, role) {
          const userId = Option.getOrUndefined(Id.parse(Id.UserId, id))
          const member = userId === undefined ? null : yield* change(by, userId, role)
          return member ?? (yield* unknown())
        }),
        remove,
        endSessions: Effect.fn("Members.endSessions")(function*(by, token, id) {
          const userId = Option.getOrUndefined(Id.parse(Id.UserId, id))
          const present = yield* members.ofWorkspace(by.workspaceId)
          const member = present.find((member) => member.userId === userId)
          if (member === undefined) return yield* unknown()
          const refusal = Member.sessionsRefusal(by.role, member)
          if (refusal !== undefined) return yield* refusal
          yield* sessions.endAll(member.userId, token === undefined ? undefined : yield* tokens.hashOf(token))
        }),
        show,
        invitedEmail: Effect.fnUntraced(function*(token) {
          if (issuer !== undefined) return Option.none()
          return Option.map(yield* invitations.find(yield* tokens.hashOf(token)), ({ email }) => email)
        }),
        accept
      })
    })
  )
}
