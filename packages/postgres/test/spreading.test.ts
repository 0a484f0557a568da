/**
 * What distributing the tables by workspace would require (docs/decisions/0006-postgresql.md): each table is keyed by
 * the workspace or leads to it, and the unique keys that prevent it are known.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { databases } from "./servers.ts"

/** Tables that lead to a workspace by a column without a foreign key, because the referenced row may be gone. */
const known: ReadonlyArray<readonly [table: string, column: string, to: string]> = [
  ["media_chunks", "media_id", "media"],
  ["media_uploads", "media_id", "media"],
  ["message_names", "message_id", "messages"],
  ["send_queue", "message_id", "messages"],
  ["waiting_bodies", "message_id", "messages"],
  ["webhook_drains", "webhook_id", "webhooks"],
  ["webhook_skips", "webhook_id", "webhooks"]
]

/** Tables without a workspace, and why. */
const global = {
  peppers: "one row, which every workspace's keys are looked up with",
  schema_versions: "of the schema itself",
  buckets: "a pair leads to its number, but the limits of sign-ins are of nobody yet",
  inbound_posts: "kept before anybody has read whose it is",
  inbound_post_bodies: "as inbound_posts",
  forgotten_bodies: "one row: how far a background task has come",
  heartbeats: "one row: the newest heartbeat of all processes",
  people: "a person may be a member of several workspaces",
  identities: "of a person",
  passkey_challenges: "of a person",
  passkeys: "of a person",
  password_resets: "of a person",
  recovery_codes: "of a person",
  second_factors: "of a person",
  sign_in_challenges: "of a person"
}

/** Unique keys without the workspace, in tables that have one. Our identifiers are globally unique. */
const ours = [
  "api_keys_pkey",
  "attempts_pkey",
  "campaign_queue_pkey",
  "campaigns_pkey",
  "contacts_pkey",
  "contacts_user",
  "conversations_pkey",
  "delivery_claims_pkey",
  "events_order_key_sequence_key",
  "events_pkey",
  "inbound_messages_pkey",
  "invitations_pkey",
  "media_pkey",
  "messages_pkey",
  "outbox_pkey",
  "phone_numbers_pkey",
  "portals_id_key",
  "replays_pkey",
  "send_lanes_pkey",
  "sessions_id_key",
  "templates_pkey",
  "webhooks_pkey"
]

/** Keys that must be unique across workspaces, because a workspace is found by them. */
const directory = [
  "media_provider",
  "api_keys_token_hash_key",
  "invitations_token_hash_key",
  "phone_numbers_provider_number_id_key",
  "portals_pkey",
  "sessions_pkey"
]

for (const { layer: database, name } of databases) {
  layer(database, { excludeTestServices: true })(name, (it) => {
    it.effect("every table is keyed by its workspace, leads to it, or is known to have none", () =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        const tables = yield* client<{ readonly name: string; readonly isKeyed: boolean }>`
          select c.relname as name, exists (
            select from pg_attribute a where a.attrelid = c.oid and a.attname = 'workspace_id' and a.attnotnull
          ) as "isKeyed"
          from pg_class c where c.relnamespace = 'wac'::regnamespace and c.relkind = 'r'`
        const references = yield* client<{ readonly from: string; readonly to: string }>`
          select (select relname::text from pg_class where oid = f.conrelid) as "from", (select relname::text from pg_class where oid = f.confrelid) as "to"
          from pg_constraint f join pg_attribute a on a.attrelid = f.conrelid and a.attnum = f.conkey[1]
          where f.connamespace = 'wac'::regnamespace and f.contype = 'f' and a.attnotnull`
        for (const [table, column] of known) {
          yield* client.unsafe(`select ${column} from wac.${table} where ${column} = ''`)
        }
        const leads = [...references, ...known.map(([from, , to]) => ({ from, to }))]
        const placed = new Set(["workspaces", ...tables.filter(({ isKeyed }) => isKeyed).map(({ name }) => name)])
        for (let size = 0; size < placed.size;) {
          size = placed.size
          for (const { from, to } of leads) if (placed.has(to)) placed.add(from)
        }
        assert.sameMembers(tables.map(({ name }) => name).filter((name) => !placed.has(name)), Object.keys(global))
      }))

    it.effect("the unique keys that would have to change are known", () =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        const keys = yield* client<{ readonly name: string }>`
          select (select relname::text from pg_class where oid = i.indexrelid) as name
          from pg_index i join pg_attribute w on w.attrelid = i.indrelid and w.attname = 'workspace_id'
          where i.indisunique and w.attnum <> all (i.indkey::smallint[])
            and i.indrelid in (select oid from pg_class where relnamespace = 'wac'::regnamespace)`
        assert.sameMembers(keys.map(({ name }) => name), [...ours, ...directory])
      }))
  })
}
