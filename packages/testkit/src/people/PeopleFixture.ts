/**
 * People for the suites, who become members by invitation.
 */
import { assert } from "@effect/vitest"
import {
  type Id,
  type Invitation,
  type InvitationStep,
  InvitationStore,
  type IssuerClaims,
  type Member,
  type MemberStep,
  type Portal
} from "@wac/core"
import { Effect } from "effect"
import * as Fixture from "../Fixture.ts"

/** Looks like a password's hash. */
export const passwordHash = "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aGFzaGhhc2g"

/** The hash of a unique token. */
export const tokenHash = Effect.map(Fixture.word, (word) => word.replaceAll("-", "").repeat(2))

/** How many do the same at once. */
export const crowd = 8

/** How many of a crowd succeed that do the same at once. */
export const successes = <E, R>(effect: Effect.Effect<boolean, E, R>) =>
  Effect.map(
    Effect.all(Array.from({ length: crowd }, () => effect), { concurrency: "unbounded" }),
    (all) => all.filter((isDone) => isDone).length
  )

/** An invitation whose maker is known. */
export type Made = Invitation.Invitation & { readonly by: Invitation.Maker }

/** The operator, by a command. */
export const operator: Invitation.Maker = { person: null, role: "owner" }

/** A member as the maker of an invitation. */
export const maker = ({ email, userId }: Pick<Member.Member, "userId" | "email">): Invitation.Maker => ({
  person: { userId, email },
  role: null
})

/** An operator's invitation to a workspace, valid for a week from the workspace's start, not stored. */
export const invitation = (own: Fixture.World, fields: Partial<Made> = {}) =>
  Effect.gen(function*() {
    const made: Made = {
      id: yield* Fixture.id("inv"),
      workspaceId: own.workspace.id,
      email: `${yield* Fixture.word}@example.com`,
      role: "developer",
      by: operator,
      tokenHash: yield* tokenHash,
      createdAt: own.start,
      expiresAt: own.start + 7 * Fixture.day,
      ...fields
    }
    return made
  })

/** A command to accept an invitation as a new person. */
export const acceptance = (
  { createdAt, tokenHash }: Invitation.Invitation,
  fields: Partial<InvitationStep.Accept> = {}
) =>
  Effect.map(Fixture.id("usr"), (userId): InvitationStep.Accept => ({
    now: createdAt,
    tokenHash,
    userId,
    provenId: null,
    passwordHash,
    ...fields
  }))

/** Makes a new person a member of a workspace. */
export const joined = (own: Fixture.World, fields: Partial<Made> = {}) =>
  Effect.gen(function*() {
    const store = yield* InvitationStore.InvitationStore
    const invited = yield* invitation(own, fields)
    yield* store.create(invited)
    const accepted = yield* store.accept(yield* acceptance(invited))
    if (accepted._tag !== "Accepted") return assert.fail(accepted._tag)
    const { userId } = accepted
    const { createdAt, email, role, workspaceId } = invited
    const member: Member.Member = { userId, workspaceId, email, role, createdAt }
    return member
  })

/** A person at an issuer. */
export const identity = Effect.map(Fixture.word, (subject): IssuerClaims.Identity => ({
  issuer: "https://issuer.example",
  subject
}))

/** A new person's sign-in at an issuer, with a role in each of these workspaces. */
export const assignment = (worlds: ReadonlyArray<Fixture.World>, fields: Partial<MemberStep.Assign> = {}) =>
  Effect.gen(function*() {
    const command: MemberStep.Assign = {
      identity: yield* identity,
      userId: yield* Fixture.id("usr"),
      email: `${yield* Fixture.word}@example.com`,
      now: worlds[0]?.start ?? 0,
      roles: worlds.map(({ workspace }) => ({ workspaceId: workspace.id, role: "member" })),
      ...fields
    }
    return command
  })

/** The person whom *assign* recognized. */
export const recognized = (answer: MemberStep.Recognized): Id.UserId =>
  answer._tag === "Recognized" ? answer.userId : assert.fail(answer.error.message)

/** The account whose sign-in *assign* refused, in each of its workspaces. */
export const refusedAccount = (answer: MemberStep.Recognized) =>
  answer._tag === "Refused" ? answer.account : assert.fail("the sign-in was not refused")

/** A person who requests a change. */
export const asker = (
  role: Member.Role,
  userId: Id.UserId
): { readonly userId: Id.UserId; readonly role: Member.Role } => ({
  userId,
  role
})

/** A link to the portal of a workspace, valid for an hour from the workspace's start, not stored. */
export const portalLink = (own: Fixture.World, fields: Partial<Portal.Portal> = {}) =>
  Effect.gen(function*() {
    const made: Portal.Portal = {
      id: yield* Fixture.id("ses"),
      tokenHash: yield* tokenHash,
      workspaceId: own.workspace.id,
      role: "developer",
      visitor: "ana@shop.example",
      createdAt: own.start,
      expiresAt: own.start + Fixture.hour,
      ...fields
    }
    return made
  })
