/**
 * `FactorStore` in PostgreSQL: the statements of its methods.
 */
import { FactorStore, type Id } from "@wac/core"
import { Effect, Layer } from "effect"
import { callerClock } from "../CallerClock.ts"
import * as Clocks from "../Clocks.ts"
import { bigint, boolean, bytes, columns, integer, list, row, text } from "../Columns.ts"
import { Database } from "../Database.ts"
import * as Forgotten from "../Forgotten.ts"
import { sealed } from "../secrets/StoredSeal.ts"
import { first, isAny, type Row, statement, value } from "../Statement.ts"
import { remove as removing } from "../TableStatements.ts"

const factor = row({
  userId: text<Id.UserId>(),
  createdAt: bigint<number>(),
  confirmedAt: bigint<number | null>(),
  isAppOn: boolean(),
  recoveryCodesLeft: integer(),
  keyId: text<string | null>(),
  nonce: bytes<Uint8Array | null>(),
  ciphertext: bytes<Uint8Array | null>()
})

const factorOf = (found: Row) => {
  const { ciphertext, isAppOn, keyId, nonce, ...others } = factor.read(found)
  const secret = keyId === null || nonce === null || ciphertext === null ? null : { keyId, nonce, ciphertext }
  return { ...others, app: secret === null ? null : { secret, isOn: isAppOn } }
}

const userId = value<Id.UserId>()

const find = statement({ userId }, ({ userId }) => `
  select f.user_id, f.created_at, f.confirmed_at, f.last_step is not null as is_app_on, ${sealed.names("f")},
    (select count(*)::integer from wac.recovery_codes r where r.user_id = f.user_id) as recovery_codes_left
  from wac.second_factors f where f.user_id = ${userId}`)

const started = row({ userId: text<Id.UserId>(), createdAt: bigint() }).and(sealed)

const start = statement({ factor: started.one }, ({ factor }) => `
  insert into wac.second_factors as f (${started.names()}) values (${started.values(factor)})
  on conflict (user_id) do update set ${started.set("excluded", "userId")} where f.last_step is null
  returning 1`)

/**
 * Confirms a person's factor with the secret that has this nonce. A nonce is used only once, so it identifies the
 * secret.
 */
const confirm = statement(
  {
    now: Clocks.asked,
    userId,
    nonce: sealed.pick("nonce").one,
    step: value<number>(),
    recoveryCodes: list<string>("text")
  },
  ({ nonce, now, recoveryCodes, step, userId }) => `
  with held as materialized (
    select f.user_id, f.confirmed_at is null as is_first from wac.second_factors f
    where f.user_id = ${userId} and f.nonce = ${nonce.nonce} and f.last_step is null for no key update
  ), confirmed as (
    update wac.second_factors f set confirmed_at = coalesce(f.confirmed_at, ${now}), last_step = ${step}
    from held h where f.user_id = h.user_id
    returning f.user_id
  ), given as (
    insert into wac.recovery_codes (user_id, fingerprint)
    select h.user_id, unnest(${recoveryCodes}) from held h join confirmed c on c.user_id = h.user_id where h.is_first
  )
  select h.is_first from held h join confirmed c on c.user_id = h.user_id`
)

const confirmed = row({ isFirst: boolean() })

const useStep = statement({ userId, step: value<number>() }, ({ step, userId }) => `
  update wac.second_factors set last_step = ${step} where user_id = ${userId} and last_step < ${step} returning 1`)

const recoveryCode = columns<{ readonly userId: Id.UserId; readonly fingerprint: string }>({
  userId: "text",
  fingerprint: "text"
})

/**
 * Locks the person's factor before recovery codes are replaced. If two calls replace them at once, the second sees and
 * replaces the codes of the first.
 */
const lock = statement({ userId }, ({ userId }) => `
  select from wac.second_factors where user_id = ${userId} and confirmed_at is not null for no key update`)

const replaceRecoveryCodes = statement({ userId, fingerprints: list<string>("text") }, ({ fingerprints, userId }) => `
  with gone as (
    delete from wac.recovery_codes where user_id = ${userId}
  )
  insert into wac.recovery_codes (user_id, fingerprint)
  select f.user_id, unnest(${fingerprints}) from wac.second_factors f
  where f.user_id = ${userId} and f.confirmed_at is not null`)

