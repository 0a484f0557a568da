/**
 * The steps of phone numbers (core's `PhoneNumberStep`) in PostgreSQL: what they load and write. A transaction that
 * locks several numbers locks their workspaces first.
 */
import { type Id, MessagingLimit, PhoneNumber, PhoneNumberStep, type SenderBlock, type Step } from "@wac/core"
import { instantOrNull, plain } from "../Column.ts"
import type { StepOptions } from "../Database.ts"
import { booleans, bytes, instants, integers, jsons, texts } from "../Parameter.ts"
import type { Row, Rows, Statement } from "../Statement.ts"
import { numberOf } from "./StoredNumber.ts"

const observedColumns = "to_json(p) as number"

const toldColumns = {
  block: "block_told_at",
  tier: "tier_told_at",
  messagingLimit: "messaging_limit_told_at",
  quality: "quality_told_at"
} as const

const observedOf = (row: Row): PhoneNumberStep.Observed => {
  const stored = plain<Row>(row, "number")
  return {
    number: numberOf(stored),
    toldAt: Object.fromEntries(
      Object.entries(toldColumns).flatMap(([field, column]) => {
        const at = instantOrNull(stored, column)
        return at === null ? [] : [[field, at]]
      })
    )
  }
}

const keepObservedText = `update phone_numbers p set
    block_reason = g.block_reason, block_scope = g.block_scope, blocked_since = g.blocked_since,
    blocked_until = g.blocked_until, block_provider = g.block_provider, learned_tier = g.learned_tier,
    learned_messaging_limit = g.learned_messaging_limit, learned_quality = g.learned_quality,
    credentials_version = g.credentials_version, block_told_at = g.block_told_at, tier_told_at = g.tier_told_at,
    messaging_limit_told_at = g.messaging_limit_told_at, quality_told_at = g.quality_told_at
  from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::json[], $7::text[], $8::integer[],
    $9::text[], $10::text[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[]) g (id, block_reason, block_scope,
    blocked_since, blocked_until, block_provider, learned_tier, learned_messaging_limit, learned_quality,
    credentials_version, block_told_at, tier_told_at, messaging_limit_told_at, quality_told_at)
  where p.id = g.id`

const keepObserved = (observed: ReadonlyArray<PhoneNumberStep.Observed>): ReadonlyArray<Statement> => {
  if (observed.length === 0) return []
  const numbers = observed.map(({ number }) => number)
  const blocks = <A>(field: (block: SenderBlock.SenderBlock) => A) => numbers.map(({ block }) => block && field(block))
  const toldAt = (field: keyof PhoneNumber.ToldAt) => instants(observed.map(({ toldAt }) => toldAt[field] ?? null))
  return [{
    text: keepObservedText,
    params: [
      texts(numbers.map(({ id }) => id)),
      texts(blocks(({ reason }) => reason)),
      texts(blocks(({ scope }) => scope)),
      instants(blocks(({ since }) => since)),
      instants(blocks(({ until }) => until)),
      // as JSON, because it may hold escapes that PostgreSQL can store in JSON but not read as text
      jsons(blocks(({ provider }) => provider)),
      texts(numbers.map(({ learned }) => learned.tier)),
      integers(numbers.map(({ learned }) => learned.messagingLimit)),
      texts(numbers.map(({ learned }) => learned.quality)),
      texts(numbers.map(({ credentialsVersion }) => credentialsVersion)),
      toldAt("block"),
      toldAt("tier"),
      toldAt("messagingLimit"),
      toldAt("quality")
    ]
  }]
}

/** A batch's names, grouped: by provider id, by account, and by account and phone number. */
const namesOf = (commands: ReadonlyArray<PhoneNumberStep.Observe>): NonNullable<Statement["params"]> => {
  const names = commands.map(({ name }) => name)
  const accounts = names.flatMap((name) => "providerNumberId" in name ? [] : [name])
  return [
    texts(names.flatMap((name) => "providerNumberId" in name ? [name.providerNumberId] : [])),
    texts(accounts.map(({ providerAccountId }) => providerAccountId)),
    texts(accounts.map(({ phoneNumber }) => phoneNumber ?? null))
  ]
}

const namedText = `select p.id from phone_numbers p where p.provider_number_id = any ($1::text[])
  union
  select p.id from unnest($2::text[], $3::text[]) a (account, phone_number)
  cross join lateral (
    select p.id from phone_numbers p
    where p.provider_account_id = a.account and coalesce(p.phone_number = a.phone_number, true) offset 0
  ) p`

/** Locks the workspaces, then the numbers, that the statement `chosen` selects. */
const lockChosen = (chosen: string, params: NonNullable<Statement["params"]>): ReadonlyArray<Statement> => [
  {
    text: `select w.id from workspaces w
      where w.id = any (array(select p.workspace_id from phone_numbers p where p.id = any (array(${chosen}))))
      order by w.id for no key update`,
    params
  },
  {
    text: `select ${observedColumns} from phone_numbers p where p.id = any (array(${chosen})) order by p.id
      for no key update`,
    params
  }
]

