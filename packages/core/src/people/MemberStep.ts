/**
 * The decisions of `MemberStore`: who may change or remove which member, so that a workspace keeps an owner (*change*),
 * and which memberships a person has after an issuer has stated their roles (*assign*). Pure.
 */
import { Forbidden } from "../Errors.ts"
import type { InvitationId, UserId, WorkspaceId } from "../Id.ts"
import type { Decide, Known } from "../Step.ts"
import type { Instant } from "../Time.ts"
import type { Invitation } from "./Invitation.ts"
import type { Identity } from "./IssuerClaims.ts"
import { changeRefusal, invitationRefusal, lower, type Member, type Person, type Role } from "./Member.ts"

/** Changes a member's role or removes them. */
export interface Change {
  readonly workspaceId: WorkspaceId
  readonly userId: UserId
  /** `null` removes the member and ends their sessions in the workspace. */
  readonly role: Role | null
  /**
   * The acting person. `role` is that of a host's person, who is not a member; `null` for people who must be members.
   */
  readonly by: {
    readonly userId: UserId
    readonly role: Role | null
    /** The role of the person's session. They act with this role at most, even if their membership has a higher one. */
    readonly limit?: Role | undefined
  }
}

/** The result of changing or removing a member. */
export type Changed =
  | { readonly _tag: "Changed"; readonly before: Member; readonly member: Member | null }
  | { readonly _tag: "Unknown" }
  | { readonly _tag: "Refused"; readonly error: Forbidden }

/** The records that the step loads, under locks. */
export interface Loaded extends Known {
  /** Every member of a workspace. */
  readonly members: (workspaceId: WorkspaceId) => ReadonlyArray<Member>
  /** The invitations to a workspace that a person made. */
  readonly invitations: (workspaceId: WorkspaceId, userId: UserId) => ReadonlyArray<Pick<Invitation, "id" | "role">>
}

/** The changes that the step writes. */
export interface Writes {
  readonly roles: ReadonlyArray<Pick<Member, "workspaceId" | "userId" | "role">>
  /** Their address also leaves the workspace's alert settings. */
  readonly removed: ReadonlyArray<Pick<Member, "workspaceId" | "userId" | "email">>
  /** Invitations that end because their maker may not give their role any more. */
  readonly ended: ReadonlyArray<InvitationId>
}

/** Decides `MemberStore.change`. */
export const change: Decide<Change, Loaded, Changed, Writes> = (loaded, commands) => {
  const workspaces = new Map<WorkspaceId, Map<UserId, Member>>()
  const ended = new Set<InvitationId>()
  const changed = new Map<string, { readonly member: Member; readonly role: Role | null }>()
  const answers = commands.map(({ by, role, userId, workspaceId }): Changed => {
    const members = workspaces.get(workspaceId) ??
      new Map(loaded.members(workspaceId).map((member) => [member.userId, member]))
    workspaces.set(workspaceId, members)
    const member = members.get(userId)
    if (member === undefined) return { _tag: "Unknown" }
    const owners = [...members.values()].filter(({ role }) => role === "owner").length
    const present = members.get(by.userId)?.role ?? by.role
    const acting = present === null || by.limit === undefined ? present : lower(present, by.limit)
    const error = changeRefusal(acting, member, role, owners)
    if (error !== undefined) return { _tag: "Refused", error }
    changed.set(`${workspaceId} ${userId}`, { member, role })
    // these end for good, even if a later command gives the person the role back
    for (const invitation of loaded.invitations(workspaceId, userId)) {
      if (invitationRefusal(role, invitation.role) !== undefined) ended.add(invitation.id)
    }
    if (role === null) members.delete(userId)
    else members.set(userId, { ...member, role })
    return { _tag: "Changed", before: member, member: role === null ? null : { ...member, role } }
  })
  const all = [...changed.values()]
  return {
    answers,
    writes: {
      roles: all.flatMap(({ member: { userId, workspaceId }, role }) =>
        role === null ? [] : [{ workspaceId, userId, role }]
      ),
      removed: all.flatMap(({ member: { email, userId, workspaceId }, role }) =>
        role === null ? [{ workspaceId, userId, email }] : []
      ),
      ended: [...ended]
    }
  }
}

/** Replaces a person's memberships by those that an issuer states. */
export interface Assign {
  readonly identity: Identity
  /** The id for the person if neither the identity nor the address has an account yet. */
  readonly userId: UserId
  /** Normalized; `null` if the issuer has not verified it. Counts only until the identity has an account. */
  readonly email: string | null
  readonly now: Instant
  /** Each workspace at most once. */
  readonly roles: ReadonlyArray<{ readonly workspaceId: WorkspaceId; readonly role: Role }>
}

/** The person of an identity, or why they may not sign in. */
export type Recognized =
  | { readonly _tag: "Recognized"; readonly userId: UserId }
  | {
    readonly _tag: "Refused"
    readonly error: Forbidden
    /** The account that the sign-in concerns, in each of its workspaces, including those that it has just lost. */
    readonly account: ReadonlyArray<Pick<Member, "userId" | "email" | "workspaceId">>
  }

