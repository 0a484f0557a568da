/**
 * A customer that was erased: nothing in the whole database names them.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import {
  AuditStore,
  Campaign,
  CampaignStore,
  Capabilities,
  Customers,
  type Idempotency,
  InboundPostStore,
  KeptAnswerStore,
  MediaStore,
  PhoneNumberStore,
  Vault
} from "@wac/core"
import { DeliveryFixture, Fixture, MessageFixture } from "@wac/testkit"
import { Effect, Layer, Stream } from "effect"
import { freshDatabase, storageIn } from "../servers.ts"

const phone = "+5511987654321"
const digits = "5511987654321"
/** As the provider writes it. */
const short = "+551187654321"
const user = "BR.987654"
const vault = Layer.mock(Vault.Vault, {
  keyIds: { current: "one", previous: undefined },
  fingerprint: (text) => Effect.succeed(`hash of ${text.length}`)
})

/** Every row of every table as text, with bytes as the text that they hold. */
const dump = Effect.gen(function*() {
  const client = yield* PgClient.PgClient
  const tables = yield* client<{ readonly name: string }>`
    select relname as name from pg_class where relnamespace = 'wac'::regnamespace and relkind = 'r'`
  const rows = yield* Effect.forEach(
    tables,
    ({ name }) =>
      client.unsafe<{ readonly row: string }>(`select '${name} ' || to_json(t)::text as row from wac.${name} t`)
  )
  const readable = (row: string) =>
    row.replace(/\\\\x([0-9a-f]+)/g, (_, hex: string) => Buffer.from(hex, "hex").toString("latin1"))
  return rows.flat().map(({ row }) => readable(row))
})

const database = Layer.unwrap(
  Effect.map(freshDatabase(), (url) =>
    Layer.merge(
      Layer.provideMerge(Layer.provide(Customers.Customers.layer, vault), storageIn(url)),
      Layer.orDie(PgClient.layer({ url, maxConnections: 1 }))
    ))
).pipe(Layer.provideMerge(Layer.merge(Fixture.layer, Fixture.timeOfAsker)))

