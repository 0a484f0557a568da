/**
 * The contacts of a workspace (contract §7).
 */
import { ContactsApi } from "@wac/api"
import { type Contact as Core, Contacts as Service, type Id, OptOuts, Time } from "@wac/core"
import { ContactsHandlers } from "@wac/http"
import { Effect, Schema } from "effect"
import type * as Messaging from "../generated/Messaging.ts"
import type { Contact, ContactFilter } from "../generated/Resources.ts"
import * as Input from "../Input.ts"
import * as Listing from "../Listing.ts"
import type { Running } from "../Running.ts"

/** The contacts of a workspace. */
export interface Contacts extends Messaging.Contacts {
  /**
   * Lists the customers who have written, or have opted in or out, ordered by phone number, and then by the customer's
   * number or, if it is not known, user id. Iterating over all of them misses nobody even if customers write meanwhile,
   * except a customer whose number becomes known.
   */
  readonly list: (filter?: ContactFilter, options?: Messaging.CallOptions) => Listing.Listing<Contact>
  /** Gets a contact by its id, or by the phone number's id, `:`, and any other number or user id of the customer. */
  readonly get: (id: string, options?: Messaging.CallOptions) => Promise<Contact>
}

type Preference = Core.Preference

const readFilter = Input.read(Schema.Struct(ContactsApi.filter))

const readForNumber = Input.read(Schema.Struct({ phoneNumberId: Schema.optionalKey(Schema.String) }))

export const make = Effect.gen(function*() {
  const contacts = yield* Service.Contacts
  const optOuts = yield* OptOuts.OptOuts
  const choose =
    (running: Running, workspaceId: Id.WorkspaceId, preference: Preference) =>
    (name: string, options?: Messaging.OptOutOptions): Promise<Messaging.OptOut> =>
      running.run(
        Effect.gen(function*() {
          const forNumber = yield* readForNumber({ phoneNumberId: options?.phoneNumberId })
          const chosen = yield* optOuts.choose(workspaceId, {
            ...forNumber,
            name: String(name),
            preference,
            source: "api"
          })
          const { at, optedOut, source } = chosen
          return { contact: String(name), optedOut, optedOutAt: Time.isoOrNull(at), source }
        }),
        { options, names: ["phoneNumberId"] }
      )

  return (running: Running, workspaceId: Id.WorkspaceId): Contacts => ({
    optOut: choose(running, workspaceId, "opt_out"),
    optIn: choose(running, workspaceId, "opt_in"),
    list: (filter = {}, options) =>
      Listing.make(
        running,
        "contacts",
        (page) => Effect.flatMap(readFilter(filter), (filter) => contacts.list(workspaceId, filter, page)),
        ContactsHandlers.shown,
        options
      ),
    get: (id, options) => running.run(Effect.map(contacts.get(workspaceId, id), ContactsHandlers.shown), { options })
  })
})
