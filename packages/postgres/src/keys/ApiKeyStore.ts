/**
 * `ApiKeyStore` in PostgreSQL: the statements of its methods.
 */
import {
  type ApiKey,
  ApiKeyStore,
  ApiScope,
  type Id,
  Idempotency,
  KeyBinding,
  Page,
  type StoreError,
  type Time
} from "@wac/core"
import { Clock, Duration, Effect, Layer, Option, Queue } from "effect"
import { asked } from "../Asked.ts"
import * as Clocks from "../Clocks.ts"
import { instant, instantOrNull, plain } from "../Column.ts"
import { Database } from "../Database.ts"
import * as Expired from "../Expired.ts"
import type { Row } from "../Statement.ts"
import { workspaceColumns, workspaceOf } from "../workspaces/WorkspaceStore.ts"

const columns =
  `k.id, k.workspace_id, k.name, k.prefix, k.scopes, k.further_scopes, k.token_hash, k.secret_key_id, k.secret_nonce,
  k.secret_ciphertext, k.require_signature, k.created_at, k.expires_at, k.revoked_at,
  k.phone_number_ids, k.allowed_cidrs,
  (select u.last_used_at from api_key_uses u where u.api_key_id = k.id) as last_used_at`

/** What a key may do beyond `messages:send`, which has a column of its own. */
const further = (scopes: ReadonlyArray<ApiScope.ApiScope>): ReadonlyArray<ApiScope.ApiScope> =>
  scopes.filter((scope) => scope !== "messages:send")

/** A key of the version before has the scopes that keys have without a choice. */
const scopesOf = (row: Row): ReadonlyArray<ApiScope.ApiScope> => [
  ...plain<ReadonlyArray<ApiScope.ApiScope>>(row, "scopes"),
  ...plain<ReadonlyArray<ApiScope.ApiScope> | null>(row, "further_scopes") ?? further(ApiScope.defaults)
]

/**
 * A bound key is kept under another hash than its token's, so that the version before, which knows no binding, does not
 * find it.
 */
const boundMark = "bound:"
const marked = /^bound:/

const markedHash = (key: ApiKey.ApiKey): string => KeyBinding.isBound(key) ? boundMark + key.tokenHash : key.tokenHash

const keyOf = (row: Row): ApiKey.ApiKey => ({
  id: plain(row, "id"),
  workspaceId: plain(row, "workspace_id"),
  name: plain(row, "name"),
  prefix: plain(row, "prefix"),
  scopes: scopesOf(row),
  phoneNumberIds: plain(row, "phone_number_ids"),
  allowedCidrs: plain(row, "allowed_cidrs"),
  tokenHash: plain<string>(row, "token_hash").replace(marked, ""),
  signingSecret: {
    keyId: plain(row, "secret_key_id"),
    nonce: plain(row, "secret_nonce"),
    ciphertext: plain(row, "secret_ciphertext")
  },
  requireSignature: plain(row, "require_signature"),
  createdAt: instant(row, "created_at"),
  expiresAt: instantOrNull(row, "expires_at"),
  revokedAt: instantOrNull(row, "revoked_at"),
  lastUsedAt: instantOrNull(row, "last_used_at")
})

const first = (rows: ReadonlyArray<Row>): Option.Option<ApiKey.ApiKey> =>
  Option.map(Option.fromUndefinedOr(rows[0]), keyOf)

/** The stored form of an idempotency key: no key contains the line break before which its caller stands. */
const placeOf = ({ caller, key }: ApiKeyStore.Issuance): string => caller === undefined ? key : `${caller}\n${key}`

/**
 * Binds the idempotency key unless it is bound and not expired (`Idempotency.isExpired`). Stores the API key only if it
 * was bound just now. An existing binding is updated with its own values, since a skipped row would not be returned and a
 * concurrent one would not be seen. The version before binds keys to no caller: what it bound stays bound ($21).
 */
const issue = `
  with present as materialized (select coalesce($17::bigint, ${Clocks.now}) as now), earlier as (
    select r.fingerprint, r.api_key_id from api_key_requests r, present p
    where r.workspace_id = $2 and r.idempotency_key = $21 and r.expires_at > p.now
  ), bound as (
    insert into api_key_requests as r (workspace_id, idempotency_key, fingerprint, api_key_id, expires_at)
    select $2, $14, $15, $1, p.now + $16::bigint from present p
    where not exists (select from earlier)
    on conflict (workspace_id, idempotency_key) do update set
      fingerprint = case when r.expires_at <= (select p.now from present p) then excluded.fingerprint else r.fingerprint end,
      api_key_id = case when r.expires_at <= (select p.now from present p) then excluded.api_key_id else r.api_key_id end,
      expires_at = case when r.expires_at <= (select p.now from present p) then excluded.expires_at else r.expires_at end
    returning fingerprint, api_key_id
  ), created as (
    insert into api_keys (id, workspace_id, name, prefix, scopes, token_hash, secret_key_id, secret_nonce,
      secret_ciphertext, require_signature, created_at, expires_at, revoked_at, further_scopes, phone_number_ids, allowed_cidrs)
    select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $18, $19, $20
    from bound where api_key_id = $1
    on conflict (id) do nothing
    returning id
  )
  select fingerprint, api_key_id, exists (select from created) as created from bound
  union all select fingerprint, api_key_id, false from earlier`

