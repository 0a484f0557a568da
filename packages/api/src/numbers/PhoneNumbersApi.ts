/**
 * `/internal/phone-numbers` (contract §6): the numbers that a workspace sends from, with the limits and blocks in
 * force.
 */
import { Errors, PhoneNumbers, SenderBlock } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, session } from "../Access.ts"
import { SessionAuthentication } from "../Caller.ts"
import { IsPaged } from "../EndpointAnnotations.ts"
import { reading } from "../EndpointErrors.ts"
import * as Example from "../Example.ts"
import * as ExampleValues from "../ExampleValues.ts"
import { internalListOf, ListQuery } from "../Lists.ts"
import { Timestamp } from "../Timestamp.ts"

export const Block = Schema.Struct({
  reason: SenderBlock.SenderBlockReason,
  scope: SenderBlock.SenderBlockScope.annotate({
    description: "`outside_window`: messages within a customer's service window are still allowed"
  }),
  message: Schema.String.annotate({ description: "For people" }),
  since: Timestamp,
  until: Schema.NullOr(Timestamp).annotate({
    description: "When sends are tried again; `null` if only the provider or the operator can lift the block"
  }),
  provider: Schema.NullOr(Errors.ProviderDetail).annotate({ description: "The provider's error" })
}).annotate({ identifier: "SenderBlock", description: "Why the provider blocks a number." })

export const PhoneNumber = Schema.Struct({
  id: Schema.String,
  phoneNumber: Schema.String.annotate({ description: "In E.164 format" }),
  isDefault: Schema.Boolean.annotate({ description: "Whether sends without `from` use this number" }),
  provider: Schema.String.annotate({
    description: "The number's provider: `sandbox`, `whatsapp`, or the host's own. While a different provider runs, " +
      "sends from the number are refused"
  }),
  providerNumberId: Schema.String.annotate({ description: "The provider's id of the number" }),
  providerAccountId: Schema.String,
  portfolioId: Schema.NullOr(Schema.String).annotate({
    description:
      "The business portfolio, whose numbers share the messaging limit; `null` until the operator has told it"
  }),
  status: PhoneNumbers.NumberStatus.annotate({
    description: "`disabled` by the operator, or `blocked` by the provider, with the cause in `block`"
  }),
  block: Schema.NullOr(Block),
  tier: Schema.String.annotate({ description: "The tier in force" }),
  messagesPerSecond: Schema.Finite.annotate({ description: "The rate of the tier" }),
  messagingLimit: Schema.NullOr(Schema.Int).annotate({
    description: "The limit of customers outside a service window within 24 hours, from all numbers of the portfolio " +
      "together (of the workspace, without a portfolio); `null` for no limit"
  }),
  quality: Schema.NullOr(Schema.String).annotate({
    description: "The provider's rating in its own words; `null` if it has not reported one"
  })
}).annotate({
  identifier: "PhoneNumber",
  embedded: true,
  description: "A number of the workspace, with the limits in force."
}).pipe(
  Example.shown({
    id: ExampleValues.phoneNumber.id,
    phoneNumber: ExampleValues.phoneNumber.written,
    isDefault: true,
    provider: "whatsapp",
    providerNumberId: "106540352242922",
    providerAccountId: "102290129340398",
    portfolioId: "2729063490586005",
    status: "available",
    block: null,
    tier: "standard",
    messagesPerSecond: 80,
    messagingLimit: null,
    quality: "green"
  })
)

export class PhoneNumbersApi extends HttpApiGroup.make("phoneNumbers").add(
  HttpApiEndpoint.get("list", "/internal/phone-numbers", {
    query: ListQuery,
    success: internalListOf(PhoneNumber),
    error: reading
  }).annotate(Access, session("member")).annotate(IsPaged, true).annotateMerge(OpenApi.annotations({
    summary: "List phone numbers",
    description: "Newest first, each with the limits in force and, if the provider blocks the number, the reason."
  }))
).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({
    title: "Phone numbers (dashboard)",
    description: "The numbers that the workspace sends from. Only the operator can add or change them."
  })
) {}
