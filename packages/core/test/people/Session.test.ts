import { assert, it } from "@effect/vitest"
import { Role } from "../../src/people/Member.ts"
import { isLive, membershipsOf, used } from "../../src/people/Session.ts"
import { id } from "../samples.ts"

const session = { idleUntil: 100, absoluteUntil: 150 }

it("a session is live before both of its ends", () => {
  for (
    const [now, idleUntil, absoluteUntil, live] of [
      [99, 100, 150, true],
      [100, 100, 150, false],
      [149, 200, 150, true],
      [150, 200, 150, false],
      [100, 100, 100, false]
    ] as const
  ) assert.strictEqual(isLive({ idleUntil, absoluteUntil }, now), live, `${now} ${idleUntil} ${absoluteUntil}`)
})

it("a use moves the idle end forward, never back, and never beyond the absolute end", () => {
  for (const [idleUntil, moved] of [[90, 100], [100, 100], [101, 101], [150, 150], [151, 150]] as const) {
    assert.deepStrictEqual(used(session, 99, idleUntil), { idleUntil: moved, absoluteUntil: 150 })
  }
})

it("an ended session has no use, which would revive it", () => {
  assert.isUndefined(used(session, 100, 140))
  assert.isUndefined(used({ ...session, idleUntil: 150 }, 150, 200))
})

it("a session uses what its sign-in brought and the person still has, in the lower of both roles", () => {
  const workspaceOf = (n: number) => ({
    id: id("ws", n),
    name: `${n}`,
    createdAt: 0,
    tier: null,
    monthlyQuota: null,
    suspended: false
  })
  for (const brought of Role.literals) {
    for (const role of Role.literals) {
      const memberships = [{ workspace: workspaceOf(1), role }, { workspace: workspaceOf(2), role: "owner" as const }]
      const roles = new Map([[id("ws", 1), brought], [id("ws", 3), "owner" as const]])
      const least = Role.literals.find((one) => one === brought || one === role)!
      assert.deepStrictEqual(membershipsOf({ roles }, memberships), [{ workspace: workspaceOf(1), role: least }])
      assert.deepStrictEqual(membershipsOf({ roles: null }, memberships), memberships)
    }
  }
})
