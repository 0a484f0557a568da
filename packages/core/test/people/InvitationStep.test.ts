import { assert, describe, it } from "@effect/vitest"
import { type Accept, accept, type Loaded, type LoadedResets, redeem } from "../../src/people/InvitationStep.ts"
import { id } from "../samples.ts"

const [ana, ben] = [id("usr", 1), id("usr", 2)]

const resets = new Map([
  ["one", { userId: ana, expiresAt: 100 }],
  ["two", { userId: ana, expiresAt: 100 }],
  ["other", { userId: ben, expiresAt: 100 }]
])

const loaded: LoadedResets = { now: (asked) => asked, reset: (tokenHash) => resets.get(tokenHash) }

const by = (tokenHash: string, now = 99) => ({ now, tokenHash, passwordHash: `$${tokenHash}` })

describe("resetting a password", () => {
  it("a link sets its person's password until it expires", () => {
    assert.deepStrictEqual(redeem(loaded, [by("one"), by("other", 100), by("unknown")]), {
      answers: [ana, undefined, undefined],
      writes: [{ userId: ana, passwordHash: "$one" }]
    })
  })

  it("a new password uses up all links of its person, and of no one else", () => {
    assert.deepStrictEqual(redeem(loaded, [by("two"), by("one"), by("two"), by("other")]), {
      answers: [ana, undefined, undefined, ben],
      writes: [{ userId: ana, passwordHash: "$two" }, { userId: ben, passwordHash: "$other" }]
    })
  })

  it("the storage's time decides whether a link has expired", () => {
    const late = { ...loaded, now: () => 100 }
    assert.deepStrictEqual(redeem(late, [by("one", 0)]), { answers: [undefined], writes: [] })
  })
})

describe("accepting invitations", () => {
  const cem = id("usr", 3)
  const [first, second] = [id("ws", 1), id("ws", 2)]
  const invitation = (n: number, email: string) => ({
    id: id("inv", n),
    workspaceId: n === 1 ? first : second,
    email,
    role: "member" as const,
    by: { person: null, role: "owner" as const },
    tokenHash: `${email} ${n}`,
    createdAt: 0,
    expiresAt: 100
  })
  const invitations = new Map(
    ["ana@example.com", "cem@example.com"].flatMap((email) => [1, 2].map((n) => invitation(n, email)))
      .map((one) => [one.tokenHash, one])
  )
  const loaded: Loaded = {
    now: (asked) => asked,
    roleOf: () => undefined,
    invitation: (tokenHash) => invitations.get(tokenHash),
    person: (email) => email === "ana@example.com" ? { userId: ana, email } : undefined,
    isMember: () => false
  }
  const by = (tokenHash: string, fields: Partial<Accept> = {}): Accept => ({
    now: 1,
    tokenHash,
    userId: cem,
    provenId: null,
    passwordHash: "$new",
    ...fields
  })

  it("an account accepts an invitation only if its person has proven who they are", () => {
    const asked = by("ana@example.com 1")
    for (const provenId of [null, ben]) {
      assert.deepStrictEqual(accept(loaded, [{ ...asked, provenId }]), {
        answers: [{ _tag: "Unproven" }],
        writes: { people: [], members: [], accepted: [] }
      })
    }
    assert.deepStrictEqual(accept(loaded, [{ ...asked, provenId: ana, passwordHash: null }]).answers, [
      { _tag: "Accepted", userId: ana, workspaceId: first }
    ])
  })

  it("of two new people with one address, the first gets the account, and the second has not proven that it is theirs", () => {
    const commands = [by("cem@example.com 1"), by("cem@example.com 2", { userId: ben, passwordHash: "$other" })]
    const { answers, writes } = accept(loaded, commands)
    assert.deepStrictEqual(answers, [
      { _tag: "Accepted", userId: cem, workspaceId: first },
      { _tag: "Unproven" }
    ])
    assert.deepStrictEqual(writes.people.map(({ passwordHash, userId }) => [userId, passwordHash]), [[cem, "$new"]])
    assert.deepStrictEqual(writes.members.map(({ userId, workspaceId }) => [userId, workspaceId]), [[cem, first]])
    assert.deepStrictEqual(writes.accepted.map(({ tokenHash }) => tokenHash), ["cem@example.com 1"])
  })
})
