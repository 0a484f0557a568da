import { assert, describe, it } from "@effect/vitest"
import type { WorkspaceId } from "../../src/Id.ts"
import { resetRefusal } from "../../src/people/Factors.ts"
import type { Role } from "../../src/people/Member.ts"
import type { Membership } from "../../src/people/MemberStore.ts"

const membership = (id: string, role: Role): Membership => ({
  role,
  workspace: { id: id as WorkspaceId, name: id, createdAt: 0, tier: null, monthlyQuota: null, suspended: false }
})

describe("resetting the second factor of a person", () => {
  it("only an owner of every workspace that the person is a member of, in whatever role, may do it", () => {
    const owner = [membership("ws_a", "owner"), membership("ws_b", "owner"), membership("ws_c", "admin")]
    assert.isUndefined(resetRefusal(owner, [membership("ws_a", "owner"), membership("ws_b", "member")]))
    for (const elsewhere of ["ws_c", "ws_d"]) {
      const refusal = resetRefusal(owner, [membership("ws_a", "member"), membership(elsewhere, "member")])
      assert.strictEqual(refusal?.reason, "role_not_allowed")
    }
  })
})