/** An identity and its person. A person has at most one identity at each issuer. */
export interface Link extends Identity {
  readonly userId: UserId
  readonly createdAt: Instant
}

/** The records that *assign* loads, under locks. */
export interface LoadedPeople extends Known {
  /** The person of an identity. */
  readonly identified: (identity: Identity) => Pick<Person, "userId" | "email"> | undefined
  /** The person of an address, and whether they have an identity at an issuer. */
  readonly addressed: (
    email: string,
    issuer: string
  ) => Pick<Person, "userId" | "email"> & { readonly isLinked: boolean } | undefined
  /** Every membership of a person. */
  readonly memberships: (userId: UserId) => ReadonlyArray<Pick<Member, "workspaceId" | "createdAt">>
}

/** The remaining memberships and sessions of a person. */
export interface Assigned {
  readonly userId: UserId
  /** The memberships. All others are removed. */
  readonly members: ReadonlyArray<Member>
  /** The workspaces in which the person's sessions continue. Sessions in all others end. */
  readonly continued: ReadonlyArray<WorkspaceId>
}

/** The changes that *assign* writes. */
export interface AssignWrites {
  /** New people. */
  readonly people: ReadonlyArray<Person>
  /** New identities. */
  readonly links: ReadonlyArray<Link>
  /** Each person at most once. */
  readonly assigned: ReadonlyArray<Assigned>
  /** Memberships that a person loses. Their address also leaves the workspace's alert settings. */
  readonly removed: Writes["removed"]
}

type Refused = Extract<Recognized, { readonly _tag: "Refused" }>

const refused = (message: string, account: Refused["account"] = []): Refused => ({
  _tag: "Refused",
  error: new Forbidden({ reason: "role_not_allowed", message }),
  account
})

const keyOf = ({ issuer, subject }: Identity): string => JSON.stringify([issuer, subject])

/**
 * Decides `MemberStore.assign`. A known identity stays with its person, whatever its e-mail address is. An unknown
 * identity is linked to the person with its verified address, unless that person has another identity at this issuer:
 * then it belongs to somebody else. Without a role, the person loses all memberships and sessions, and no account is
 * created.
 */
export const assign: Decide<Assign, LoadedPeople, Recognized, AssignWrites> = (loaded, commands) => {
  const people = new Map<string, Person>()
  const links = new Map<string, Link & Pick<Person, "email">>()
  const assigned = new Map<UserId, Assigned>()
  const removed = new Map<string, Writes["removed"][number]>()
  const membershipsOf = (userId: UserId) => assigned.get(userId)?.members ?? loaded.memberships(userId)
  const accountOf = ({ email, userId }: Pick<Person, "userId" | "email">): Refused["account"] =>
    membershipsOf(userId).map(({ workspaceId }) => ({ userId, email, workspaceId }))
  const answers = commands.map((command): Recognized => {
    const { identity, roles } = command
    const now = loaded.now(command.now)
    const key = keyOf(identity)
    let person = links.get(key) ?? loaded.identified(identity)
    if (person === undefined) {
      const { email } = command
      if (email === null) return refused("the issuer does not confirm an e-mail address of yours that is yours alone")
      const known = people.get(email) ?? loaded.addressed(email, identity.issuer)
      const isTaken = known !== undefined && ("isLinked" in known && known.isLinked ||
        [...links.values()].some(({ issuer, userId }) => issuer === identity.issuer && userId === known.userId))
      if (isTaken) {
        return refused(
          "the account of your e-mail address belongs to another person at the issuer: ask the operator",
          accountOf(known)
        )
      }
      if (known !== undefined || roles.length > 0) {
        person = { userId: known?.userId ?? command.userId, email }
        if (known === undefined) people.set(email, { ...person, passwordHash: null, createdAt: now })
        links.set(key, { ...identity, ...person, createdAt: now })
      }
    }
    const account = person === undefined ? [] : accountOf(person)
    if (person !== undefined) {
      const { email, userId } = person
      const before = assigned.get(userId)
      // a person who stays a member keeps the time at which they joined
      const joined = new Map(membershipsOf(userId).map(({ createdAt, workspaceId }) => [workspaceId, createdAt]))
      const stated = new Set(roles.map(({ workspaceId }) => workspaceId))
      for (const workspaceId of joined.keys()) {
        // also if a later command gives the membership back
        if (!stated.has(workspaceId)) removed.set(`${workspaceId} ${userId}`, { workspaceId, userId, email })
      }
      assigned.set(userId, {
        userId,
        members: roles.map(({ role, workspaceId }) => ({
          userId,
          workspaceId,
          email,
          role,
          createdAt: joined.get(workspaceId) ?? now
        })),
        continued: (before?.continued ?? [...stated]).filter((workspaceId) => stated.has(workspaceId))
      })
      if (roles.length > 0) return { _tag: "Recognized", userId }
    }
    return refused("the issuer does not assign you a role in any workspace", account)
  })
  return {
    answers,
    writes: {
      people: [...people.values()],
      links: [...links.values()].map(({ createdAt, issuer, subject, userId }) => ({
        issuer,
        subject,
        userId,
        createdAt
      })),
      assigned: [...assigned.values()],
      removed: [...removed.values()]
    }
  }
}
