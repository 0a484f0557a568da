import { assert, it } from "@effect/vitest"
import { changeRefusal, Role, roleRefusal, sessionsRefusal } from "../../src/people/Member.ts"

it("a role may do what lower roles may, and nothing that needs a higher one", () => {
  const order = ["member", "developer", "admin", "owner"] as const
  assert.deepStrictEqual(Role.literals, order)
  for (const [i, role] of order.entries()) {
    for (const [j, needed] of order.entries()) {
      const error = roleRefusal(role, needed)
      assert.strictEqual(error?.reason, i < j ? "role_not_allowed" : undefined, `${role} where ${needed} is needed`)
      if (error !== undefined) assert.strictEqual(error.code, "forbidden")
    }
  }
})

it("admins and owners manage members, only owners manage owners, and the last owner stays", () => {
  const refused = (by: Role | null, member: Role, role: Role | null, owners = 2) =>
    changeRefusal(by, { role: member }, role, owners) !== undefined
  for (const by of [null, "member", "developer"] as const) {
    for (const member of Role.literals) {
      for (const role of [null, ...Role.literals]) assert.isTrue(refused(by, member, role), `${by} ${member} ${role}`)
    }
  }
  for (const member of ["member", "developer", "admin"] as const) {
    for (const role of [null, "member", "developer", "admin"] as const) {
      assert.isFalse(refused("admin", member, role), `${member} ${role}`)
      assert.isTrue(refused("admin", "owner", role), `owner ${role}`)
    }
    assert.isTrue(refused("admin", member, "owner"), member)
    assert.isFalse(refused("owner", member, "owner"), member)
  }
  for (const role of [null, "member", "admin"] as const) {
    assert.isFalse(refused("owner", "owner", role), `${role}`)
    assert.isTrue(refused("owner", "owner", role, 1), `${role}`)
  }
  assert.isFalse(refused("owner", "owner", "owner", 1))
})

it("admins and owners end members' sessions, and only owners end owners'", () => {
  for (const by of Role.literals) {
    for (const role of Role.literals) {
      const isAllowed = by === "owner" || (by === "admin" && role !== "owner")
      assert.strictEqual(sessionsRefusal(by, { role }) === undefined, isAllowed, `${by} ${role}`)
    }
  }
})
