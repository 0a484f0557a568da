/**
 * The decisions for contacts (contract §7): recording inbound messages, preferences, opt-outs and changed names. Pure.
 */
import { Predicate } from "effect"
import * as Event from "../events/Event.ts"
import type { MessageId, PhoneNumberId, WorkspaceId } from "../Id.ts"
import * as InboundMessage from "../inbound/InboundMessage.ts"
import * as ReceivedMessage from "../inbound/ReceivedMessage.ts"
import type * as Conversation from "../messages/Conversation.ts"
import type { EventIds } from "../messages/MessageStore.ts"
import type { E164 } from "../numbers/E164.ts"
import type { Decide, Known } from "../Step.ts"
import type { Instant } from "../Time.ts"
import * as Contact from "./Contact.ts"
import * as ContactMerge from "./ContactMerge.ts"
import * as CustomerNames from "./CustomerNames.ts"
import type * as OptOutWords from "./OptOutWords.ts"
import * as ServiceWindow from "./ServiceWindow.ts"
import * as Suppression from "./Suppression.ts"

/** Records a customer's message. */
export interface RecordInbound {
  readonly now: Instant
  /** The hashes of all names in the command. */
  readonly hashes: Suppression.Hashes
  readonly message: InboundMessage.InboundMessage
  /** The message's identifier in its event. */
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
  /** The hashes of all names in the command. */
  readonly hashes: Suppression.Hashes
  readonly providerNumberId: string
  readonly customer: Contact.Customer
  readonly preference: Contact.Preference
  readonly at: Instant
}

/** Reports several names of one customer that the provider named together outside of a message from the customer. */
export interface RecordNames {
  readonly now: Instant
  /** The hashes of all names in the command. */
  readonly hashes: Suppression.Hashes
  readonly providerNumberId: string
  readonly customer: Contact.Customer
  readonly at: Instant
}

/** Moves a customer to another number or user id. */
export interface Move {
  readonly now: Instant
  /** The hashes of all names in the command. */
  readonly hashes: Suppression.Hashes
  readonly providerNumberId: string
  readonly from: Contact.Customer
  readonly to: Contact.Customer
  readonly at: Instant
}

/** Opts a customer out or in, on behalf of a person or a program. */
export interface Choose {
  readonly now: Instant
  readonly workspaceId: WorkspaceId
  /** The number that the choice is for; `null` for every number of the workspace. */
  readonly phoneNumberId: PhoneNumberId | null
  /** The name that the caller gave, as `CustomerNames.keyOf` returns it. */
  readonly name: string
  /** The hashes of all names of the customer that the caller knows. */
  readonly hashes: Suppression.Hashes
  readonly preference: Contact.Preference
  readonly source: Suppression.Source
  /** The customer's choices that the caller has read: those of the last `Unread`, at first {@link noChoices}. */
  readonly choices: string
}

/** The choices of a customer of whom none is known. */
export const noChoices = ""

/** The result of a choice. */
export type Chosen =
  | {
    readonly _tag: "Chosen"
    /** The opt-out in force for the given name; `undefined` if there is none. */
    readonly optOut: { readonly at: Instant; readonly source: Suppression.Source } | undefined
    /** Whether the choice changed something for the given name. */
    readonly isNew: boolean
  }
  /**
   * Nothing was done: the customer has more names, or other choices than the caller has read. Repeat the choice with
   * all names and with these choices.
   */
  | { readonly _tag: "Unread"; readonly names: ReadonlyArray<string>; readonly choices: string }

/** The number that a customer wrote to. It may be a moment old. */
export interface Number {
  readonly id: PhoneNumberId
  readonly workspaceId: WorkspaceId
  readonly phoneNumber: E164
  /** The workspace's words by which customers opt out. */
  readonly words: OptOutWords.Settings
}

/**
 * The records that the steps load: every contact of the customers in the commands, under locks on the customers'
 * numbers.
 */
