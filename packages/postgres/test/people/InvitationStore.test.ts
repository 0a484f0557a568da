/**
 * Invitations of one address that two processes make or accept at once.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { InvitationStore, MemberStore } from "@wac/core"
import { Fixture, PeopleFixture } from "@wac/testkit"
import { Effect, Fiber, Option } from "effect"
import * as DeliveryProcesses from "../webhooks/DeliveryProcesses.ts"

layer(DeliveryProcesses.layer)("two processes that accept invitations", (it) => {
  it.effect("of two that create the account of one address, one does, and the other learns that it exists", () =>
    Effect.gen(function*() {
      const accept = (command: Effect.Success<ReturnType<typeof PeopleFixture.acceptance>>) =>
        InvitationStore.InvitationStore.use((store) => store.accept(command))
      for (let round = 0; round < 10; round++) {
        const email = `${yield* Fixture.word}@example.com`
        const [one, other] = yield* Effect.replicateEffect(
          Effect.gen(function*() {
            const invitation = yield* PeopleFixture.invitation(yield* Fixture.world(), { email })
            yield* InvitationStore.InvitationStore.use((store) => store.create(invitation))
            return yield* PeopleFixture.acceptance(invitation)
          }),
          2
        )
        const answers = yield* Effect.all([accept(one!), DeliveryProcesses.elsewhere(accept(other!))], {
          concurrency: "unbounded"
        })
        assert.sameMembers(answers.map(({ _tag }) => _tag), ["Accepted", "Unproven"])
        const account = yield* MemberStore.MemberStore.use((store) => store.findByEmail(email))
        assert.lengthOf(Option.getOrThrow(account).memberships, 1)
      }
    }))
})

layer(DeliveryProcesses.layer)("two processes that make the first invitations of one address", (it) => {
  it.effect("an admin's does not replace an owner's that was made at the same time", () =>
    Effect.gen(function*() {
      const { open, waiting } = DeliveryProcesses
      const client = yield* PgClient.PgClient
      const store = yield* InvitationStore.InvitationStore
      const own = yield* Fixture.world()
      const [owner, admin] = [
        PeopleFixture.maker(yield* PeopleFixture.joined(own, { role: "owner" })),
        PeopleFixture.maker(yield* PeopleFixture.joined(own, { role: "admin" }))
      ]
      const first = yield* PeopleFixture.invitation(own, { by: owner, role: "owner" })
      const second = yield* PeopleFixture.invitation(own, { by: admin, email: first.email })
      // both have looked for another invitation before the first one is written
      const writes = yield* open(client`lock table wac.invitations in share mode`)
      const made = yield* Effect.forkChild(store.create(first), { startImmediately: true })
      yield* waiting(1)
      const instead = yield* Effect.forkChild(
        DeliveryProcesses.elsewhere(InvitationStore.InvitationStore.use((store) => store.create(second))),
        { startImmediately: true }
      )
      yield* waiting(2)
      yield* writes.commit
      const answers = [yield* Fiber.join(made), yield* Fiber.join(instead)]
      assert.deepStrictEqual(answers.map(({ _tag }) => _tag), ["Created", "Refused"])
      assert.deepStrictEqual(yield* store.find(first.tokenHash), Option.some(first))
    }))
})