const forget = Expired.forgetOne("api_key_requests", Clocks.at("$1"))

/** Notified on commit with the identifier of each revoked key. */
const revocationsChannel = "wac_revocations"

export const layer = Layer.effect(
  ApiKeyStore.ApiKeyStore,
  Effect.map(Effect.all([Database, asked]), ([{ listen, query }, askedAt]) => {
    return ApiKeyStore.ApiKeyStore.of({
      issue: Effect.fnUntraced(
        function*(key, idempotency): Effect.fn.Return<ApiKeyStore.Issued, StoreError.StoreError> {
          const { ciphertext, keyId, nonce } = key.signingSecret
          const [row] = yield* query("ApiKeyStore.issue", issue, [
            key.id,
            key.workspaceId,
            key.name,
            key.prefix,
            key.scopes.filter((scope) => scope === "messages:send"),
            markedHash(key),
            keyId,
            nonce,
            ciphertext,
            key.requireSignature,
            key.createdAt,
            key.expiresAt,
            key.revokedAt,
            placeOf(idempotency),
            idempotency.fingerprint,
            Duration.toMillis(Idempotency.retention),
            askedAt(key.createdAt) ?? null,
            further(key.scopes),
            key.phoneNumberIds,
            key.allowedCidrs,
            idempotency.caller === undefined ? null : idempotency.key
          ])
          if (plain<boolean>(row!, "created")) {
            yield* Effect.ignore(query("ApiKeyStore.issue", forget, [askedAt(key.createdAt) ?? null]))
            return { _tag: "Created", key }
          }
          if (plain(row!, "fingerprint") !== idempotency.fingerprint) return { _tag: "Conflict" }
          const rows = yield* query("ApiKeyStore.issue", `select ${columns} from api_keys k where k.id = $1`, [
            plain(row!, "api_key_id")
          ])
          return { _tag: "Replayed", key: keyOf(rows[0]!) }
        }
      ),
      findByTokenHash: (tokenHash) =>
        Effect.zipWith(
          Clock.currentTimeMillis,
          query(
            "ApiKeyStore.findByTokenHash",
            `select ${columns}, ${workspaceColumns("w")}, ${Clocks.now}::double precision as at
            from api_keys k join workspaces w on w.id = k.workspace_id
            where k.token_hash in ($1, $2)`,
            [tokenHash, boundMark + tokenHash]
          ),
          (now, [row]) =>
            Option.map(Option.fromUndefinedOr(row), (row) => ({
              key: keyOf(row),
              workspace: workspaceOf(row),
              at: askedAt(now) ?? plain<Time.Instant>(row, "at")
            }))
        ),
      get: (workspaceId, id) =>
        Effect.map(
          query("ApiKeyStore.get", `select ${columns} from api_keys k where k.id = $2 and k.workspace_id = $1`, [
            workspaceId,
            id
          ]),
          first
        ),
      list: (workspaceId, page, now) =>
        Effect.map(
          query(
            "ApiKeyStore.list",
            `select ${columns} from api_keys k
            where k.workspace_id = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > ${
              Clocks.at("$2")
            })
              ${page.after === null ? "" : "and k.id < $4"}
            order by k.id desc limit $3`,
            [workspaceId, askedAt(now) ?? null, page.limit + 1, ...page.after === null ? [] : [page.after]]
          ),
          (rows) => Page.fromOverread(rows.map(keyOf), page, ({ id }) => id)
        ),
      expiring: (workspaceId, { limit, now, until, usedSince }) =>
        Effect.map(
          query(
            "ApiKeyStore.expiring",
            `select ${columns} from api_keys k
            where k.workspace_id = $1 and k.revoked_at is null and k.expires_at > $2 and k.expires_at <= $3
              and exists (select from api_key_uses u where u.api_key_id = k.id and u.last_used_at > $4)
            order by k.expires_at, k.id limit $5`,
            [workspaceId, now, until, usedSince, limit]
          ),
          (rows) => rows.map(keyOf)
        ),
      revoke: (workspaceId, id, now) =>
        Effect.map(
          query(
            "ApiKeyStore.revoke",
            `update api_keys k set revoked_at = coalesce(k.revoked_at, $3, ${Clocks.now})
            where k.id = $2 and k.workspace_id = $1
            returning ${columns}, pg_notify('${revocationsChannel}', k.id) as told`,
            [workspaceId, id, askedAt(now) ?? null]
          ),
          first
        ),
      revocations: Effect.map(
        listen(revocationsChannel),
        (payloads) => Effect.map(Queue.take(payloads), (payload) => payload === "" ? null : payload as Id.ApiKeyId)
      ),
      touch: (uses) =>
        uses.size === 0 ? Effect.void : Effect.asVoid(query(
          "ApiKeyStore.touch",
          // in a fixed order, so that processes that touch the same keys wait for each other without a deadlock
          `insert into api_key_uses as u (api_key_id, last_used_at)
          select used.id, used.at from json_to_recordset($1::text::json) as used (id text, at bigint)
          cross join lateral (select from api_keys k where k.id = used.id offset 0) k
          order by used.id
          on conflict (api_key_id) do update set last_used_at = excluded.last_used_at
            where u.last_used_at < excluded.last_used_at`,
          [JSON.stringify(Array.from(uses, ([id, at]) => ({ id, at })))]
        ))
    })
  })
)
