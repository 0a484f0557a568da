/**
 * Reads from Meta's posts which customer an item is about, and changes of customers' names and preferences. Since 2026,
 * a customer with a user name may have no telephone number in a post, only a business-scoped user id.
 */
import { type Contact, CustomerNames, type E164, type InboundItem, type InboundMessage } from "@wac/core"
import * as Payload from "./Payload.ts"
import { type PostSource, skipped, timeOf } from "./PostSource.ts"

/**
 * Reads a telephone number into E.164: most come without the plus, and display forms have separators. It is not checked
 * against its country's plan: Meta delivers to numbers of plans that are newer than our tables.
 */
export const phone: Payload.Read<E164.E164 | undefined> = (json) => {
  const digits = Payload.word(json)?.replace(/^\+/, "").replace(/[\s().-]/g, "")
  return digits !== undefined && /^[1-9][0-9]{1,14}$/.test(digits) ? `+${digits}` : undefined
}

/** A business-scoped user id, such as `US.13491208655302741918`. It never looks like a number. */
export const userId: Payload.Read<string | undefined> = (json) => {
  const word = Payload.word(json)
  return word !== undefined && CustomerNames.foreignPattern.test(word) ? word : undefined
}

/** The customer with these names; undefined if there is none. A parent id alone counts as the user id. */
export const of = (
  phone: E164.E164 | undefined,
  userId: string | undefined,
  parentId?: string
): Contact.Customer | undefined => {
  const aliases = parentId === undefined || userId === undefined && phone === undefined ? [] : [parentId]
  const user = userId ?? (phone === undefined ? parentId : undefined)
  if (phone !== undefined) return CustomerNames.withAliases({ phone, userId: user ?? null }, aliases)
  return user === undefined ? undefined : CustomerNames.withAliases({ phone: null, userId: user }, aliases)
}

const Words = Payload.shape({ name: Payload.text, username: Payload.text })

const Profile = Payload.shape({ wa_id: phone, user_id: userId, parent_user_id: userId, profile: Words })

const wordsOf = (
  { parent_user_id, profile: { name, username } }: ReturnType<typeof Profile>
): InboundMessage.Profile | undefined => {
  const words = {
    ...(name === undefined ? {} : { name }),
    ...(username === undefined ? {} : { username }),
    ...(parent_user_id === undefined ? {} : { parent_user_id })
  }
  return Object.keys(words).length === 0 ? undefined : words
}

/** The customers that a post lists beside its items (`contacts`). */
export interface Directory {
  /** Returns the customer with these names, completed from the list. */
  readonly find: (
    phone: E164.E164 | undefined,
    userId: string | undefined,
    parentId?: string
  ) => Contact.Customer | undefined
  /** The profile of a customer. */
  readonly profileOf: (customer: Contact.Customer) => InboundMessage.Profile | undefined
}

/**
 * Makes the directory from the `contacts` of a value. A customer gets the further names of the contact that shares a
 * name. An item without names is about the only contact, if there is just one.
 */
export const directory = (contacts: ReadonlyArray<Payload.Json>): Directory => {
  const profiles = contacts.map(Profile)
  const byPhone = new Map(
    profiles.flatMap((profile) => profile.wa_id === undefined ? [] : [[CustomerNames.keyOf(profile.wa_id), profile]])
  )
  const byUserId = new Map(
    profiles.flatMap((profile) => profile.user_id === undefined ? [] : [[profile.user_id, profile]])
  )
  const contactOf = (phone: E164.E164 | undefined, userId: string | undefined) =>
    phone === undefined && userId === undefined
      ? (profiles.length === 1 ? profiles[0] : undefined)
      : (userId === undefined ? undefined : byUserId.get(userId)) ??
        (phone === undefined ? undefined : byPhone.get(CustomerNames.keyOf(phone)))
  return {
    find: (phone, userId, parentId) => {
      const contact = contactOf(phone, userId)
      return of(phone ?? contact?.wa_id, userId ?? contact?.user_id, parentId ?? contact?.parent_user_id)
    },
    profileOf: ({ phone, userId }) => {
      const [only, ...others] = profiles
      // a single contact without names is the sender
      const isNameless = others.length === 0 && only?.wa_id === undefined && only?.user_id === undefined
      const contact = isNameless ? only : contactOf(phone ?? undefined, userId ?? undefined)
      return contact && wordsOf(contact)
    }
  }
}