layer(database, { excludeTestServices: true })("a customer", (it) => {
  it.effect("after a customer was exported and erased, no table holds the number or the provider's id", () =>
    Effect.gen(function*() {
      const own = yield* Fixture.world()
      const { id: workspaceId } = own.workspace
      const customers = yield* Customers.Customers
      const media = yield* MediaStore.MediaStore
      const campaigns = yield* CampaignStore.CampaignStore
      yield* Fixture.putWebhook(own)
      // a message with a file, from the customer, whom the provider names by number and id
      const file = yield* media.expect({
        id: yield* Fixture.id("med"),
        workspaceId,
        phoneNumberId: own.number.id,
        providerMediaId: "4711",
        filename: `passport of ${digits}.pdf`,
        sha256: null,
        createdAt: own.start
      }, null)
      yield* MessageFixture.inbound(own, {
        customer: { phone: short, userId: user },
        content: { type: "document", content: { media_id: file, mime_type: "application/pdf" } }
      })
      // sends: delivered, refused, not sent, unknown, and one that waits in a campaign
      const message = MessageFixture.template({ to: phone, clientReference: `order of ${digits}` })
      const { messageId } = yield* MessageFixture.sent(own, { message })
      yield* MessageFixture.report({ status: "delivered", at: own.start, reference: messageId })
      const ends = [
        yield* MessageFixture.refusedOutcome(own.start),
        yield* MessageFixture.notSentOutcome,
        { _tag: "Unknown" } as const
      ]
      for (const end of ends) {
        const { command } = yield* MessageFixture.claimed(own, { message })
        yield* MessageFixture.settle(command, end)
      }
      const id = yield* Fixture.id("cmp")
      yield* campaigns.create(Campaign.make({ id, workspaceId, createdAt: own.start }, {
        name: "Orders",
        template: { name: "plain", language: "en_US" }
      }))
      yield* campaigns.addRows({
        workspaceId,
        id,
        rows: [{ recipient: { to: phone } }],
        upload: "whole",
        isFirst: true,
        end: "add"
      })
      yield* campaigns.change({ workspaceId, id, now: own.start, change: { _tag: "Check" } })
      for (let piece = 0; piece < 3; piece++) {
        yield* campaigns.work({
          now: own.start,
          limit: 10,
          limits: Fixture.roomy,
          rateCard: [],
          provider: own.number.provider,
          capabilities: Capabilities.all,
          messageIds: yield* Effect.replicateEffect(Fixture.id("msg"), 10),
          hashes: {},
          hashedFor: null,
          ids: yield* Fixture.eventIds
        })
      }
      // a post that was processed
      const posts = yield* InboundPostStore.InboundPostStore
      const provider = "whatsapp"
      const digest = "ab".repeat(32)
      const numbers = yield* PhoneNumberStore.PhoneNumberStore.use((store) => store.list(workspaceId))
      const body = { wa_id: short.slice(1), metadata: { phone_number_id: numbers[0]!.providerNumberId } }
      yield* posts.keep({ provider, digest, now: own.start, body: Buffer.from(JSON.stringify(body)) })
      const limit = { posts: 10, bytes: 1_000_000 }
      yield* posts.claim({ now: own.start, provider, token: "t", leaseUntil: own.start + 1000, limit })
      yield* posts.complete({ provider, digest, token: "t", now: own.start })

      // the answer to a person who retried a delivery about the customer
      const answers = yield* KeptAnswerStore.KeptAnswerStore
      const place = {
        workspaceId,
        caller: "usr_1",
        route: "POST /internal/webhook/deliveries/dlv_1/retry",
        key: "retry" as Idempotency.IdempotencyKey
      }
      yield* answers.claim(place, { fingerprint: "f", token: "t", isRepeatable: false }, own.start)
      yield* answers.settle(place, "t", { status: 200, body: JSON.stringify({ customer: phone }) }, own.start)

      const names = [digits, short.slice(1), user]
      const holds = (rows: ReadonlyArray<string>) => rows.filter((row) => names.some((name) => row.includes(name)))
      const tables = new Set(holds(yield* dump).map((row) => row.split(" ")[0]))
      assert.sameMembers([...tables], [
        "buckets",
        "campaign_rows",
        "contacts",
        "conversations",
        "events",
        "inbound_messages",
        "inbound_post_bodies",
        "kept_answers",
        "media",
        "messages"
      ])

      const exported = yield* Stream.runCollect(customers.export(workspaceId, user))
      const counts = new Map<string, number>()
      for (const { kind } of exported) counts.set(kind, (counts.get(kind) ?? 0) + 1)
      assert.deepStrictEqual(Object.fromEntries(counts), {
        delivery: 4,
        event: 4,
        file: 1,
        message: 5,
        inbound_message: 1,
        campaign_row: 1,
        provider_post: 1,
        contact: 1
      })

      const erased = yield* customers.erase(workspaceId, phone)
      assert.strictEqual(erased.files, 1)
      assert.deepStrictEqual(holds(yield* dump), [])
      assert.deepStrictEqual(yield* Stream.runCollect(customers.export(workspaceId, phone)), [])

      const audit = yield* AuditStore.AuditStore.use((store) => store.list(workspaceId, {}, { limit: 10, after: null }))
      assert.deepStrictEqual(audit.items.map(({ action, by, detail, target }) => ({ action, by, detail, target })), [{
        action: "customer.erase",
        by: null,
        detail: Object.fromEntries(Object.entries(erased).map(([place, count]) => [place, `${count}`])),
        target: `hash of ${`customer ${phone}`.length}`
      }])
      // again, there is nothing to erase
      assert.isTrue(Object.values(yield* customers.erase(workspaceId, phone)).every((count) => count === 0))
    }))

  it.effect("an erasure deletes deliveries whose events are gone, of which an export knows nothing", () =>
    Effect.gen(function*() {
      const own = yield* Fixture.world()
      const client = yield* PgClient.PgClient
      const customers = yield* Customers.Customers
      yield* Fixture.putWebhook(own)
      yield* DeliveryFixture.record(own, 2)
      const { messageId } = yield* MessageFixture.sent(own)
      // what an erasure of an earlier version left
      yield* client`delete from wac.events where workspace_id = ${own.workspace.id}`
      yield* MessageFixture.report({ status: "delivered", at: own.start, reference: messageId })
      const [, , , follower] = yield* DeliveryFixture.views(own)
      assert.isNull(follower!.delivery.nextAttemptAt)
      assert.deepStrictEqual(yield* Stream.runCollect(customers.export(own.workspace.id, "+12025550177")), [])
      assert.strictEqual((yield* customers.erase(own.workspace.id, "+12025550177")).deliveries, 3)
      const claimed = yield* DeliveryFixture.claimOne(own, { now: own.start + Fixture.day })
      assert.strictEqual(claimed.delivery.id, follower!.delivery.id)
    }))
})
