/**
 * `/internal/contacts` (contract §6 and §7): the customers of a workspace, each as seen from one of its numbers.
 */
import { Id } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, session } from "../Access.ts"
import { SessionAuthentication } from "../Caller.ts"
import { reading } from "../ErrorBody.ts"
import { internalListOf, noQuery, pageQuery } from "../Lists.ts"
import { byContactId } from "../Parameters.ts"
import { Timestamp } from "../Timestamp.ts"
import { IsPaged } from "../Traits.ts"

/** A customer, as seen from one of the workspace's numbers. */
export const Contact = Schema.Struct({
  /** `<id of the phone number>:<key>`. */
  id: Schema.String,
  phoneNumberId: Schema.String,
  /** As the provider writes it; `null` when it is not known. */
  phone: Schema.NullOr(Schema.String),
  /** The provider's own identifier of the customer. */
  userId: Schema.NullOr(Schema.String),
  /** When the customer last wrote; `null`: never. */
  lastInboundAt: Schema.NullOr(Timestamp),
  /** Until when free-form text may be sent; `null`: not now. */
  windowOpenUntil: Schema.NullOr(Timestamp),
  optedOut: Schema.Boolean,
  /** When the customer last said whether they want to be written to; `null`: never. */
  preferenceAt: Schema.NullOr(Timestamp)
}).annotate({ identifier: "Contact" })

/** Which contacts a list holds. */
export const filter = {
  phoneNumberId: Schema.optionalKey(Id.PhoneNumberId.annotate({ description: "Only those of this phone number" }))
}

export class ContactsApi extends HttpApiGroup.make("contacts").add(
  HttpApiEndpoint.get("list", "/internal/contacts", {
    query: { ...filter, ...pageQuery },
    success: internalListOf(Contact),
    error: reading
  }).annotate(Access, session("member")).annotate(IsPaged, true).annotateMerge(OpenApi.annotations({
    summary: "List contacts",
    description:
      "Customers who have written or said whether they want to be written to. In the order of their ids, so " +
      "that following the cursor misses nobody, whoever writes meanwhile."
  })),
  HttpApiEndpoint.get("get", "/internal/contacts/:id", {
    params: byContactId,
    query: noQuery,
    success: Contact,
    error: reading
  }).annotate(Access, session("member")).annotateMerge(OpenApi.annotations({
    summary: "Get a contact",
    description: "A customer as seen from one number, at this moment."
  }))
).middleware(SessionAuthentication).annotateMerge(OpenApi.annotations({
  title: "Contacts (dashboard)",
  description: "Customers, each as seen from one of the workspace's numbers."
})) {}