const System = Payload.shape({
  type: Payload.word,
  wa_id: phone,
  // the name of `wa_id` before version 12
  new_wa_id: phone,
  customer: phone,
  user_id: userId,
  previous_user_id: userId
})

/** The types of notices about a customer's new number or new user id, over the versions of the API. */
const moves = new Set(["user_changed_number", "customer_changed_number", "user_changed_user_id"])

/** Reads the platform's notice that a customer has a new number or user id. `from` is the old number. */
export const moved = (
  system: Payload.Json | undefined,
  { at, from }: { readonly from: E164.E164 | undefined; readonly at: number },
  source: PostSource
): InboundItem.InboundItem => {
  const { customer, new_wa_id, previous_user_id, type, user_id, wa_id } = System(system)
  if (type === undefined || !moves.has(type)) return skipped("system", type)
  const before = of(from ?? customer, previous_user_id)
  const after = of(wa_id ?? new_wa_id, user_id)
  return source.numberId === undefined || before === undefined || after === undefined
    ? skipped("system:incomplete")
    : { _tag: "CustomerMoved", providerNumberId: source.numberId, from: before, to: after, at }
}

const Update = Payload.shape({
  wa_id: phone,
  user_id: Payload.shape({ previous: userId, current: userId }),
  parent_user_id: Payload.shape({ previous: userId, current: userId }),
  timestamp: Payload.instant
})

/** Reads a change of a customer's user id; the parent id may change with it. */
export const renamed = (json: Payload.Json, source: PostSource): InboundItem.InboundItem => {
  const { parent_user_id: parent, timestamp, user_id: user, wa_id } = Update(json)
  const before = of(wa_id, user.previous, parent.previous)
  const after = of(undefined, user.current, parent.current)
  return source.numberId === undefined || before === undefined || after === undefined
    ? skipped("user_id_update:incomplete")
    : {
      _tag: "CustomerMoved",
      providerNumberId: source.numberId,
      from: before,
      to: after,
      at: timeOf(timestamp, source)
    }
}

const Card = Payload.shape({ origin: Payload.word, phones: Payload.list })
const Phone = Payload.shape({ wa_id: phone, phone })

/**
 * The numbers in a message's contact cards that the sender shared on the business's request. Meta guarantees that these
 * are the sender's own, and no others; it marks them by the `origin` of the message or the card.
 */
export const sharedNumbers = (message: Payload.Fields): ReadonlyArray<string> => {
  const isVouchedFor = Card(message).origin === shared
  return Payload.list(message["contacts"]).map(Card).flatMap(({ origin, phones }) =>
    isVouchedFor || origin === shared ? phones.map(Phone).flatMap(({ phone, wa_id }) => wa_id ?? phone ?? []) : []
  )
}

const shared = "contact_request"

const Preference = Payload.shape({
  wa_id: phone,
  user_id: userId,
  parent_user_id: userId,
  category: Payload.word,
  value: Payload.word,
  timestamp: Payload.instant
})

/** `signup`: the customer asked for marketing messages by a link of the business. */
const preferences: ReadonlyMap<string, Contact.Preference> = new Map([
  ["stop", "opt_out"],
  ["resume", "opt_in"],
  ["signup", "opt_in"]
])

/** Reads a customer's preference about marketing messages, which they set in WhatsApp. */
export const preference = (
  json: Payload.Json,
  customers: Directory,
  source: PostSource
): InboundItem.InboundItem => {
  const { category, parent_user_id, timestamp, user_id, value, wa_id } = Preference(json)
  if (category !== undefined && category !== "marketing_messages") return skipped("preference", category)
  const preference = preferences.get(value?.toLowerCase() ?? "")
  const customer = customers.find(wa_id, user_id, parent_user_id)
  if (preference === undefined) return skipped("preference", value)
  if (source.numberId === undefined || customer === undefined) return skipped("preference:incomplete")
  return {
    _tag: "Preference",
    providerNumberId: source.numberId,
    customer,
    preference,
    at: timeOf(timestamp, source)
  }
}