/** `PhoneNumberStore.observe`. */
export const observe: StepOptions<
  PhoneNumberStep.Observe,
  PhoneNumberStep.LoadedNames,
  number,
  PhoneNumberStep.ObserveWrites
> = {
  load: (commands) => lockChosen(namedText, namesOf(commands)),
  read: ([, rows], now) => {
    const all = rows!.map(observedOf)
    return { now, named: (name) => all.filter(({ number }) => PhoneNumber.isNamed(number, name)) }
  },
  decide: PhoneNumberStep.observe,
  write: ({ observed }) => keepObserved(observed)
}

const removeCredentialsText = "delete from phone_number_credentials c where c.phone_number_id = any ($1::text[])"

const keepCredentialsText = `insert into phone_number_credentials (phone_number_id, key_id, nonce, ciphertext, base_url,
    api_version)
  select * from unnest($1::text[], $2::text[], $3::bytea[], $4::bytea[], $5::text[], $6::text[])`

/** `PhoneNumberStore.setCredentials`. */
export const setCredentials: StepOptions<
  PhoneNumberStep.SetCredentials,
  PhoneNumberStep.LoadedNumbers,
  boolean,
  PhoneNumberStep.CredentialsWrites
> = {
  load: (commands) =>
    lockChosen("select p.id from phone_numbers p where p.id = any ($1::text[])", [texts(commands.map(({ id }) => id))]),
  read: ([, rows], now) => {
    const all = new Map(rows!.map((row) => {
      const observed = observedOf(row)
      return [observed.number.id, observed]
    }))
    return { now, byId: (id) => all.get(id) }
  },
  decide: PhoneNumberStep.setCredentials,
  write: ({ credentials, observed }) => {
    if (credentials.length === 0) return []
    const given = credentials.flatMap(({ credentials, id }) => credentials === null ? [] : [{ id, ...credentials }])
    return [
      ...keepObserved(observed),
      { text: removeCredentialsText, params: [texts(credentials.map(({ id }) => id))] },
      ...given.length === 0 ? [] : [{
        text: keepCredentialsText,
        params: [
          texts(given.map(({ id }) => id)),
          texts(given.map(({ accessToken }) => accessToken.keyId)),
          bytes(given.map(({ accessToken }) => accessToken.nonce)),
          bytes(given.map(({ accessToken }) => accessToken.ciphertext)),
          texts(given.map(({ baseUrl }) => baseUrl)),
          texts(given.map(({ apiVersion }) => apiVersion))
        ]
      }]
    ]
  }
}

/** Serializes changes of a workspace's default numbers, since it has one for each provider. */
const lockWorkspaces = (chosen: string, params: NonNullable<Statement["params"]>): Statement => ({
  text: `select w.id from workspaces w where w.id = any (${chosen}) order by w.id for no key update`,
  params
})

const numbersText = (chosen: string) =>
  `select to_json(p) as number from phone_numbers p where p.workspace_id = any (${chosen}) order by p.id`

const ofNumbers = "array(select p.workspace_id from phone_numbers p where p.id = any ($1::text[]))"

const readWorkspaces = (
  numbers: Rows,
  known: ReadonlySet<string>,
  now: Step.Known["now"]
): PhoneNumberStep.LoadedWorkspaces => {
  const all = numbers.map((row) => numberOf(plain(row, "number")))
  const byId = new Map(all.map((number) => [number.id, number]))
  return {
    now,
    byId: (id) => byId.get(id),
    ofWorkspace: (id) => all.filter(({ workspaceId }) => workspaceId === id),
    isKnown: (providerNumberId) => known.has(providerNumberId)
  }
}

/**
 * Writes a number first as not the default: a provider has only one default at a time, which may change in the same
 * step.
 */
const keepText = `insert into phone_numbers (id, workspace_id, provider, phone_number, provider_number_id,
    provider_account_id, tier, messaging_limit, available, learned_tier, learned_messaging_limit, learned_quality,
    portfolio_id, limit_pool)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::integer[],
    $9::boolean[], $10::text[], $11::integer[], $12::text[], $13::text[], $14::text[])
  on conflict (id) do update set provider = excluded.provider, provider_account_id = excluded.provider_account_id,
    portfolio_id = excluded.portfolio_id, limit_pool = excluded.limit_pool, is_default = false`

const defaultText = "update phone_numbers p set is_default = true where p.id = any ($1::text[])"

