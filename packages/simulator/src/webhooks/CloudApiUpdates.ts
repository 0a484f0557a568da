/** Writes the webhooks of the simulated Cloud API in upstream's shapes: updates, and posts of several updates. */
import type { Schema } from "effect"
import * as Errors from "../CloudApiErrors.ts"
import type { Draws } from "../control/CloudApiDice.ts"
import type { BusinessNumber } from "../numbers/CloudApiNumbers.ts"

/** One update about an account: a `change` in Meta's posts. */
export interface Update {
  readonly account: string
  readonly field: string
  readonly value: Schema.JsonObject
}

/** The name of an update for random values: all of it except the times, which differ from run to run. */
export const nameOf = (update: Update): string =>
  JSON.stringify(update, (name, value) => name.endsWith("timestamp") ? undefined : value)

/** A customer as upstream names them: by number, by business-scoped id, or both. */
export interface Named {
  readonly waId: string | undefined
  readonly userId: string | undefined
  readonly parentUserId?: string | undefined
  readonly username?: string | undefined
  readonly name?: string | undefined
}

const defined = (fields: { readonly [name: string]: Schema.Json | undefined }): Schema.JsonObject =>
  Object.fromEntries(Object.entries(fields).filter((field): field is [string, Schema.Json] => field[1] !== undefined))

/** A time in seconds, as a JSON number or as text. */
export const timestamp = (at: number, numeric: boolean): string | number => {
  const seconds = Math.floor(at / 1000)
  return numeric ? seconds : String(seconds)
}

const about = (number: BusinessNumber): Schema.JsonObject => ({
  messaging_product: "whatsapp",
  metadata: {
    display_phone_number: number.display_phone_number.replace(/\D/g, ""),
    phone_number_id: number.id
  }
})

const contactOf = (customer: Named): Schema.JsonObject =>
  defined({
    profile: defined({ name: customer.name ?? "Sim Customer", username: customer.username }),
    wa_id: customer.waId,
    user_id: customer.userId,
    parent_user_id: customer.parentUserId
  })

export interface StatusFacts {
  readonly wamid: string
  readonly status: string
  readonly timestamp: string | number
  readonly customer: Named
  readonly reference: string | undefined
  readonly category: string
  readonly isFree: boolean
  /** Whether the price contains `billable`, which upstream has deprecated (whatsappapijs.web.app, `ServerPricing`). */
  readonly billable: boolean
  readonly problem: Errors.Problem | undefined
  /** The `conversation` of versions before 24, with the time at which it ends. */
  readonly conversation: { readonly id: string; readonly until: string | number } | undefined
  readonly contacts: boolean
}

/**
 * The update for a status of a message. `failed` has no contacts, and only `sent` and `delivered` have prices. Source:
 * developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages/status.
 */
export const status = (account: string, number: BusinessNumber, facts: StatusFacts): Update => {
  const failed = facts.status === "failed"
  const priced = facts.status === "sent" || facts.status === "delivered"
  return {
    account,
    field: "messages",
    value: {
      ...about(number),
      ...(facts.contacts && !failed ? { contacts: [contactOf(facts.customer)] } : {}),
      statuses: [defined({
        id: facts.wamid,
        status: facts.status,
        timestamp: facts.timestamp,
        recipient_id: facts.customer.waId,
        recipient_user_id: facts.customer.userId,
        conversation: facts.conversation === undefined || failed ? undefined : defined({
          id: facts.conversation.id,
          expiration_timestamp: facts.status === "sent" ? facts.conversation.until : undefined,
          origin: { type: facts.category }
        }),
        pricing: priced
          ? {
            ...(facts.billable ? { billable: !facts.isFree } : {}),
            pricing_model: "PMP",
            type: facts.isFree ? "free_customer_service" : "regular",
            category: facts.category
          }
          : undefined,
        errors: facts.problem === undefined ? undefined : [Errors.inWebhook(facts.problem)],
        biz_opaque_callback_data: facts.reference
      })]
    }
  }
}

/** A message from a customer. */
export const message = (
  account: string,
  number: BusinessNumber,
  customer: Named,
  content: Schema.JsonObject,
  contacts: boolean
): Update => ({
  account,
  field: "messages",
  value: {
    ...about(number),
    ...(contacts ? { contacts: [contactOf(customer)] } : {}),
    messages: [{ ...defined({ from: customer.waId, from_user_id: customer.userId }), ...content }]
  }
})

/** A call of a customer. */
export const call = (
  account: string,
  number: BusinessNumber,
  customer: Named,
  content: Schema.JsonObject,
  contacts: boolean
): Update => ({
  account,
  field: "calls",
  value: {
    ...about(number),
    ...(contacts ? { contacts: [contactOf(customer)] } : {}),
    calls: [{
      ...defined({ from: customer.waId, from_user_id: customer.userId }),
      to: number.display_phone_number.replace(/\D/g, ""),
      ...content
    }]
  }
})

