/**
 * The decisions for contacts (contract §7): recording inbound messages, preferences and changed names. Pure.
 */
import { Predicate } from "effect"
import * as Event from "../events/Event.ts"
import type { MessageId, PhoneNumberId, WorkspaceId } from "../Id.ts"
import * as InboundMessage from "../inbound/InboundMessage.ts"
import type { EventIds } from "../messages/MessageStore.ts"
import type { E164 } from "../numbers/PhoneNumber.ts"
import type { Decide, Known } from "../Step.ts"
import type { Instant } from "../Time.ts"
import * as Contact from "./Contact.ts"
import * as CustomerNames from "./CustomerNames.ts"
import type * as OptOutWords from "./OptOutWords.ts"
import * as ServiceWindow from "./ServiceWindow.ts"

/** Records a customer's message. */
export interface RecordInbound {
  readonly now: Instant
  readonly message: InboundMessage.InboundMessage
  /** The identifier of the message in its event. */
  readonly messageId: MessageId
  readonly ids: EventIds
}

/** The result of recording a message. */
export type Recorded =
  | "recorded"
  /** The message had been recorded before; nothing changed. */
  | "duplicate"
  /** No workspace has the number. */
  | "unknown_number"

/** Records a customer's preference. */
export interface SetPreference {
  readonly now: Instant
  readonly providerNumberId: string
  readonly customer: Contact.Customer
  readonly preference: Contact.Preference
  readonly at: Instant
}

/** Reports the names of a customer, told together by something other than a message of theirs. */
export interface Tell {
  readonly now: Instant
  readonly providerNumberId: string
  readonly customer: Contact.Customer
  readonly at: Instant
}

/** Moves a customer to another number or user id. */
export interface Move {
  readonly now: Instant
  readonly providerNumberId: string
  readonly from: Contact.Customer
  readonly to: Contact.Customer
  readonly at: Instant
}

/** The number that a customer wrote to. It may be a moment old. */
export interface Number {
  readonly id: PhoneNumberId
  readonly workspaceId: WorkspaceId
  readonly phoneNumber: E164
  /** The words of its workspace by which customers opt out. */
  readonly words: OptOutWords.Settings
}

/** What the steps load: every contact of the customers in the commands, under locks on their numbers. */
export interface Loaded extends Known {
  /** The number with this provider id; `undefined` if no workspace has it. */
  readonly number: (providerNumberId: string) => Number | undefined
  /** The contact of a number by one of the names of its customer (`CustomerNames.keysIn`). */
  readonly contact: (number: PhoneNumberId, name: string) => Contact.Contact | undefined
}

/** What recording messages loads besides. */
export interface LoadedInbound extends Loaded {
  /** Whether the message was recorded before and is still remembered. */
  readonly isRemembered: (number: PhoneNumberId, providerMessageId: string) => boolean
}

/** An alias of a customer, as the storage finds their contact by it. */
export interface Alias {
  readonly contact: Contact.Contact
  readonly name: string
}

/** The contacts to write and to delete, each at most once. */
export interface Writes {
  readonly kept: ReadonlyArray<Contact.Contact>
  readonly gone: ReadonlyArray<Contact.Contact>
  /** Aliases that no longer lead to these contacts; to be removed before the others are added. */
  readonly dropped: ReadonlyArray<Alias>
  readonly added: ReadonlyArray<Alias>
}

/** A message to remember, so that duplicates are recognized and later messages can refer to it. */
export interface Remembered {
  readonly number: Number
  /** `Contact.keyFor` of the customer in the message's conversation. */
  readonly customer: Contact.Contact["key"]
  readonly providerMessageId: string
  readonly messageId: MessageId
  readonly until: Instant
}

export interface InboundWrites extends Writes {
  readonly remembered: ReadonlyArray<Remembered>
  readonly events: ReadonlyArray<Event.Recorded>
}

/** The contacts as the commands decided so far have left them. */
class Changed {
  private readonly loaded: Loaded
  /** By `Contact.placeOf`. */
  private readonly kept = new Map<string, Contact.Contact>()
  private readonly gone = new Map<string, Contact.Contact>()
  /** Contacts as they were loaded, by their places. */
  private readonly before = new Map<string, Contact.Contact>()

  constructor(loaded: Loaded) {
    this.loaded = loaded
  }

  find(number: Number, name: string): Contact.Contact | undefined {
    for (const contact of this.kept.values()) {
      if (contact.phoneNumberId === number.id && CustomerNames.isKnownBy(contact)(name)) return contact
    }
    const found = this.loaded.contact(number.id, name)
    if (found === undefined) return undefined
    const place = Contact.placeOf(found)
    // a contact that has changed no longer matches what was loaded
    if (this.kept.has(place) || this.gone.has(place)) return undefined
    this.before.set(place, found)
    return found
  }

  keep(contact: Contact.Contact): void {
    const place = Contact.placeOf(contact)
    this.gone.delete(place)
    this.kept.set(place, contact)
  }

  drop(contact: Contact.Contact): void {
    const place = Contact.placeOf(contact)
    this.kept.delete(place)
    this.gone.set(place, contact)
  }

  /** {@link Contact.meet}, and keeps the result. */
  meet(number: Number, customer: Contact.Customer, at: Instant): Contact.Contact {
    const { contact, gone, left } = Contact.meet(number, customer, (name) => this.find(number, name), at)
    for (const one of gone) this.drop(one)
    for (const one of left) this.keep(one)
    this.keep(contact)
    return contact
  }