const useRecoveryCode = removing("wac.recovery_codes", recoveryCode)

const remove = statement({ userId }, ({ userId }) => `
  with gone as (
    delete from wac.second_factors where user_id = ${userId} returning confirmed_at
  )
  select from gone where confirmed_at is not null`)

const challenge = columns<FactorStore.Challenge>({
  tokenHash: "text",
  userId: "text",
  passwordHash: "text",
  triesLeft: "integer",
  createdAt: "bigint",
  expiresAt: "bigint"
})

/**
 * Stores a challenge if the person has a confirmed factor. The factor's row is locked against its removal, which ends
 * all challenges.
 */
const keepChallenge = statement({ challenge: challenge.one, now: Clocks.asked }, ({ challenge: given, now }) => `
  with held as (
    select f.user_id from wac.second_factors f
    where f.user_id = ${given.userId} and f.confirmed_at is not null for key share
  ), present as materialized (
    select ${now} as now from held
  )
  insert into wac.sign_in_challenges (${challenge.names()})
  select ${
  challenge.values({
    ...given,
    createdAt: "p.now",
    expiresAt: `p.now + ${given.expiresAt} - ${given.createdAt}`
  })
} from present p
  returning 1`)

const tokenHash = value<string>()

const findChallenge = statement({ tokenHash, now: Clocks.asked }, ({ now, tokenHash }) => `
  select ${challenge.names("c")} from wac.sign_in_challenges c
  where c.token_hash = ${tokenHash} and c.expires_at > ${now}`)

const attempt = statement({ tokenHash, now: Clocks.asked }, ({ now, tokenHash }) => `
  update wac.sign_in_challenges set tries_left = tries_left - 1
  where token_hash = ${tokenHash} and expires_at > ${now} and tries_left > 0
  returning ${challenge.names()}`)

const redeem = removing("wac.sign_in_challenges", challenge.pick("tokenHash"))

const forget = Forgotten.endedBefore("wac.sign_in_challenges", "expires_at", "<=")

export const layer = Layer.effect(
  FactorStore.FactorStore,
  Effect.map(Effect.all([Database, callerClock]), ([{ planned, query }, callerNow]) =>
    FactorStore.FactorStore.of({
      find: (userId) => Effect.map(query("FactorStore.find", find({ userId })), first(factorOf)),
      start: ({ createdAt, secret, userId }) =>
        Effect.map(query("FactorStore.start", start({ factor: { userId, createdAt, ...secret } })), isAny),
      confirm: ({ now, recoveryCodes, secret: { nonce }, step, userId }) =>
        Effect.map(
          query("FactorStore.confirm", confirm({ now: callerNow(now), userId, nonce: { nonce }, step, recoveryCodes })),
          first(confirmed.read)
        ),
      useStep: (userId, step) => Effect.map(query("FactorStore.useStep", useStep({ userId, step })), isAny),
      useRecoveryCode: (userId, fingerprint) =>
        Effect.map(query("FactorStore.useRecoveryCode", useRecoveryCode({ userId, fingerprint })), isAny),
      replaceRecoveryCodes: (userId, fingerprints) =>
        Effect.map(
          planned("FactorStore.replaceRecoveryCodes", [
            lock({ userId }),
            replaceRecoveryCodes({ userId, fingerprints })
          ]),
          ([locked]) => isAny(locked!)
        ),
      remove: (userId) => Effect.map(query("FactorStore.remove", remove({ userId })), isAny),
      challenge: (challenge) =>
        Effect.map(
          query("FactorStore.challenge", keepChallenge({ challenge, now: callerNow(challenge.createdAt) })),
          isAny
        ),
      findChallenge: (tokenHash, now) =>
        Effect.map(
          query("FactorStore.findChallenge", findChallenge({ tokenHash, now: callerNow(now) })),
          first(challenge.read)
        ),
      attempt: (tokenHash, now) =>
        Effect.map(
          query("FactorStore.attempt", attempt({ tokenHash, now: callerNow(now) })),
          first(challenge.read)
        ),
      redeem: (tokenHash) => Effect.map(query("FactorStore.redeem", redeem({ tokenHash })), isAny),
      forget: (before) => Effect.map(query("FactorStore.forget", forget({ before })), Forgotten.read)
    }))
)
