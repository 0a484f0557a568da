/**
 * The service for contacts as the dashboard shows them (contract §6 and §7). It only reads.
 */
import { Clock, Context, Effect, Layer } from "effect"
import type { NotFound } from "../Errors.ts"
import type { WorkspaceId } from "../Id.ts"
import * as Lookup from "../Lookup.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import * as Contact from "./Contact.ts"
import { type ContactFilter, ContactStore } from "./ContactStore.ts"
import * as CustomerNames from "./CustomerNames.ts"
import * as ServiceWindow from "./ServiceWindow.ts"

/** A contact and its window at one moment. */
export interface ContactState {
  readonly contact: Contact.Contact
  /** When the open service window closes; `null` if none is open. */
  readonly windowOpenUntil: Instant | null
}

const stateOf = (contact: Contact.Contact, now: Instant): ContactState => ({
  contact,
  windowOpenUntil: ServiceWindow.openUntil(contact.lastInboundAt, now)
})

export class Contacts extends Context.Service<Contacts, {
  /** Lists contacts in the order of `ContactStore.list`, which new messages do not change. */
  readonly list: (
    workspaceId: WorkspaceId,
    filter: ContactFilter,
    page: PageRequest
  ) => Effect.Effect<Page<ContactState>, StoreError>
  /** Gets a contact by its `Contact.idOf`, or by the number's id with any other name of the customer. */
  readonly get: (workspaceId: WorkspaceId, id: string) => Effect.Effect<ContactState, NotFound | StoreError>
}>()("@wac/core/contacts/Contacts") {
  static readonly layer = Layer.effect(
    Contacts,
    Effect.gen(function*() {
      const store = yield* ContactStore

      return Contacts.of({
        list: Effect.fn("Contacts.list")(function*(workspaceId, filter, page) {
          const now = yield* Clock.currentTimeMillis
          const { items, next } = yield* store.list(workspaceId, filter, page)
          return { items: items.map((contact) => stateOf(contact, now)), next }
        }),
        get: Effect.fnUntraced(function*(workspaceId, id) {
          const contact = yield* Lookup.find(
            "contact",
            Contact.parse(id),
            ({ name, phoneNumberId }) => store.get(workspaceId, phoneNumberId, CustomerNames.keyOf(name))
          )
          return stateOf(contact, yield* Clock.currentTimeMillis)
        })
      })
    })
  )
}
