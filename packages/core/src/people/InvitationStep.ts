/**
 * The decisions of using a link. An invitation works once, until it expires, and makes its person a member. A password
 * reset link works once, until it expires, and ends the person's other links. Pure.
 */
import type { UserId, WorkspaceId } from "../Id.ts"
import type { Decide, Known } from "../Step.ts"
import * as StorageTime from "../StorageTime.ts"
import type { Instant } from "../Time.ts"
import type { Invitation, PasswordReset } from "./Invitation.ts"
import type { Member, Person } from "./Member.ts"

/** Accepts an invitation. */
export interface Accept {
  readonly now: Instant
  readonly tokenHash: string
  /** The id for the person if the invitation's address has no account yet. */
  readonly userId: UserId
  /** A new person's password; `null` if only an existing person can accept. */
  readonly passwordHash: string | null
}

/** The result of accepting an invitation. */
export type Accepted =
  | { readonly _tag: "Accepted"; readonly userId: UserId; readonly workspaceId: WorkspaceId }
  /** The invitation is unknown, accepted, withdrawn or expired. */
  | { readonly _tag: "Gone" }
  /** The invitation is for a new person, who needs a password. */
  | { readonly _tag: "PasswordNeeded" }

/** What the step loads, under locks. */
export interface Loaded extends Known {
  readonly invitation: (tokenHash: string) => Invitation | undefined
  readonly person: (email: string) => Pick<Person, "userId" | "email"> | undefined
  readonly isMember: (workspaceId: WorkspaceId, userId: UserId) => boolean
}

/** What the step writes. */
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
    const { now, passwordHash, tokenHash, userId } = StorageTime.judgedAt(asked, loaded.now(asked.now))
    const invitation = accepted.has(tokenHash) ? undefined : loaded.invitation(tokenHash)
    if (invitation === undefined || invitation.expiresAt <= now) return { _tag: "Gone" }
    const { email, role, workspaceId } = invitation
    const known = people.get(email) ?? loaded.person(email)
    if (known === undefined) {
      if (passwordHash === null) return { _tag: "PasswordNeeded" }
      people.set(email, { userId, email, passwordHash, createdAt: now })
    }
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

/** What *redeem* loads, under locks. */
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
