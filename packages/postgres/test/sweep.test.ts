/**
 * What a sweep does beside the sends that are due.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { MessageStore } from "@wac/core"
import { Fixture, MessageFixture } from "@wac/testkit"
import { Duration, Effect } from "effect"
import { storageAndClient } from "./servers.ts"

const { customer, template } = MessageFixture

layer(storageAndClient, { excludeTestServices: true })("a sweep", (it) => {
  it.effect("a day after a number wrote to customers, they take no space and count no more, whatever the limit", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const own = yield* Fixture.world()
      for (let n = 0; n < 20; n++) yield* MessageFixture.claimed(own, { message: template({ to: customer(n) }) })
      const remembered = Effect.gen(function*() {
        const [number] = yield* client<{ readonly counted: number; readonly buckets: number }>`
          select p.customers_counted as counted, (
            select count(*)::int from wac.buckets b where b.phone_number_id = p.id
          ) as buckets from wac.phone_numbers p where p.id = ${own.number.id}`
        return number
      })
      const sweep = (after: Duration.Duration) =>
        MessageStore.MessageStore.use((store) => store.sweep(own.start + Duration.toMillis(after)))
      yield* sweep(Duration.hours(23))
      assert.deepStrictEqual(yield* remembered, { counted: 20, buckets: 20 })
      yield* sweep(Duration.hours(25))
      assert.deepStrictEqual(yield* remembered, { counted: 0, buckets: 0 })
      // whoever is written to again counts again
      yield* MessageFixture.claimed(own, {
        message: template({ to: customer(1) }),
        now: own.start + Duration.toMillis(Duration.hours(26))
      })
      assert.deepStrictEqual(yield* remembered, { counted: 1, buckets: 1 })
    }))

  it.effect("a table that cannot be tidied keeps no send from its end, and the sweep fails once all are done", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const own = yield* Fixture.world()
      const claims = yield* Effect.forEach(
        Array.from({ length: 40 }, (_, n) => n),
        (n) => MessageFixture.claimed(own, { message: template({ to: customer(n) }) })
      )
      yield* client`create function wac.refuse() returns trigger language plpgsql as $$ begin
        raise exception 'not now';
      end $$`
      yield* client`create trigger refuse before delete on wac.buckets for each statement execute function wac.refuse()`
      const { number } = own
      yield* client`insert into wac.inbound_messages
        (workspace_id, phone_number_id, provider_message_id, message_id, expires_at)
        values (${own.workspace.id}, ${number.id}, 'wamid.old', 'msg_old', 1)`
      const store = yield* MessageStore.MessageStore
      const failure = yield* Effect.flip(store.sweep(own.start + Duration.toMillis(Duration.minutes(5))))
      assert.strictEqual(failure.operation, "MessageStore.sweep")
      for (const { command } of claims) {
        assert.strictEqual((yield* MessageFixture.messageOf(command)).status, "unknown")
      }
      const old = yield* client`select 1 from wac.inbound_messages where phone_number_id = ${number.id}`
      assert.lengthOf(old, 0)
      yield* client`drop trigger refuse on wac.buckets`
    }))
})
