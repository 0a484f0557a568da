/**
 * The decisions of `InvitationStore`: creating, withdrawing and accepting invitations, and redeeming password reset
 * links. An invitation makes its person a member, once, until it expires, as long as its maker may give its role. A
 * reset link sets a password, once, until it expires, and ends the person's other reset links. Pure.
 */
import type { Forbidden } from "../Errors.ts"
import type { InvitationId, UserId, WorkspaceId } from "../Id.ts"
import type { Decide, Known } from "../Step.ts"
import * as StorageTime from "../StorageTime.ts"
import type { Instant } from "../Time.ts"
import { authority, type Invitation, isValid, type Maker, managementRefusal, type PasswordReset } from "./Invitation.ts"
import { invitationRefusal, type Member, type Person, type Role } from "./Member.ts"

/** The members' records that the steps load, under locks: the role of an admin or owner of a workspace. */
export interface LoadedManagers extends Known {
  readonly roleOf: (workspaceId: WorkspaceId, userId: UserId) => Role | undefined
}

/** The records that *create* loads, under locks. */
export interface LoadedPending extends LoadedManagers {
  /** The workspace's present invitation for an address, expired or not. */
  readonly pending: (workspaceId: WorkspaceId, email: string) => Invitation | undefined
}

/** The result of creating an invitation: it carries the storage's times. */
export type Created =
  | { readonly _tag: "Created"; readonly invitation: Invitation }
  | { readonly _tag: "Refused"; readonly error: Forbidden }

/** Decides `InvitationStore.create`. */
export const create: Decide<
  Invitation & { readonly by: Maker },
  LoadedPending,
  Created,
  ReadonlyArray<Invitation>
> = (loaded, commands) => {
  const created = new Map<string, Invitation>()
  const answers = commands.map((asked): Created => {
    const { by, email, role, workspaceId } = asked
    const now = loaded.now(asked.createdAt)
    const roleOf = (userId: UserId) => loaded.roleOf(workspaceId, userId)
    const own = authority(by, roleOf)
    const address = `${workspaceId} ${email}`
    const pending = created.get(address) ?? loaded.pending(workspaceId, email)
    const error = invitationRefusal(own, role) ??
      // an invitation that is void or has expired can be replaced by anybody who may invite
      (pending === undefined || !isValid(pending, roleOf, now)
        ? undefined
        : managementRefusal(own, pending, roleOf))
    if (error !== undefined) return { _tag: "Refused", error }
    const invitation = StorageTime.createdAt(asked, now, "expiresAt")
    created.set(address, invitation)
    return { _tag: "Created", invitation }
  })
  return { answers, writes: [...created.values()] }
}

/** Withdraws an invitation. */
export interface Withdraw {
  readonly workspaceId: WorkspaceId
  readonly id: InvitationId
  readonly by: Maker
}

/** The result of withdrawing an invitation. */
export type Withdrawn =
  | { readonly _tag: "Withdrawn"; readonly invitation: Invitation }
  | { readonly _tag: "Unknown" }
  | { readonly _tag: "Refused"; readonly error: Forbidden }

/** The records that *withdraw* loads, under locks. */
export interface LoadedById extends LoadedManagers {
  readonly invitation: (workspaceId: WorkspaceId, id: InvitationId) => Invitation | undefined
}

/** Decides `InvitationStore.withdraw`. */
export const withdraw: Decide<Withdraw, LoadedById, Withdrawn, ReadonlyArray<Invitation>> = (loaded, commands) => {
  const withdrawn = new Map<InvitationId, Invitation>()
  const answers = commands.map(({ by, id, workspaceId }): Withdrawn => {
    const invitation = withdrawn.has(id) ? undefined : loaded.invitation(workspaceId, id)
    if (invitation === undefined) return { _tag: "Unknown" }
    const roleOf = (userId: UserId) => loaded.roleOf(workspaceId, userId)
    const error = managementRefusal(authority(by, roleOf), invitation, roleOf)
    if (error !== undefined) return { _tag: "Refused", error }
    withdrawn.set(id, invitation)
    return { _tag: "Withdrawn", invitation }
  })
  return { answers, writes: [...withdrawn.values()] }
}

