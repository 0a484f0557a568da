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
  type Time,
  type ValuesSwitch
} from "@wac/core"
import { Clock, Duration, Effect, Layer, Queue } from "effect"
import { callerClock } from "../CallerClock.ts"
import * as Clocks from "../Clocks.ts"
import { bigint, boolean, columns, double, row, text, unlessEmpty } from "../Columns.ts"
import { Database } from "../Database.ts"
import * as Expired from "../Expired.ts"
import { pages } from "../Pages.ts"
import { first, type Row, statement, value } from "../Statement.ts"
import { workspaceBeside } from "../workspaces/StoredWorkspace.ts"

/** A key as it is stored. The column `scopes` holds only `messages:send`, the one scope that earlier versions know. */
interface Stored extends Omit<ApiKey.ApiKey, "signingSecret" | "lastUsedAt"> {
  /** The key's other scopes; null if the previous version stored the key. */
  readonly furtherScopes: ReadonlyArray<ApiScope.ApiScope> | null
  readonly secretKeyId: string
  readonly secretNonce: Uint8Array
  readonly secretCiphertext: Uint8Array
}

const stored = columns<Stored>({
  id: "text",
  workspaceId: "text",
  name: "text",
  prefix: "text",
  scopes: "text[]",
  furtherScopes: "text[]",
  tokenHash: "text",
  secretKeyId: "text",
  secretNonce: "bytea",
  secretCiphertext: "bytea",
  requireSignature: "boolean",
  createdAt: "bigint",
  expiresAt: "bigint",
  revokedAt: "bigint",
  phoneNumberIds: "text[]",
  allowedCidrs: "text[]"
})

const used = columns<Pick<ApiKey.ApiKey, "lastUsedAt">>({ lastUsedAt: "bigint" })

/** The columns of the key `k`. */
const keyColumns = `${
  stored.names("k")
}, (select u.last_used_at from wac.api_key_uses u where u.api_key_id = k.id) as last_used_at`

/** The scopes of a key except `messages:send`. */
const further = (scopes: ReadonlyArray<ApiScope.ApiScope>): ReadonlyArray<ApiScope.ApiScope> =>
  scopes.filter((scope) => scope !== "messages:send")

/**
 * Precedes the stored hash of a bound key's token, so that the previous version, which knows no binding, does not find
 * the key.
 */
const boundMark = "bound:"
const marked = /^bound:/

const markedHash = (key: ApiKey.ApiKey): string => KeyBinding.isBound(key) ? boundMark + key.tokenHash : key.tokenHash

const keyOf = (row: Row): ApiKey.ApiKey => {
  const { furtherScopes, scopes, secretCiphertext, secretKeyId, secretNonce, tokenHash, ...key } = stored.read(row)
  return {
    ...key,
    // a key that the previous version stored has the default scopes
    scopes: [...scopes, ...furtherScopes ?? further(ApiScope.defaults)],
    tokenHash: tokenHash.replace(marked, ""),
    signingSecret: { keyId: secretKeyId, nonce: secretNonce, ciphertext: secretCiphertext },
    ...used.read(row)
  }
}

/** The stored form of a key. */
const storedOf = (key: ApiKey.ApiKey): Stored => ({
  ...key,
  scopes: key.scopes.filter((scope) => scope === "messages:send"),
  furtherScopes: further(key.scopes),
  tokenHash: markedHash(key),
  secretKeyId: key.signingSecret.keyId,
  secretNonce: key.signingSecret.nonce,
  secretCiphertext: key.signingSecret.ciphertext
})

/** The stored form of an idempotency key: the caller and a line break precede it. No key contains a line break. */
const placeOf = ({ caller, key }: ApiKeyStore.Issuance): string => caller === undefined ? key : `${caller}\n${key}`

/**
 * Binds the idempotency key unless it is bound and not expired (`Idempotency.isExpired`). Stores the API key only if it
 * was bound just now. An existing binding is updated with its own values, since a skipped row would not be returned and
 * a concurrent one would not be seen. The previous version binds keys without a caller: such bindings still apply
 * (`earlier`).
 */
