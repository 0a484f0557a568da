/**
 * Conformance of `MemberStore`; what a new password does to sessions is in `SessionStoreSuite`.
 */
import { assert } from "@effect/vitest"
import { MemberStore, WorkspaceStore } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import { type Founded, founder } from "../workspaces/WorkspaceStoreSuite.ts"

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a member who does not exist is not found", () =>
    Effect.gen(function*() {
      const members = yield* MemberStore.MemberStore
      assert.deepStrictEqual(yield* members.findByEmail(`${yield* Fixture.word}@example.com`), Option.none())
      assert.deepStrictEqual(yield* members.findByUserId(yield* Fixture.id("usr")), Option.none())
      assert.deepStrictEqual(yield* members.setPassword(yield* Fixture.id("usr"), "$argon2id$"), Option.none())
    }))
}

/** Registers the tests that need a member, whom only {@link Founded} makes. */
export const testsOfEmpty = (it: Fixture.FoundedIt<Founded>): void => {
  it.effect("the owner is found by e-mail address and by id, with the workspace as it is now", () =>
    Effect.gen(function*() {
      const store = yield* WorkspaceStore.WorkspaceStore
      const members = yield* MemberStore.MemberStore
      const { owner, workspace } = yield* founder
      assert.deepStrictEqual(yield* members.findByEmail(owner.email), Option.some({ member: owner, workspace }))
      assert.deepStrictEqual(yield* members.findByUserId(owner.userId), Option.some({ member: owner, workspace }))
      assert.deepInclude(yield* members.list, { member: owner, workspace })
      yield* store.configure(workspace.id, { monthlyQuota: 6000 })
      assert.deepStrictEqual(
        yield* members.findByUserId(owner.userId),
        Option.some({ member: owner, workspace: { ...workspace, monthlyQuota: 6000 } })
      )
      yield* store.configure(workspace.id, { monthlyQuota: workspace.monthlyQuota })
    }))
}
