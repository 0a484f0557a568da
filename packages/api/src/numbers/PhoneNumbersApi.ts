/**
 * `/internal/phone-numbers` (contract §6): the numbers that a workspace sends from, and what is in force of each.
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

/** Why upstream lets nothing be sent. `message` says it for people. */
export const Block = Schema.Struct({
  reason: SenderBlock.SenderBlockReason,
  /** `outside_window`: customers may be answered within their service window. */
  scope: SenderBlock.SenderBlockScope,
  message: Schema.String,
  since: Timestamp,
  /** When sending is tried again; `null`: not before upstream or the operator lifts it. */
  until: Schema.NullOr(Timestamp),
  /** What upstream said. */
  provider: Schema.NullOr(Errors.ProviderDetail)
}).annotate({ identifier: "SenderBlock" })

/** A number of the workspace, and what is in force of it at this moment. */
export const PhoneNumber = Schema.Struct({
  id: Schema.String,
  phoneNumber: Schema.String,
  /** The one that is used when a send names none. */
  isDefault: Schema.Boolean,
  /** Who it is with: `sandbox`, `whatsapp`, or a provider of the host. Nothing is sent from it while another one runs. */
  provider: Schema.String,
  providerNumberId: Schema.String,
  providerAccountId: Schema.String,
  /** `disabled` is the operator's doing, `blocked` upstream's: `block` says why. */
  status: PhoneNumbers.NumberStatus,
  block: Schema.NullOr(Block),
  /** The tier in force, and its rate. */
  tier: Schema.String,
  messagesPerSecond: Schema.Finite,
  /** Customers that may be written to outside a window within 24 hours; `null`: no limit. */
  messagingLimit: Schema.NullOr(Schema.Int),
  /** Upstream's rating, in its words; `null`: not told yet. */
  quality: Schema.NullOr(Schema.String)
}).annotate({ identifier: "PhoneNumber" })

export class PhoneNumbersApi extends HttpApiGroup.make("phoneNumbers").add(
  HttpApiEndpoint.get("list", "/internal/phone-numbers", {
    query: pageQuery,
    success: internalListOf(PhoneNumber),
    error: reading
  }).annotate(Access, session("member")).annotate(IsPaged, true).annotateMerge(OpenApi.annotations({
    summary: "List phone numbers",
    description: "Newest first, each with the limits in force and, if upstream lets nothing be sent from it, why."
  }))
).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({
    title: "Phone numbers (dashboard)",
    description: "The numbers that the workspace sends from. Adding and changing them is the operator's."
  })
) {}
