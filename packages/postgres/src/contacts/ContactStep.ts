/**
 * The steps of contacts (core's `ContactStep`) in PostgreSQL: what they load and write.
 */
import {
  Contact,
  ContactStep,
  CustomerNames,
  type Id,
  OptOutWords,
  type Step,
  type Suppression,
  type Time
} from "@wac/core"
import { columns, list, row, text, unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { record } from "../events/Recording.ts"
import { keepSaid, moveConversations } from "../messages/Conversations.ts"
import { type Row, type Rows, type Statement, statement } from "../Statement.ts"
import { insert } from "../TableStatements.ts"
import * as StoredSuppression from "./StoredSuppression.ts"

/**
 * Serializes writers of a number's contacts, so that the ways to find a customer (key, provider's user id) stay
 * consistent.
 */
const lock = statement(
  { providerNumberIds: list<string>("text") },
  ({ providerNumberIds }) =>
    `select pg_advisory_xact_lock(hashtext('wac:contacts'), l.name)
  from (
    select distinct hashtext(p.id) as name from wac.phone_numbers p
    where p.provider_number_id = any (${providerNumberIds}) order by 1
  ) l`
)

/** A workspace's own opt-out words. */
export const words = columns<OptOutWords.Settings>({ stopWords: "text[]", startWords: "text[]", removed: "text[]" })

const numbers = columns<Omit<ContactStep.Number, "words"> & { readonly providerNumberId: string }>({
  id: "text",
  workspaceId: "text",
  phoneNumber: "text",
  providerNumberId: "text"
})

const loadNumbers = statement(
  { providerNumberIds: list<string>("text") },
  ({ providerNumberIds }) =>
    `select ${numbers.names("p")}, ${words.names("w")}
  from wac.phone_numbers p left join wac.opt_out_words w on w.workspace_id = p.workspace_id
  where p.provider_number_id = any (${providerNumberIds})`
)

/** Reads the words from a row of `opt_out_words`, or from the null columns of a missing row. */
export const wordsOf = (row: Row | undefined): OptOutWords.Settings =>
  row === undefined || row["removed"] === null ? OptOutWords.noSettings : words.read(row)

/** Names of customers, each with the number that the customer wrote to. */
const names = row({ providerNumberId: text(), name: text() })

const number = `cross join lateral (
    select p.id from wac.phone_numbers p where p.provider_number_id = a.provider_number_id offset 0
  ) p`

/** The columns of a contact. */
export const contact = columns<
  Omit<Contact.Contact, "customer"> & {
    readonly phone: Contact.Customer["phone"]
    readonly userId: Contact.Customer["userId"]
    readonly aliases: ReadonlyArray<string> | null
  }
>({
  workspaceId: "text",
  phoneNumberId: "text",
  key: "text",
  phone: "text",
  userId: "text",
  aliases: "json",
  isUserFirst: "boolean",
  knownSince: "bigint",
  lastInboundAt: "bigint",
  optedOut: "boolean",
  preferenceAt: "bigint"
})

const customer = contact.pick("phone", "userId", "aliases")

const uncalled = contact.omit("phone", "userId", "aliases")

/**
 * A query for the contact of a number by a name of its customer (`CustomerNames.keyOf`): a key, a user id, or a further
 * name. Pass `ids: false` if the name cannot be a user id. The key of a customer without a phone number is their user
 * id.
 */
export const contactNamed = (number: string, name: string, { ids = true } = {}): string =>
  `select n.* from wac.contacts n where n.phone_number_id = ${number} and n.key = ${name}
    union all${
    ids
      ? `
    select n.* from wac.contacts n where n.phone_number_id = ${number} and n.user_id = ${name} and n.key <> ${name}
    union all`
      : ""
  }
    select n.* from wac.contact_names further cross join lateral (
      select n.* from wac.contacts n where n.phone_number_id = further.phone_number_id and n.key = further.key offset 0
    ) n
    where further.phone_number_id = ${number} and further.name = ${name}`

/** A condition: whether any number of a workspace has a contact by this name. */
export const isKnownName = (workspace: string, name: string): string =>
  `exists (
    select from wac.phone_numbers o cross join lateral (${
    contactNamed("o.id", name)
  }) c where o.workspace_id = ${workspace}
  )`

/** The further names of a contact, as an array. */
export const aliasesOf = (contact: string): string => `array(select json_array_elements_text(${contact}.aliases))`

/** A message of a customer that is remembered, so that it is not recorded again. */
const memory = columns<
  Pick<ContactStep.Remembered, "providerMessageId" | "messageId" | "customer"> & {
    readonly workspaceId: Id.WorkspaceId
    readonly phoneNumberId: Id.PhoneNumberId
    readonly expiresAt: Time.Instant
  }
>({
  workspaceId: "text",
  phoneNumberId: "text",
  providerMessageId: "text",
  messageId: "text",
  customer: "text",
  expiresAt: "bigint"
})

/** The columns beside a contact's row: the number and the name by which it was found. */
const foundBy = row({ number: text<Id.PhoneNumberId>(), asked: text() })

const loadNamed = statement(
  { names },
  ({ names }) =>
    `select p.id as number, a.name as asked, ${contact.names("n")} from ${names("a")} ${number}
  cross join lateral (${contactNamed("p.id", "a.name")}) n`
)

const remembered = memory.pick("phoneNumberId", "providerMessageId")

const loadRemembered = statement({ names }, ({ names }) =>
  `select ${remembered.names("i")} from ${names("a")} ${number}
  cross join lateral (
    select i.phone_number_id, i.provider_message_id from wac.inbound_messages i
    where i.phone_number_id = p.id and i.provider_message_id = a.name offset 0
  ) i`)

const loadSuppressions = statement(
  { names },
  ({ names }) =>
    `select ${StoredSuppression.columnList("s")} from ${names("a")}
  cross join lateral (
    select p.workspace_id from wac.phone_numbers p where p.provider_number_id = a.provider_number_id offset 0
  ) p
  cross join lateral ${StoredSuppression.byHash("p.workspace_id", "a.name")} s`
)

/** How a command names a customer of a number. */
interface Named {
  readonly providerNumberId: string
  readonly customer: Contact.Customer
  readonly hashes: Suppression.Hashes
}

const load = (named: ReadonlyArray<Named>): ReadonlyArray<Statement> => {
  const providerNumberIds = [...new Set(named.map(({ providerNumberId }) => providerNumberId))]
  const namesIn = (namesOf: (one: Named) => ReadonlyArray<string>) =>
    named.flatMap((one) => namesOf(one).map((name) => ({ providerNumberId: one.providerNumberId, name })))
  return [
    lock({ providerNumberIds }),
    loadNumbers({ providerNumberIds }),
    loadNamed({ names: namesIn(({ customer }) => CustomerNames.keysIn(customer)) }),
    loadSuppressions({ names: namesIn(({ hashes }) => Object.values(hashes)) })
  ]
}

/** The customer of a contact's row. */
export const customerOf = (row: Row): Contact.Customer => {
  const { aliases, phone, userId } = customer.read(row)
  return CustomerNames.withAliases(phone === null ? { phone, userId: userId! } : { phone, userId }, aliases ?? [])
}

/** The contact of a row. */
export const contactOf = (row: Row): Contact.Contact => ({ ...uncalled.read(row), customer: customerOf(row) })

/** Finds the contacts of rows by number and name. */
const contactsIn = (rows: Rows): ContactStep.Loaded["contact"] => {
  const contacts = new Map<string, Contact.Contact>()
  const names = new Map<string, string>()
  for (const row of rows) {
    const found = contactOf(row)
    contacts.set(Contact.placeOf(found), found)
    const { asked, number } = foundBy.read(row)
    // a step that found it by one of its names may look for it by another one
    for (const name of [asked, ...Contact.keysOf(found.key, found)]) {
      names.set(`${number} ${name}`, Contact.placeOf(found))
    }
  }
  return (phoneNumberId, name) => contacts.get(names.get(`${phoneNumberId} ${name}`) ?? "")
}

const read = (
  [, numberRows, nameRows, suppressionRows]: ReadonlyArray<Rows>,
  now: Step.Known["now"]
): ContactStep.Loaded => {
  const found = new Map(numberRows!.map((row) => {
    const { providerNumberId, ...number } = numbers.read(row)
    return [providerNumberId, { ...number, words: wordsOf(row) }]
  }))
  return {
    now,
    number: (providerNumberId) => found.get(providerNumberId),
    contact: contactsIn(nameRows!),
    suppressions: StoredSuppression.indexByHash(suppressionRows!)
  }
}

const place = contact.pick("phoneNumberId", "key")

const remove = unlessEmpty(place, (rows) =>
  `delete from wac.contacts n using ${rows("g")}
  where n.phone_number_id = g.phone_number_id and n.key = g.key`)

/**
 * Removes user ids from their old contacts. A user id leads to one contact, so this must come before the new contact
 * gets it.
 */
const release = unlessEmpty(place, (rows) =>
  `update wac.contacts n set user_id = null from ${rows("k")}
  where n.phone_number_id = k.phone_number_id and n.key = k.key and n.user_id is not null`)

const keep = insert(
  contact,
  "wac.contacts as n",
  `
  on conflict (phone_number_id, key) do update set ${contact.set("excluded", "phoneNumberId", "key", "workspaceId")}`
)

const alias = columns<Pick<Contact.Contact, "phoneNumberId"> & { readonly name: string }>({
  phoneNumberId: "text",
  name: "text"
})

const drop = unlessEmpty(alias, (rows) =>
  `delete from wac.contact_names a using ${rows("d")}
  where a.phone_number_id = d.phone_number_id and a.name = d.name`)

const add = insert(
  alias.and(contact.pick("key")),
  "wac.contact_names as a",
  `
  on conflict (phone_number_id, name) do update set key = excluded.key`
)

const aliasesIn = (aliases: ReadonlyArray<ContactStep.Alias>) =>
  aliases.map(({ contact: { key, phoneNumberId }, name }) => ({ phoneNumberId, name, key }))

const write = ({ added, dropped, gone, kept, moved, suppressions }: ContactStep.Writes): ReadonlyArray<Statement> => {
  // a user id may move from one contact to another
  const isMoved = kept.length > 1 && kept.some(({ customer: { userId } }) => userId !== null)
  const numbered = isMoved ? kept.filter(({ customer: { phone } }) => phone !== null) : []
  return [
    ...drop(aliasesIn(dropped)),
    ...remove(gone),
    ...release(numbered),
    ...keep(kept.map(({ customer: { aliases = null, phone, userId }, ...stored }) => ({
      ...stored,
      phone,
      userId,
      aliases
    }))),
    ...add(aliasesIn(added)),
    ...StoredSuppression.write(suppressions),
    ...moveConversations(moved)
  ]
}

const keepMemory = insert(memory, "wac.inbound_messages")

const remember = (remembered: ReadonlyArray<ContactStep.Remembered>): ReadonlyArray<Statement> =>
  keepMemory(remembered.map(({ number, until, ...message }) => ({
    ...message,
    workspaceId: number.workspaceId,
    phoneNumberId: number.id,
    expiresAt: until
  })))

/** `ContactStore.recordInbound`. */
export const recordInbound: StepOptions<
  ContactStep.RecordInbound,
  ContactStep.LoadedInbound,
  ContactStep.Recorded,
  ContactStep.InboundWrites
> = {
  load: (commands) => [
    ...load(commands.map(({ hashes, message }) => ({ ...message, hashes }))),
    loadRemembered({
      names: commands.map(({ message: { providerMessageId, providerNumberId } }) => ({
        providerNumberId,
        name: providerMessageId
      }))
    })
  ],
  read: (rows, now) => {
    const seen = new Set(
      rows.at(-1)!.map(remembered.read).map(({ phoneNumberId, providerMessageId }) =>
        `${phoneNumberId} ${providerMessageId}`
      )
    )
    return {
      ...read(rows, now),
      isRemembered: (number, providerMessageId) => seen.has(`${number} ${providerMessageId}`)
    }
  },
  decide: ContactStep.recordInbound,
  write: (
    writes
  ) => [...remember(writes.remembered), ...write(writes), ...keepSaid(writes.said), ...record(writes.events)]
}

/** `ContactStore.setPreference`. */
export const setPreference: StepOptions<ContactStep.SetPreference, ContactStep.Loaded, boolean, ContactStep.Writes> = {
  load,
  read,
  decide: ContactStep.setPreference,
  write
}

/** `ContactStore.move`. */
export const move: StepOptions<ContactStep.Move, ContactStep.Loaded, boolean, ContactStep.Writes> = {
  load: (commands) =>
    load(commands.flatMap(({ from, hashes, providerNumberId, to }) => [
      { providerNumberId, customer: from, hashes },
      { providerNumberId, customer: to, hashes: {} }
    ])),
  read,
  decide: ContactStep.move,
  write
}

/** `ContactStore.recordNames`. */
export const recordNames: StepOptions<ContactStep.RecordNames, ContactStep.Loaded, boolean, ContactStep.Writes> = {
  load,
  read,
  decide: ContactStep.recordNames,
  write
}

const workspaceIds = list<Id.WorkspaceId>("text")

const lockAll = statement(
  { workspaceIds },
  ({ workspaceIds }) =>
    `select pg_advisory_xact_lock(hashtext('wac:contacts'), l.name)
  from (
    select distinct hashtext(p.id) as name from wac.phone_numbers p where p.workspace_id = any (${workspaceIds}) order by 1
  ) l`
)

const owned = numbers.pick("id", "workspaceId")

const loadOwned = statement(
  { workspaceIds },
  ({ workspaceIds }) =>
    `select ${owned.names("p")} from wac.phone_numbers p where p.workspace_id = any (${workspaceIds})`
)

const loadChosen = statement({
  names: row({ workspaceId: text<Id.WorkspaceId>(), name: text() })
}, ({ names }) =>
  `select p.id as number, a.name as asked, ${contact.names("n")}
  from ${names("a")}
  cross join lateral (select p.id from wac.phone_numbers p where p.workspace_id = a.workspace_id offset 0) p
  cross join lateral (${contactNamed("p.id", "a.name")}) n`)

/** `ContactStore.choose`. */
export const choose: StepOptions<
  ContactStep.Choose,
  ContactStep.LoadedChoices,
  ContactStep.Chosen,
  ContactStep.Writes
> = {
  load: (commands) => {
    const workspaceIds = [...new Set(commands.map(({ workspaceId }) => workspaceId))]
    return [
      lockAll({ workspaceIds }),
      loadOwned({ workspaceIds }),
      loadChosen({
        names: commands.flatMap(({ hashes, workspaceId }) => Object.keys(hashes).map((name) => ({ workspaceId, name })))
      }),
      StoredSuppression.load({
        hashes: commands.flatMap(({ hashes, workspaceId }) =>
          Object.values(hashes).map((hash) => ({ workspaceId, hash }))
        )
      })
    ]
  },
  read: ([, numberRows, nameRows, suppressionRows], now) => ({
    now,
    number: () => undefined,
    numbersOf: (workspaceId) =>
      numberRows!.map(owned.read).filter((number) => number.workspaceId === workspaceId).map(({ id }) => id),
    contact: contactsIn(nameRows!),
    suppressions: StoredSuppression.indexByHash(suppressionRows!)
  }),
  decide: ContactStep.choose,
  write
}