const issue = statement({
  key: stored.one,
  place: value<string>(),
  earlier: value<string | null>(),
  fingerprint: value<string>(),
  retention: value<number>(),
  now: Clocks.asked
}, ({ earlier, fingerprint, key, now, place, retention }) => `
  with present as materialized (select ${now} as now), earlier as (
    select r.fingerprint, r.api_key_id from wac.api_key_requests r, present p
    where r.workspace_id = ${key.workspaceId} and r.idempotency_key = ${earlier} and r.expires_at > p.now
  ), bound as (
    insert into wac.api_key_requests as r (workspace_id, idempotency_key, fingerprint, api_key_id, expires_at)
    select ${key.workspaceId}, ${place}, ${fingerprint}, ${key.id}, p.now + ${retention}::bigint from present p
    where not exists (select from earlier)
    on conflict (workspace_id, idempotency_key) do update set
      fingerprint = case when r.expires_at <= (select p.now from present p) then excluded.fingerprint else r.fingerprint end,
      api_key_id = case when r.expires_at <= (select p.now from present p) then excluded.api_key_id else r.api_key_id end,
      expires_at = case when r.expires_at <= (select p.now from present p) then excluded.expires_at else r.expires_at end
    returning fingerprint, api_key_id
  ), created as (
    insert into wac.api_keys (${stored.names()}) select ${stored.values(key)}
    from bound where api_key_id = ${key.id}
    on conflict (id) do nothing
    returning id
  )
  select fingerprint, api_key_id, exists (select from created) as created from bound
  union all select fingerprint, api_key_id, false from earlier`)

const issued = row({ fingerprint: text(), apiKeyId: text<Id.ApiKeyId>(), created: boolean() })

/** The binding of an idempotency key, and its API key. A binding of the previous version comes first, as in `issue`. */
const findIssued = statement({
  workspaceId: value<Id.WorkspaceId>(),
  place: value<string>(),
  earlier: value<string | null>(),
  now: Clocks.asked
}, ({ earlier, now, place, workspaceId }) => `
  select r.fingerprint, ${keyColumns}
  from wac.api_key_requests r join wac.api_keys k on k.id = r.api_key_id
  where r.workspace_id = ${workspaceId} and r.idempotency_key in (${place}, ${earlier}) and r.expires_at > ${now}
  order by r.idempotency_key = ${place} limit 1`)

const bound = row({ fingerprint: text() })

const time = row({ at: double() })

const switched = columns<{ readonly valuesUntil: Time.Instant | null; readonly valuesEpoch: number | null }>({
  valuesUntil: "bigint",
  valuesEpoch: "integer"
})

const valuesSwitchOf = (row: Row): ValuesSwitch.ValuesSwitch | null => {
  const { valuesEpoch, valuesUntil } = switched.read(row)
  return valuesEpoch === null || valuesUntil === null ? null : { until: valuesUntil, epoch: valuesEpoch }
}

const forget = statement({ now: Clocks.asked }, ({ now }) => Expired.forgetOne("wac.api_key_requests", now))

const selectKey = `select ${keyColumns} from wac.api_keys k where`

const id = value<Id.ApiKeyId>()

const workspaceId = value<Id.WorkspaceId>()

const load = statement({ id }, ({ id }) => `${selectKey} k.id = ${id}`)

const hash = value<string>()

const findByHash = statement({ unbound: hash, bound: hash }, ({ bound, unbound }) => `
  select ${keyColumns}, ${workspaceBeside.names("w")}, s.until as values_until, s.epoch as values_epoch,
    ${Clocks.now}::double precision as at
  from wac.api_keys k join wac.workspaces w on w.id = k.workspace_id
  left join wac.request_values_switches s on s.workspace_id = w.id
  where k.token_hash in (${unbound}, ${bound})`)

const get = statement({ workspaceId, id }, ({ id, workspaceId }) => `
  ${selectKey} k.id = ${id} and k.workspace_id = ${workspaceId}`)

const list = pages({ workspaceId, now: Clocks.asked }, ({ now, workspaceId }, { isAfter, limit }) => `
  ${selectKey} k.workspace_id = ${workspaceId} and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > ${now}) and ${isAfter("k.id")}
  order by k.id desc limit ${limit}`)

const instant = value<Time.Instant>()

const expiring = statement(
  { workspaceId, now: instant, until: instant, usedSince: instant, limit: value<number>() },
  ({ limit, now, until, usedSince, workspaceId }) =>
    `${selectKey} k.workspace_id = ${workspaceId} and k.revoked_at is null
    and k.expires_at > ${now} and k.expires_at <= ${until}
    and exists (select from wac.api_key_uses u where u.api_key_id = k.id and u.last_used_at > ${usedSince})
  order by k.expires_at, k.id limit ${limit}`
)

/** Notified on commit with the identifier of each revoked key. */
const revocationsChannel = "wac:wac_revocations"

