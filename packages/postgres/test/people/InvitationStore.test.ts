/**
 * Invitations of one address that two processes accept at once.
 */
import { assert, layer } from "@effect/vitest"
import { InvitationStore, MemberStore } from "@wac/core"
import { Fixture, PeopleFixture } from "@wac/testkit"
import { Effect, Option } from "effect"
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