/** A message to a customer that the business wrote on its own phone. */
export const echo = (
  account: string,
  number: BusinessNumber,
  customer: Named,
  content: Schema.JsonObject
): Update => ({
  account,
  field: "smb_message_echoes",
  value: {
    ...about(number),
    message_echoes: [{
      from: number.display_phone_number.replace(/\D/g, ""),
      ...defined({ to: customer.waId, to_user_id: customer.userId }),
      ...content
    }]
  }
})

/**
 * The system message about a customer with a new number or user id; a new number brings a new user id. It does not name
 * the user id before: {@link renamed}.
 */
export const moved = (before: Named, after: Named): Schema.JsonObject =>
  defined({
    body: `User changed from ${before.waId ?? before.userId} to ${after.waId ?? after.userId}`,
    type: after.waId === undefined ? "user_changed_user_id" : "user_changed_number",
    wa_id: after.waId,
    user_id: after.userId
  })

/** The update for a customer with a new user id: both ids, beside the number that the customer has now. */
export const renamed = (
  account: string,
  number: BusinessNumber,
  [previous, current]: readonly [previous: string, current: string],
  after: Named,
  at: number
): Update => ({
  account,
  field: "user_id_update",
  value: {
    ...about(number),
    contacts: [contactOf(after)],
    user_id_update: [defined({
      wa_id: after.waId,
      detail: `User id for ${after.name ?? "Sim Customer"} has been updated.`,
      user_id: { previous, current },
      timestamp: timestamp(at, true)
    })]
  }
})

/** The update for an error that belongs to no message. */
export const outOfBand = (account: string, number: BusinessNumber, problem: Errors.Problem): Update => ({
  account,
  field: "messages",
  value: { ...about(number), errors: [Errors.inWebhook(problem)] }
})

/** The update for a customer's preference about marketing messages. */
export const preference = (
  account: string,
  number: BusinessNumber,
  customer: Named,
  value: "stop" | "resume",
  at: number
): Update => ({
  account,
  field: "user_preferences",
  value: {
    ...about(number),
    contacts: [contactOf(customer)],
    user_preferences: [defined({
      wa_id: customer.waId,
      user_id: customer.userId,
      detail: `User requested to ${value} marketing messages`,
      category: "marketing_messages",
      value,
      timestamp: timestamp(at, true)
    })]
  }
})

/** How a post arranges several updates: in one value, in a change each, or in an entry each. */
export type Shape = "value" | "changes" | "entries"

const listsOf = (value: Schema.JsonObject) =>
  Object.entries(value).filter((field): field is [string, ReadonlyArray<Schema.Json>] => Array.isArray(field[1]))

/** Merges updates about messages of one number into one value. */
const merged = (updates: ReadonlyArray<Update>): ReadonlyArray<Update> => {
  const values = new Map<string, Update>()
  for (const update of updates) {
    const name = update.field === "messages"
      ? `${update.account} ${JSON.stringify(update.value.metadata)}`
      : `${values.size}`
    const before = values.get(name)
    if (before === undefined) {
      values.set(name, update)
      continue
    }
    const value: Record<string, Schema.Json> = { ...before.value }
    for (const [list, items] of listsOf(update.value)) {
      const known = new Set(((value[list] ?? []) as ReadonlyArray<Schema.Json>).map((item) => JSON.stringify(item)))
      const added = list === "contacts" ? items.filter((item) => !known.has(JSON.stringify(item))) : items
      value[list] = [...((value[list] ?? []) as ReadonlyArray<Schema.Json>), ...added]
    }
    values.set(name, { ...before, value })
  }
  return [...values.values()]
}

/** The body of one post with all these updates. */
export const envelope = (updates: ReadonlyArray<Update>, shape: Shape, at: number): Schema.JsonObject => {
  const change = ({ field, value }: Update) => ({ value, field })
  const entry = (account: string, changes: ReadonlyArray<Schema.JsonObject>) => ({
    id: account,
    time: timestamp(at, true),
    changes
  })
  if (shape === "entries") {
    return {
      object: "whatsapp_business_account",
      entry: updates.map((update) => entry(update.account, [change(update)]))
    }
  }
  const parts = shape === "value" ? merged(updates) : updates
  const accounts = new Map<string, Array<Schema.JsonObject>>()
  for (const part of parts) {
    const changes = accounts.get(part.account)
    if (changes === undefined) accounts.set(part.account, [change(part)])
    else changes.push(change(part))
  }
  return {
    object: "whatsapp_business_account",
    entry: [...accounts].map(([account, changes]) => entry(account, changes))
  }
}

/** A random shape. */
export const anyShape = (draws: Draws): Shape => draws.pick(["value", "changes", "entries"])

/** Encodes JSON as upstream writes and signs it: in ASCII, with these escapes. */
export const encode = (body: Schema.Json): Buffer =>
  Buffer.from(
    JSON.stringify(body)
      .replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .replaceAll("/", "\\/")
      .replaceAll("<", "\\u003C")
      .replaceAll("%", "\\u0025")
      .replaceAll("@", "\\u0040"),
    "ascii"
  )
