/**
 * The stored form of campaigns beside the version before this one, which shows only the reasons of pauses that it knows.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Campaign } from "@wac/core"
import { CampaignFixture, Fixture } from "@wac/testkit"
import { Effect } from "effect"
import { storageAndClient } from "../servers.ts"

const { add, changed, draft, get, running } = CampaignFixture

/** The reasons that the version before knows. */
const known = [
  "person",
  "template_not_approved",
  "sender_not_available",
  "quota_exhausted",
  "failure_rate",
  "provider_policy",
  "restored"
]

layer(storageAndClient, { excludeTestServices: true })("a stored campaign", (it) => {
  it.effect("every reason of a pause is read as it is, and stored as one that the version before this one shows", () =>
    Effect.gen(function*() {
      const own = yield* Fixture.world()
      const client = yield* PgClient.PgClient
      for (const reason of Campaign.PauseReason.literals) {
        const campaign = yield* running(own, 1)
        yield* changed(campaign, own.start, { _tag: "PauseFor", reason })
        assert.strictEqual((yield* get(campaign)).pausedFor, reason)
        const [stored] = yield* client<{ readonly reason: string }>`
          select state ->> 'pausedFor' as reason from wac.campaigns where id = ${campaign.id}`
        assert.include(known, stored!.reason, reason)
        // the version before leaves fields as they are that it does not know
        yield* client`update wac.campaigns
          set state = (state::jsonb || '{"pausedFor":"failure_rate"}')::json where id = ${campaign.id}`
        assert.strictEqual((yield* get(campaign)).pausedFor, "failure_rate")
        yield* changed(campaign, own.start, { _tag: "Cancel" })
        yield* CampaignFixture.workAll(own, own.start)
      }
    }))

  it.effect("the rows without a time zone are forgotten when the version before begins a check anew", () =>
    Effect.gen(function*() {
      const own = yield* Fixture.world()
      const client = yield* PgClient.PgClient
      const campaign = yield* draft(own)
      yield* add(campaign, [{ recipient: { to: "+79161234501", variables: { number: "1" } } }])
      yield* changed(campaign, own.start, { _tag: "Check" })
      yield* CampaignFixture.workAll(own, own.start)
      assert.deepStrictEqual((yield* get(campaign)).zoneless, [{ countries: ["RU"], messages: 1 }])
      yield* client`update wac.campaigns
        set state = (state::jsonb || '{"checked":0,"status":"draft","forecast":null}')::json where id = ${campaign.id}`
      assert.deepStrictEqual((yield* get(campaign)).zoneless, [])
    }))
})
