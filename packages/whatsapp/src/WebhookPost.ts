/**
 * Reads one of Meta's posts into inbound items, in its order: every entry, every change, every item.
 */
import type { InboundItem, Time } from "@wac/core"
import * as AccountChanges from "./AccountChanges.ts"
import * as Calls from "./Calls.ts"
import * as Customers from "./Customers.ts"
import * as ErrorEffects from "./ErrorEffects.ts"
import * as GraphError from "./GraphError.ts"
import * as InboundMessages from "./InboundMessages.ts"
import * as Payload from "./Payload.ts"
import { type PostSource, skipped, timeOf } from "./PostSource.ts"
import * as Statuses from "./Statuses.ts"
import * as TemplateChanges from "./TemplateChanges.ts"

/** Items that are read one by one, so that the reader of a long post can let other work run in between. */
type Items = Iterable<InboundItem.InboundItem>

/** The known fields of a change about conversations, with their readers. */
const known = {
  metadata: Payload.shape({ phone_number_id: Payload.word, display_phone_number: Customers.phone }),
  contacts: Payload.list,
  messages: Payload.list,
  calls: Payload.list,
  statuses: Payload.list,
  errors: Payload.list,
  user_preferences: Payload.list
}
const Value = Payload.shape(known)

/** Reads an error that belongs to no message. It matters only if it affects later messages, such as a block. */
const outOfBand = (json: Payload.Json, source: PostSource): Items => {
  const error = GraphError.read(json)
  if (error === undefined) return [skipped("error")]
  const effects = ErrorEffects.of(error, { ...source, at: source.told, customer: undefined, status: undefined })
  return effects.length === 0 ? [skipped("error", `${error.code}`)] : effects
}

function* callsIn(value: Payload.Fields, source: PostSource): Items {
  const { calls, contacts, metadata } = Value(value)
  if (calls.length === 0) return
  const customers = Customers.directory(contacts)
  for (const call of calls) yield Calls.read(call, metadata.display_phone_number, customers, source)
}

/** Reads the items between a number and its customers; one value may contain items of several kinds. */
function* conversation(value: Payload.Fields, source: PostSource): Items {
  const { contacts, errors, messages, statuses, user_preferences } = Value(value)
  const customers = Customers.directory(contacts)
  for (const message of messages) yield InboundMessages.read(message, customers, source)
  for (const status of statuses) yield* Statuses.read(status, customers, source)
  for (const error of errors) yield* outOfBand(error, source)
  for (const preference of user_preferences) yield Customers.preference(preference, customers, source)
  yield* callsIn(value, source)
  // kinds of items that Meta adds later
  for (const [name, items] of Object.entries(value)) {
    if (Object.hasOwn(known, name)) continue
    for (const _ of Payload.list(items)) yield skipped("messages", name)
  }
}

const Change = Payload.shape({ field: Payload.word, value: Payload.fields })
const Entry = Payload.shape({ id: Payload.word, time: Payload.instant, changes: Payload.list, field: Payload.word })

/** The webhook fields with items between a number and its customers. */
const conversations = new Set(["messages", "user_preferences"])

/** The webhook field with messages that the business wrote on its own phone. Only these are read of it. */
const echoes = "smb_message_echoes"

/** The webhook field with calls. Only calls by customers are read of it. */
const calls = "calls"

/** The webhook field with changes of customers' user ids. Only these are read of it. */
const renames = "user_id_update"

const Renames = Payload.shape({ user_id_update: Payload.list })

const Echoes = Payload.shape({ message_echoes: Payload.list })

function* change(json: Payload.Json, entry: ReturnType<typeof Entry>, receivedAt: Time.Instant): Items {
  const { field: named, value } = Change(json)
  if (value === undefined) return yield skipped("change", named)
  const source: PostSource = {
    accountId: entry.id,
    numberId: Value(value).metadata.phone_number_id,
    told: timeOf(entry.time, { told: receivedAt, receivedAt }),
    receivedAt
  }
  // some of Meta's examples have the field's name one level too deep or too high, and some posts have none
  const field = named ?? Payload.word(value["field"]) ?? entry.field ?? "messages"
  if (conversations.has(field)) return yield* some(conversation(value, source), field)
  if (field === echoes) {
    return yield* some(Echoes(value).message_echoes.map((echo) => InboundMessages.readEcho(echo, source)), field)
  }
  if (field === calls) return yield* some(callsIn(value, source), field)
  if (field === renames) {
    return yield* some(Renames(value).user_id_update.map((update) => Customers.renamed(update, source)), field)
  }
  if (TemplateChanges.isTemplateField(field)) return yield* TemplateChanges.read(value, source)
  const read = AccountChanges.byField.get(field)
  yield read === undefined ? skipped("field", field) : read(value, source)
}

/** Yields the items; one `Skipped` if there are none, so that empty parts are counted too. */
function* some(items: Items, what: string): Items {
  let isEmpty = true
  for (const item of items) {
    isEmpty = false
    yield item
  }
  if (isEmpty) yield skipped(what, "empty")
}

function* changesIn(entry: ReturnType<typeof Entry>, receivedAt: Time.Instant): Items {
  for (const json of entry.changes) yield* change(json, entry, receivedAt)
}

function* entriesIn(entries: ReadonlyArray<Payload.Json>, receivedAt: Time.Instant): Items {
  for (const json of entries) yield* some(changesIn(Entry(json), receivedAt), "entry")
}

const Post = Payload.shape({ object: Payload.word, entry: Payload.list })

/**
 * The items of a post, each read when it is iterated; undefined if it is not a post of Meta about WhatsApp. Never
 * fails: unreadable parts become `Skipped`.
 */
export const read = (json: Payload.Json | undefined, receivedAt: Time.Instant): Items | undefined => {
  const { entry: entries, object } = Post(json)
  if (object === undefined ? entries.length === 0 : object !== "whatsapp_business_account") return undefined
  return some(entriesIn(entries, receivedAt), "post")
}
