/**
 * The decision of accepting an invitation: it works once, until it expires, and makes its person a member. Pure.
 */
import type { UserId, WorkspaceId } from "../Id.ts"
import type { Decide, Known } from "../Step.ts"
import * as StorageTime from "../StorageTime.ts"
import type { Instant } from "../Time.ts"
import type { Invitation } from "./Invitation.ts"
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
