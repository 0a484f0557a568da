/**
 * The decision of changing members: who may manage whom, and that a workspace keeps an owner. Pure.
 */
import type { Forbidden } from "../Errors.ts"
import type { UserId, WorkspaceId } from "../Id.ts"
import type { Decide, Known } from "../Step.ts"
import { changeRefusal, type Member, type Role } from "./Member.ts"

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
}

/** What the step writes. */
export interface Writes {
  readonly roles: ReadonlyArray<Pick<Member, "workspaceId" | "userId" | "role">>
  readonly removed: ReadonlyArray<Pick<Member, "workspaceId" | "userId">>
}

/** Decides `MemberStore.change`. */
export const change: Decide<Change, Loaded, Changed, Writes> = (loaded, commands) => {
  const workspaces = new Map<WorkspaceId, Map<UserId, Member>>()
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
      removed: all.flatMap(({ member: { userId, workspaceId }, role }) =>
        role === null ? [{ workspaceId, userId }] : []
      )
    }
  }
}
