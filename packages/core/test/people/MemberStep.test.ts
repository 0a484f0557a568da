import { assert, describe, it } from "@effect/vitest"
import type * as Id from "../../src/Id.ts"
import { type Assign, assign, type LoadedPeople } from "../../src/people/MemberStep.ts"
import { id } from "../samples.ts"

const [ana, spare] = [id("usr", 1), id("usr", 2)]
const [one, two, three] = [id("ws", 1), id("ws", 2), id("ws", 3)]
const email = "ana@example.com"

/** Nobody, or Ana as a member of these workspaces since `5`. */
const loaded = (...workspaces: ReadonlyArray<Id.WorkspaceId>): LoadedPeople => ({
  now: (asked) => asked,
  person: () => workspaces.length === 0 ? undefined : { userId: ana },
  memberships: (userId) => userId === ana ? workspaces.map((workspaceId) => ({ workspaceId, createdAt: 5 })) : []
})

const command = (...workspaces: ReadonlyArray<Id.WorkspaceId>): Assign => ({
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

describe("replacing a person's memberships", () => {
  it("an unknown address gets a person without a password", () => {
    assert.deepStrictEqual(assign(loaded(), [command(one)]), {
      answers: [spare],
      writes: {
        people: [{ userId: spare, email, passwordHash: null, createdAt: 10 }],
        assigned: [{ userId: spare, members: [member(spare, one, 10)], continued: [one] }]
      }
    })
  })

  it("a known person has exactly the stated roles, and keeps the time of joining", () => {
    assert.deepStrictEqual(assign(loaded(one, two), [command(two, three)]), {
      answers: [ana],
      writes: {
        people: [],
        assigned: [{ userId: ana, members: [member(ana, two, 5), member(ana, three, 10)], continued: [two, three] }]
      }
    })
  })

  it("a batch creates a person once", () => {
    const { answers, writes } = assign(loaded(), [command(one), { ...command(two), userId: ana }])
    assert.deepStrictEqual(answers, [spare, spare])
    assert.deepStrictEqual(writes.people.map(({ userId }) => userId), [spare])
    assert.deepStrictEqual(writes.assigned.map(({ members }) => members), [[member(spare, two, 10)]])
  })

  it("whoever loses a membership within a batch and gets it again joins anew, without their sessions", () => {
    const { writes } = assign(loaded(one, two), [command(one), { ...command(one, two), now: 20 }])
    assert.deepStrictEqual(writes.assigned, [
      { userId: ana, members: [member(ana, one, 5), member(ana, two, 20)], continued: [one] }
    ])
  })
})