export interface Loaded extends Known {
  /** The number with this provider id; `undefined` if no workspace has it. */
  readonly number: (providerNumberId: string) => Number | undefined
  /** The contact of a number, by any name of its customer (`CustomerNames.keysIn`). */
  readonly contact: (number: PhoneNumberId, name: string) => Contact.Contact | undefined
  /** The opt-outs of a workspace under a hash of a name. */
  readonly suppressions: (workspaceId: WorkspaceId, hash: string) => ReadonlyArray<Suppression.Suppression>
}

/** The records that choices load in addition. */
export interface LoadedChoices extends Loaded {
  /** The numbers of a workspace. */
  readonly numbersOf: (workspaceId: WorkspaceId) => ReadonlyArray<PhoneNumberId>
}

/** The records that recording messages loads in addition. */
export interface LoadedInbound extends Loaded {
  /** Whether the message was recorded before and is still remembered. */
  readonly isRemembered: (number: PhoneNumberId, providerMessageId: string) => boolean
}

/** An alias of a customer, by which the storage finds the contact. */
export interface Alias {
  readonly contact: Contact.Contact
  readonly name: string
}

/** The contacts to write and to delete, each at most once. */
export interface Writes {
  readonly kept: ReadonlyArray<Contact.Contact>
  readonly gone: ReadonlyArray<Contact.Contact>
  /** Aliases that no longer belong to these contacts. The storage removes them before it adds others. */
  readonly dropped: ReadonlyArray<Alias>
  readonly added: ReadonlyArray<Alias>
  /** Opt-outs to write and to delete, each at most once. */
  readonly suppressions: Suppression.Changes
  /** The moves of stored conversations to other customers, in this order. */
  readonly moved: ReadonlyArray<Conversation.Reassignment>
}

/** A message to remember, so that a duplicate is recognized and later messages can refer to it. */
export interface Remembered {
  readonly number: Number
  /** `Contact.keyFor` of the customer in the message's conversation. */
  readonly customer: Contact.Contact["key"]
  readonly providerMessageId: string
  readonly messageId: MessageId
  readonly until: Instant
}

/** The changes that recording messages writes. */
export interface InboundWrites extends Writes {
  readonly remembered: ReadonlyArray<Remembered>
  /** Customers' messages to add to their conversations, after {@link Writes.moved}. */
  readonly said: ReadonlyArray<ReceivedMessage.ConversationMessage>
  readonly events: ReadonlyArray<Event.Recorded>
}

/** The hashes of one customer's names, from all hashes in a command. */
const hashesOf = (hashes: Suppression.Hashes, customer: Contact.Customer): Suppression.Hashes =>
  Object.fromEntries(CustomerNames.keysIn(customer).map((name) => [name, hashes[name]!]))

/** The contacts and opt-outs after the commands decided so far. */
class Changed {
  private readonly loaded: Loaded
  /** The changed contacts, by `Contact.placeOf`. */
  private readonly kept = new Map<string, Contact.Contact>()
  private readonly gone = new Map<string, Contact.Contact>()
  /** The opt-outs that differ from the loaded ones, by workspace and place. */
  private readonly suppressed = new Map<
    string,
    { readonly suppression: Suppression.Suppression; readonly isGone: boolean }
  >()
  /** The contacts as they were loaded, by `Contact.placeOf`. */
  private readonly before = new Map<string, Contact.Contact>()
  private readonly moved: Array<Conversation.Reassignment> = []
  private readonly said: Array<ReceivedMessage.ConversationMessage> = []

  constructor(loaded: Loaded) {
    this.loaded = loaded
  }