/** Accepts an invitation. */
export interface Accept {
  readonly now: Instant
  readonly tokenHash: string
  /** The id for the person if the invitation's address has no account yet. */
  readonly userId: UserId
  /** The existing person who proved that the invitation is theirs; `null` if its address had no account. */
  readonly provenId: UserId | null
  /** A new person's password; `null` if only an existing person can accept. */
  readonly passwordHash: string | null
}

/** The result of accepting an invitation. */
export type Accepted =
  | { readonly _tag: "Accepted"; readonly userId: UserId; readonly workspaceId: WorkspaceId }
  /** The invitation is unknown, accepted, withdrawn or expired, or its maker may not give its role any more. */
  | { readonly _tag: "Gone" }
  /** The invitation is for a new person, who needs a password. */
  | { readonly _tag: "PasswordNeeded" }
  /** The invitation's address has an account by now, and nobody has proven that it is theirs. */
  | { readonly _tag: "Unproven" }

/** The records that the step loads, under locks. */
export interface Loaded extends LoadedManagers {
  readonly invitation: (tokenHash: string) => Invitation | undefined
  readonly person: (email: string) => Pick<Person, "userId" | "email"> | undefined
  readonly isMember: (workspaceId: WorkspaceId, userId: UserId) => boolean
}

/** The changes that the step writes. */
export interface Writes {
  readonly people: ReadonlyArray<Person>
  readonly members: ReadonlyArray<Member>
  /** Invitations to delete because they are used. */
  readonly accepted: ReadonlyArray<Invitation>
}

/** Decides `InvitationStore.accept`. */
export const accept: Decide<Accept, Loaded, Accepted, Writes> = (loaded, commands) => {
  const accepted = new Map<string, Invitation>()
  const people = new Map<string, Person>()
  const members = new Map<string, Member>()
  const answers = commands.map((asked): Accepted => {
    const { now, passwordHash, provenId, tokenHash, userId } = StorageTime.judgedAt(asked, loaded.now(asked.now))
    const invitation = accepted.has(tokenHash) ? undefined : loaded.invitation(tokenHash)
    if (
      invitation === undefined ||
      !isValid(invitation, (userId) => loaded.roleOf(invitation.workspaceId, userId), now)
    ) return { _tag: "Gone" }
    const { email, role, workspaceId } = invitation
    const known = people.get(email) ?? loaded.person(email)
    if (known === undefined) {
      if (passwordHash === null) return { _tag: "PasswordNeeded" }
      people.set(email, { userId, email, passwordHash, createdAt: now })
    } else if (known.userId !== provenId) return { _tag: "Unproven" }
    const own = known?.userId ?? userId
    accepted.set(tokenHash, invitation)
    // an existing member keeps their role
    if (!members.has(`${workspaceId} ${own}`) && !loaded.isMember(workspaceId, own)) {
      members.set(`${workspaceId} ${own}`, { userId: own, workspaceId, email, role, createdAt: now })
    }
    return { _tag: "Accepted", userId: own, workspaceId }
  })
  return {
    answers,
    writes: { people: [...people.values()], members: [...members.values()], accepted: [...accepted.values()] }
  }
}

/** Sets a person's password by a reset link. */
export interface Redeem {
  readonly now: Instant
  readonly tokenHash: string
  readonly passwordHash: string
}

/** The records that *redeem* loads, under locks. */
export interface LoadedResets extends Known {
  /** A link of a person who exists. */
  readonly reset: (tokenHash: string) => Pick<PasswordReset, "userId" | "expiresAt"> | undefined
}

/** A person's new password. It ends all of their sessions, and deletes all of their reset links. */
export interface NewPassword {
  readonly userId: UserId
  readonly passwordHash: string
}

/** Decides `InvitationStore.redeemReset`. The answer is the person; `undefined` if the link is unknown or expired. */
export const redeem: Decide<Redeem, LoadedResets, UserId | undefined, ReadonlyArray<NewPassword>> = (
  loaded,
  commands
) => {
  const passwords = new Map<UserId, NewPassword>()
  const answers = commands.map(({ now, passwordHash, tokenHash }) => {
    const reset = loaded.reset(tokenHash)
    if (reset === undefined || reset.expiresAt <= loaded.now(now)) return undefined
    const { userId } = reset
    // the first new password has deleted the person's other links
    if (passwords.has(userId)) return undefined
    passwords.set(userId, { userId, passwordHash })
    return userId
  })
  return { answers, writes: [...passwords.values()] }
}