/** Writes new and changed numbers. */
export const keepNumbers = (numbers: ReadonlyArray<PhoneNumber.PhoneNumber>): ReadonlyArray<Statement> => {
  if (numbers.length === 0) return []
  const defaults = numbers.filter(({ isDefault }) => isDefault)
  return [
    {
      text: keepText,
      params: [
        texts(numbers.map(({ id }) => id)),
        texts(numbers.map(({ workspaceId }) => workspaceId)),
        texts(numbers.map(({ provider }) => provider)),
        texts(numbers.map(({ phoneNumber }) => phoneNumber)),
        texts(numbers.map(({ providerNumberId }) => providerNumberId)),
        texts(numbers.map(({ providerAccountId }) => providerAccountId)),
        texts(numbers.map(({ tier }) => tier)),
        integers(numbers.map(({ messagingLimit }) => messagingLimit)),
        booleans(numbers.map(({ available }) => available)),
        texts(numbers.map(({ learned }) => learned.tier)),
        integers(numbers.map(({ learned }) => learned.messagingLimit)),
        texts(numbers.map(({ learned }) => learned.quality)),
        texts(numbers.map(({ portfolioId }) => portfolioId)),
        texts(numbers.map(MessagingLimit.poolOf))
      ]
    },
    ...defaults.length === 0 ? [] : [{ text: defaultText, params: [texts(defaults.map(({ id }) => id))] }]
  ]
}

const makeText = `select pg_advisory_xact_lock(hashtext('phone_numbers'), l.name)
  from (select distinct hashtext(n.name) as name from unnest($1::text[]) n (name) order by 1) l`

/** Serializes the creation of numbers with these provider ids. */
export const lockNames = (providerNumberIds: ReadonlyArray<string>): Statement => ({
  text: makeText,
  params: [texts(providerNumberIds)]
})

/** `PhoneNumberStore.add`. */
export const add: StepOptions<
  PhoneNumber.PhoneNumber,
  PhoneNumberStep.LoadedWorkspaces,
  boolean,
  PhoneNumberStep.Writes
> = {
  load: (numbers) => {
    const names = numbers.map(({ providerNumberId }) => providerNumberId)
    const workspaces = [texts(numbers.map(({ workspaceId }) => workspaceId))]
    return [
      lockNames(names),
      lockWorkspaces("$1::text[]", workspaces),
      { text: numbersText("$1::text[]"), params: workspaces },
      {
        text: "select p.provider_number_id from phone_numbers p where p.provider_number_id = any ($1::text[])",
        params: [texts(names)]
      }
    ]
  },
  read: ([, , numbers, known], now) =>
    readWorkspaces(numbers!, new Set(known!.map((row) => plain<string>(row, "provider_number_id"))), now),
  decide: PhoneNumberStep.add,
  write: ({ numbers }) => keepNumbers(numbers)
}

/** `PhoneNumberStore.assign`. */
export const assign: StepOptions<
  PhoneNumberStep.Assign,
  PhoneNumberStep.LoadedWorkspaces,
  boolean,
  PhoneNumberStep.Writes
> = {
  load: (commands) => {
    const ids = [texts(commands.map(({ id }) => id))]
    return [lockWorkspaces(ofNumbers, ids), { text: numbersText(ofNumbers), params: ids }]
  },
  read: ([, numbers], now) => readWorkspaces(numbers!, new Set(), now),
  decide: PhoneNumberStep.assign,
  write: ({ numbers }) => keepNumbers(numbers)
}

/**
 * Deletes everything that belongs to numbers. A transaction that records a contact or a message of a number waits for
 * its row, and then fails.
 */
const removeTexts = [
  "delete from contacts c where c.phone_number_id = any ($1::text[])",
  "delete from inbound_messages i where i.phone_number_id = any ($1::text[])",
  // buckets that count no customer are swept once they are full
  "delete from buckets b where b.phone_number_id = any ($1::text[]) and b.counted_at is not null",
  "delete from phone_numbers p where p.id = any ($1::text[])"
]

const templatesText = `delete from templates t using unnest($1::text[], $2::text[]) l (workspace_id, account)
  where t.workspace_id = l.workspace_id and t.provider_account_id = l.account`

/** `PhoneNumberStore.remove`. */
export const remove: StepOptions<
  Id.PhoneNumberId,
  PhoneNumberStep.LoadedWorkspaces,
  boolean,
  PhoneNumberStep.RemoveWrites
> = {
  load: (ids) => [
    lockWorkspaces(ofNumbers, [texts(ids)]),
    {
      text: "select p.id from phone_numbers p where p.id = any ($1::text[]) order by p.id for update",
      params: [texts(ids)]
    },
    { text: numbersText(ofNumbers), params: [texts(ids)] }
  ],
  read: ([, , numbers], now) => readWorkspaces(numbers!, new Set(), now),
  decide: PhoneNumberStep.remove,
  write: ({ left, numbers, removed }) => {
    if (removed.length === 0) return []
    const ids = texts(removed.map(({ id }) => id))
    return [
      ...removeTexts.map((text) => ({ text, params: [ids] })),
      {
        text: templatesText,
        params: [
          texts(left.map(({ workspaceId }) => workspaceId)),
          texts(left.map(({ providerAccountId }) => providerAccountId))
        ]
      },
      ...keepNumbers(numbers)
    ]
  }
}