  find(number: Pick<Number, "id">, name: string): Contact.Contact | undefined {
    for (const contact of this.kept.values()) {
      if (contact.phoneNumberId === number.id && CustomerNames.isKnownBy(contact)(name)) return contact
    }
    const found = this.loaded.contact(number.id, name)
    if (found === undefined) return undefined
    const place = Contact.placeOf(found)
    // a contact that has changed no longer has its loaded names
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

  /** The opt-outs under a hash, as they are now. */
  suppressions(workspaceId: WorkspaceId, hash: string): ReadonlyArray<Suppression.Suppression> {
    const changed = [...this.suppressed.values()].filter(({ suppression }) =>
      suppression.workspaceId === workspaceId && suppression.hash === hash
    )
    const places = new Set(changed.map(({ suppression }) => Suppression.placeOf(suppression)))
    return [
      ...this.loaded.suppressions(workspaceId, hash).filter((one) => !places.has(Suppression.placeOf(one))),
      ...changed.flatMap(({ isGone, suppression }) => isGone ? [] : [suppression])
    ]
  }

  suppress({ gone, kept }: Suppression.Changes): void {
    const note = (one: Suppression.Suppression, isGone: boolean) =>
      this.suppressed.set(`${one.workspaceId} ${Suppression.placeOf(one)}`, { suppression: one, isGone })
    for (const one of gone) note(one, true)
    for (const one of kept) note(one, false)
  }

  /**
   * Applies {@link ContactMerge.resolve} and keeps the result. The contact is opted out if one of the names is. Then
   * the names that were reported with that name are opted out too: for every number if that name is.
   */
  resolve(number: Number, customer: Contact.Customer, at: Instant, hashes: Suppression.Hashes): Contact.Contact {
    const found = this.optOuts(number, hashes)
    const { contact, gone, left, moved } = ContactMerge.resolve(number, customer, (name) => this.find(number, name), at)
    for (const one of gone) this.drop(one)
    for (const one of left) this.keep(one)
    for (const one of moved) this.leave(number, one)
    const suppressed = found.reduce((contact, one) => Suppression.applied(contact, one, at), contact)
    this.keep(suppressed)
    return suppressed
  }

  /**
   * Records that names belong to somebody else from now on. What was said under them stays with the customer who had
   * them.
   */
  leave({ id, workspaceId }: Number, { names, to }: ContactMerge.Reassignment): void {
    this.moved.push({ workspaceId, phoneNumberId: id, names, to })
    this.said.forEach(({ customer, message }, i) => {
      if (message.phoneNumberId === id && names.includes(customer)) this.said[i] = { message, customer: to }
    })
  }

  /** Adds a customer's message to the conversation. */
  say(said: ReceivedMessage.ConversationMessage): void {
    this.said.push(said)
  }

  /** The opt-outs in force for names that were reported together. The names share their opt-outs from then on. */
  optOuts(number: Number, hashes: Suppression.Hashes): ReadonlyArray<Suppression.Suppression> {
    return this.share(number, hashes).flatMap(({ name, stored }) => {
      const one = Suppression.inForce(stored, number.id)
      const known = this.find(number, name)
      return one === undefined || known !== undefined && Suppression.isOutdated(one, known) ? [] : [one]
    })
  }

  /** Makes names that were reported together share their opt-outs. Returns what was stored under each name. */
  share({ workspaceId }: Number, hashes: Suppression.Hashes): ReadonlyArray<Suppression.Named> {
    const names = Object.entries(hashes).map(([name, hash]) => ({
      name,
      hash,
      stored: this.suppressions(workspaceId, hash)
    }))
    this.suppress({ kept: Suppression.shared(names), gone: [] })
    return names
  }

  /** Applies a customer's preference at time `at`, which may end opt-outs of the names. */
  prefer(
    number: Number,
    contact: Contact.Contact,
    preference: Contact.Preference,
    at: Instant,
    hashes: Suppression.Hashes
  ): void {
    const preferred = Contact.prefer(contact, preference, at)
    this.keep(preferred)
    if (preferred.optedOut || preference === "opt_out") return
    for (const hash of Object.values(hashes)) {
      this.suppress(
        Suppression.ended(
          this.suppressions(number.workspaceId, hash),
          number.id,
          ({ name }) => name === null || name.at <= at
        )
      )
    }
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
    const suppressed = [...this.suppressed.values()]
    const suppressions = {
      kept: suppressed.flatMap(({ isGone, suppression }) => isGone ? [] : [suppression]),
      gone: suppressed.flatMap(({ isGone, suppression }) => isGone ? [suppression] : [])
    }
    return { kept, gone: [...this.gone.values()], dropped, added, suppressions, moved: this.moved }
  }

  /** The messages for the conversations, with the customers to whom they belong now. */
  get conversations(): ReadonlyArray<ReceivedMessage.ConversationMessage> {
    return this.said
  }
}

const aliasesOf = (contact: Contact.Contact): ReadonlyArray<Alias> =>
  (contact.customer.aliases ?? []).map((name) => ({ contact, name }))

/**
 * Decides `ContactStore.recordInbound`: each message counts once. `ContactMerge.resolve` finds the contact. Its window
 * moves to `ServiceWindow.openedAt` if that is newer and the message opens a window (`InboundMessage.opensWindow`), a
 * preference in the message counts from then, a `message.received` event is recorded, and the message is kept for the
 * conversation. If the number was given to somebody else after the message was written, the message opens no window and
 * is kept for the conversation of the customer who wrote it. A message that the business wrote on its own phone only
 * causes a `message.echoed` event.
 */
export const recordInbound: Decide<RecordInbound, LoadedInbound, Recorded, InboundWrites> = (loaded, commands) => {
  const contacts = new Changed(loaded)
  const remembered = new Map<string, Remembered>()
  const events: Array<Event.Recorded> = []
  const answers = commands.map(({ hashes, ids, message, messageId, now: asked }): Recorded => {
    const number = loaded.number(message.providerNumberId)
    if (number === undefined) return "unknown_number"
    const { customer, providerMessageId } = message
    const name = `${number.id} ${providerMessageId}`
    if (remembered.has(name) || loaded.isRemembered(number.id, providerMessageId)) return "duplicate"
    const now = loaded.now(asked)
    // an echo was written by the business, so it says nothing about the customer
    if (message.isEcho !== true) {
      const openedAt = ServiceWindow.openedAt(message.at, now)
      const met = contacts.resolve(number, customer, openedAt, hashes)
      // the number may have been given to somebody else after the message was written
      const { userId } = customer
      const isWriters = userId === null || CustomerNames.isKnownBy(met)(userId)
      const person = isWriters ? customer : CustomerNames.personOf({ ...customer, userId })
      const preference = InboundMessage.preferenceOf(message, number.words)
      // the preference counts for the number too, whoever has the number now
      if (!isWriters && preference !== undefined) contacts.prefer(number, met, preference, openedAt, hashes)
      const writer = isWriters ? met : contacts.resolve(number, person, openedAt, hashesOf(hashes, person))
      const heard = InboundMessage.opensWindow(message) ? Contact.hear(writer, person.phone, openedAt) : writer
      if (preference === undefined) contacts.keep(heard)
      else contacts.prefer(number, heard, preference, openedAt, hashes)
      contacts.say({ customer: writer.key, message: ReceivedMessage.of(message, number, messageId) })
    }
    remembered.set(name, {
      number,
      customer: Contact.keyFor(customer),
      providerMessageId,
      messageId,
      until: InboundMessage.rememberedUntil(message, now)
    })
    const event = Event.ofInbound(message, number, {
      id: ids.events[0]!,
      messageId,
      createdAt: now,
      trace: ids.trace ?? null
    })
    events.push({ event, deliveryId: ids.deliveries[0]! })
    return "recorded"
  })
  return {
    answers,
    writes: { ...contacts.writes(), remembered: [...remembered.values()], said: contacts.conversations, events }
  }
}

/**
 * Decides `ContactStore.setPreference`: `Contact.prefer` on the customer's contact, which is created if missing. A time
 * in the future counts as now. The answer is whether a workspace has the number.
 */
export const setPreference: Decide<SetPreference, Loaded, boolean, Writes> = (loaded, commands) => {
  const contacts = new Changed(loaded)
  const answers = commands.map(({ customer, hashes, now, preference, providerNumberId, ...told }): boolean => {
    const number = loaded.number(providerNumberId)
    if (number === undefined) return false
    const at = Math.min(told.at, loaded.now(now))
    contacts.prefer(number, contacts.resolve(number, customer, at, hashes), preference, at, hashes)
    return true
  })
  return { answers, writes: contacts.writes() }
}

/**
 * Decides `ContactStore.move`: the contact of `to` follows the contact of `from` (found by its number, else by its user
 * id), which is left (`ContactMerge.follow`, `Contact.leave`). If only the user id is new, the contact (found by its user
 * id, else by its number) stays and gets the new one (`ContactMerge.rename`). A number whose contact has a different user
 * id finds nobody; if only the user id is new, the number goes to the new one (`ContactMerge.resolve`). Nothing changes
 * if there is no such contact or if it has written since. The answer is whether a workspace has the number.
 */
export const move: Decide<Move, Loaded, boolean, Writes> = (loaded, commands) => {
  const contacts = new Changed(loaded)
  const answers = commands.map(({ from, hashes, now, providerNumberId, to, ...told }): boolean => {
    const number = loaded.number(providerNumberId)
    if (number === undefined) return false
    const at = Math.min(told.at, loaded.now(now))
    const [lines, ids] = [CustomerNames.linesOf(from), CustomerNames.idsOf(from)]
    // a number beside two user ids may be new too, and still belong to the contact of its previous owner
    const named = (to.phone === null ? [...ids, ...lines] : [...lines, ...ids])
      .map((name) => contacts.find(number, name))
      .filter(Predicate.isNotUndefined)
    const before = named.find((contact) =>
      contact.customer.userId === null || ids.length === 0 || ids.some(CustomerNames.isKnownBy(contact))
    )
    if (before === undefined) {
      // after an erasure, only the opt-outs of the customer's names are known
      const isOut = contacts.share(number, hashes).some(({ stored }) => stored.length > 0)
      const [isOthers, { phone }] = [named.length > 0, from]
      const customer = isOthers && to.phone === null && phone !== null ? { ...to, phone } : to
      if (isOut || customer !== to) contacts.resolve(number, customer, at, hashesOf(hashes, customer))
      return true
    }
    if (Contact.hasWritten(before, at)) return true
    const found = contacts.optOuts(number, hashes)
    if (to.phone === null) {
      const renamed = ContactMerge.rename(before, to, contacts.find(number, to.userId))
      if (renamed !== undefined) {
        for (const one of renamed.gone) contacts.drop(one)
        contacts.keep(found.reduce((contact, one) => Suppression.applied(contact, one, at), renamed.contact))
        return true
      }
    }
    const contact = contacts.resolve(number, to, at, hashesOf(hashes, to))
    // `resolve` may itself have changed the contact
    const left = contacts.find(number, before.key)
    if (left === undefined || left.key === contact.key) return true
    contacts.keep(ContactMerge.follow(contact, left))
    contacts.keep(Contact.leave(left))
    contacts.leave(number, ContactMerge.reassignmentOf(left, contact.key))
    return true
  })
  return { answers, writes: contacts.writes() }
}

/**
 * Decides `ContactStore.recordNames`: applies `ContactMerge.resolve` to a customer whose names the provider reported
 * together. A time in the future counts as now. The answer is whether a workspace has the number.
 */
export const recordNames: Decide<RecordNames, Loaded, boolean, Writes> = (loaded, commands) => {
  const contacts = new Changed(loaded)
  const answers = commands.map(({ at, customer, hashes, now, providerNumberId }): boolean => {
    const number = loaded.number(providerNumberId)
    if (number === undefined) return false
    contacts.resolve(number, customer, Math.min(at, loaded.now(now)), hashes)
    return true
  })
  return { answers, writes: contacts.writes() }
}

/**
 * Describes the choices about a customer, so that two descriptions differ if somebody has chosen in between: a
 * preference and an opt-out have the time at which they were set.
 */
const describeChoices = (
  contacts: ReadonlyArray<Contact.Contact>,
  suppressions: ReadonlyArray<Suppression.Suppression>
): string =>
  [
    ...contacts.flatMap((contact) =>
      contact.preferenceAt === null ? [] : [[Contact.placeOf(contact), contact.optedOut, contact.preferenceAt]]
    ),
    ...suppressions.map((one) => [Suppression.placeOf(one), one.optedOut, one.name && one.name.at])
  ].map((one) => one.join(" ")).sort().join("\n")

/**
 * Decides `ContactStore.choose`: begins or ends the opt-out of every name of the customer (`Suppression.begun`,
 * `Suppression.ended`), and changes the customer's contacts accordingly. An opt-out that is repeated counts from then on,
 * unless a list repeats it. A choice that would change something is only
 * written if the caller has read all that the customer, or others on the customer's behalf, have chosen. So a choice
 * that is written after its caller has given up does not undo a newer one.
 */
export const choose: Decide<Choose, LoadedChoices, Chosen, Writes> = (loaded, commands) => {
  const contacts = new Changed(loaded)
  const answers = commands.map(
    ({ choices, hashes, name, now: asked, phoneNumberId, preference, source, workspaceId }): Chosen => {
      const now = loaded.now(asked)
      const names = Object.keys(hashes)
      const all = Object.values(hashes)
      const known = [
        ...new Set(
          loaded.numbersOf(workspaceId).flatMap((id) => names.flatMap((name) => contacts.find({ id }, name) ?? []))
        )
      ]
      const under = (hash: string) => contacts.suppressions(workspaceId, hash)
      const more = Suppression.missing(hashes, known)
      const present = describeChoices(known, all.flatMap(under))
      if (more.length > 0) return { _tag: "Unread", names: more, choices: present }
      const holds = () => Suppression.inForce(under(hashes[name]!), phoneNumberId)
      const theirs = known.filter((one) => phoneNumberId === null || one.phoneNumberId === phoneNumberId)
      const isOut = holds() !== undefined
      const isOutAnywhere = phoneNumberId === null && under(hashes[name]!).some(({ optedOut }) => optedOut)
      const optedOut = preference === "opt_out"
      // a list that is imported again knows nothing of what customers have chosen since
      const isRepeated = optedOut && source === "import" && phoneNumberId === null &&
        all.every((hash) => Suppression.inForce(under(hash), null) !== undefined)
      const changes = Object.entries(hashes).map(([key, hash]) => {
        const wanted = { workspaceId, phoneNumberId, hash, optedOut: true, name: { key, at: now, source } }
        return optedOut
          ? Suppression.begun(under(hash), wanted, isRepeated)
          : Suppression.ended(under(hash), phoneNumberId)
      })
      const after = all.map((hash, i) => Suppression.changed(under(hash), changes[i]!))
      const mayBeSent = (contact: Contact.Contact) =>
        after.every((stored) => !Suppression.isOptedOut(contact, stored, contact.phoneNumberId))
      const changed = theirs.filter((contact) => contact.optedOut !== optedOut && !(isRepeated && mayBeSent(contact)))
      const renewed = theirs.filter((contact) =>
        optedOut && contact.optedOut && source !== "import" && (contact.preferenceAt ?? 0) < now
      )
      const isChange = changed.length + renewed.length > 0 ||
        changes.some(({ gone, kept }) => gone.length > 0 || kept.length > 0)
      if (isChange && choices !== present) return { _tag: "Unread", names: [], choices: present }
      for (const one of changes) contacts.suppress(one)
      for (const contact of [...changed, ...renewed]) {
        contacts.keep({ ...contact, optedOut, preferenceAt: Math.max(contact.preferenceAt ?? now, now) })
      }
      const isNew = optedOut
        ? !isOut || changed.length > 0 || changes.some(({ gone }) => gone.some((one) => !one.optedOut))
        : isOut || isOutAnywhere || changed.length > 0
      const optOut = holds()?.name ?? undefined
      return { _tag: "Chosen", optOut: optOut && { at: optOut.at, source: optOut.source }, isNew }
    }
  )
  return { answers, writes: contacts.writes() }
}
