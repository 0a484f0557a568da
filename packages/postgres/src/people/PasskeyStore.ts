/**
 * `PasskeyStore` in PostgreSQL: the statements of its methods.
 */
import { type Id, type Passkey, PasskeyStore } from "@wac/core"
import { Effect, Layer } from "effect"
import { callerClock } from "../CallerClock.ts"
import * as Clocks from "../Clocks.ts"
import { boolean, columns, list, row, text } from "../Columns.ts"
import { Database } from "../Database.ts"
import { first, isAny, statement, value } from "../Statement.ts"

const passkey = columns<Passkey.Passkey>({
  id: "text",
  userId: "text",
  name: "text",
  credentialId: "text",
  publicKey: "bytea",
  counter: "bigint",
  transports: "text[]",
  createdAt: "bigint",
  lastUsedAt: "bigint"
})

const userId = value<Id.UserId>()
const id = value<Id.PasskeyId>()

const all = statement({ userId }, ({ userId }) => `
  select ${passkey.names("p")} from wac.passkeys p where p.user_id = ${userId} order by p.created_at, p.id`)

/**
 * Locks the row of the person's second factor; creates it if there is none. So if passkeys are added and removed at
 * once, the second call sees what the first wrote.
 */
const hold = statement({ userId, createdAt: value<number>() }, ({ createdAt, userId }) => `
  insert into wac.second_factors as f (user_id, created_at) values (${userId}, ${createdAt})
  on conflict (user_id) do update set created_at = f.created_at`)

const given = passkey.omit("lastUsedAt")

const add = statement(
  { passkey: given.one, recoveryCodes: list<string>("text"), most: value<number>() },
  ({ most, passkey, recoveryCodes }) => `
  with held as (
    select f.user_id, f.confirmed_at is null as is_first from wac.second_factors f where f.user_id = ${passkey.userId}
  ), added as (
    insert into wac.passkeys (${given.names()})
    select ${given.values(passkey)} from held h
    where (select count(*) from wac.passkeys p where p.user_id = h.user_id) < ${most}
    on conflict (credential_id) do nothing
    returning user_id
  ), switched as (
    update wac.second_factors f set confirmed_at = ${passkey.createdAt}
    from added a where f.user_id = a.user_id and f.confirmed_at is null
  ), codes as (
    insert into wac.recovery_codes (user_id, fingerprint)
    select h.user_id, unnest(${recoveryCodes}) from held h join added a on a.user_id = h.user_id where h.is_first
  )
  select h.is_first from held h join added a on a.user_id = h.user_id`
)

const added = row({ isFirst: boolean() })

const use = statement(
  { userId, id, counter: value<number>(), now: Clocks.asked },
  ({ counter, id, now, userId }) => `
  update wac.passkeys set counter = ${counter}, last_used_at = ${now}
  where id = ${id} and user_id = ${userId} and (counter < ${counter} or (counter = 0 and ${counter} = 0))
  returning 1`
)

const lock = statement({ userId }, ({ userId }) => `
  select from wac.second_factors where user_id = ${userId} for update`)

const remove = statement({ userId, id }, ({ id, userId }) => `
  with gone as (
    delete from wac.passkeys p where p.user_id = ${userId} and p.id = ${id} returning p.user_id, p.name
  ), off as (
    delete from wac.second_factors f using gone g
    where f.user_id = g.user_id and f.last_step is null
      and not exists (select from wac.passkeys p where p.user_id = ${userId} and p.id <> ${id})
    returning f.user_id
  )
  select g.name, exists (select from off) as is_last from gone g`)

const removed = row({ name: text(), isLast: boolean() })

const challenge = columns<PasskeyStore.PasskeyChallenge>({
  userId: "text",
  purpose: "text",
  tokenHash: "text",
  createdAt: "bigint",
  expiresAt: "bigint"
})

const keepChallenge = statement({ challenge: challenge.one, now: Clocks.asked }, ({ challenge: given, now }) => `
  with present as materialized (
    select ${now} as now
  )
  insert into wac.passkey_challenges as c (${challenge.names()})
  select ${
  challenge.values({
    ...given,
    createdAt: "p.now",
    expiresAt: `p.now + ${given.expiresAt} - ${given.createdAt}`
  })
} from present p
  on conflict (user_id, purpose) do update set ${challenge.set("excluded", "userId", "purpose")}`)

const redeem = statement(
  { key: challenge.pick("userId", "purpose", "tokenHash").one, now: Clocks.asked },
  ({ key, now }) => `
  delete from wac.passkey_challenges c
  where c.user_id = ${key.userId} and c.purpose = ${key.purpose} and c.token_hash = ${key.tokenHash}
    and c.expires_at > ${now}
  returning 1`
)

export const layer = Layer.effect(
  PasskeyStore.PasskeyStore,
  Effect.map(Effect.all([Database, callerClock]), ([{ planned, query }, callerNow]) =>
    PasskeyStore.PasskeyStore.of({
      list: (userId) => Effect.map(query("PasskeyStore.list", all({ userId })), (rows) => rows.map(passkey.read)),
      add: ({ most, passkey, recoveryCodes }) =>
        Effect.map(
          planned("PasskeyStore.add", [
            hold({ userId: passkey.userId, createdAt: passkey.createdAt }),
            add({ passkey, recoveryCodes, most })
          ]),
          ([, rows]) => first(added.read)(rows!)
        ),
      use: ({ counter, id, now, userId }) =>
        Effect.map(query("PasskeyStore.use", use({ userId, id, counter, now: callerNow(now) })), isAny),
      remove: (userId, id) =>
        Effect.map(
          planned("PasskeyStore.remove", [lock({ userId }), remove({ userId, id })]),
          ([, rows]) => first(removed.read)(rows!)
        ),
      challenge: (challenge) =>
        Effect.asVoid(
          query("PasskeyStore.challenge", keepChallenge({ challenge, now: callerNow(challenge.createdAt) }))
        ),
      redeem: ({ now, purpose, tokenHash, userId }) =>
        Effect.map(
          query("PasskeyStore.redeem", redeem({ key: { userId, purpose, tokenHash }, now: callerNow(now) })),
          isAny
        )
    }))
)