  writes(): Writes {
    const kept = [...this.kept.values()]
    const added = kept.flatMap((contact) => {
      const known = this.before.get(Contact.placeOf(contact))?.customer.aliases
      return aliasesOf(contact).filter(({ name }) => known?.includes(name) !== true)
    })
    const dropped = [...this.before].flatMap(([place, contact]) => {
      const still = this.kept.get(place)?.customer.aliases
      return this.kept.has(place) || this.gone.has(place)
        ? aliasesOf(contact).filter(({ name }) => still?.includes(name) !== true)
        : []
    })
    return { kept, gone: [...this.gone.values()], dropped, added }
  }
}

const aliasesOf = (contact: Contact.Contact): ReadonlyArray<Alias> =>
  (contact.customer.aliases ?? []).map((name) => ({ contact, name }))

/**
 * Decides `ContactStore.recordInbound`: each message counts once. `Contact.meet` finds the contact. Its window moves to
 * `ServiceWindow.openedAt` if that is newer and the message opens a window (`InboundMessage.opensWindow`), a preference in
 * the message counts from then, and a `message.received` event is recorded. A message that the business wrote on its own
 * phone only causes a `message.echoed` event.
 */
export const recordInbound: Decide<RecordInbound, LoadedInbound, Recorded, InboundWrites> = (loaded, commands) => {
  const contacts = new Changed(loaded)
  const remembered = new Map<string, Remembered>()
  const events: Array<Event.Recorded> = []
  const answers = commands.map(({ ids, message, messageId, now: asked }): Recorded => {
    const number = loaded.number(message.providerNumberId)
    if (number === undefined) return "unknown_number"
    const { customer, providerMessageId } = message
    const name = `${number.id} ${providerMessageId}`
    if (remembered.has(name) || loaded.isRemembered(number.id, providerMessageId)) return "duplicate"
    const now = loaded.now(asked)
    // an echo was written by the business, so it says nothing about the customer
    if (message.isEcho !== true) {
      const openedAt = ServiceWindow.openedAt(message.at, now)
      const met = contacts.meet(number, customer, openedAt)
      const preference = InboundMessage.preferenceOf(message, number.words)
      const heard = InboundMessage.opensWindow(message) ? Contact.hear(met, customer.phone, openedAt) : met
      contacts.keep(preference === undefined ? heard : Contact.prefer(heard, preference, openedAt))
    }
    remembered.set(name, {
      number,
      customer: Contact.keyFor(customer),
      providerMessageId,
      messageId,
      until: InboundMessage.rememberedUntil(message, now)
    })
    const event = Event.ofInbound(message, number, { id: ids.events[0]!, messageId, createdAt: now })
    events.push({ event, deliveryId: ids.deliveries[0]! })
    return "recorded"
  })
  return { answers, writes: { ...contacts.writes(), remembered: [...remembered.values()], events } }
}

/**
 * Decides `ContactStore.setPreference`: `Contact.prefer` on the customer's contact, which is created if missing. A time
 * in the future counts as now. The answer is whether a workspace has the number.
 */
export const setPreference: Decide<SetPreference, Loaded, boolean, Writes> = (loaded, commands) => {
  const contacts = new Changed(loaded)
  const answers = commands.map(({ customer, now, preference, providerNumberId, ...told }): boolean => {
    const number = loaded.number(providerNumberId)
    if (number === undefined) return false
    const at = Math.min(told.at, loaded.now(now))
    contacts.keep(Contact.prefer(contacts.meet(number, customer, at), preference, at))
    return true
  })
  return { answers, writes: contacts.writes() }
}

/**
 * Decides `ContactStore.move`: the contact of `to` follows the contact of `from` (found by its number, else by its user
 * id), which is left (`Contact.follow`, `Contact.leave`). If only the user id is new, the contact stays and gets it
 * (`Contact.rename`). Nothing changes if there is no such contact or if it has written since. The answer is whether a
 * workspace has the number.
 */
export const move: Decide<Move, Loaded, boolean, Writes> = (loaded, commands) => {
  const contacts = new Changed(loaded)
  const answers = commands.map(({ from, now, providerNumberId, to, ...told }): boolean => {
    const number = loaded.number(providerNumberId)
    if (number === undefined) return false
    const at = Math.min(told.at, loaded.now(now))
    const before = CustomerNames.keysIn(from).map((name) => contacts.find(number, name)).find(Predicate.isNotUndefined)
    if (before === undefined || Contact.hasWritten(before, at)) return true
    if (to.phone === null) {
      const renamed = Contact.rename(before, to, contacts.find(number, to.userId))
      if (renamed !== undefined) {
        for (const one of renamed.gone) contacts.drop(one)
        contacts.keep(renamed.contact)
        return true
      }
    }
    const contact = contacts.meet(number, to, at)
    // `meet` may itself have changed the contact
    const left = contacts.find(number, before.key)
    if (left === undefined || left.key === contact.key) return true
    contacts.keep(Contact.follow(contact, left))
    contacts.keep(Contact.leave(left))
    return true
  })
  return { answers, writes: contacts.writes() }
}

/**
 * Decides `ContactStore.tell`: `Contact.meet` of a customer of whom the provider reported several names together. A time
 * in the future counts as now. The answer is whether a workspace has the number.
 */
export const tell: Decide<Tell, Loaded, boolean, Writes> = (loaded, commands) => {
  const contacts = new Changed(loaded)
  const answers = commands.map(({ at, customer, now, providerNumberId }): boolean => {
    const number = loaded.number(providerNumberId)
    if (number === undefined) return false
    contacts.meet(number, customer, Math.min(at, loaded.now(now)))
    return true
  })
  return { answers, writes: contacts.writes() }
}
