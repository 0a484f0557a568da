/**
 * A number can be removed however much belongs to it, and each statement deletes a bounded part of that.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { PhoneNumberStore } from "@wac/core"
import { Fixture, MessageFixture, QueueFixture } from "@wac/testkit"
import { Effect, Layer } from "effect"
import { removedAtOnce } from "../src/numbers/PhoneNumberStep.ts"
import { bound } from "./bound.ts"
import { storageAndClient } from "./servers.ts"

const count = 5 * removedAtOnce + 1

const tables = ["contacts", "inbound_messages", "buckets"]

/** Every one is a customer's, under their user id. */
const said = 2 * removedAtOnce + 1

layer(Layer.provideMerge(bound(removedAtOnce, [...tables, "conversations"]), storageAndClient), {
  excludeTestServices: true
})(
  "a number with many customers",
  (it) => {
    it.effect("its removal deletes all that belongs to it, in parts", () =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        const own = yield* Fixture.world()
        const { id } = own.number
        const given = [id, own.workspace.id]
        yield* client.unsafe(
          `insert into wac.contacts (workspace_id, phone_number_id, key, phone, user_id, last_inbound_at)
          select $2, $1, '+1202' || i, '+1202' || i, 'US.' || i, 1 from generate_series(1, ${count}) i`,
          given
        )
        yield* client.unsafe(
          `insert into wac.inbound_messages (workspace_id, phone_number_id, provider_message_id, message_id, expires_at)
          select $2, $1, 'wamid.' || i, 'msg_' || i, 1 from generate_series(1, ${count}) i`,
          given
        )
        yield* client.unsafe(
          `insert into wac.buckets (key, full_at, phone_number_id, counted_at)
          select 'pair:' || $1 || ':' || i, 1, $1, 1 from generate_series(1, ${count}) i`,
          [id]
        )
        yield* client`update wac.phone_numbers set customers_counted = ${count} where id = ${id}`
        // one customer wrote much under a user id before the number was known, and many wrote once
        yield* client.unsafe(
          `insert into wac.conversations (message_id, workspace_id, phone_number_id, customer, is_inbound)
          select $1 || i, $2, $1, 'US.' || greatest(1, i - ${said}), false from generate_series(1, ${2 * said}) i`,
          given
        )
        const store = yield* PhoneNumberStore.PhoneNumberStore
        assert.isTrue(yield* store.remove(id))
        const left =
          yield* client`select 1 from wac.conversations where phone_number_id = ${id} and customer !~ '^[+]1202'`
        assert.lengthOf(left, 0)
        for (const table of tables) {
          const rows = yield* client`select 1 from wac.${client(table)} where phone_number_id = ${id}`
          assert.lengthOf(rows, 0, table)
        }
        assert.isFalse(yield* store.remove(id))
      }))

    it.effect("what customers write while the number is being removed stays with what they wrote before", () =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        const own = yield* Fixture.world()
        const { id } = own.number
        const given = [id, own.workspace.id]
        // many write while the other parts are removed, and one after the last part that finds a contact
        yield* client.unsafe(`create function wac.write_late() returns trigger language plpgsql as $$ begin
          if not exists (select from gone) then
            insert into wac.contacts (workspace_id, phone_number_id, key, phone, user_id)
            select c.workspace_id, c.phone_number_id, replace(c.customer, 'US.', '+1202'),
              replace(c.customer, 'US.', '+1202'), c.customer
            from wac.conversations c where c.customer like
              case tg_table_name when 'contacts' then 'US.late' else 'US.early%' end
            on conflict do nothing;
          end if;
          return null;
        end $$`)
        for (const table of ["contacts", "inbound_messages"]) {
          yield* client.unsafe(`create trigger write_late after delete on wac.${table}
            referencing old table as gone for each statement execute function wac.write_late()`)
        }
        yield* client.unsafe(
          `insert into wac.conversations (message_id, workspace_id, phone_number_id, customer, is_inbound)
          select $1 || i, $2, $1, case i when 0 then 'US.late' else 'US.early' || i end, false
          from generate_series(0, ${count}) i`,
          given
        )
        const store = yield* PhoneNumberStore.PhoneNumberStore
        assert.isTrue(yield* store.remove(id))
        for (const table of ["contacts", "inbound_messages"]) {
          yield* client`drop trigger write_late on wac.${client(table)}`
        }
        const left =
          yield* client`select 1 from wac.conversations where phone_number_id = ${id} and customer like 'US%'`
        assert.lengthOf(left, 0)
      }))

    it.effect("while it is being removed it is not available, and what sends have spent stays right", () =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        const own = yield* Fixture.world()
        const { id } = own.number
        yield* client.unsafe(
          `insert into wac.buckets (key, full_at, phone_number_id, counted_at)
          select 'pair:' || $1 || ':' || i, 1, $1, 1 from generate_series(1, ${count}) i`,
          [id]
        )
        yield* client`update wac.phone_numbers set customers_counted = ${count} where id = ${id}`
        // the last step fails
        yield* client`create function wac.refuse() returns trigger language plpgsql as $$ begin
          raise exception 'not now';
        end $$`
        yield* client`create trigger refuse before delete on wac.phone_numbers execute function wac.refuse()`
        const store = yield* PhoneNumberStore.PhoneNumberStore
        yield* Effect.flip(store.remove(id))
        const [left] = yield* client`select available, customers_counted from wac.phone_numbers where id = ${id}`
        assert.deepStrictEqual(left, { available: false, customers_counted: 0 })
        yield* client`drop trigger refuse on wac.phone_numbers`
        assert.isTrue(yield* store.remove(id))
      }))

    it.effect("while the default number is being removed, messages that name no number are sent from the next one", () =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        const own = yield* Fixture.world()
        const store = yield* PhoneNumberStore.PhoneNumberStore
        const { providerAccountId } = own.number
        const next = yield* Fixture.phoneNumber(own.workspace.id, { isDefault: false, providerAccountId })
        assert.isTrue(yield* store.add(next))
        const elsewhere = yield* Fixture.phoneNumber(own.workspace.id, { provider: "other", isDefault: true })
        assert.isTrue(yield* store.add(elsewhere))
        // a part fails
        yield* client`create function wac.refuse_contact() returns trigger language plpgsql as $$ begin
          raise exception 'not now';
        end $$`
        yield* client`create trigger refuse before delete on wac.contacts for each statement
          execute function wac.refuse_contact()`
        yield* Effect.flip(store.remove(own.number.id))
        yield* client`drop trigger refuse on wac.contacts`
        const sorted = Effect.map(store.list(own.workspace.id), (all) => all.toSorted((a, b) => a.id < b.id ? -1 : 1))
        const others = [{ ...next, isDefault: true }, elsewhere].toSorted((a, b) => a.id < b.id ? -1 : 1)
        assert.deepStrictEqual(yield* sorted, [{ ...own.number, isDefault: false, available: false }, ...others])
        const { accepted } = yield* MessageFixture.claimed(own)
        assert.strictEqual(accepted.message.phoneNumberId, next.id)
        const { message } = yield* QueueFixture.queued(own)
        assert.strictEqual(message.phoneNumberId, next.id)
        assert.isTrue(yield* store.remove(own.number.id))
        assert.deepStrictEqual(yield* sorted, others)
      }))
  }
)
