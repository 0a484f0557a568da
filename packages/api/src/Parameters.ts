/**
 * Parameters outside of bodies and queries: identifiers in paths, and the header `Idempotency-Key`. Their patterns are
 * only for readers of the OpenAPI document: a path with a malformed identifier is not found (404), and the key has its
 * own checks (`Idempotency.parseKey`).
 */
import { CustomerNames, Idempotency } from "@wac/core"
import { Schema } from "effect"

type Form = { readonly minLength?: number; readonly maxLength: number; readonly pattern: string }

const shown = (form: Form, description?: string) =>
  Schema.String.annotate(description === undefined ? {} : { description }).check(
    Schema.makeFilter((_: string) => true, { toJsonSchema: () => form })
  )

/** A prefix and a ULID; a contact's id has the customer's number or user id after them. */
const pattern = "^[a-z]{2,4}_[0-7][0-9A-HJKMNP-TV-Z]{25}(:.+)?$"

/** The parameter `:id` of a path. */
export const byId = { id: shown({ maxLength: 200, pattern }) }

/** The id of a contact: the id of the phone number, and the customer's number or user id at the provider. */
export const byContactId = { id: shown({ maxLength: 255, pattern: pattern.replace("$", ":.+$") }) }

/** A name of a customer in a path. */
export const byName = {
  name: shown({ maxLength: 200, pattern: CustomerNames.pattern.source }, "Any name of the customer")
}

const keyForm = {
  minLength: 1,
  maxLength: Idempotency.maxKeyLength,
  // visible ASCII; the quoted form is unquoted, so two quotes alone would be empty
  pattern: "^(?:[!#-~][!-~]*|\"(?:[!#-~][!-~]*)?|\"\"[!-~]+)$"
} as const

/** The form of an Idempotency-Key. */
export const idempotencyKeyJsonSchema = { type: "string", ...keyForm } as const

/** The header by which a request to send asks to be queued (RFC 7240, contract §15). */
export const prefer = {
  prefer: Schema.optionalKey(
    shown(
      { maxLength: 8192, pattern: "^[\\t -~]*$" },
      "`respond-async` queues the message and answers 202; other preferences are ignored (RFC 7240)"
    )
  )
}

/** The header of an endpoint with `EndpointAnnotations.NeedsIdempotencyKey`. `use` ends its description. */
export const idempotencyKey = (use = "; the same again changes nothing a second time") => ({
  "idempotency-key": shown(keyForm, Idempotency.keyForm + use)
})
