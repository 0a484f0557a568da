/**
 * The contacts of a workspace (contract §7).
 */
import { ContactsApi } from "@wac/api"
import { type Contact as Core, Contacts as Service, type Id, OptOuts, Time } from "@wac/core"
import { ContactsHandlers } from "@wac/http"
import { Effect, Schema } from "effect"
import type { Contact, ContactFilter } from "../generated/Resources.ts"
import * as Input from "../Input.ts"
import * as Listing from "../Listing.ts"
import type { Running } from "../Running.ts"

/** The contacts of a workspace. */
export interface Contacts {
  /**
   * Customers who have written, or have opted in or out, by phone number, and then by the customer's number or, if it
   * is not known, user id. Iterating over all of them misses nobody, whoever writes meanwhile, except a customer whose
   * number becomes known.
   */
  readonly list: (filter?: ContactFilter) => Listing.Listing<Contact>
  /** Gets a contact by its id, or by the phone number's id, `:`, and any other number or user id of the customer. */
  readonly get: (id: string) => Promise<Contact>
  /**
   * Opts a customer out, under every name that they have: no free-form text and no marketing is sent until START from
   * the customer, or `optIn`. The name is a number in E.164 format, or a user id; the customer need not be known.
   * Calling it again changes nothing.
   */
  readonly optOut: (name: string, options?: ForNumber) => Promise<OptOut>
  /** Ends the opt-out of a customer, whoever set it. Have the customer's consent. */
  readonly optIn: (name: string, options?: ForNumber) => Promise<OptOut>
}

/** For which number a customer is opted out or in. */
export interface ForNumber {
  /** The id of a phone number of the workspace; if omitted, all of its numbers. */
  readonly phoneNumberId?: string
}

/** The state of a customer's opt-out after a choice. */
export interface OptOut {
  /** The name as it was given. */
  readonly contact: string
  readonly optedOut: boolean
  /** ISO 8601; `null` if the customer is not opted out. */
  readonly optedOutAt: string | null
  /** Who opted the customer out; `null` if nobody did. */
  readonly source: "customer" | "provider" | "api" | "person" | "import" | null
}

type Preference = Core.Preference

const readFilter = Input.read(Schema.Struct(ContactsApi.filter))

const readForNumber = Input.read(Schema.Struct({ phoneNumberId: Schema.optionalKey(Schema.String) }))

export const make = Effect.gen(function*() {
  const contacts = yield* Service.Contacts
  const optOuts = yield* OptOuts.OptOuts
  const choose =
    (running: Running, workspaceId: Id.WorkspaceId, preference: Preference) =>
    (name: string, options: ForNumber = {}): Promise<OptOut> =>
      running.run(Effect.gen(function*() {
        const forNumber = yield* readForNumber(options)
        const chosen = yield* optOuts.choose(workspaceId, {
          ...forNumber,
          name: String(name),
          preference,
          source: "api"
        })
        const { at, optedOut, source } = chosen
        return { contact: String(name), optedOut, optedOutAt: Time.isoOrNull(at), source }
      }))

  return (running: Running, workspaceId: Id.WorkspaceId): Contacts => ({
    optOut: choose(running, workspaceId, "opt_out"),
    optIn: choose(running, workspaceId, "opt_in"),
    list: (filter = {}) =>
      Listing.make(
        running,
        (page) => Effect.flatMap(readFilter(filter), (filter) => contacts.list(workspaceId, filter, page)),
        ContactsHandlers.shown
      ),
    get: (id) => running.run(Effect.map(contacts.get(workspaceId, id), ContactsHandlers.shown))
  })
})
