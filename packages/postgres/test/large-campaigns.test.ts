/**
 * Changes of a campaign touch a bounded number of rows in each statement, however many recipients it has: a statement
 * that takes too long is undone, and would fail at each repetition.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { type Campaign, CampaignStore, type Id } from "@wac/core"
import { CampaignFixture, Fixture, MessageFixture } from "@wac/testkit"
import { Effect, Fiber, Layer, Option } from "effect"
import { clearedAtOnce } from "../src/campaigns/ChangeCampaign.ts"
import { bound } from "./bound.ts"
import { storageAndClient } from "./servers.ts"

const { get, put, row } = CampaignFixture

/** The recipients of a campaign. */
const recipients = 20_000

const bounded = bound(clearedAtOnce, ["campaign_rows", "messages", "send_queue"])

const count = (table: "campaign_rows" | "send_queue" | "campaign_tallies", { id }: Campaign.Campaign) =>
  PgClient.PgClient.use((client) =>
    Effect.map(
      client.unsafe<{ readonly count: number }>(
        `select count(*)::int as count from wac.${table} where campaign_id = $1`,
        [id]
      ),
      ([row]) => row!.count
    )
  )

const messagesOf = ({ id }: Campaign.Campaign) =>
  PgClient.PgClient.use((client) =>
    Effect.map(
      client<{ readonly count: number }>`select count(*)::int as count from wac.messages where campaign_id = ${id}`,
      ([row]) => row!.count
    )
  )

/** Adds rows behind a campaign's rows. */
const fill = (id: Id.CampaignId, after: number) =>
  PgClient.PgClient.use((client) =>
    client.unsafe(
      `insert into wac.campaign_rows (campaign_id, place, content, customer)
      select $1, $2 + i, json_build_object('recipient', json_build_object('to', '+1202' || i)), '+1202' || i
      from generate_series(1, ${recipients}) i`,
      [id, after]
    )
  )

/** Writes fields of a campaign's state. */
const set = (id: Id.CampaignId, fields: Partial<Campaign.Campaign>) =>
  PgClient.PgClient.use((client) =>
    client.unsafe(
      "update wac.campaigns set state = (state::jsonb || $2::text::jsonb)::json where id = $1",
      [id, JSON.stringify(fields)]
    )
  )

/** A campaign whose recipients are checked, except every thousandth, whose row has a problem. */
const checked = (own: Fixture.World) =>
  Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    const campaign = yield* CampaignFixture.draft(own)
    const { id } = campaign
    yield* fill(id, 0)
    for (let after = 0; after < recipients; after += clearedAtOnce) {
      yield* client.unsafe(
        `update wac.campaign_rows set
          message_id = case when place % 1000 > 0 then 'msg_' || substr($1, 5, 20) || lpad(place::text, 6, '0') end,
          problem = case when place % 1000 = 0 then '{"reason":"duplicate","message":"m"}'::json end
        where campaign_id = $1 and place > ${after} and place <= ${after + clearedAtOnce}`,
        [id]
      )
    }
    yield* client.unsafe(
      `insert into wac.messages (id, workspace_id, campaign_id, phone_number_id, from_number, content, status,
        status_at, created_at, route, key, fingerprint)
      select r.message_id, $2, $1, 'pn', '+14155550100', '{"type":"text"}', 'queued', 1, 1, 'campaign ' || $1,
        r.customer, 'f'
      from wac.campaign_rows r where r.campaign_id = $1 and r.message_id is not null`,
      [id, own.workspace.id]
    )
    yield* client.unsafe(
      `insert into wac.send_queue (message_id, campaign_id, due_at)
      select r.message_id, $1, 1 from wac.campaign_rows r where r.campaign_id = $1 and r.message_id is not null`,
      [id]
    )
    yield* client.unsafe(
      `insert into wac.campaign_tallies (campaign_id, shard, outcome, recipients) values ($1, 0, 'queued', $2)`,
      [id, recipients - recipients / 1000]
    )
    yield* set(id, { status: "ready", rows: recipients, checked: recipients, problems: recipients / 1000 })
    return yield* get(campaign)
  })

