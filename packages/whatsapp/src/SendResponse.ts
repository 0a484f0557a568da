/**
 * Reads the response to a send.
 */
import { type Contact as CoreContact, CustomerNames, PlainText, type Provider } from "@wac/core"
import { Option, Predicate, Schema } from "effect"
import * as Classification from "./Classification.ts"
import type { Answer } from "./CloudApi.ts"
import * as Customers from "./Customers.ts"
import * as GraphError from "./GraphError.ts"
import * as Payload from "./Payload.ts"

/** The limit on Meta's id of a message, which is opaque and shorter than this. */
const maxNameLength = 512

/** The status of a message that waits until Meta has assessed its template's quality (template pacing). */
const held = "held_for_quality_assessment"

const Accepted = Schema.Struct({
  contacts: Schema.optionalKey(Schema.Unknown),
  messages: Schema.NonEmptyArray(
    Schema.Struct({ id: PlainText.between(1, maxNameLength), message_status: Schema.optionalKey(Schema.Unknown) })
  )
})
const accepted = Schema.decodeUnknownOption(Accepted)

/** The error in a response's body, if it has one. Its words do not contain the texts `hidden`. */
export const errorOf = (json: unknown, hidden: ReadonlyArray<string>): GraphError.GraphError | undefined => {
  if (Predicate.hasProperty(json, "error")) return GraphError.read(json.error, hidden)
  return Predicate.hasProperty(json, "errors") && Array.isArray(json.errors)
    ? GraphError.read(json.errors[0], hidden)
    : undefined
}

const Contact = Payload.shape({ wa_id: Customers.phone, user_id: Customers.userId, parent_user_id: Customers.userId })

/** The names by which Meta knows the recipient; undefined if the response has none, or several recipients. */
const recipientOf = (contacts: unknown, to: string | undefined): CoreContact.Customer | undefined => {
  const [contact, ...others] = Payload.list(contacts as Payload.Json | undefined)
  if (contact === undefined || others.length > 0) return undefined
  const { parent_user_id, user_id, wa_id } = Contact(contact)
  // the response to a send to a parent id may repeat it as the user id
  return Customers.of(
    wa_id,
    user_id !== undefined && user_id === to && CustomerNames.isParentId(user_id) ? undefined : user_id,
    parent_user_id
  )
}

/** The outcome of a send that got a response; `Unknown` if the response does not show it. */
export const outcomeOf = (
  { json, regainAfter, status }: Extract<Answer, { readonly _tag: "Answered" }>,
  error: GraphError.GraphError | undefined,
  to?: string
): Provider.ProviderOutcome => {
  const named = status >= 200 && status <= 299 ? accepted(json) : Option.none()
  if (Option.isSome(named)) {
    const { contacts, messages: [{ id, message_status }] } = named.value
    const recipient = recipientOf(contacts, to)
    return {
      _tag: "Accepted",
      providerMessageId: id,
      ...(message_status === held ? { isHeld: true } : {}),
      ...(recipient === undefined ? {} : { recipient })
    }
  }
  return error === undefined
    ? { _tag: "Unknown" }
    : Classification.outcomeOf({ status, error, regainAfter })
}
