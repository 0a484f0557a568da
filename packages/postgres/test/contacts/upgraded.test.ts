/**
 * Contacts of a version before customers had several names: nothing that was known of them is lost by the migrations,
 * and two contacts that turn out to be one customer are merged when the provider tells their names together.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Contact, ContactStore, type Id } from "@wac/core"
import { Fixture, MessageFixture } from "@wac/testkit"
import { Effect, Layer } from "effect"
import * as Migrations from "../../src/Migrations.ts"
import * as PostgresClient from "../../src/PostgresClient.ts"
import { emptyDatabase, storageIn } from "../servers.ts"

/** The newest migration that knew a customer by one number and one user id only. */
const before = Migrations.all.findIndex(({ name }) => name === "contact names")

it.live("an upgrade keeps every contact, window and opt-out, and contacts of one customer are merged when next met", () =>
  Effect.gen(function*() {
    const url = yield* emptyDatabase()
    const names = ["+2290197000901", "+22997000901", "BJ.1", "+12025550001", "US.2"]
    yield* Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      yield* Migrations.run(Migrations.all.slice(0, before))
      yield* client`insert into wac.workspaces (id, name, created_at) values ('ws_1', 'One', 0)`
      yield* client`
        insert into wac.phone_numbers (id, workspace_id, phone_number, provider, provider_number_id, provider_account_id)
        values ('pn_1', 'ws_1', '+12025550100', 'sandbox', 'n', 'a')`
      for (const [i, name] of names.entries()) {
        const [phone, userId] = name.startsWith("+") ? [name, null] : [null, name]
        yield* client`insert into wac.contacts (workspace_id, phone_number_id, key, phone, user_id, is_user_first, last_inbound_at,
          opted_out, preference_at, known_since)
          values ('ws_1', 'pn_1', ${name}, ${phone}, ${userId}, ${phone === null}, ${1_000 + i}, ${
          i === 1
        }, ${i}, ${i})`
      }
    }).pipe(Effect.provide(Layer.fresh(PostgresClient.layer({ url, maxConnections: 1 }))))
    yield* Effect.gen(function*() {
      const store = yield* ContactStore.ContactStore
      const list = Effect.map(
        store.list("ws_1" as Id.WorkspaceId, {}, { limit: 10, after: null }),
        ({ items }) => items
      )
      const kept = yield* list
      assert.sameDeepMembers(
        kept.map(({ key, lastInboundAt, optedOut, preferenceAt }) => [key, lastInboundAt, optedOut, preferenceAt]),
        names.map((name, i) => [name, 1_000 + i, i === 1, i])
      )
      const met: Contact.Customer = { phone: names[0]!, userId: names[2]!, aliases: [names[1]!] }
      yield* store.recordNames({
        now: 5_000,
        hashes: MessageFixture.hashesOf(met),
        providerNumberId: "n",
        customer: met,
        at: 5_000
      })
      const merged = yield* list
      assert.lengthOf(merged, 3)
      const one = merged.find(({ key }) => key === names[0])!
      assert.deepStrictEqual([one.lastInboundAt, one.optedOut, one.customer.userId], [1_002, true, names[2]])
      assert.sameMembers([...Contact.keysOf(one.key, one)], names.slice(0, 3))
    }).pipe(
      Effect.provide(
        Layer.merge(Layer.provide(storageIn(url, { maxConnections: 2 }), Fixture.timeOfAsker), Fixture.layer)
      )
    )
  }).pipe(Effect.scoped))