const edit = { _tag: "Edit", plan: { template: { name: "order", language: "de" } } } as const

layer(Layer.provideMerge(bounded, storageAndClient), { excludeTestServices: true })(
  "a campaign with many recipients",
  (it) => {
    it.effect("a checked campaign's template can be changed, which deletes all of its messages", () =>
      Effect.gen(function*() {
        const own = yield* Fixture.world()
        const campaign = yield* checked(own)
        yield* CampaignFixture.changed(campaign, own.start, edit)
        assert.deepInclude(yield* get(campaign), { status: "draft", rows: recipients, checked: 0 })
        assert.deepStrictEqual(
          [
            yield* messagesOf(campaign),
            yield* count("send_queue", campaign),
            yield* count("campaign_tallies", campaign),
            yield* count("campaign_rows", campaign)
          ],
          [0, 0, 0, recipients]
        )
        const store = yield* CampaignStore.CampaignStore
        const rows = yield* store.rows(own.workspace.id, campaign.id, { after: 0, limit: 1000 })
        assert.isTrue(rows.every(({ message, problem }) => message === null && problem === null))
      }))

    it.effect("a change that was interrupted before its messages were deleted is completed before the next check", () =>
      Effect.gen(function*() {
        const own = yield* Fixture.world()
        const campaign = yield* checked(own)
        yield* set(campaign.id, { status: "draft", checked: 0, problems: 0 })
        const store = yield* CampaignStore.CampaignStore
        const rows = yield* store.rows(own.workspace.id, campaign.id, { after: 0, limit: 1000 })
        assert.lengthOf(rows, 1000)
        assert.isTrue(rows.every(({ message, problem }) => message === null && problem === null))
        assert.strictEqual((yield* get(campaign)).counts.queued, 0)
        assert.deepInclude(yield* CampaignFixture.changed(campaign, own.start, { _tag: "Check" }), {
          status: "checking"
        })
        assert.deepStrictEqual(
          [
            yield* messagesOf(campaign),
            yield* count("send_queue", campaign),
            // as an erasure leaves one, which counts a message that is still to be deleted
            yield* count("campaign_tallies", campaign)
          ],
          [0, 0, 0]
        )
        yield* CampaignFixture.changed(campaign, own.start, { _tag: "Cancel" })
        yield* CampaignFixture.workAll(own, own.start)
      }))

    it.effect("a file can replace all recipients of a checked campaign", () =>
      Effect.gen(function*() {
        const own = yield* Fixture.world()
        const campaign = yield* checked(own)
        assert.isTrue(yield* put(campaign, "file", [row(1)], { isFirst: true, end: "replace" }))
        assert.deepInclude(yield* get(campaign), { status: "draft", rows: 1, replaced: recipients, checked: 0 })
        assert.deepStrictEqual([yield* messagesOf(campaign), yield* count("campaign_rows", campaign)], [0, 1])
      }))

    it.effect("a checked campaign can be deleted", () =>
      Effect.gen(function*() {
        const own = yield* Fixture.world()
        const campaign = yield* checked(own)
        const store = yield* CampaignStore.CampaignStore
        assert.isTrue(yield* store.remove(own.workspace.id, campaign.id))
        assert.deepStrictEqual(yield* store.get(own.workspace.id, campaign.id), Option.none())
        assert.deepStrictEqual([yield* messagesOf(campaign), yield* count("campaign_rows", campaign)], [0, 0])
      }))

    it.effect("an upload that breaks off after many rows can be dropped", () =>
      Effect.gen(function*() {
        const own = yield* Fixture.world()
        const campaign = yield* CampaignFixture.draft(own)
        assert.isTrue(yield* put(campaign, "broken", [row(1)], { isFirst: true }))
        yield* fill(campaign.id, 1)
        yield* set(campaign.id, { upload: { id: "broken", rows: recipients + 1 } })
        assert.isTrue(yield* put(campaign, "broken", [], { end: "drop" }))
        assert.deepStrictEqual(yield* get(campaign), campaign)
        assert.strictEqual(yield* count("campaign_rows", campaign), 0)
      }))

    for (
      const [what, upload] of [["which nobody dropped", { id: "broken", rows: recipients }], [
        "whose rows were not all deleted",
        null
      ]] as const
    ) {
      it.effect(`an upload can begin after one that broke off after many rows, ${what}`, () =>
        Effect.gen(function*() {
          const own = yield* Fixture.world()
          const campaign = yield* CampaignFixture.draft(own)
          yield* fill(campaign.id, 0)
          yield* set(campaign.id, { upload })
          assert.isTrue(yield* put(campaign, "next", [row(1)], { isFirst: true }))
          assert.isFalse(yield* put(campaign, "broken", [row(3)]))
          assert.isTrue(yield* put(campaign, "next", [row(2)], { end: "add" }))
          assert.deepStrictEqual(yield* get(campaign), { ...campaign, rows: 2 })
          assert.strictEqual(yield* count("campaign_rows", campaign), 2)
        }))
    }

    it.effect("of two uploads that begin together after one that broke off, exactly one ends, with its own rows", () =>
      Effect.gen(function*() {
        const own = yield* Fixture.world()
        const campaign = yield* CampaignFixture.draft(own)
        yield* fill(campaign.id, 0)
        yield* set(campaign.id, { upload: { id: "broken", rows: recipients } })
        const together = (part: Parameters<typeof put>[3]) =>
          Effect.all([put(campaign, "one", [row(1)], part), put(campaign, "two", [row(2)], part)], {
            concurrency: "unbounded"
          })
        assert.include(yield* together({ isFirst: true }), true)
        const ended = yield* together({ end: "add" })
        assert.sameMembers(ended, [true, false])
        assert.deepStrictEqual(yield* get(campaign), { ...campaign, rows: 2 })
        const store = yield* CampaignStore.CampaignStore
        const rows = yield* store.rows(own.workspace.id, campaign.id, { after: 0, limit: 10 })
        const { customer } = MessageFixture
        const winner = customer(ended[0] ? 1 : 2)
        assert.deepStrictEqual(rows.map(({ value }) => value), [winner, winner])
        assert.strictEqual(yield* count("campaign_rows", campaign), 2)
      }))

    it.effect("a check that is asked for while a change deletes messages begins without them", () =>
      Effect.gen(function*() {
        const own = yield* Fixture.world()
        const campaign = yield* checked(own)
        const change = yield* Effect.forkChild(CampaignFixture.changed(campaign, own.start, edit))
        const check = CampaignFixture.changed(campaign, own.start, { _tag: "Check" })
        // while the campaign is ready, a check changes nothing
        yield* Effect.repeat(check, { while: ({ status }) => status === "ready" })
        assert.deepStrictEqual([yield* messagesOf(campaign), yield* count("send_queue", campaign)], [0, 0])
        yield* Fiber.join(change)
        assert.deepInclude(yield* get(campaign), { status: "checking", checked: 0 })
        yield* CampaignFixture.changed(campaign, own.start, { _tag: "Cancel" })
        yield* CampaignFixture.workAll(own, own.start)
      }))

    it.effect("a campaign can be deleted after an upload that broke off after many rows", () =>
      Effect.gen(function*() {
        const own = yield* Fixture.world()
        const campaign = yield* CampaignFixture.draft(own)
        yield* fill(campaign.id, 0)
        yield* set(campaign.id, { upload: { id: "broken", rows: recipients } })
        const store = yield* CampaignStore.CampaignStore
        assert.isTrue(yield* store.remove(own.workspace.id, campaign.id))
        assert.strictEqual(yield* count("campaign_rows", campaign), 0)
      }))
  }
)
