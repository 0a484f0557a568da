/**
 * The steps of contacts (core's `ContactStep`) in PostgreSQL: what they load and write.
 */
import { Contact, ContactStep, CustomerNames, OptOutWords, type Step, type Suppression } from "@wac/core"
import { plain } from "../Column.ts"
import { columns } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { record } from "../events/Recording.ts"
import { keepSaid, moveConversations } from "../messages/Conversations.ts"
import { texts } from "../Parameter.ts"
import type { Row, Rows, Statement } from "../Statement.ts"
import * as StoredSuppression from "./StoredSuppression.ts"

/**
 * Serializes writers of a number's contacts, so that the ways to find a customer (key, provider's user id) stay
 * consistent.
 */
const lockText = `select pg_advisory_xact_lock(hashtext('contacts'), l.name)
  from (
    select distinct hashtext(p.id) as name from phone_numbers p where p.provider_number_id = any ($1::text[]) order by 1
  ) l`

const numbersText =
  `select p.id, p.workspace_id, p.phone_number, p.provider_number_id, w.stop_words, w.start_words, w.removed
  from phone_numbers p left join opt_out_words w on w.workspace_id = p.workspace_id
  where p.provider_number_id = any ($1::text[])`

/** The words of a row of `opt_out_words`, or of the columns of a missing one. */
export const wordsOf = (row: Row | undefined): OptOutWords.Settings =>
  row === undefined || row["removed"] === null ? OptOutWords.noSettings : {
    stopWords: plain(row, "stop_words"),
    startWords: plain(row, "start_words"),
    removed: plain(row, "removed")
  }

/** The names of a customer, each with the number that they wrote to. */
const asked = "unnest($1::text[], $2::text[]) a (provider_number_id, name)"

const number = `cross join lateral (
    select p.id from phone_numbers p where p.provider_number_id = a.provider_number_id offset 0
  ) p`