const revoke = statement({ workspaceId, id, now: Clocks.asked }, ({ id, now, workspaceId }) => `
  update wac.api_keys k set revoked_at = coalesce(k.revoked_at, ${now})
  where k.id = ${id} and k.workspace_id = ${workspaceId}
  returning ${keyColumns}, pg_notify('${revocationsChannel}', k.id) as told`)

const use = row({ apiKeyId: text<Id.ApiKeyId>(), lastUsedAt: bigint<Time.Instant>() })

/** Records that keys were used. The rows are written in a fixed order, so that processes do not deadlock. */
const touch = unlessEmpty(use, (uses) =>
  `insert into wac.api_key_uses as u (${use.names()})
  select ${use.names("g")} from ${uses("g")}
  cross join lateral (select from wac.api_keys k where k.id = g.api_key_id offset 0) k
  order by g.api_key_id
  on conflict (api_key_id) do update set last_used_at = excluded.last_used_at
    where u.last_used_at < excluded.last_used_at`)

export const layer = Layer.effect(
  ApiKeyStore.ApiKeyStore,
  Effect.map(Effect.all([Database, callerClock]), ([{ listen, query }, callerNow]) => {
    return ApiKeyStore.ApiKeyStore.of({
      issue: Effect.fnUntraced(
        function*(key, idempotency): Effect.fn.Return<ApiKeyStore.Issued, StoreError.StoreError> {
          const [row] = yield* query(
            "ApiKeyStore.issue",
            issue({
              key: storedOf(key),
              place: placeOf(idempotency),
              earlier: idempotency.caller === undefined ? null : idempotency.key,
              fingerprint: idempotency.fingerprint,
              retention: Duration.toMillis(Idempotency.retention),
              now: callerNow(key.createdAt)
            })
          )
          const { apiKeyId, created, fingerprint } = issued.read(row!)
          if (created) {
            yield* Effect.ignore(query("ApiKeyStore.issue", forget({ now: callerNow(key.createdAt) })))
            return { _tag: "Created", key }
          }
          if (fingerprint !== idempotency.fingerprint) return { _tag: "Conflict" }
          const rows = yield* query("ApiKeyStore.issue", load({ id: apiKeyId }))
          return { _tag: "Replayed", key: keyOf(rows[0]!) }
        }
      ),
      findIssued: (workspaceId, idempotency, now) =>
        Effect.map(
          query(
            "ApiKeyStore.findIssued",
            findIssued({
              workspaceId,
              place: placeOf(idempotency),
              earlier: idempotency.caller === undefined ? null : idempotency.key,
              now: callerNow(now)
            })
          ),
          first((row): ApiKeyStore.IssuedBefore =>
            bound.read(row).fingerprint === idempotency.fingerprint
              ? { _tag: "Replayed", key: keyOf(row) }
              : { _tag: "Conflict" }
          )
        ),
      findByTokenHash: (tokenHash) =>
        Effect.zipWith(
          Clock.currentTimeMillis,
          query("ApiKeyStore.findByTokenHash", findByHash({ unbound: tokenHash, bound: boundMark + tokenHash })),
          (now, rows) =>
            first((row) => ({
              key: keyOf(row),
              workspace: workspaceBeside.read(row),
              valuesSwitch: valuesSwitchOf(row),
              at: callerNow(now) ?? time.read(row).at
            }))(rows)
        ),
      get: (workspaceId, id) => Effect.map(query("ApiKeyStore.get", get({ workspaceId, id })), first(keyOf)),
      list: (workspaceId, page, now) =>
        Effect.map(
          query("ApiKeyStore.list", list({ workspaceId, now: callerNow(now) }, page)),
          (rows) => Page.fromOverread(rows.map(keyOf), page, ({ id }) => id)
        ),
      expiring: (workspaceId, given) =>
        Effect.map(query("ApiKeyStore.expiring", expiring({ workspaceId, ...given })), (rows) => rows.map(keyOf)),
      revoke: (workspaceId, id, now) =>
        Effect.map(query("ApiKeyStore.revoke", revoke({ workspaceId, id, now: callerNow(now) })), first(keyOf)),
      revocations: Effect.map(
        listen(revocationsChannel),
        (payloads) => Effect.map(Queue.take(payloads), (payload) => payload === "" ? null : payload as Id.ApiKeyId)
      ),
      touch: (uses) =>
        Effect.forEach(
          touch(Array.from(uses, ([apiKeyId, lastUsedAt]) => ({ apiKeyId, lastUsedAt }))),
          (statement) => query("ApiKeyStore.touch", statement),
          { discard: true }
        )
    })
  })
)
