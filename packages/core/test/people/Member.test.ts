import { assert, it } from "@effect/vitest"
import { issued, missing } from "../../src/keys/ApiScope.ts"
import { Role, roleRefusal } from "../../src/people/Member.ts"

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

it("every key is issued with messages:send, and lacks it only if it was taken away", () => {
  assert.deepStrictEqual(issued, ["messages:send"])
  assert.isUndefined(missing(issued, "messages:send"))
  assert.strictEqual(missing([], "messages:send")?.reason, "missing_scope")
})