/** The columns of a contact. */
export const contact = columns({
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

/**
 * The contact of a number by a name of its customer (`CustomerNames.keyOf`): a key, a user id, or a further name. Without
 * `ids`, the name is no user id. A contact without a number has its user id as key.
 */
export const contactNamed = (number: string, name: string, { ids = true } = {}): string =>
  `select n.* from contacts n where n.phone_number_id = ${number} and n.key = ${name}
    union all${
    ids
      ? `
    select n.* from contacts n where n.phone_number_id = ${number} and n.user_id = ${name} and n.key <> ${name}
    union all`
      : ""
  }
    select n.* from contact_names further cross join lateral (
      select n.* from contacts n where n.phone_number_id = further.phone_number_id and n.key = further.key offset 0
    ) n
    where further.phone_number_id = ${number} and further.name = ${name}`

/** Whether a workspace has a contact by a name, on whatever number. */
export const isKnownName = (workspace: string, name: string): string =>
  `exists (
    select from phone_numbers o cross join lateral (${contactNamed("o.id", name)}) c where o.workspace_id = ${workspace}
  )`

/** The further names of a contact, as an array. */
export const aliasesOf = (contact: string): string => `array(select json_array_elements_text(${contact}.aliases))`

const namedText = `select p.id as number, a.name as asked, ${contact.names("n")} from ${asked} ${number}
  cross join lateral (${contactNamed("p.id", "a.name")}) n`

const rememberedText = `select i.phone_number_id, i.provider_message_id from ${asked} ${number}
  cross join lateral (
    select i.phone_number_id, i.provider_message_id from inbound_messages i
    where i.phone_number_id = p.id and i.provider_message_id = a.name offset 0
  ) i`

const suppressionsText = `select ${StoredSuppression.names("s")} from ${asked}
  cross join lateral (
    select p.workspace_id from phone_numbers p where p.provider_number_id = a.provider_number_id offset 0
  ) p
  cross join lateral ${StoredSuppression.under("p.workspace_id", "a.name")} s`

/** A customer of a number, as a command names them. */
interface Named {
  readonly providerNumberId: string
  readonly customer: Contact.Customer
  readonly hashes: Suppression.Hashes
}

const load = (named: ReadonlyArray<Named>): ReadonlyArray<Statement> => {
  const numbers = [texts([...new Set(named.map(({ providerNumberId }) => providerNumberId))])]
  const names = named.flatMap(({ customer, providerNumberId }) =>
    CustomerNames.keysIn(customer).map((name) => [providerNumberId, name] as const)
  )
  return [
    { text: lockText, params: numbers },
    { text: numbersText, params: numbers },
    { text: namedText, params: pairs(names) },
    {
      text: suppressionsText,
      params: pairs(
        named.flatMap(({ hashes, providerNumberId }) =>
          Object.values(hashes).map((hash) => [providerNumberId, hash] as const)
        )
      )
    }
  ]
}

const pairs = (rows: ReadonlyArray<readonly [string, string]>) => [
  texts(rows.map(([first]) => first)),
  texts(rows.map(([, second]) => second))
]

/** The customer of a contact's row. */
export const customerOf = (row: Row): Contact.Customer =>
  CustomerNames.withAliases(
    { phone: row["phone"], userId: row["user_id"] } as Contact.Customer,
    plain<ReadonlyArray<string> | null>(row, "aliases") ?? []
  )

/** The contact of a row. */
export const contactOf = (row: Row): Contact.Contact => {
  const { aliases: _, phone: __, userId: ___, ...stored } = contact.read(row)
  return { ...stored, customer: customerOf(row) } as Contact.Contact
}

/** Finds the contacts of rows by number and name. */
const contactsIn = (rows: Rows): ContactStep.Loaded["contact"] => {
  const contacts = new Map<string, Contact.Contact>()
  const names = new Map<string, string>()
  for (const row of rows) {
    const found = contactOf(row)
    contacts.set(Contact.placeOf(found), found)
    names.set(`${plain<string>(row, "number")} ${plain<string>(row, "asked")}`, Contact.placeOf(found))
  }
  return (phoneNumberId, name) => contacts.get(names.get(`${phoneNumberId} ${name}`) ?? "")
}

const read = (
  [, numberRows, nameRows, suppressionRows]: ReadonlyArray<Rows>,
  now: Step.Known["now"]
): ContactStep.Loaded => {
  const numbers = new Map(numberRows!.map((row) => [
    plain<string>(row, "provider_number_id"),
    {
      id: plain(row, "id"),
      workspaceId: plain(row, "workspace_id"),
      phoneNumber: plain(row, "phone_number"),
      words: wordsOf(row)
    } as ContactStep.Number
  ]))
  return {
    now,
    number: (providerNumberId) => numbers.get(providerNumberId),
    contact: contactsIn(nameRows!),
    suppressions: StoredSuppression.found(suppressionRows!)
  }
}

const removeText = `delete from contacts n using unnest($1::text[], $2::text[]) g (phone_number_id, key)
  where n.phone_number_id = g.phone_number_id and n.key = g.key`

/** A user id leads to one contact, so it is removed from the old contact before the new one gets it. */
const releaseText = `update contacts n set user_id = null from unnest($1::text[], $2::text[]) k (phone_number_id, key)
  where n.phone_number_id = k.phone_number_id and n.key = k.key and n.user_id is not null`

const keepText = `${contact.insert("contacts as n")}
  on conflict (phone_number_id, key) do update set ${
  contact.pick("phone", "userId", "aliases", "isUserFirst", "knownSince", "lastInboundAt", "optedOut", "preferenceAt")
    .set(
      "excluded"
    )
}`

const named = (contacts: ReadonlyArray<Contact.Contact>) =>
  pairs(contacts.map(({ key, phoneNumberId }) => [phoneNumberId, key]))

const dropText = `delete from contact_names a using unnest($1::text[], $2::text[]) d (phone_number_id, name)
  where a.phone_number_id = d.phone_number_id and a.name = d.name`

const addText = `insert into contact_names as a (phone_number_id, name, key)
  select * from unnest($1::text[], $2::text[], $3::text[])
  on conflict (phone_number_id, name) do update set key = excluded.key`

const namesOf = (aliases: ReadonlyArray<ContactStep.Alias>) =>
  pairs(aliases.map(({ contact: { phoneNumberId }, name }) => [phoneNumberId, name]))

const write = ({ added, dropped, gone, kept, moved, suppressions }: ContactStep.Writes): ReadonlyArray<Statement> => {
  // a user id may move from one contact to another
  const isMoved = kept.length > 1 && kept.some(({ customer: { userId } }) => userId !== null)
  const numbered = isMoved ? kept.filter(({ customer: { phone } }) => phone !== null) : []
  return [
    ...dropped.length === 0 ? [] : [{ text: dropText, params: namesOf(dropped) }],
    ...gone.length === 0 ? [] : [{ text: removeText, params: named(gone) }],
    ...numbered.length === 0 ? [] : [{ text: releaseText, params: named(numbered) }],
    ...kept.length === 0 ? [] : [{
      text: keepText,
      params: contact.params(kept.map(({ customer: { aliases = null, phone, userId }, ...stored }) => ({
        ...stored,
        phone,
        userId,
        aliases
      })))
    }],
    ...added.length === 0 ? [] : [{
      text: addText,
      params: [...namesOf(added), texts(added.map(({ contact: { key } }) => key))]
    }],
    ...StoredSuppression.write(suppressions),
    ...moveConversations(moved)
  ]
}

const memory = columns({
  workspaceId: "text",
  phoneNumberId: "text",
  providerMessageId: "text",
  messageId: "text",
  customer: "text",
  expiresAt: "bigint"
})

const remember = (remembered: ReadonlyArray<ContactStep.Remembered>): ReadonlyArray<Statement> =>
  remembered.length === 0 ? [] : [{
    text: memory.insert("inbound_messages"),
    params: memory.params(remembered.map(({ customer, messageId, number, providerMessageId, until }) => ({
      workspaceId: number.workspaceId,
      phoneNumberId: number.id,
      providerMessageId,
      messageId,
      customer,
      expiresAt: until
    })))
  }]

/** `ContactStore.recordInbound`. */
export const recordInbound: StepOptions<
  ContactStep.RecordInbound,
  ContactStep.LoadedInbound,
  ContactStep.Recorded,
  ContactStep.InboundWrites
> = {
  load: (commands) => [
    ...load(commands.map(({ hashes, message }) => ({ ...message, hashes }))),
    {
      text: rememberedText,
      params: pairs(commands.map(({ message }) => [message.providerNumberId, message.providerMessageId]))
    }
  ],
  read: (rows, now) => {
    const seen = new Set(
      rows.at(-1)!.map((row) => `${plain<string>(row, "phone_number_id")} ${plain<string>(row, "provider_message_id")}`)
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

/** `ContactStore.tell`. */
export const tell: StepOptions<ContactStep.Tell, ContactStep.Loaded, boolean, ContactStep.Writes> = {
  load,
  read,
  decide: ContactStep.tell,
  write
}

const lockAllText = `select pg_advisory_xact_lock(hashtext('contacts'), l.name)
  from (
    select distinct hashtext(p.id) as name from phone_numbers p where p.workspace_id = any ($1::text[]) order by 1
  ) l`

const chosenText = `select p.id as number, a.name as asked, ${contact.names("n")}
  from unnest($1::text[], $2::text[]) a (workspace_id, name)
  cross join lateral (select p.id from phone_numbers p where p.workspace_id = a.workspace_id offset 0) p
  cross join lateral (${contactNamed("p.id", "a.name")}) n`

/** `ContactStore.choose`. */
export const choose: StepOptions<
  ContactStep.Choose,
  ContactStep.LoadedChoices,
  ContactStep.Chosen,
  ContactStep.Writes
> = {
  load: (commands) => {
    const workspaces = [texts([...new Set(commands.map(({ workspaceId }) => workspaceId))])]
    const of = (list: (hashes: Suppression.Hashes) => ReadonlyArray<string>) =>
      pairs(commands.flatMap(({ hashes, workspaceId }) => list(hashes).map((one) => [workspaceId, one] as const)))
    return [
      { text: lockAllText, params: workspaces },
      {
        text: "select p.id, p.workspace_id from phone_numbers p where p.workspace_id = any ($1::text[])",
        params: workspaces
      },
      { text: chosenText, params: of(Object.keys) },
      { text: StoredSuppression.loadText, params: of(Object.values) }
    ]
  },
  read: ([, numberRows, nameRows, suppressionRows], now) => ({
    now,
    number: () => undefined,
    numbersOf: (workspaceId) =>
      numberRows!.flatMap((row) =>
        plain<string>(row, "workspace_id") === workspaceId ? [plain<Contact.Contact["phoneNumberId"]>(row, "id")] : []
      ),
    contact: contactsIn(nameRows!),
    suppressions: StoredSuppression.found(suppressionRows!)
  }),
  decide: ContactStep.choose,
  write
}
