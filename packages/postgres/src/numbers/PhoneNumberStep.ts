/**
 * The steps of phone numbers (core's `PhoneNumberStep`) in PostgreSQL: what they load and write. A transaction that
 * locks several numbers locks their workspaces first.
 */
import { type Id, MessagingLimit, PhoneNumber, PhoneNumberStep, type Step, type Time } from "@wac/core"
import { columns, integer, list, result, row, text, unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import type { Relation } from "../Schema.ts"
import { type Given, type Inputs, type Rows, type Statement, statement, value, type Values } from "../Statement.ts"
import { insert } from "../TableStatements.ts"
import { credentials, number, numberRow, own, reported, reportedOf } from "./StoredNumber.ts"

/** When the provider last reported a number's block, tier, limit and quality. */
const toldAt = columns<
  { readonly [Field in keyof PhoneNumber.ReportTimes]-?: Time.Instant | null },
  {
    block: "block_told_at"
    tier: "tier_told_at"
    messagingLimit: "messaging_limit_told_at"
    quality: "quality_told_at"
  }
>({ block: "bigint", tier: "bigint", messagingLimit: "bigint", quality: "bigint" }, {
  block: "block_told_at",
  tier: "tier_told_at",
  messagingLimit: "messaging_limit_told_at",
  quality: "quality_told_at"
})

const untold = { block: null, tier: null, messagingLimit: null, quality: null }

const stored = result<{ readonly number: PhoneNumberStep.Observed }>({
  number: {
    read: (row) => ({
      number: number.read(row),
      toldAt: Object.fromEntries(Object.entries(toldAt.read(row)).filter(([, at]) => at !== null))
    })
  }
})

const observed = columns<Pick<PhoneNumber.PhoneNumber, "id" | "credentialsVersion">>({
  id: "text",
  credentialsVersion: "text"
}).and(reported).and(toldAt)

const updateObserved = unlessEmpty(
  observed,
  (rows) => `update wac.phone_numbers p set ${observed.set("g", "id")} from ${rows("g")} where p.id = g.id`
)

const keepObserved = (observed: ReadonlyArray<PhoneNumberStep.Observed>): ReadonlyArray<Statement> =>
  updateObserved(observed.map(({ number, toldAt }) => ({ ...number, ...reportedOf(number), ...untold, ...toldAt })))

/** Locks the workspaces, then the numbers, that the query `chosen` selects. */
const lockChosen = <I extends Inputs>(
  inputs: I,
  chosen: (given: Given<I>) => string
): (values: Values<I>) => ReadonlyArray<Statement> => {
  const workspaces = statement(inputs, (given) =>
    `select w.id from wac.workspaces w
      where w.id = any (array(select p.workspace_id from wac.phone_numbers p where p.id = any (array(${
      chosen(given)
    }))))
      order by w.id for no key update`)
  const numbers = statement(
    inputs,
    (given) =>
      `select to_json(p) as number from wac.phone_numbers p where p.id = any (array(${chosen(given)})) order by p.id
      for no key update`
  )
  return (values) => [workspaces(values), numbers(values)]
}

const lockNamed = lockChosen({
  names: list<string>("text"),
  accounts: row({ account: text(), phoneNumber: text<string | null>() })
}, ({ accounts, names }) =>
  `select p.id from wac.phone_numbers p where p.provider_number_id = any (${names})
  union
  select p.id from ${accounts("a")}
  cross join lateral (
    select p.id from wac.phone_numbers p
    where p.provider_account_id = a.account and coalesce(p.phone_number = a.phone_number, true) offset 0
  ) p`)

/** Groups the names of a batch: provider ids, and accounts with or without a phone number. */
const namesOf = (commands: ReadonlyArray<PhoneNumberStep.Observe>) => {
  const names = commands.map(({ name }) => name)
  return {
    names: names.flatMap((name) => "providerNumberId" in name ? [name.providerNumberId] : []),
    accounts: names.flatMap((name) =>
      "providerNumberId" in name
        ? []
        : [{ account: name.providerAccountId, phoneNumber: name.phoneNumber ?? null }]
    )
  }
}

/** `PhoneNumberStore.observe`. */
export const observe: StepOptions<
  PhoneNumberStep.Observe,
  PhoneNumberStep.LoadedNames,
  number,
  PhoneNumberStep.ObserveWrites
> = {
  load: (commands) => lockNamed(namesOf(commands)),
  read: ([, rows], now) => {
    const all = rows!.map((row) => stored.read(row).number)
    return { now, named: (name) => all.filter(({ number }) => PhoneNumber.isNamed(number, name)) }
  },
  decide: PhoneNumberStep.observe,
  write: ({ observed }) => keepObserved(observed)
}

const ids = list<Id.PhoneNumberId>("text")

const lockNumbers = lockChosen({ ids }, ({ ids }) => `select p.id from wac.phone_numbers p where p.id = any (${ids})`)

const removeCredentials = unlessEmpty(
  ids,
  (ids) => `delete from wac.phone_number_credentials c where c.phone_number_id = any (${ids})`
)

const insertCredentials = insert(
  row({ phoneNumberId: text<Id.PhoneNumberId>() }).and(credentials),
  "wac.phone_number_credentials"
)

const storedCredentials = ({ credentials, id }: PhoneNumberStep.AddWrites["credentials"][number]) => ({
  phoneNumberId: id,
  ...credentials,
  ...credentials.accessToken
})

/** `PhoneNumberStore.setCredentials`. */
export const setCredentials: StepOptions<
  PhoneNumberStep.SetCredentials,
  PhoneNumberStep.LoadedNumbers,
  boolean,
  PhoneNumberStep.CredentialsWrites
> = {
  load: (commands) => lockNumbers({ ids: commands.map(({ id }) => id) }),
  read: ([, rows], now) => {
    const all = new Map(rows!.map((row) => {
      const observed = stored.read(row).number
      return [observed.number.id, observed]
    }))
    return { now, byId: (id) => all.get(id) }
  },
  decide: PhoneNumberStep.setCredentials,
  write: ({ credentials, observed }) => {
    if (credentials.length === 0) return []
    return [
      ...keepObserved(observed),
      ...removeCredentials(credentials.map(({ id }) => id)),
      ...insertCredentials(
        credentials.flatMap(({ credentials, id }) =>
          credentials === null ? [] : [storedCredentials({ id, credentials })]
        )
      )
    ]
  }
}

/**
 * The text of a statement that locks workspaces. This serializes changes of their default numbers: a workspace has one
 * default for each provider.
 */
const lockText = (ids: string) =>
  `select w.id from wac.workspaces w where w.id = any (${ids}) order by w.id for no key update`

const numbersText = (ids: string) =>
  `select to_json(p) as number from wac.phone_numbers p where p.workspace_id = any (${ids}) order by p.id`

const workspaceIds = list<Id.WorkspaceId>("text")
const lockWorkspaces = statement({ ids: workspaceIds }, ({ ids }) => lockText(ids))
const loadNumbers = statement({ ids: workspaceIds }, ({ ids }) => numbersText(ids))

const ofNumbers = (ids: string) => `array(select p.workspace_id from wac.phone_numbers p where p.id = any (${ids}))`

/** Locks the workspaces that own the numbers. */
const lockOwners = statement({ ids }, ({ ids }) => lockText(ofNumbers(ids)))
const loadOwned = statement({ ids }, ({ ids }) => numbersText(ofNumbers(ids)))

const name = own.pick("providerNumberId")

const readWorkspaces = (
  numbers: Rows,
  known: ReadonlySet<string>,
  now: Step.Known["now"]
): PhoneNumberStep.LoadedWorkspaces => {
  const all = numbers.map((row) => numberRow.read(row).number)
  const byId = new Map(all.map((number) => [number.id, number]))
  return {
    now,
    byId: (id) => byId.get(id),
    ofWorkspace: (id) => all.filter(({ workspaceId }) => workspaceId === id),
    isKnown: (providerNumberId) => known.has(providerNumberId)
  }
}

/**
 * Writes numbers, at first not as defaults: a workspace has only one default for a provider, which may change in the
 * same step. {@link makeDefault} follows.
 */
const keep = insert(
  own
    .omit("isDefault")
    .and(reported.pick("learnedTier", "learnedMessagingLimit", "learnedQuality"))
    .and(row({ limitPool: text() })),
  "wac.phone_numbers",
  `
  on conflict (id) do update set provider = excluded.provider, provider_account_id = excluded.provider_account_id,
    portfolio_id = excluded.portfolio_id, limit_pool = excluded.limit_pool, is_default = false`
)

const makeDefault = unlessEmpty(
  ids,
  (ids) => `update wac.phone_numbers p set is_default = true where p.id = any (${ids})`
)

/** Writes new and changed numbers. */
const keepNumbers = (numbers: ReadonlyArray<PhoneNumber.PhoneNumber>): ReadonlyArray<Statement> => [
  ...keep(numbers.map((number) => ({ ...number, ...reportedOf(number), limitPool: MessagingLimit.poolOf(number) }))),
  ...makeDefault(numbers.filter(({ isDefault }) => isDefault).map(({ id }) => id))
]

/** Writes new numbers with their credentials, and numbers that are changed with them. */
export const keepAdded = ({ credentials, numbers }: PhoneNumberStep.AddWrites): ReadonlyArray<Statement> => [
  ...keepNumbers(numbers),
  ...insertCredentials(credentials.map(storedCredentials))
]

/** Serializes the creation of numbers with these provider ids. */
export const lockNames = statement(
  { names: list<string>("text") },
  ({ names }) =>
    `select pg_advisory_xact_lock(hashtext('wac:phone_numbers'), l.name)
  from (select distinct hashtext(n.name) as name from unnest(${names}) n (name) order by 1) l`
)

const loadNames = statement(
  { names: list<string>("text") },
  ({ names }) => `select ${name.names("p")} from wac.phone_numbers p where p.provider_number_id = any (${names})`
)

/** `PhoneNumberStore.add`. */
export const add: StepOptions<
  PhoneNumberStep.Add,
  PhoneNumberStep.LoadedWorkspaces,
  boolean,
  PhoneNumberStep.AddWrites
> = {
  load: (commands) => {
    const names = commands.map(({ number }) => number.providerNumberId)
    const ids = commands.map(({ number }) => number.workspaceId)
    return [lockNames({ names }), lockWorkspaces({ ids }), loadNumbers({ ids }), loadNames({ names })]
  },
  read: ([, , numbers, known], now) =>
    readWorkspaces(numbers!, new Set(known!.map((row) => name.read(row).providerNumberId)), now),
  decide: PhoneNumberStep.add,
  write: keepAdded
}

/** `PhoneNumberStore.assign`. */
export const assign: StepOptions<
  PhoneNumberStep.Assign,
  PhoneNumberStep.LoadedWorkspaces,
  boolean,
  PhoneNumberStep.Writes
> = {
  load: (commands) => {
    const ids = commands.map(({ id }) => id)
    return [lockOwners({ ids }), loadOwned({ ids })]
  },
  read: ([, numbers], now) => readWorkspaces(numbers!, new Set(), now),
  decide: PhoneNumberStep.assign,
  write: ({ numbers }) => keepNumbers(numbers)
}

const disable = unlessEmpty(
  ids,
  (ids) => `update wac.phone_numbers p set available = false where p.id = any (${ids})`
)

/**
 * The first step of `PhoneNumberStore.remove`: the numbers send nothing any more. Without its contacts, a number does not
 * know who has opted out, and messages that name no number must not fail while another number can send them.
 */
export const retire: StepOptions<
  Id.PhoneNumberId,
  PhoneNumberStep.LoadedWorkspaces,
  boolean,
  PhoneNumberStep.RetireWrites
> = {
  load: (ids) => [lockOwners({ ids }), loadOwned({ ids })],
  read: ([, numbers], now) => readWorkspaces(numbers!, new Set(), now),
  decide: PhoneNumberStep.retire,
  write: ({ numbers, retired }) => [...keepNumbers(numbers), ...disable(retired)]
}

/** The maximum number of rows of a removed number that one statement deletes. */
export const removedAtOnce = 1000

const some = (table: Relation, isOf: string, order: string): string =>
  `delete from ${table} g where g.ctid = any (array(
    select o.ctid from ${table} o where ${isOf} order by ${order} limit ${removedAtOnce} for update
  ))`

const id = value<Id.PhoneNumberId>()

const counting = (deleted: string): string =>
  `with gone as (${deleted} returning 1) select count(*)::integer as removed from gone`

/**
 * The parts `page`, `said` and `moved` of a statement: it locks contacts of numbers, and what was said under their
 * further names moves to their keys, because nothing joins the names once the contacts are deleted. `limit` bounds the
 * contacts, and the messages that move.
 */
const joinSaid = (isOf: (column: string) => string, limit = ""): string =>
  `page as materialized (
    select o.ctid as place, o.* from wac.contacts o where ${isOf("o.phone_number_id")}
    order by o.phone_number_id, o.key ${limit} for update
  ), said as materialized (
    select c.message_id, p.key from page p
    cross join lateral (select p.user_id union all select json_array_elements_text(p.aliases)) a (name)
    cross join lateral (
      select c.message_id from wac.conversations c
      where c.workspace_id = p.workspace_id and c.customer = a.name and c.phone_number_id = p.phone_number_id
      ${limit} offset 0
    ) c
    -- a name that is another contact's key is theirs
    where not exists (select from wac.contacts o where o.phone_number_id = p.phone_number_id and o.key = a.name)
    ${limit}
  ), held as materialized (
    select c.message_id, s.key from said s join wac.conversations c on c.message_id = s.message_id
    order by c.message_id for update of c
  ), moved as (
    update wac.conversations c set customer = h.key from held h where c.message_id = h.message_id returning 1
  )`

/** Deletes contacts. If too much moves for one statement ({@link joinSaid}), it moves a part and deletes no contact. */
const removeContacts = statement({ id }, ({ id }) => `
  with ${joinSaid((column) => `${column} = ${id}`, `limit ${removedAtOnce}`)}, gone as (
    delete from wac.contacts g
    where g.ctid = any (array(select p.place from page p where (select count(*) from said) < ${removedAtOnce}))
    returning 1
  )
  select ((select count(*) from moved) + (select count(*) from gone))::integer as removed`)

const removeInbound = statement(
  { id },
  ({ id }) =>
    counting(some("wac.inbound_messages", `o.phone_number_id = ${id}`, "o.phone_number_id, o.provider_message_id"))
)

const removeCounted = statement({ id }, ({ id }) =>
  `with gone as (
    ${
    some(
      "wac.buckets",
      `o.counted_at is not null and o.phone_number_id = ${id}`,
      "o.phone_number_id, o.counted_at"
    )
  } returning 1
  ), removed as (
    select count(*)::integer as removed from gone
  ), counted as (
    update wac.phone_numbers p set customers_counted = p.customers_counted - r.removed from removed r where p.id = ${id}
  )
  select removed from removed`)

/**
 * The transactions that delete a part of what belongs to a number. Each is repeated until it deletes no
 * row. *Accept* counts customers under the lock of their workspace. Contacts are last, because customers still write to
 * the number meanwhile.
 */
export const removeParts = (id: Id.PhoneNumberId): ReadonlyArray<ReadonlyArray<Statement>> => [
  [removeInbound({ id })],
  [lockOwners({ ids: [id] }), removeCounted({ id })],
  [removeContacts({ id })]
]

const removedRows = row({ removed: integer() })

/** How many rows a transaction of {@link removeParts} has deleted. */
export const removedIn = (rows: ReadonlyArray<Rows>): number => removedRows.read(rows.at(-1)![0]!).removed

/**
 * Deletes everything that still belongs to numbers, after {@link removeParts}, also contacts that came meanwhile. A
 * transaction that records a contact or a message of a removed number waits for the number's row, and then fails.
 */
const removals = [
  (ids: string) => `with ${joinSaid((column) => `${column} = any (${ids})`)} select count(*) from moved`,
  (ids: string) => `delete from wac.contacts c where c.phone_number_id = any (${ids})`,
  (ids: string) => `delete from wac.inbound_messages i where i.phone_number_id = any (${ids})`,
  // the sweep deletes other buckets once they are full
  (ids: string) => `delete from wac.buckets b where b.counted_at is not null and b.phone_number_id = any (${ids})`,
  (ids: string) => `delete from wac.phone_numbers p where p.id = any (${ids})`
].map((text) => unlessEmpty(ids, text))

const removeTemplates = unlessEmpty(
  own.pick("workspaceId", "providerAccountId"),
  (rows) =>
    `delete from wac.templates t using ${rows("l")}
  where t.workspace_id = l.workspace_id and t.provider_account_id = l.provider_account_id`
)

const lockRemoved = statement(
  { ids },
  ({ ids }) => `select p.id from wac.phone_numbers p where p.id = any (${ids}) order by p.id for update`
)

/** `PhoneNumberStore.remove`. */
export const remove: StepOptions<
  Id.PhoneNumberId,
  PhoneNumberStep.LoadedWorkspaces,
  boolean,
  PhoneNumberStep.RemoveWrites
> = {
  load: (ids) => [
    lockOwners({ ids }),
    lockRemoved({ ids }),
    loadOwned({ ids })
  ],
  read: ([, , numbers], now) => readWorkspaces(numbers!, new Set(), now),
  decide: PhoneNumberStep.remove,
  write: ({ left, numbers, removed }) => {
    if (removed.length === 0) return []
    const ids = removed.map(({ id }) => id)
    return [...removals.flatMap((remove) => remove(ids)), ...removeTemplates(left), ...keepNumbers(numbers)]
  }
}
