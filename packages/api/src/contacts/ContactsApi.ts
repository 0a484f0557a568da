/**
 * `/internal/contacts` (contract §6 and §7): the customers of a workspace, one contact for each of its numbers.
 */
import { Conversation, Id, Message, NumberPart } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, session } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { SessionAuthentication } from "../Caller.ts"
import { IsPaged } from "../EndpointAnnotations.ts"
import { reading } from "../EndpointErrors.ts"
import * as Example from "../Example.ts"
import * as ExampleValues from "../ExampleValues.ts"
import { internalListOf, ListQuery, noQuery, pageQuery } from "../Lists.ts"
import { byContactId } from "../Parameters.ts"
import { Timestamp } from "../Timestamp.ts"

export const Contact = Schema.Struct({
  id: Schema.String.annotate({
    description: "The id of the phone number, `:`, and the customer's number or user id, whichever was known first"
  }),
  phoneNumberId: Schema.String,
  phone: Schema.NullOr(Schema.String).annotate({ description: "In the provider's form; `null` if unknown" }),
  userId: Schema.NullOr(Schema.String).annotate({ description: "The provider's own identifier of the customer" }),
  lastInboundAt: Schema.NullOr(Timestamp).annotate({ description: "When the customer last wrote; `null` if never" }),
  windowOpenUntil: Schema.NullOr(Timestamp).annotate({
    description: "When the service window closes: until then, free-form text may be sent. `null` if it is closed"
  }),
  optedOut: Schema.Boolean.annotate({
    description: "Whether the customer opted out, which forbids free-form text and marketing"
  }),
  preferenceAt: Schema.NullOr(Timestamp).annotate({
    description: "When the customer last opted in or out; `null` if never"
  })
}).annotate({
  identifier: "Contact",
  embedded: true,
  description: "A customer's state for one of the workspace's numbers."
}).pipe(
  Example.shown({
    id: `${ExampleValues.phoneNumber.id}:${ExampleValues.customer}`,
    phoneNumberId: ExampleValues.phoneNumber.id,
    phone: ExampleValues.customer,
    userId: null,
    lastInboundAt: ExampleValues.times.start,
    windowOpenUntil: ExampleValues.times.nextDay,
    optedOut: false,
    preferenceAt: null
  })
)

export const ConversationMessage = Schema.Struct({
  id: Schema.String,
  direction: Conversation.Direction,
  status: Schema.Literals([...Message.MessageStatus.literals, "received"]),
  from: Schema.String,
  to: Schema.String,
  type: Schema.String,
  content: Schema.Json.annotate({ description: "The content; `{}` once it was deleted" }),
  context: Schema.Json.annotate({ description: "The message that it quotes or answers; `null` if none" }),
  at: Timestamp.annotateKey({ description: "When it was created, or when the customer wrote it" })
}).annotate({ identifier: "ConversationMessage", description: "A message of the conversation with a contact." }).pipe(
  Example.shown({
    id: ExampleValues.sent.id,
    direction: "outbound",
    status: "delivered",
    from: ExampleValues.phoneNumber.written,
    to: ExampleValues.customer,
    type: "template",
    content: ExampleValues.template,
    context: null,
    at: ExampleValues.times.created
  })
)

/** The filters of the list. */
export const filter = {
  phoneNumberId: Schema.optionalKey(Id.PhoneNumberId.annotate({ description: "Only contacts of this phone number" }))
}

const query = Schema.Struct({ ...filter, ...pageQuery }).annotate({
  identifier: "ContactQuery",
  embedded: "ContactFilter",
  description: "The filters of the list of contacts."
})

export const CustomerNumbers = Schema.Struct({
  data: Schema.Array(Schema.Struct({ number: Schema.String })),
  hasMore: Schema.Boolean.annotateKey({ description: "Whether there are more: a longer part finds fewer" })
}).annotate({ identifier: "CustomerNumbers", description: "Numbers of customers that have the part." }).pipe(
  Example.shown({ data: [{ number: ExampleValues.customer }], hasMore: false })
)

