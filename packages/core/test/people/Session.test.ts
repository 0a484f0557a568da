import { assert, it } from "@effect/vitest"
import { Duration } from "effect"
import { Role } from "../../src/people/Member.ts"
import { idleStep, isLive, membershipsOf, used } from "../../src/people/Session.ts"
import { id } from "../samples.ts"

const step = Duration.toMillis(idleStep)

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

it("a use moves the idle end forward by a step or more, never back, and never beyond the absolute end", () => {
  const absoluteUntil = 100 + 3 * step
  for (
    const [idleUntil, moved] of [
      [90, 100],
      [100, 100],
      [99 + step, 100],
      [100 + step, 100 + step],
      [absoluteUntil, absoluteUntil],
      [absoluteUntil + 1, absoluteUntil]
    ] as const
  ) {
    assert.deepStrictEqual(used({ idleUntil: 100, absoluteUntil }, 99, idleUntil), { idleUntil: moved, absoluteUntil })
  }
})

it("a use moves the idle end to the absolute end, however near that is", () => {
  assert.deepStrictEqual(used(session, 99, 149), session)
  assert.deepStrictEqual(used(session, 99, 151), { idleUntil: 150, absoluteUntil: 150 })
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
