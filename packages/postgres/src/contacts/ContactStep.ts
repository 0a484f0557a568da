/**
 * The steps of contacts (core's `ContactStep`) in PostgreSQL: what they load and write.
 */
import { Contact, ContactStep, type Step } from "@wac/core"
import { plain } from "../Column.ts"
import { columns } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { record } from "../events/Recording.ts"
import { texts } from "../Parameter.ts"
import type { Row, Rows, Statement } from "../Statement.ts"

/**
 * Serializes writers of a number's contacts, so that the ways to find a customer (key, provider's user id) stay
 * consistent.
 */
const lockText = `select pg_advisory_xact_lock(hashtext('contacts'), l.name)
  from (
    select distinct hashtext(p.id) as name from phone_numbers p where p.provider_number_id = any ($1::text[]) order by 1
  ) l`

const numbersText =
  "select p.id, p.workspace_id, p.phone_number, p.provider_number_id from phone_numbers p where p.provider_number_id = any ($1::text[])"

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
  isUserFirst: "boolean",
  knownSince: "bigint",
  lastInboundAt: "bigint",
  optedOut: "boolean",
  preferenceAt: "bigint"
})

/** The contact of a number under a key or a user id. A contact without a number has its user id as key. */
export const contactNamed = (number: string, name: string): string =>
  `select n.* from contacts n where n.phone_number_id = ${number} and n.key = ${name}
    union all
    select n.* from contacts n where n.phone_number_id = ${number} and n.user_id = ${name} and n.key <> ${name}`

const byKeyText = `select ${contact.names("n")} from ${asked} ${number}
  cross join lateral (select n.* from contacts n where n.phone_number_id = p.id and n.key = a.name offset 0) n`

const byUserText = `select ${contact.names("n")} from ${asked} ${number}
  cross join lateral (select n.* from contacts n where n.phone_number_id = p.id and n.user_id = a.name offset 0) n`

const rememberedText = `select i.phone_number_id, i.provider_message_id from ${asked} ${number}
  cross join lateral (
    select i.phone_number_id, i.provider_message_id from inbound_messages i
    where i.phone_number_id = p.id and i.provider_message_id = a.name offset 0
  ) i`

/** A customer of a number, as a command names them. */
interface Named {
  readonly providerNumberId: string
  readonly customer: Contact.Customer
}

const load = (named: ReadonlyArray<Named>): ReadonlyArray<Statement> => {
  const numbers = [texts([...new Set(named.map(({ providerNumberId }) => providerNumberId))])]
  const byKey = named.flatMap(({ customer: { phone }, providerNumberId }) =>
    phone === null ? [] : [[providerNumberId, Contact.keyOf(phone)] as const]
  )
  const byUser = named.flatMap(({ customer: { userId }, providerNumberId }) =>
    userId === null ? [] : [[providerNumberId, userId] as const]
  )
  return [
    { text: lockText, params: numbers },
    { text: numbersText, params: numbers },
    { text: byKeyText, params: pairs(byKey) },
    { text: byUserText, params: pairs(byUser) }
  ]
}

const pairs = (rows: ReadonlyArray<readonly [string, string]>) => [
  texts(rows.map(([first]) => first)),
  texts(rows.map(([, second]) => second))
]

/** The contact of a row. */
export const contactOf = (row: Row): Contact.Contact => {
  const { phone, userId, ...stored } = contact.read(row)
  return { ...stored, customer: { phone, userId } } as Contact.Contact
}

const read = ([, numberRows, keyRows, userRows]: ReadonlyArray<Rows>, now: Step.Known["now"]): ContactStep.Loaded => {
  const numbers = new Map(numberRows!.map((row) => [
    plain<string>(row, "provider_number_id"),
    {
      id: plain(row, "id"),
      workspaceId: plain(row, "workspace_id"),
      phoneNumber: plain(row, "phone_number")
    } as ContactStep.Number
  ]))
  const found = [...keyRows!, ...userRows!].map(contactOf)
  const byKey = new Map(found.map((contact) => [Contact.placeOf(contact), contact]))
  const byUser = new Map(found.map((contact) => [`${contact.phoneNumberId} ${contact.customer.userId}`, contact]))
  return {
    now,
    number: (providerNumberId) => numbers.get(providerNumberId),
    byKey: (phoneNumberId, key) => byKey.get(Contact.placeOf({ phoneNumberId, key })),
    byUser: (phoneNumberId, userId) => byUser.get(`${phoneNumberId} ${userId}`)
  }
}

const removeText = `delete from contacts n using unnest($1::text[], $2::text[]) g (phone_number_id, key)
  where n.phone_number_id = g.phone_number_id and n.key = g.key`

/** A user id leads to one contact, so it is removed from the old contact before the new one gets it. */
const releaseText = `update contacts n set user_id = null from unnest($1::text[], $2::text[]) k (phone_number_id, key)
  where n.phone_number_id = k.phone_number_id and n.key = k.key and n.user_id is not null`

const keepText = `${contact.insert("contacts as n")}
  on conflict (phone_number_id, key) do update set ${
  contact.pick("phone", "userId", "isUserFirst", "knownSince", "lastInboundAt", "optedOut", "preferenceAt").set(
    "excluded"
  )
}`

const named = (contacts: ReadonlyArray<Contact.Contact>) =>
  pairs(contacts.map(({ key, phoneNumberId }) => [phoneNumberId, key]))

const write = ({ gone, kept }: ContactStep.Writes): ReadonlyArray<Statement> => {
  // a user id may move from one contact to another
  const isMoved = kept.length > 1 && kept.some(({ customer: { userId } }) => userId !== null)
  const numbered = isMoved ? kept.filter(({ customer: { phone } }) => phone !== null) : []
  return [
    ...gone.length === 0 ? [] : [{ text: removeText, params: named(gone) }],
    ...numbered.length === 0 ? [] : [{ text: releaseText, params: named(numbered) }],
    ...kept.length === 0 ? [] : [{
      text: keepText,
      params: contact.params(kept.map(({ customer, ...stored }) => ({ ...stored, ...customer })))
    }]
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
    ...load(commands.map(({ message }) => message)),
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
  write: (writes) => [...remember(writes.remembered), ...write(writes), ...record(writes.events)]
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
    load(commands.flatMap(({ from, providerNumberId, to }) => [
      { providerNumberId, customer: from },
      { providerNumberId, customer: to }
    ])),
  read,
  decide: ContactStep.move,
  write
}
