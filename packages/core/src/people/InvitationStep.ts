/**
 * What accepting an invitation decides: it is good once, until it ends, and makes its person a member.
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
  /** The id of the person, if there is none of the invitation's address yet. */
  readonly userId: UserId
  /** The password of a new person; `null`: only somebody whom there is already can accept. */
  readonly passwordHash: string | null
}

/** What came of accepting an invitation. */
export type Accepted =
  | { readonly _tag: "Accepted"; readonly userId: UserId; readonly workspaceId: WorkspaceId }
  /** It is not known, was accepted or withdrawn, or has ended. */
  | { readonly _tag: "Gone" }
  /** The invitation is for somebody new, who needs a password. */
  | { readonly _tag: "PasswordNeeded" }

/** What it loads, under locks. */
export interface Loaded extends Known {
  readonly invitation: (tokenHash: string) => Invitation | undefined
  readonly person: (email: string) => Pick<Person, "userId" | "email"> | undefined
  readonly isMember: (workspaceId: WorkspaceId, userId: UserId) => boolean
}

/** What it writes. */
export interface Writes {
  readonly people: ReadonlyArray<Person>
  readonly members: ReadonlyArray<Member>
  /** Invitations that are used up. */
  readonly accepted: ReadonlyArray<Invitation>
}

/** `InvitationStore.accept`. */
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
    // who is a member already stays what they are
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