const partQuery = Schema.Struct({
  number: NumberPart.Written.annotate({
    description: "The beginning of a number with or without its country code, in any notation: at least 4 digits"
  })
}).annotate({ identifier: "CustomerQuery", description: "The part of a number that is looked for." })

export class ContactsApi extends HttpApiGroup.make("contacts").add(
  HttpApiEndpoint.get("find", "/internal/customers", {
    query: partQuery,
    success: CustomerNumbers,
    error: reading
  }).annotate(Access, session("member")).annotateMerge(OpenApi.annotations({
    summary: "Find customers by a part of their number",
    description: "The numbers that were written to or wrote, in their order, at most 20."
  })),
  HttpApiEndpoint.get("list", "/internal/contacts", {
    query,
    success: internalListOf(Contact),
    error: reading
  }).annotate(Access, session("member")).annotate(IsPaged, true).annotateMerge(OpenApi.annotations({
    summary: "List contacts",
    description: "Customers who have written, or have opted in or out. The list is ordered by phone number, " +
      "then by the customer's number or, if it is not known, user id. Following the cursor misses no contact, even if " +
      "customers write meanwhile, except one whose number becomes known."
  })),
  HttpApiEndpoint.get("get", "/internal/contacts/:id", {
    params: byContactId,
    query: noQuery,
    success: Contact,
    error: reading
  }).annotate(Access, session("member")).annotateMerge(OpenApi.annotations({
    summary: "Get a contact",
    description: "The current state of a customer for one phone number. The id may also be made of any other number " +
      "or user id of the customer."
  })),
  HttpApiEndpoint.get("messages", "/internal/contacts/:id/messages", {
    params: byContactId,
    query: ListQuery,
    success: internalListOf(ConversationMessage),
    error: reading
  }).annotate(Example.Shown, {
    response: Example.internalPage<typeof ConversationMessage["Encoded"]>([
      {
        id: ExampleValues.received.id,
        direction: "inbound",
        status: "received",
        from: ExampleValues.customer,
        to: ExampleValues.phoneNumber.written,
        type: "text",
        content: { body: "Thank you!" },
        context: { message_id: ExampleValues.sent.id, provider_message_id: ExampleValues.sent.providerId },
        at: ExampleValues.times.received
      },
      Example.of(ConversationMessage)
    ])
  }).annotate(Access, session("member")).annotate(IsPaged, true).annotateMerge(OpenApi.annotations({
    summary: "List the messages of a contact",
    description:
      "The conversation with the customer in both directions, from every number of the workspace, newest first."
  })),
  HttpApiEndpoint.put("optOut", "/internal/contacts/:id/opt-out", {
    params: byContactId,
    query: noQuery,
    success: Contact,
    error: reading
  }).annotate(Example.Shown, Example.changed(Contact, { optedOut: true, preferenceAt: ExampleValues.times.created }))
    .annotate(Access, session("developer")).annotate(Audited, "contact.opt_out").annotateMerge(OpenApi.annotations({
      summary: "Opt a contact out",
      description:
        "No free-form text and no marketing template is sent to the customer from this number, until START " +
        "from the customer or until they are opted in."
    })),
  HttpApiEndpoint.delete("optIn", "/internal/contacts/:id/opt-out", {
    params: byContactId,
    query: noQuery,
    success: Contact,
    error: reading
  }).annotate(Access, session("developer")).annotate(Audited, "contact.opt_in").annotateMerge(OpenApi.annotations({
    summary: "Opt a contact in",
    description: "Ends the opt-out of the customer for this number, whoever set it."
  }))
).middleware(SessionAuthentication).annotateMerge(OpenApi.annotations({
  title: "Contacts (dashboard)",
  description: "Customers, with one contact for each of the workspace's numbers."
})) {}
