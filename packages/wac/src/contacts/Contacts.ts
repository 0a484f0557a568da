/**
 * The contacts of a workspace (contract §7).
 */
import { ContactsApi } from "@wac/api"
import { Contacts as Service, type Id } from "@wac/core"
import { ContactsHandlers } from "@wac/http"
import { Effect, Schema } from "effect"
import * as Input from "../Input.ts"
import * as Listing from "../Listing.ts"
import type { Running } from "../Running.ts"

/** A customer, as seen from one of the workspace's numbers. Times are ISO 8601. */
export interface Contact {
  /** The id of the phone number, `:`, and the customer's number or user id, whichever was known first. */
  readonly id: string
  readonly phoneNumberId: string
  /** In the provider's form; `null` if not known. */
  readonly phone: string | null
  /** The provider's id of the customer. */
  readonly userId: string | null
  /** When the customer last wrote; `null` if never. */
  readonly lastInboundAt: string | null
  /** Until when free-form text may be sent; `null` if not now. */
  readonly windowOpenUntil: string | null
  /** Whether the customer opted out, which forbids free-form text and marketing. */
  readonly optedOut: boolean
  /** When the customer last opted in or out; `null` if never. */
  readonly preferenceAt: string | null
}

/** Which contacts: all, or those of one phone number, by its id. */
export interface ContactFilter {
  readonly phoneNumberId?: string
}

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
}

const readFilter = Input.read(Schema.Struct(ContactsApi.filter))

export const make = Effect.map(
  Service.Contacts,
  (contacts) => (running: Running, workspaceId: Id.WorkspaceId): Contacts => ({
    list: (filter = {}) =>
      Listing.make(
        running,
        (page) => Effect.flatMap(readFilter(filter), (filter) => contacts.list(workspaceId, filter, page)),
        ContactsHandlers.shown
      ),
    get: (id) => running.run(Effect.map(contacts.get(workspaceId, id), ContactsHandlers.shown))
  })
)
