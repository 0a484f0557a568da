/**
 * `SealedSecretStore` in PostgreSQL: the statements of its methods.
 */
import { SealedSecretStore } from "@wac/core"
import { Effect, Layer } from "effect"
import { Hex } from "effect/encoding"
import { inJson, integer, row, text } from "../Columns.ts"
import { Database } from "../Database.ts"
import { statement, value } from "../Statement.ts"
import { sealed } from "./StoredSeal.ts"

const pepper = SealedSecretStore.pepperRow

/** Where the id of the master key is, in each table with sealed secrets. An index begins with each, but for the pepper. */
const keyIdColumns = [
  ["wac.peppers", "key_id"],
  ["wac.api_keys", "secret_key_id"],
  ["wac.phone_number_credentials", "key_id"],
  ["wac.request_values", "key_id"],
  ["wac.second_factors", "key_id"],
  ["wac.webhook_secrets", "key_id"]
] as const

/** Steps from one id to the next in each index, since "distinct" would read every entry. */
const listKeyIds = statement({}, () =>
  keyIdColumns.map(([table, column]) => `
  (with recursive used as (
    select min(t.${column}) as id from ${table} t
    union all
    select (select min(t.${column}) from ${table} t where t.${column} > u.id) from used u where u.id is not null
  ) select id from used where id is not null)`).join(" union"))

/**
 * Lists secrets under a master key. Each table is read by its index of master keys. The conditions have the order of
 * that index: with "=", the planner may use the primary key and scan everything under other master keys. A page never
 * ends between the secrets of one webhook.
 */
const listUnder = statement(
  { keyId: value<string>(), after: value<string>(), limit: value<number>() },
  ({ after, keyId, limit }) => `
  select row, nonce, ciphertext from (
    select '${pepper}' as row, nonce, ciphertext from wac.peppers where key_id = ${keyId} and '${pepper}' > ${after}
    union all (
      select id, secret_nonce, secret_ciphertext from wac.api_keys
      where secret_key_id <= ${keyId} and (secret_key_id, id) > (${keyId}, ${after})
      order by secret_key_id, id limit ${limit}
    )
    union all (
      select phone_number_id, nonce, ciphertext from wac.phone_number_credentials
      where key_id <= ${keyId} and (key_id, phone_number_id) > (${keyId}, ${after})
      order by key_id, phone_number_id limit ${limit}
    )
    union all (
      select request_id, nonce, ciphertext from wac.request_values
      where key_id <= ${keyId} and (key_id, request_id) > (${keyId}, ${after})
      order by key_id, request_id limit ${limit}
    )
    union all (
      select user_id, nonce, ciphertext from wac.second_factors
      where key_id <= ${keyId} and (key_id, user_id) > (${keyId}, ${after})
      order by key_id, user_id limit ${limit}
    )
    union all (
      select webhook_id, nonce, ciphertext from wac.webhook_secrets
      where key_id <= ${keyId} and (key_id, webhook_id) > (${keyId}, ${after})
      order by key_id, webhook_id fetch first ${limit} rows with ties
    )
  ) found
  order by row fetch first ${limit} rows with ties`
)

/**
 * Replaces secrets that are still the expected ones. A nonce is used only once, so it identifies a secret even if a
 * rotation has moved it.
 */
const rewrap = statement({ secrets: inJson<ReadonlyArray<ReturnType<typeof written>>>() }, ({ secrets }) => `
  with changes as (
    select row, "keyId", decode(nonce, 'hex') as nonce, "newKeyId", decode("newNonce", 'hex') as new_nonce,
      decode("newCiphertext", 'hex') as new_ciphertext
    from json_to_recordset(${secrets})
      as c (row text, "keyId" text, nonce text, "newKeyId" text, "newNonce" text, "newCiphertext" text)
  ), the_pepper as (
    update wac.peppers p set key_id = "newKeyId", nonce = new_nonce, ciphertext = new_ciphertext
    from changes c where c.row = '${pepper}' and p.key_id = "keyId" and p.nonce = c.nonce
    returning 1
  ), of_keys as (
    update wac.api_keys k set secret_key_id = "newKeyId", secret_nonce = new_nonce, secret_ciphertext = new_ciphertext
    from changes c where k.id = c.row and k.secret_key_id = "keyId" and k.secret_nonce = c.nonce
    returning 1
  ), of_numbers as (
    update wac.phone_number_credentials p set key_id = "newKeyId", nonce = new_nonce, ciphertext = new_ciphertext
    from changes c where p.phone_number_id = c.row and p.key_id = "keyId" and p.nonce = c.nonce
    returning 1
  ), of_factors as (
    update wac.second_factors f set key_id = "newKeyId", nonce = new_nonce, ciphertext = new_ciphertext
    from changes c where f.user_id = c.row and f.key_id = "keyId" and f.nonce = c.nonce
    returning 1
  ), of_requests as (
    update wac.request_values v set key_id = "newKeyId", nonce = new_nonce, ciphertext = new_ciphertext
    from changes c where v.request_id = c.row and v.key_id = "keyId" and v.nonce = c.nonce
    returning 1
  ), unrotated as materialized (
    -- a rotation writes back what it has read, so it must come before this or after
    select w.id from wac.webhooks w where w.id in (select row from changes) order by w.id for no key update
  ), of_webhooks as (
    update wac.webhook_secrets s set key_id = "newKeyId", nonce = new_nonce, ciphertext = new_ciphertext
    from changes c join unrotated u on u.id = c.row
    where s.webhook_id = c.row and s.key_id = "keyId" and s.nonce = c.nonce
    returning 1
  )
  select (
    (select count(*) from the_pepper) + (select count(*) from of_keys) + (select count(*) from of_numbers)
      + (select count(*) from of_factors) + (select count(*) from of_requests) + (select count(*) from of_webhooks)
  )::integer as replaced`)

const found = row({ row: text<SealedSecretStore.SecretRow>() }).and(sealed.omit("keyId"))

const used = row({ id: text() })

const replaced = row({ replaced: integer() })

const written = ({ after, before, row }: SealedSecretStore.Rewrapped) => ({
  row,
  keyId: before.keyId,
  nonce: Hex.encode(before.nonce),
  newKeyId: after.keyId,
  newNonce: Hex.encode(after.nonce),
  newCiphertext: Hex.encode(after.ciphertext)
})

export const layer = Layer.effect(
  SealedSecretStore.SealedSecretStore,
  Effect.map(Database, ({ query }) =>
    SealedSecretStore.SealedSecretStore.of({
      keyIds: Effect.map(
        query("SealedSecretStore.keyIds", listKeyIds({})),
        (rows) => rows.map((row) => used.read(row).id)
      ),
      under: (keyId, { after, limit }) =>
        Effect.map(
          query("SealedSecretStore.under", listUnder({ keyId, after: after ?? "", limit })),
          (rows) => rows.map(found.read).map(({ row, ...sealed }) => ({ row, sealed: { keyId, ...sealed } }))
        ),
      rewrap: (secrets) =>
        secrets.length === 0 ? Effect.succeed(0) : Effect.map(
          query("SealedSecretStore.rewrap", rewrap({ secrets: secrets.map(written) })),
          ([row]) => replaced.read(row!).replaced
        )
    }))
)
