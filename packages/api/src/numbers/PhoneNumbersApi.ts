/**
 * `/internal/phone-numbers` (contract §6): the numbers that a workspace sends from, with the limits and blocks in
 * force.
 */
import { Errors, PhoneNumbers, SenderBlock } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, session } from "../Access.ts"
import { SessionAuthentication } from "../Caller.ts"
import { reading } from "../ErrorBody.ts"
import { internalListOf, pageQuery } from "../Lists.ts"
import { Timestamp } from "../Timestamp.ts"
import { IsPaged } from "../Traits.ts"

/** Why the provider blocks the number. `message` describes it for people. */
export const Block = Schema.Struct({
  reason: SenderBlock.SenderBlockReason,
  /** `outside_window`: messages within a customer's service window are still allowed. */
  scope: SenderBlock.SenderBlockScope,
  message: Schema.String,
  since: Timestamp,
  /** When sends are tried again; `null` if only the provider or the operator can lift the block. */
  until: Schema.NullOr(Timestamp),
  /** The provider's error. */
  provider: Schema.NullOr(Errors.ProviderDetail)
}).annotate({ identifier: "SenderBlock" })

/** A number of the workspace with the limits and the block that are now in force. */
export const PhoneNumber = Schema.Struct({
  id: Schema.String,
  phoneNumber: Schema.String,
  /** Whether sends without `from` use this number. */
  isDefault: Schema.Boolean,
  /**
   * The number's provider: `sandbox`, `whatsapp`, or the host's own. While a different provider runs, sends are
   * refused.
   */
  provider: Schema.String,
  providerNumberId: Schema.String,
  providerAccountId: Schema.String,
  /** The business portfolio, whose numbers share the messaging limit; `null` until the operator has told it. */
  portfolioId: Schema.NullOr(Schema.String),
  /** `disabled` by the operator, or `blocked` by the provider, with the cause in `block`. */
  status: PhoneNumbers.NumberStatus,
  block: Schema.NullOr(Block),
  /** The tier in force, and its rate. */
  tier: Schema.String,
  messagesPerSecond: Schema.Finite,
  /**
   * The limit of customers outside a service window within 24 hours, from all numbers of the portfolio together; `null`
   * for no limit.
   */
  messagingLimit: Schema.NullOr(Schema.Int),
  /** The provider's rating in its own words; `null` if it has not reported one. */
  quality: Schema.NullOr(Schema.String)
}).annotate({ identifier: "PhoneNumber" })

export class PhoneNumbersApi extends HttpApiGroup.make("phoneNumbers").add(
  HttpApiEndpoint.get("list", "/internal/phone-numbers", {
    query: pageQuery,
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
