import { assert, describe, it } from "@effect/vitest"
import type * as Id from "../../src/Id.ts"
import type { Role } from "../../src/people/Member.ts"
import { type Assign, assign, change, type LoadedPeople } from "../../src/people/MemberStep.ts"
import { id } from "../samples.ts"

const [ana, spare] = [id("usr", 1), id("usr", 2)]
const [one, two, three] = [id("ws", 1), id("ws", 2), id("ws", 3)]
const email = "ana@example.com"
const identity = { issuer: "https://issuer.example", subject: "ana" }
const other = { issuer: "https://issuer.example", subject: "other" }

const nobody: LoadedPeople = {
  now: (asked) => asked,
  identified: () => undefined,
  addressed: () => undefined,
  memberships: () => []
}

/** Ana as a member of these workspaces since `5`. */
const ofAna = (...workspaces: ReadonlyArray<Id.WorkspaceId>) => ({
  ...nobody,
  memberships: (userId: Id.UserId) =>
    userId === ana ? workspaces.map((workspaceId) => ({ workspaceId, createdAt: 5 })) : []
})

/** Ana, whose identity is known. */
const identified = (...workspaces: ReadonlyArray<Id.WorkspaceId>): LoadedPeople => ({
  ...ofAna(...workspaces),
  identified: ({ subject }) => subject === "ana" ? { userId: ana, email } : undefined
})

/** Ana's account, known by its address. */
const addressed = (isLinked: boolean): LoadedPeople => ({
  ...ofAna(one),
  addressed: (given) => given === email ? { userId: ana, email, isLinked } : undefined
})

const command = (...workspaces: ReadonlyArray<Id.WorkspaceId>): Assign => ({
  identity,
  userId: spare,
  email,
  now: 10,
  roles: workspaces.map((workspaceId) => ({ workspaceId, role: "admin" }))
})

const member = (userId: Id.UserId, workspaceId: Id.WorkspaceId, createdAt: number) => ({
  userId,
  workspaceId,
  email,
  role: "admin" as const,
  createdAt
})

const recognized = (userId: Id.UserId) => ({ _tag: "Recognized" as const, userId })

const nothing = { people: [], links: [], assigned: [], removed: [] }

const lost = (workspaceId: Id.WorkspaceId) => ({ workspaceId, userId: ana, email })

describe("replacing a person's memberships", () => {
  it("an unknown identity and address get a person without a password", () => {
    assert.deepStrictEqual(assign(nobody, [command(one)]), {
      answers: [recognized(spare)],
      writes: {
        people: [{ userId: spare, email, passwordHash: null, createdAt: 10 }],
        links: [{ ...identity, userId: spare, createdAt: 10 }],
        assigned: [{ userId: spare, members: [member(spare, one, 10)], continued: [one] }],
        removed: []
      }
    })
  })

  it("a known identity has exactly the stated roles, and keeps the time of joining, whatever the address is", () => {
    for (const address of [email, "eve@example.com", null]) {
      assert.deepStrictEqual(assign(identified(one, two), [{ ...command(two, three), email: address }]), {
        answers: [recognized(ana)],
        writes: {
          ...nothing,
          assigned: [{ userId: ana, members: [member(ana, two, 5), member(ana, three, 10)], continued: [two, three] }],
          removed: [lost(one)]
        }
      })
    }
  })

  it("an unknown identity becomes the person of its verified address, who has no other at the issuer", () => {
    const { answers, writes } = assign(addressed(false), [command(one)])
    assert.deepStrictEqual(answers, [recognized(ana)])
    assert.deepStrictEqual([writes.people, writes.links], [[], [{ ...identity, userId: ana, createdAt: 10 }]])
  })

  it.each([
    ["without a verified address", addressed(false), { ...command(one), email: null }],
    ["with the address of a person who has another identity", addressed(true), command(one)],
    ["without roles and without an account", nobody, command()]
  ])("an unknown identity is refused %s, and nothing changes", (_, loaded, asked) => {
    const { answers, writes } = assign(loaded, [asked])
    assert.deepStrictEqual(answers.map(({ _tag }) => _tag), ["Refused"])
    assert.deepStrictEqual(writes, nothing)
  })

  it("a person without roles is refused, and loses all memberships, sessions and alert mails", () => {
    const ended = [{ userId: ana, members: [], continued: [] }]
    const cases: ReadonlyArray<readonly [LoadedPeople, ReadonlyArray<Id.WorkspaceId>]> = [
      [identified(one, two), [one, two]],
      [addressed(false), [one]]
    ]
    for (const [loaded, workspaces] of cases) {
      const { answers, writes } = assign(loaded, [command()])
      assert.deepStrictEqual(writes.removed, workspaces.map(lost))
      assert.deepStrictEqual(answers.map(({ _tag }) => _tag), ["Refused"])
      assert.deepStrictEqual(writes.assigned, ended)
    }
  })

  it("a batch creates a person once, and links one identity to them", () => {
    const again = { ...command(two), userId: ana }
    const { answers, writes } = assign(nobody, [command(one), again, { ...again, identity: other }])
    assert.deepStrictEqual(answers.slice(0, 2), [recognized(spare), recognized(spare)])
    assert.strictEqual(answers[2]!._tag, "Refused")
    assert.deepStrictEqual(writes.people.map(({ userId }) => userId), [spare])
    assert.deepStrictEqual(writes.links, [{ ...identity, userId: spare, createdAt: 10 }])
    assert.deepStrictEqual(writes.assigned.map(({ members }) => members), [[member(spare, two, 10)]])
  })

  it("whoever loses a membership within a batch and gets it again joins anew, without their sessions and alert mails", () => {
    const { writes } = assign(identified(one, two), [command(one), { ...command(one, two), now: 20 }])
    assert.deepStrictEqual(writes.assigned, [
      { userId: ana, members: [member(ana, one, 5), member(ana, two, 20)], continued: [one] }
    ])
    assert.deepStrictEqual(writes.removed, [lost(two)])
  })
})

describe("changing a member", () => {
  const members = [member(ana, one, 5), { ...member(spare, one, 5), role: "owner" as const }]
  const loaded = { now: (asked: number) => asked, members: () => members, invitations: () => [] }

  it.each<readonly [Role | undefined, string]>([
    [undefined, "Changed"],
    ["owner", "Changed"],
    ["admin", "Refused"],
    ["member", "Refused"]
  ])("a person acts in a session limited to %s at most in that role: %s", (limit, outcome) => {
    const { answers } = change(loaded, [{
      workspaceId: one,
      userId: ana,
      role: "owner",
      by: { userId: spare, role: null, limit }
    }])
    assert.strictEqual(answers[0]!._tag, outcome)
  })
})
