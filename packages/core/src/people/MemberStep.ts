/**
 * The decisions of changing members: who may manage whom, that a workspace keeps an owner, and what remains of a
 * person's memberships if an issuer states them. Pure.
 */
import type { Forbidden } from "../Errors.ts"
import type { InvitationId, UserId, WorkspaceId } from "../Id.ts"
import type { Decide, Known } from "../Step.ts"
import type { Instant } from "../Time.ts"
import type { Invitation } from "./Invitation.ts"
import { changeRefusal, invitationRefusal, type Member, type Person, type Role } from "./Member.ts"

/** Changes a member's role or removes them. */
export interface Change {
  readonly workspaceId: WorkspaceId
  readonly userId: UserId
  /** `null` removes the member and ends their sessions in the workspace. */
  readonly role: Role | null
  /** The acting person. `role` is that of a host's person, who is not a member; `null` for people who must be members. */
  readonly by: { readonly userId: UserId; readonly role: Role | null }
}

/** The result of changing or removing a member. */
export type Changed =
  | { readonly _tag: "Changed"; readonly before: Member; readonly member: Member | null }
  | { readonly _tag: "Unknown" }
  | { readonly _tag: "Refused"; readonly error: Forbidden }

/** What the step loads, under locks. */
export interface Loaded extends Known {
  /** Every member of a workspace. */
  readonly members: (workspaceId: WorkspaceId) => ReadonlyArray<Member>
  /** The invitations to a workspace that a person made. */
  readonly invitations: (workspaceId: WorkspaceId, userId: UserId) => ReadonlyArray<Pick<Invitation, "id" | "role">>
}

/** What the step writes. */
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
    const error = changeRefusal(members.get(by.userId)?.role ?? by.role, member, role, owners)
    if (error !== undefined) return { _tag: "Refused", error }
    changed.set(`${workspaceId} ${userId}`, { member, role })
    // ended even if the role returns: the person who returns did not make them
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
  /** The id for the person if the address has no account yet. */
  readonly userId: UserId
  /** In lower case. */
  readonly email: string
  readonly now: Instant
  /** Each workspace at most once. */
  readonly roles: ReadonlyArray<{ readonly workspaceId: WorkspaceId; readonly role: Role }>
}

/** What *assign* loads, under locks. */
export interface LoadedPeople extends Known {
  readonly person: (email: string) => Pick<Person, "userId"> | undefined
  /** Every membership of a person. */
  readonly memberships: (userId: UserId) => ReadonlyArray<Pick<Member, "workspaceId" | "createdAt">>
}

/** What remains of a person's memberships and sessions. */
export interface Assigned {
  readonly userId: UserId
  /** The memberships. All others are removed. */
  readonly members: ReadonlyArray<Member>
  /** The workspaces in which the person's sessions continue. Sessions in all others end. */
  readonly continued: ReadonlyArray<WorkspaceId>
}

/** What *assign* writes. */
export interface AssignWrites {
  /** New people. */
  readonly people: ReadonlyArray<Person>
  /** Each person at most once. */
  readonly assigned: ReadonlyArray<Assigned>
}

/** Decides `MemberStore.assign`. The answer is the person. */
export const assign: Decide<Assign, LoadedPeople, UserId, AssignWrites> = (loaded, commands) => {
  const people = new Map<string, Person>()
  const assigned = new Map<UserId, Assigned>()
  const answers = commands.map(({ email, now: asked, roles, userId: given }) => {
    const now = loaded.now(asked)
    const known = people.get(email) ?? loaded.person(email)
    const userId = known?.userId ?? given
    if (known === undefined) people.set(email, { userId, email, passwordHash: null, createdAt: now })
    const before = assigned.get(userId)
    // whoever stays a member has joined when they joined
    const joined = new Map(
      (before?.members ?? loaded.memberships(userId)).map(({ createdAt, workspaceId }) => [workspaceId, createdAt])
    )
    const stated = new Set(roles.map(({ workspaceId }) => workspaceId))
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
    return userId
  })
  return { answers, writes: { people: [...people.values()], assigned: [...assigned.values()] } }
}
